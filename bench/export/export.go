// Package export is the program that streams an export with one column and tells
// the most memory that it took.
package export

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench"
)

// Main is the main function of such a program: its arguments are the URL of
// cmd/serve and how many rows there are to be.
func Main(newClient bench.New) {
	url, want := os.Args[1], os.Args[2]
	rows := 0
	if err := newClient(url, nil).Export(context.Background(), bench.MaxLimit, func(bench.Row) { rows++ }); err != nil {
		log.Fatal(err)
	}
	if strconv.Itoa(rows) != want {
		log.Fatalf("%d rows, want %s", rows, want)
	}
	fmt.Println(peak())
}

// peak is the most memory that this process has ever had resident, in KiB. Getrusage
// would not do: its figure begins with that of the process that started this one.
func peak() (kib int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		log.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		log.Fatalf("VmHWM in /proc/self/status: %v", err)
	}
	return kib
}

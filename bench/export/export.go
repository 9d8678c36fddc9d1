// Package export is the program that streams an export with one column and tells
// what memory it took.
package export

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench"
)

// Main is the main function of such a program: its arguments are the URL of
// cmd/serve and how many rows there are to be; with 0 rows it sends nothing.
func Main(newClient bench.New) {
	url, want := os.Args[1], os.Args[2]
	client := newClient(url, nil)
	if want != "0" {
		export(client, want)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		log.Fatal(err)
	}
	memory := Memory{Peak: kibibytes(string(status), "VmHWM:"), File: kibibytes(string(status), "RssFile:")}
	if err := json.NewEncoder(os.Stdout).Encode(memory); err != nil {
		log.Fatal(err)
	}
}

func export(client bench.Client, want string) {
	rows := 0
	if err := client.Export(context.Background(), bench.MaxLimit, func(bench.Row) { rows++ }); err != nil {
		log.Fatal(err)
	}
	if strconv.Itoa(rows) != want {
		log.Fatalf("%d rows, want %s", rows, want)
	}
}

// Memory is what was resident of the process, in KiB. Getrusage would not do: its
// peak begins with that of the process that started this one.
type Memory struct {
	Peak float64 `json:"peak"`
	File float64 `json:"file"` // at the end, of the program's file
}

func kibibytes(status, name string) (kib float64) {
	_, rest, _ := strings.Cut(status, name)
	if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
		log.Fatalf("%s in /proc/self/status: %v", name, err)
	}
	return kib
}

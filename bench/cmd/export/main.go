// Command export streams an export and prints how much memory it took. It links one client:
// bench/run builds it for each of the others with another import in client's place.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench"
	client "github.com/mintlify-community/mintlify-go/bench/byhand"
)

func main() {
	server := flag.String("server", "", "URL of cmd/serve")
	want := flag.Int("rows", 0, "rows that the export has")
	column := flag.String("column", "byhand", "name of the client, to print")
	prefetch := flag.Int("prefetch", 0, "pages to prefetch, if the client can")
	flag.Parse()

	rows := 0
	c := client.New(*server, nil)
	err := bench.Export(context.Background(), c, bench.MaxLimit, *prefetch, func(bench.Row) { rows++ })
	if err != nil || rows != *want {
		log.Fatalf("%d rows, want %d: %v", rows, *want, err)
	}

	status, err := os.ReadFile("/proc/self/status") // the peak of getrusage starts at the parent process's
	if err != nil {
		log.Fatal(err)
	}
	bench.Figure{Row: "peak", Column: *column, Value: bytesOf(string(status), "VmHWM:")}.Print()
	bench.Figure{Row: "peak file", Column: *column, Value: bytesOf(string(status), "RssFile:")}.Print()
}

// bytesOf returns a figure of a status of /proc.
func bytesOf(status, name string) float64 {
	var kib float64
	_, rest, _ := strings.Cut(status, name)
	if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
		log.Fatalf("%s in /proc/self/status: %v", name, err)
	}
	return kib * 1024
}

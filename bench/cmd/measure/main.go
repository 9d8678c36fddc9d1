// Command measure measures one group of rows of the table once, column by column,
// and prints the figures. The order of the columns is drawn anew each time, unless
// one is named.
package main

import (
	"flag"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

// groups are measured on a server, or in memory.
var groups = map[string]func(server string, column columns.Column) error{
	"operations":  operations,
	"others":      others,
	"foreign":     foreign,
	"hostile":     hostile,
	"requests":    requests,
	"waits":       waits,
	"calls":       calls,
	"connections": connections,
	"polls":       polls,
}

func main() {
	names := strings.Join(slices.Sorted(maps.Keys(groups)), ", ")
	group := flag.String("group", "operations", "exports, "+names)
	only := flag.String("column", "", "the only column to measure; all of them without it")
	server := flag.String("server", "", "URL of cmd/serve, for calls, connections, exports and polls")
	flag.Parse()
	measure := groups[*group]
	switch {
	case *group == "exports":
		exportSideBySide(*server)
	case measure == nil:
		log.Fatalf("there is no group %q", *group)
	default:
		for _, i := range rand.Perm(len(columns.Exporting)) {
			column := columns.Exporting[i]
			if *only != column.Name && (*only != "" || i >= len(columns.All) && *group != "requests") {
				continue
			}
			if err := measure(*server, column); err != nil {
				log.Fatalf("%s: %s: %v", *group, column.Name, err)
			}
		}
	}
}

func report(row string, column columns.Column, value float64) {
	if err := (figures.Figure{Row: row, Column: column.Name, Value: value}).Write(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

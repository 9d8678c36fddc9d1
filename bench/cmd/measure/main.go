// Command measure measures one group of rows of the table once, column by column,
// and prints the figures. The order of the columns is drawn anew each time, unless
// one is named.
package main

import (
	"flag"
	"log"
	"math/rand/v2"
	"os"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

func main() {
	group := flag.String("group", "operations", "operations, requests, waits, exports or connections")
	only := flag.String("column", "", "the only column to measure; all of them without it")
	server := flag.String("server", "", "URL of cmd/serve, for exports and connections")
	flag.Parse()
	measure := map[string]func(string, columns.Column) error{
		"operations":  operations,
		"requests":    requests,
		"waits":       waits,
		"connections": connections,
	}[*group]
	switch {
	case *group == "exports":
		exportSideBySide(*server)
	case measure == nil:
		log.Fatalf("there is no group %q", *group)
	default:
		for _, i := range rand.Perm(len(columns.All)) {
			if *only != "" && *only != columns.All[i].Name {
				continue
			}
			if err := measure(*server, columns.All[i]); err != nil {
				log.Fatalf("%s: %s: %v", *group, columns.All[i].Name, err)
			}
		}
	}
}

func report(row string, column columns.Column, value float64) {
	if err := (figures.Figure{Row: row, Column: column.Name, Value: value}).Write(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

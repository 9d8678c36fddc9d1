// Command measure measures one group of figures once, client by client in random order,
// and prints them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"sync"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/calls"
	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// groups need a server, or work in memory.
var groups = map[string]func(server string, column columns.Column) error{
	"calls":    inMemory,
	"requests": requests,
	"schedule": schedule,
	"exports":  exports,
	"waits":    waits,
	"burst":    burst,
	"once":     throughOnce,
}

func main() {
	group := flag.String("group", "calls", "calls, requests, schedule, exports, waits, burst or once")
	only := flag.String("column", "", "the only client to measure")
	server := flag.String("server", "", "URL of cmd/serve, for exports and burst")
	flag.Parse()
	measure, ok := groups[*group]
	if !ok {
		log.Fatalf("there is no group %q", *group)
	}
	var all sync.WaitGroup
	for _, i := range rand.Perm(len(columns.Exporting)) {
		column := columns.Exporting[i]
		exporting := *group == "exports" || *group == "requests"
		if *only != "" && *only != column.Name || column.Prefetch > 0 && !exporting {
			continue
		}
		all.Go(func() {
			if err := measure(*server, column); err != nil {
				log.Fatalf("%s: %s: %v", *group, column.Name, err)
			}
		})
		if *group != "exports" { // exports sleep nearly all the time: they run side by side
			all.Wait()
		}
	}
	all.Wait()
}

func report(row string, column columns.Column, value float64) {
	bench.Figure{Row: row, Column: column.Name, Value: value}.Print()
}

// inMemory measures what a call costs the client itself.
func inMemory(_ string, column columns.Column) error {
	for _, call := range calls.All {
		for name, transport := range map[string]http.RoundTripper{
			call.Name: service.Standard(call.Response), "wrapped " + call.Name: service.Wrapped(call.Response),
		} {
			client := column.New(calls.Nowhere, transport)
			cost, err := calls.Measure(call.Times, func() error { return call.Do(context.Background(), client) })
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			report(name+" allocations", column, cost.Allocations)
			report(name+" bytes", column, cost.Bytes)
			report(name+" cpu", column, cost.CPU)
		}
	}
	return nil
}

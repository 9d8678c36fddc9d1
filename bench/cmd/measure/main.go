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
	"github.com/mintlify-community/mintlify-go/bench/callcost"
	"github.com/mintlify-community/mintlify-go/bench/clients"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// group measures a client. It needs the server, or works in memory.
type group func(server string, column clients.Column) error

var groups = map[string]group{
	"calls":    inMemory,
	"requests": requests,
	"schedule": schedule,
	"exports":  exports,
	"waits":    waits,
	"burst":    burst,
	"once":     throughOnce,
}

func main() {
	name := flag.String("group", "calls", "calls, requests, schedule, exports, waits, burst or once")
	only := flag.String("column", "", "the only client to measure")
	server := flag.String("server", "", "URL of cmd/serve, for exports and burst")
	flag.Parse()
	measure, ok := groups[*name]
	if !ok {
		log.Fatalf("there is no group %q", *name)
	}

	var all sync.WaitGroup
	for _, column := range measured(*name, *only) {
		all.Go(func() {
			if err := measure(*server, column); err != nil {
				log.Fatalf("%s: %s: %v", *name, column.Name, err)
			}
		})
		if *name != "exports" { // exports sleep nearly all the time: they run side by side
			all.Wait()
		}
	}
	all.Wait()
}

// measured returns the columns of a group in random order. If only is not "", it returns the
// column of that name alone.
func measured(group, only string) []clients.Column {
	candidates := clients.All
	if group == "exports" || group == "requests" {
		candidates = clients.Exporting
	}

	var measured []clients.Column
	for _, i := range rand.Perm(len(candidates)) {
		if only == "" || only == candidates[i].Name {
			measured = append(measured, candidates[i])
		}
	}
	return measured
}

func report(row string, column clients.Column, value float64) {
	bench.Figure{Row: row, Column: column.Name, Value: value}.Print()
}

// inMemory measures what a call costs the client itself.
func inMemory(_ string, column clients.Column) error {
	for _, call := range callcost.All {
		if err := measureCall(call.Name, call, service.Standard(call.Response), column); err != nil {
			return err
		}
		if err := measureCall("wrapped "+call.Name, call, service.Wrapped(call.Response), column); err != nil {
			return err
		}
	}
	return nil
}

func measureCall(name string, call callcost.Call, transport http.RoundTripper, column clients.Column) error {
	client := column.New(callcost.Nowhere, transport)
	cost, err := callcost.Measure(call.Times, func() error { return call.Do(context.Background(), client) })
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	report(name+" allocations", column, cost.Allocations)
	report(name+" bytes", column, cost.Bytes)
	report(name+" cpu", column, cost.CPU)
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/callcost"
	"github.com/mintlify-community/mintlify-go/bench/clients"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const (
	exported     = 100_000 // rows, for counting requests
	exportedSlow = 25_000  // rows, with latency
	work         = 20 * time.Millisecond
	latency      = "/20ms"
	burstLatency = "/200ms" // all calls of a burst are in progress at once
	atOnce       = 1000     // calls
	waiting      = 10_000   // waits
)

type counter struct {
	next  http.RoundTripper
	count atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.next.RoundTrip(r)
}

// requests counts the requests of an export with the client's own page size.
func requests(_ string, column clients.Column) error {
	transport := &counter{next: service.New(exported)}
	client := column.New(callcost.Nowhere, transport)
	err := bench.Export(context.Background(), client, 0, column.Prefetch, func(bench.Row) {})
	report("requests", column, float64(transport.count.Load()))
	return err
}

// exports measures how long an export takes, without and with work on each page.
func exports(server string, column clients.Column) error {
	withoutWork, err := timeExport(server, column, 0)
	if err != nil {
		return err
	}
	report("seconds", column, withoutWork.Seconds())

	withWork, err := timeExport(server, column, work)
	if err != nil {
		return err
	}
	report("seconds with work", column, withWork.Seconds())
	return nil
}

// timeExport returns how long an export takes if the loop works that long on each page.
func timeExport(server string, column clients.Column, work time.Duration) (time.Duration, error) {
	client := column.New(server+latency, nil)
	rows := 0
	start := time.Now()
	err := bench.Export(context.Background(), client, bench.MaxLimit, column.Prefetch, func(bench.Row) {
		rows++
		if rows%bench.MaxLimit == 0 {
			time.Sleep(work)
		}
	})
	if err != nil {
		return 0, fmt.Errorf("after %d rows: %w", rows, err)
	}
	if rows != exportedSlow {
		return 0, fmt.Errorf("%d rows, want %d", rows, exportedSlow)
	}
	return time.Since(start), nil
}

// waits measures what a wait holds between two polls.
func waits(_ string, column clients.Column) error {
	transport := &counter{next: service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}}
	client := column.New(callcost.Nowhere, service.Standard(transport))
	ctx, cancel := context.WithCancel(context.Background())

	memory := bench.MemoryInUse()
	var all sync.WaitGroup
	for range waiting {
		all.Go(func() { _ = bench.Wait(ctx, client, "job_1") })
	}
	for transport.count.Load() < waiting {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond) // until all are done with their first poll
	report("wait bytes", column, float64(bench.MemoryInUse()-memory)/waiting)

	cancel()
	all.Wait()
	return nil
}

// burst makes many calls at once, twice. It counts those that fail and the connections
// they open, and measures what the idle connections hold.
func burst(server string, column clients.Column) error {
	client := column.New(server+burstLatency, nil)
	memory := bench.MemoryInUse()
	before, err := connections(server)
	if err != nil {
		return err
	}

	for _, wave := range []string{"first", "second"} {
		report(wave+" failures", column, float64(makeCalls(client)))

		time.Sleep(100 * time.Millisecond) // until the connections are idle
		report(wave+" idle bytes", column, float64(bench.MemoryInUse()-memory))

		after, err := connections(server)
		if err != nil {
			return err
		}
		report(wave+" connections", column, float64(after-before))
		before = after
	}
	return nil
}

// makeCalls returns how many of the calls failed.
func makeCalls(client bench.Client) int64 {
	var all sync.WaitGroup
	var failures atomic.Int64
	for range atOnce {
		all.Go(func() {
			if _, err := client.Create(context.Background(), "Fix the typos"); err != nil {
				failures.Add(1)
			}
		})
	}
	all.Wait()
	return failures.Load()
}

// control is on one connection, opened before connections are first counted.
var control = &http.Client{Transport: &http.Transport{}}

// connections returns how many connections the server has accepted.
func connections(server string) (int64, error) {
	response, err := control.Get(server + "/connections")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()

	var n int64
	if err := json.NewDecoder(response.Body).Decode(&n); err != nil {
		return 0, err
	}
	return n, nil
}

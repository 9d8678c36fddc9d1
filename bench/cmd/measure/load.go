package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const (
	exported     = 100_000 // rows
	work         = 20 * time.Millisecond
	manyWaits    = 10_000
	gets         = 1000
	roundTrip    = "/20ms"
	slowResponse = "/500ms" // long enough for all requests of a wave to be under way at once
	betweenPolls = 500 * time.Millisecond
)

// counter is a transport that counts requests.
type counter struct {
	next  http.RoundTripper
	count atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.next.RoundTrip(r)
}

// requests counts those of an export, with the column's own page size and with
// the largest.
func requests(_ string, column columns.Column) error {
	svc := service.New(exported)
	for row, limit := range map[string]int{"requests": 0, "requests of largest pages": bench.MaxLimit} {
		transport := &counter{next: svc}
		if err := column.New(nowhere, transport).Export(context.Background(), limit, func(bench.Row) {}); err != nil {
			return err
		}
		report(row, column, float64(transport.count.Load()))
	}
	return nil
}

// exportSideBySide exports with all columns at once, since they sleep nearly all of
// the time: one after the other would take six times as long.
func exportSideBySide(server string) {
	var all sync.WaitGroup
	for _, column := range append(slices.Clip(columns.All), columns.Prefetching) {
		all.Go(func() {
			rows, start := 0, time.Now()
			err := column.New(server+roundTrip, nil).Export(context.Background(), bench.MaxLimit, func(bench.Row) {
				if rows++; rows%bench.MaxLimit == 0 {
					time.Sleep(work)
				}
			})
			if err != nil || rows < exported {
				log.Fatalf("exports: %s: %d rows, %v", column.Name, rows, err)
			}
			report("export seconds", column, time.Since(start).Seconds())
		})
	}
	all.Wait()
}

// waits measures what a wait holds between two polls.
func waits(_ string, column columns.Column) error {
	transport := &counter{next: service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}}
	client := column.New(nowhere, transport)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	memory, goroutines := bench.MemoryInUse(), runtime.NumGoroutine()
	var all sync.WaitGroup
	for range manyWaits {
		all.Go(func() { _ = client.Wait(ctx, "job_1") })
	}
	for transport.count.Load() < manyWaits {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(betweenPolls) // each is done with its first poll
	report("goroutines a wait", column, float64(runtime.NumGoroutine()-goroutines)/manyWaits)
	report("bytes a wait", column, float64(bench.MemoryInUse()-memory)/manyWaits)
	cancel()
	all.Wait()
	return nil
}

// connections counts those that a second wave of requests opens anew, and what the
// first wave's hold in between.
func connections(server string, column columns.Column) error {
	client := column.New(server+slowResponse, nil)
	memory := bench.MemoryInUse()
	if err := wave(client); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // until the connections are back in their pool
	report("bytes kept", column, float64(bench.MemoryInUse()-memory))
	before, err := opened(server)
	if err != nil {
		return err
	}
	if err := wave(client); err != nil {
		return err
	}
	after, err := opened(server)
	if err != nil {
		return err
	}
	report("new connections", column, float64(after-before))
	return nil
}

func wave(client bench.Client) error {
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	for range gets {
		all.Go(func() {
			if _, err := client.Get(context.Background(), "job_1"); err != nil {
				failed.Store(&err)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// control queries the server itself, on one connection that is open before
// connections are first counted.
var control = &http.Client{Transport: &http.Transport{}}

// opened is how many connections the server has accepted so far.
func opened(server string) (n int, err error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server+"/connections", nil)
	if err != nil {
		return 0, err
	}
	resp, err := control.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&n); err != nil {
		return 0, fmt.Errorf("connections: %w", err)
	}
	return n, nil
}

package main

import (
	"context"
	"log"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const (
	exported     = 100_000 // rows, where requests are counted
	exportedSlow = 25_000  // where they take their time
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

// exportSideBySide exports with all columns at once, with work and without, since they
// sleep nearly all of the time: one after the other would take many times as long.
func exportSideBySide(server string) {
	var all sync.WaitGroup
	for _, column := range columns.Exporting {
		for row, work := range map[string]time.Duration{"seconds with work": work, "seconds without work": 0} {
			all.Go(func() {
				rows, start := 0, time.Now()
				err := column.New(server+roundTrip, nil).Export(context.Background(), bench.MaxLimit, func(bench.Row) {
					if rows++; rows%bench.MaxLimit == 0 {
						time.Sleep(work)
					}
				})
				if err != nil || rows != exportedSlow {
					log.Fatalf("exports: %s: %d rows, %v", column.Name, rows, err)
				}
				report(row, column, time.Since(start).Seconds())
			})
		}
	}
	all.Wait()
}

// waits measures what a wait holds between two polls.
func waits(_ string, column columns.Column) error {
	transport := &counter{next: service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}}
	goroutines := runtime.NumGoroutine()
	end := wait(column.New(nowhere, service.Standard(transport)), "bytes a wait", column, manyWaits, func() (int64, error) { return transport.count.Load(), nil })
	report("goroutines a wait", column, float64(runtime.NumGoroutine()-goroutines)/manyWaits)
	return end()
}

// polls measures what a wait over a socket holds between two polls, its share of the
// connections included.
func polls(server string, column columns.Column) error {
	before, err := ask(server, "requests")
	if err != nil {
		return err
	}
	return wait(column.New(server, nil), "socket bytes a wait", column, gets, func() (int64, error) {
		now, err := ask(server, "requests")
		return now - before, err
	})()
}

// wait has n waits at once, and reports what one holds once each has made its first poll,
// of which polled tells. The function it returns ends them.
func wait(client bench.Client, row string, column columns.Column, n int, polled func() (int64, error)) (end func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	memory := bench.MemoryInUse()
	var all sync.WaitGroup
	for range n {
		all.Go(func() { _ = client.Wait(ctx, "job_1") })
	}
	var count int64
	var err error
	for count < int64(n) && err == nil {
		time.Sleep(10 * time.Millisecond)
		count, err = polled()
	}
	time.Sleep(betweenPolls) // each is done with its first poll
	report(row, column, float64(bench.MemoryInUse()-memory)/float64(n))
	return func() error {
		cancel()
		all.Wait()
		return err
	}
}

// connections counts those that two waves of requests open, and what the first wave's
// hold in between.
func connections(server string, column columns.Column) error {
	client := column.New(server+slowResponse, nil)
	memory := bench.MemoryInUse()
	var opened [3]int64
	for i := range opened {
		var err error
		if opened[i], err = ask(server, "connections"); err != nil {
			return err
		}
		if i == 2 {
			break
		}
		if err = wave(client); err != nil {
			return err
		}
		if i == 0 {
			time.Sleep(100 * time.Millisecond) // until the connections are back in their pool
			report("bytes kept", column, float64(bench.MemoryInUse()-memory))
		}
	}
	report("first connections", column, float64(opened[1]-opened[0]))
	report("new connections", column, float64(opened[2]-opened[1]))
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

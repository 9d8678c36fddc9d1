package main

import (
	"context"
	"net/http"
	"runtime"
	"syscall"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const nowhere = "http://127.0.0.1:1" // for columns on a transport in memory

// operation is a call that is repeated.
type operation struct {
	name     string
	times    int
	response service.Fixed
	call     func(context.Context, bench.Client) error
}

var (
	page = operation{"page", 1000, service.Fixed{Status: http.StatusOK, Body: service.FirstPage()}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Page(ctx, 0, bench.MaxLimit, func(bench.Row) {})
		return err
	}}
	get = operation{"get", 20_000, service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Get(ctx, "job_1")
		return err
	}}
	create = operation{"create", 20_000, service.Fixed{Status: http.StatusCreated, Body: []byte(service.JobBody)}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Create(ctx, "The CLI has a new flag, --json. Update its page.")
		return err
	}}
	searches = operation{"searches", 1000, service.Fixed{Status: http.StatusOK, Body: service.SearchesPage()}, func(ctx context.Context, c bench.Client) error {
		return c.Searches(ctx, bench.SearchesLimit, func(bench.Search) {})
	}}
	conversations = operation{"conversations", 50, service.Fixed{Status: http.StatusOK, Body: service.ConversationsPage()}, func(ctx context.Context, c bench.Client) error {
		return c.Conversations(ctx, bench.ConversationsLimit, func(bench.Conversation) {})
	}}
)

// operations measures what one call costs, on the transport that users have but for its
// sockets.
func operations(_ string, column columns.Column) error {
	return inMemory(column, page, get, create)
}

// others measures what pages of other exports cost.
func others(_ string, column columns.Column) error {
	return inMemory(column, searches, conversations)
}

func inMemory(column columns.Column, operations ...operation) error {
	for _, op := range operations {
		if err := op.repeat(op.name, op.times, column, column.New(nowhere, service.Standard(op.response))); err != nil {
			return err
		}
	}
	return nil
}

// foreign measures calls on a transport that is not net/http's.
func foreign(_ string, column columns.Column) error {
	for _, op := range []operation{get, create} {
		if err := op.repeat("foreign "+op.name, op.times/10, column, column.New(nowhere, op.response)); err != nil {
			return err
		}
	}
	return nil
}

// calls measures calls over a socket.
func calls(server string, column columns.Column) error {
	client := column.New(server, nil)
	for _, op := range []operation{page, get, create} {
		if err := op.repeat("socket "+op.name, min(op.times, 2000), column, client); err != nil {
			return err
		}
	}
	return nil
}

// repeat reports what a call costs the process: time on all its cores, so that
// collecting the garbage is in it, and not what other processes do.
func (op operation) repeat(name string, times int, column columns.Column, client bench.Client) error {
	repeat := func(times int) error {
		for range times {
			if err := op.call(context.Background(), client); err != nil {
				return err
			}
		}
		return nil
	}
	if err := repeat(times / 10); err != nil { // fills pools and caches
		return err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	if err := repeat(times); err != nil {
		return err
	}
	spent := cpuTime() - start
	runtime.ReadMemStats(&after)
	report(name+" cpu", column, float64(spent.Nanoseconds())/float64(times))
	report(name+" bytes", column, float64(after.TotalAlloc-before.TotalAlloc)/float64(times))
	report(name+" allocations", column, float64(after.Mallocs-before.Mallocs)/float64(times))
	return nil
}

// cpuTime is what the process has used on all cores, user and system.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // only for arguments that are not valid
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

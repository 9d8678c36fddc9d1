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

var allOperations = []struct {
	name     string
	times    int
	response service.Fixed
	call     func(context.Context, bench.Client) error
}{
	{"page", 1000, service.Fixed{Status: http.StatusOK, Body: service.FirstPage()}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Page(ctx, 0, bench.MaxLimit, func(bench.Row) {})
		return err
	}},
	{"get", 20_000, service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Get(ctx, "job_1")
		return err
	}},
	{"create", 20_000, service.Fixed{Status: http.StatusCreated, Body: []byte(service.JobBody)}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Create(ctx, "The CLI has a new flag, --json. Update its page.")
		return err
	}},
}

// operations measures what one call costs the process: time on all its cores, so
// that collecting the garbage is in it, and not what other processes do.
func operations(_ string, column columns.Column) error {
	for _, op := range allOperations {
		client := column.New(nowhere, op.response)
		repeat := func(times int) error {
			for range times {
				if err := op.call(context.Background(), client); err != nil {
					return err
				}
			}
			return nil
		}
		if err := repeat(op.times / 10); err != nil { // fills pools and caches
			return err
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpuTime()
		if err := repeat(op.times); err != nil {
			return err
		}
		spent := cpuTime() - start
		runtime.ReadMemStats(&after)
		times := float64(op.times)
		report(op.name+" cpu", column, float64(spent.Nanoseconds())/times)
		report(op.name+" bytes", column, float64(after.TotalAlloc-before.TotalAlloc)/times)
		report(op.name+" allocations", column, float64(after.Mallocs-before.Mallocs)/times)
	}
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

// Package calls measures what one call of a client costs.
package calls

import (
	"context"
	"net/http"
	"runtime"
	"syscall"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// Nowhere is the base URL of clients whose transport is in memory.
const Nowhere = "http://127.0.0.1:1"

// Call is a call and the service's response to it.
type Call struct {
	Name     string
	Times    int // to repeat it for a figure
	Response service.Fixed
	Do       func(context.Context, bench.Client) error
}

// All are the calls that are measured.
var All = []Call{
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

// Cost is what one call costs the process.
type Cost struct {
	Allocations, Bytes float64
	CPU                float64 // nanoseconds on all cores, those of collecting the garbage included
	Clock              time.Duration
}

// Measure returns the average cost of do over so many times.
func Measure(times int, do func() error) (Cost, error) {
	for range 1 + times/10 { // fills pools and caches
		if err := do(); err != nil {
			return Cost{}, err
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, began := cpuTime(), time.Now()
	for range times {
		if err := do(); err != nil {
			return Cost{}, err
		}
	}
	spent, clock := cpuTime()-start, time.Since(began)
	runtime.ReadMemStats(&after)
	n := float64(times)
	return Cost{float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n, spent / n, clock / time.Duration(times)}, nil
}

// cpuTime is the user and system time of the process so far, in nanoseconds. On a busy
// machine it says more than a clock.
func cpuTime() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // only invalid arguments fail
	}
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

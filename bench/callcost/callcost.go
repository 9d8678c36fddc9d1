// Package callcost measures what one call of a client costs.
package callcost

import (
	"context"
	"net/http"
	"runtime"
	"syscall"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// Nowhere is the base URL of clients whose transport is in memory.
const Nowhere = "http://127.0.0.1:1"

// Call is a call and the service's response to it.
type Call struct {
	// Name is the name of the call in the table.
	Name string
	// Times is how often a figure repeats the call.
	Times int
	// Response is the service's response.
	Response service.Fixed
	// Do makes the call.
	Do func(context.Context, bench.Client) error
}

// All are the calls that are measured.
var All = []Call{
	{
		Name:     "page",
		Times:    1000,
		Response: service.Fixed{Status: http.StatusOK, Body: service.FirstPage()},
		Do: func(ctx context.Context, c bench.Client) error {
			_, err := c.Page(ctx, 0, bench.MaxLimit, func(bench.Row) {})
			return err
		},
	},
	{
		Name:     "get",
		Times:    20_000,
		Response: service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)},
		Do: func(ctx context.Context, c bench.Client) error {
			_, err := c.Get(ctx, "job_1")
			return err
		},
	},
	{
		Name:     "create",
		Times:    20_000,
		Response: service.Fixed{Status: http.StatusCreated, Body: []byte(service.JobBody)},
		Do: func(ctx context.Context, c bench.Client) error {
			_, err := c.Create(ctx, "The CLI has a new flag, --json. Update its page.")
			return err
		},
	},
}

// Cost is what one call costs the process.
type Cost struct {
	// Allocations is the number of allocations.
	Allocations float64
	// Bytes is the number of bytes allocated.
	Bytes float64
	// CPU is the time in nanoseconds on all cores, with the time to collect the garbage.
	CPU float64
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
	cpuBefore := CPUTime()
	for range times {
		if err := do(); err != nil {
			return Cost{}, err
		}
	}
	cpu := CPUTime() - cpuBefore
	runtime.ReadMemStats(&after)

	n := float64(times)
	cost := Cost{
		Allocations: float64(after.Mallocs-before.Mallocs) / n,
		Bytes:       float64(after.TotalAlloc-before.TotalAlloc) / n,
		CPU:         cpu / n,
	}
	return cost, nil
}

// CPUTime returns the user and system time of the process so far, in nanoseconds. On a busy
// machine it says more than a clock.
func CPUTime() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // only invalid arguments fail
	}
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

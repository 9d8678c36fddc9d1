// Package bench compares the SDK with its alternatives. docs/performance.md says how to run its
// benchmarks, and what they showed. go generate makes the code of two clients, with the versions in
// go.mod; until then packages that import them do not compile.
package bench

import (
	"context"
	"net/http"
	"runtime"
	"syscall"
	"time"
)

// Every client authenticates with Key and works on Project.
const (
	Key     = "mint_bench"
	Project = "proj"
)

const (
	// DefaultLimit is the number of rows in a page if the request has no limit.
	DefaultLimit = 50
	// MaxLimit is the most rows in a page.
	MaxLimit = 250
	// PollInterval is the time between two polls of a wait written by hand.
	PollInterval = 10 * time.Second
)

// Client is what all clients can do. Each client decodes into its own types, and passes the
// values on by value, which costs no allocation.
type Client interface {
	// Get returns a job.
	Get(ctx context.Context, id string) (Job, error)
	// Create creates a job.
	Create(ctx context.Context, prompt string) (Job, error)
	// Page calls visit for each row of a page, and returns whether there are more pages.
	Page(ctx context.Context, offset, limit int, visit func(Row)) (bool, error)
}

// Exporter is a client with an export and a wait of its own.
type Exporter interface {
	// Export calls visit for each row of an export.
	Export(ctx context.Context, limit, prefetch int, visit func(Row)) error
	// Wait polls until the job is done.
	Wait(ctx context.Context, id string) error
}

// New makes a client. It uses its own default transport if transport is nil.
type New func(baseURL string, transport http.RoundTripper) Client

// Row is a row of the export.
type Row struct {
	Path             string
	Human, AI, Total int64
}

// Job is a job.
type Job struct {
	ID, Status, Repository, PRLink string
	CreatedAt                      time.Time
}

// Export calls visit for each row of an export, by the client's own means if it has
// them. With limit 0 the client, else the service, chooses the page size.
func Export(ctx context.Context, c Client, limit, prefetch int, visit func(Row)) error {
	if exporter, ok := c.(Exporter); ok {
		return exporter.Export(ctx, limit, prefetch, visit)
	}

	step := limit
	if step == 0 {
		step = DefaultLimit
	}
	for offset := 0; ; offset += step {
		hasMore, err := c.Page(ctx, offset, limit, visit)
		if err != nil || !hasMore {
			return err
		}
	}
}

// Wait polls until the job is done, by the client's own means if it has them.
func Wait(ctx context.Context, c Client, id string) error {
	if exporter, ok := c.(Exporter); ok {
		return exporter.Wait(ctx, id)
	}
	return poll(ctx, c, id)
}

// poll is the wait that one writes by hand. Its frame must not count in the memory of
// an Exporter's wait.
func poll(ctx context.Context, c Client, id string) error {
	ticker := time.NewTicker(PollInterval)
	defer ticker.Stop()

	for {
		job, err := c.Get(ctx, id)
		if err != nil || job.Status != "active" {
			return err
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// MemoryInUse collects the garbage and returns the bytes of heap and stacks.
func MemoryInUse() int64 {
	runtime.GC()
	runtime.GC() // the second run empties the pools, too
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}

// Cost is what one call costs the process: allocations, bytes allocated, and nanoseconds of CPU on all cores, those
// to collect the garbage included.
type Cost struct{ Allocations, Bytes, CPU float64 }

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

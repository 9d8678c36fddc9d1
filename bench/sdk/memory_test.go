//go:build !race

// The race detector allocates too, so these tests are left out under it.

package sdk

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// memory is what a call may take.
type memory struct{ allocations, bytes int64 }

// ceilings are of one call, the transport's share included: what it takes now and a
// little more, since Go's own share varies from release to release. On a transport that is
// not net/http's, a body is read in goroutines of their own: it may heed neither its
// context nor Close.
var ceilings = []struct {
	name              string
	standard, foreign memory
	response          service.Fixed
	call              func(context.Context, bench.Client) error
}{
	{"Get", memory{51, 4300}, memory{70, 5700}, service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Get(ctx, "job_1")
		return err
	}},
	{"Create", memory{62, 4900}, memory{79, 6000}, service.Fixed{Status: http.StatusCreated, Body: []byte(service.JobBody)}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Create(ctx, "Fix the typos")
		return err
	}},
	{"Page", memory{308, 21_500}, memory{330, 42_000}, service.Fixed{Status: http.StatusOK, Body: service.FirstPage()}, func(ctx context.Context, c bench.Client) error {
		_, err := c.Page(ctx, 0, bench.MaxLimit, func(bench.Row) {})
		return err
	}},
}

func TestAllocationsStayUnderTheirCeilings(t *testing.T) {
	for _, op := range ceilings {
		for name, on := range map[string]struct {
			transport http.RoundTripper
			most      memory
		}{"standard": {service.Standard(op.response), op.standard}, "foreign": {op.response, op.foreign}} {
			t.Run(op.name+" "+name, func(t *testing.T) {
				client := New("http://127.0.0.1:1", on.transport)
				result := testing.Benchmark(func(b *testing.B) {
					for b.Loop() {
						if err := op.call(b.Context(), client); err != nil {
							b.Fatal(err)
						}
					}
				})
				t.Log(result.MemString())
				if result.N == 0 {
					t.Fatal("the call failed")
				}
				if result.AllocsPerOp() > on.most.allocations || result.AllocedBytesPerOp() > on.most.bytes {
					t.Errorf("more than the %d B and %d allocations that are written down", on.most.bytes, on.most.allocations)
				}
			})
		}
	}
}

// A row of feedback takes 176 bytes for its eleven fields, and encoding/json takes as much
// again for a text with an escape, as the responses of conversations have. All else costs
// what visitors do.
func TestAPageOfAnyExportAllocatesInProportionToVisitors(t *testing.T) {
	all := exports()
	visitors := bytesOf(t, all[0])
	for _, export := range all {
		ratio := bytesOf(t, export) / visitors
		t.Logf("%s: %.2f", export.name, ratio)
		if ratio > export.memory {
			t.Errorf("a page of %s allocates %.2f times the bytes of one of visitors, more than %.2f", export.name, ratio, export.memory)
		}
	}
}

// bytesOf is what a page allocates.
func bytesOf(t *testing.T, export export) float64 {
	const pages = 200
	analytics := export.analytics()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range pages {
		if err := export.get(t.Context(), analytics); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / pages
}

func TestAWaitStaysSmallBetweenItsPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waits, most = 2000, 8000
		client := New("http://127.0.0.1:1", service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		memory := bench.MemoryInUse()
		for range waits {
			all.Go(func() { _ = client.Wait(ctx, "job_1") })
		}
		synctest.Wait() // each has made its first poll
		each := (bench.MemoryInUse() - memory) / waits
		t.Logf("%d bytes a wait", each)
		if each > most {
			t.Errorf("%d bytes of heap and stack a wait, more than %d", each, most)
		}
		cancel()
		all.Wait()
	})
}

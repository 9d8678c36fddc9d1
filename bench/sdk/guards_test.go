//go:build !race

// The race detector allocates too, so these tests do not run under it.

package sdk

import (
	"context"
	"math"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/calls"
	"github.com/mintlify-community/mintlify-go/bench/loop"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// most is what a call may cost, as a ratio to the hand-written loop.
var most = map[string]calls.Cost{
	"get":    {Allocations: 1.48, Bytes: math.Inf(1), CPU: math.Inf(1)},
	"create": {Allocations: 1.55, Bytes: math.Inf(1), CPU: math.Inf(1)},
	"page":   {Allocations: math.Inf(1), Bytes: 0.52, CPU: 1.1},
}

func TestCallsCostNotMuchMoreThanTheLoops(t *testing.T) {
	for _, call := range calls.All {
		for name, transport := range map[string]http.RoundTripper{
			"standard": service.Standard(call.Response), "wrapped": service.Wrapped(call.Response), "in memory": call.Response,
		} {
			t.Run(call.Name+" "+name, func(t *testing.T) {
				var ratio calls.Cost
				most, within := most[call.Name], false
				for attempt := 0; attempt < 5 && !within; attempt++ { // CPU differs on a busy machine
					ratio = toLoop(t, call, transport)
					within = ratio.Allocations <= most.Allocations && ratio.Bytes <= most.Bytes && ratio.CPU <= most.CPU
				}
				t.Logf("to the loop: allocations %.2f, bytes %.2f, CPU %.2f", ratio.Allocations, ratio.Bytes, ratio.CPU)
				assert.True(t, within, "want at most %+v", most)
			})
		}
	}
}

// toLoop returns what a call costs, as a ratio to the loop. Both are measured in turns, and
// the least counts, since whatever else the machine does only adds to it.
func toLoop(t *testing.T, call calls.Call, transport http.RoundTripper) (ratio calls.Cost) {
	ours, theirs := New(calls.Nowhere, transport), loop.New(calls.Nowhere, transport)
	cpu := map[bench.Client]float64{ours: math.Inf(1), theirs: math.Inf(1)}
	cost := map[bench.Client]calls.Cost{}
	for range 5 {
		for client := range cpu {
			measured, err := calls.Measure(call.Times/10, func() error { return call.Do(t.Context(), client) })
			require.NoError(t, err)
			cost[client], cpu[client] = measured, min(cpu[client], measured.CPU)
		}
	}
	return calls.Cost{
		Allocations: cost[ours].Allocations / cost[theirs].Allocations,
		Bytes:       cost[ours].Bytes / cost[theirs].Bytes,
		CPU:         cpu[ours] / cpu[theirs],
	}
}

func TestAWaitStaysSmallBetweenItsPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waits, most = 2000, 8000
		client := New(calls.Nowhere, service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		memory := bench.MemoryInUse()
		for range waits {
			all.Go(func() { _ = bench.Wait(ctx, client, "job_1") })
		}
		synctest.Wait() // each has made its first poll
		each := (bench.MemoryInUse() - memory) / waits
		t.Logf("%d bytes a wait", each)
		assert.LessOrEqual(t, each, int64(most), "heap and stack of a wait, in bytes")
		cancel()
		all.Wait()
	})
}

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
	"github.com/mintlify-community/mintlify-go/bench/byhand"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// most is what a call may cost, as a ratio to the client written by hand.
var most = map[string]bench.Cost{
	"get":    {Allocations: 1.48, Bytes: math.Inf(1), CPU: math.Inf(1)},
	"create": {Allocations: 1.55, Bytes: math.Inf(1), CPU: math.Inf(1)},
	"page":   {Allocations: math.Inf(1), Bytes: 0.52, CPU: 1.1},
}

func TestCallsCostNotMuchMoreThanByHand(t *testing.T) {
	for _, call := range service.Calls {
		for name, transport := range map[string]http.RoundTripper{
			"standard":  service.Standard(call.Response),
			"wrapped":   service.Wrapped(call.Response),
			"in memory": call.Response,
		} {
			t.Run(call.Name+" "+name, func(t *testing.T) { requireCost(t, call, transport, most[call.Name]) })
		}
	}
}

// requireCost measures up to five times, since CPU differs on a busy machine.
func requireCost(t *testing.T, call service.Call, transport http.RoundTripper, most bench.Cost) {
	for range 5 {
		ratio := ratioToByHand(t, call, transport)
		t.Logf("to the client by hand: allocations %.2f, bytes %.2f, CPU %.2f", ratio.Allocations, ratio.Bytes, ratio.CPU)
		if ratio.Allocations <= most.Allocations && ratio.Bytes <= most.Bytes && ratio.CPU <= most.CPU {
			return
		}
	}
	t.Errorf("want at most %+v", most)
}

// ratioToByHand returns what a call costs, as a ratio to the client by hand. Both are measured
// in turns, and the least CPU counts, since everything else that the machine does only adds to it.
func ratioToByHand(t *testing.T, call service.Call, transport http.RoundTripper) bench.Cost {
	ours := New(service.Nowhere, transport)
	theirs := byhand.New(service.Nowhere, transport)
	ourCost := bench.Cost{CPU: math.Inf(1)}
	theirCost := bench.Cost{CPU: math.Inf(1)}
	for range 5 {
		ourCost = measureAgain(t, call, ours, ourCost.CPU)
		theirCost = measureAgain(t, call, theirs, theirCost.CPU)
	}

	return bench.Cost{
		Allocations: ourCost.Allocations / theirCost.Allocations,
		Bytes:       ourCost.Bytes / theirCost.Bytes,
		CPU:         ourCost.CPU / theirCost.CPU,
	}
}

// measureAgain returns what a call costs. Its CPU is at most the one measured before.
func measureAgain(t *testing.T, call service.Call, client bench.Client, cpuBefore float64) bench.Cost {
	cost, err := bench.Measure(call.Times/10, func() error { return call.Do(t.Context(), client) })
	require.NoError(t, err)
	cost.CPU = min(cost.CPU, cpuBefore)
	return cost
}

func TestAWaitStaysSmallBetweenItsPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waits, most = 2000, 8000
		client := New(service.Nowhere, service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)})
		ctx, cancel := context.WithCancel(t.Context())

		var all sync.WaitGroup
		memory := bench.MemoryInUse()
		for range waits {
			all.Go(func() { _ = bench.Wait(ctx, client, "job_1") })
		}
		synctest.Wait() // until each has made its first poll
		each := (bench.MemoryInUse() - memory) / waits
		t.Logf("%d bytes a wait", each)
		assert.LessOrEqual(t, each, int64(most), "heap and stack of a wait, in bytes")

		cancel()
		all.Wait()
	})
}

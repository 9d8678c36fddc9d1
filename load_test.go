//go:build !race

// The race detector's own memory would be counted too.

package mintlify_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

const (
	mebibyte   = 1 << 20
	withoutEnd = 1 << 30 // bytes of a body that is never read to its end
)

// hostileBody is a body of start, and unit over and over up to size bytes, and end.
type hostileBody struct {
	name             string
	op               mintlify.Operation
	status           int
	start, unit, end string
	size             int
}

// body is made while it is read, or it would be measured itself.
func (h hostileBody) body() io.Reader {
	many := repeated(h.unit, 1+4096/len(h.unit))
	size := h.size - h.size%len(h.unit)
	return io.MultiReader(strings.NewReader(h.start), io.LimitReader(many, int64(size)), strings.NewReader(h.end))
}

// hostileBodies returns the bodies that cost the most memory per byte read.
func hostileBodies() []hostileBody {
	const (
		most        = 10*mebibyte - 1000
		mostOfError = 255 << 10
		mostOfJob   = mebibyte - 1000

		visitors      = `{"totals":{},"hasMore":true,"visitors":[{`
		searches      = `{"totalSearches":1,"searches":[{`
		conversations = `{"hasMore":false,"conversations":[{`
		feedback      = `{"hasMore":false,"feedback":[{`
		deployment    = `{"_id":"d","status":"queued"`
	)

	return []hostileBody{
		{
			name: "404 without end", op: mintlify.OpGetJob,
			status: 404, unit: "no such job ", size: withoutEnd,
		},
		{
			name: "404 of details", op: mintlify.OpGetJob,
			status: 404, start: `{"details":[0`, unit: ",0", end: "]}", size: most,
		},
		{
			name: "404 of details that are read", op: mintlify.OpGetJob,
			status: 404, start: `{"details":[0`, unit: ",0", end: "]}", size: mostOfError,
		},
		{
			name: "502 of tags", op: mintlify.OpGetJob,
			status: 502, start: "<html><body>", unit: "<p", size: withoutEnd,
		},
		{
			name: "502 of <", op: mintlify.OpGetJob,
			status: 502, start: "<html>", unit: "<", size: withoutEnd,
		},
		{
			name: "400 of %", op: mintlify.OpGetJob,
			status: 400, unit: "%", size: withoutEnd,
		},
		{
			name: "400 of an escaped message", op: mintlify.OpGetJob,
			status: 400, start: `{"error":"`, unit: `\u006d`, end: `"}`, size: mostOfError,
		},
		{
			name: "2xx without end", op: mintlify.OpGetJob,
			status: 200, unit: " ", size: withoutEnd,
		},
		{
			name: "job of %", op: mintlify.OpGetJob,
			status: 200, unit: "%", size: mostOfJob,
		},
		{
			name: "job of <", op: mintlify.OpGetJob,
			status: 200, start: "<html>", unit: "<", size: mostOfJob,
		},
		{
			name: "job of [", op: mintlify.OpGetJob,
			status: 200, unit: "[", size: mostOfJob,
		},
		{
			name: "job of nested objects", op: mintlify.OpGetJob,
			status: 200, unit: `{"id":`, size: mostOfJob,
		},
		{
			name: "job of one long id", op: mintlify.OpGetJob,
			status: 200, start: `{"status":"active","id":"`, unit: "x", end: `"}`, size: mostOfJob,
		},
		{
			name: "job of one long number", op: mintlify.OpGetJob,
			status: 200, start: `{"id":"j","status":1`, unit: "9", end: "}", size: mostOfJob,
		},
		{
			name: "job of many fields", op: mintlify.OpGetJob,
			status: 200, start: `{"id":"j","status":"active"`, unit: `,"a":0`, end: "}", size: mostOfJob,
		},
		{
			name: "job of many fields, truncated", op: mintlify.OpCreateJob,
			status: 201, start: `{"id":"j","status":"active"`, unit: `,"a":0`, size: mostOfJob,
		},
		{
			name: "job of many links, truncated", op: mintlify.OpCreateJob,
			status: 201, start: `{"id":"j"`, unit: `,"prLink":"` + strings.Repeat("x", 1000) + `"`, size: mostOfJob,
		},
		{
			name: "job of one long id, truncated", op: mintlify.OpCreateJob,
			status: 201, start: `{"status":"active","id":"`, unit: "x", size: mostOfJob,
		},
		{
			name: "visitors of empty rows", op: mintlify.OpGetVisitors,
			status: 200, start: visitors + "}", unit: ",{}", end: "]}", size: most,
		},
		{
			name: "visitors of null", op: mintlify.OpGetVisitors,
			status: 200, start: visitors + "}", unit: ",null", end: "]}", size: most,
		},
		{
			name: "visitors of one long path", op: mintlify.OpGetVisitors,
			status: 200, start: visitors + `"path":"`, unit: "x", end: `"}]}`, size: most,
		},
		{
			name: "visitors of one long path, rounded", op: mintlify.OpGetVisitors,
			status: 200, start: visitors + `"ai":0.5,"path":"`, unit: "x", end: `"}]}`, size: most,
		},
		{
			name: "visitors of one long number", op: mintlify.OpGetVisitors,
			status: 200, start: visitors + `"ai":0.`, unit: "5", end: "}]}", size: most,
		},
		{
			name: "searches of empty rows", op: mintlify.OpGetSearches,
			status: 200, start: searches + "}", unit: ",{}", end: "]}", size: most,
		},
		{
			name: "searches of one long number", op: mintlify.OpGetSearches,
			status: 200, start: searches + `"ctr":1e`, unit: "9", end: "}]}", size: most,
		},
		{
			name: "conversations of one long title", op: mintlify.OpGetConversations,
			status: 200, start: conversations + `"sources":[{"title":"`, unit: "x", end: `"}]}]}`, size: most,
		},
		{ // a whole response of these takes 80 times as much
			name: "conversations of empty rows", op: mintlify.OpGetConversations,
			status: 200, start: conversations + "}", unit: ",{}", end: "]}", size: mebibyte / 8,
		},
		{
			name: "feedback of empty rows", op: mintlify.OpGetFeedback,
			status: 200, start: feedback + "}", unit: ",{}", end: "]}", size: mebibyte / 8,
		},
		{
			name: "deployment of many lists", op: mintlify.OpGetDeployment,
			status: 200, start: deployment, unit: `,"logs":["",""]`, end: "}", size: most,
		},
		{
			name: "deployment of one long line", op: mintlify.OpGetDeployment,
			status: 200, start: deployment + `,"logs":["`, unit: "x", end: `"]}`, size: most,
		},
	}
}

// cost is the memory that something takes.
type cost struct {
	live      uint64 // the most in use at a time, beyond what was in use before
	allocated uint64 // in all
}

// memory returns the memory in use, and what has been allocated since the program began.
func memory() cost {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return cost{live: samples[0].Value.Uint64(), allocated: samples[1].Value.Uint64()}
}

// costOf runs f and returns what it costs. The collector runs so often that little garbage is
// counted.
func costOf(f func()) cost {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	before := memory()

	stop := make(chan struct{})
	highest := make(chan uint64)
	go func() {
		most := before.live
		for {
			select {
			case <-stop:
				highest <- most
				return
			case <-time.After(100 * time.Microsecond):
				most = max(most, memory().live)
			}
		}
	}()

	f()
	after := memory()
	close(stop)
	most := max(<-highest, after.live)
	return cost{live: most - before.live, allocated: after.allocated - before.allocated}
}

// hostileService responds with a body and calls whole at its end.
func hostileService(h hostileBody, whole func()) transport {
	return func(*http.Request) (*http.Response, error) {
		end := reading(func([]byte) (int, error) {
			whole()
			return 0, io.EOF
		})
		resp := response(h.status, "")
		resp.Body = io.NopCloser(io.MultiReader(h.body(), end))
		return resp, nil
	}
}

// TestNothingHostileCostsMuchMemory logs what docs/load.md has, besides what it asserts.
func TestNothingHostileCostsMuchMemory(t *testing.T) {
	for _, tc := range hostileBodies() {
		t.Run(tc.name, func(t *testing.T) {
			if tc.size < withoutEnd {
				skipUnlessLong(t)
			}

			client := newClient(t, hostileService(tc, func() {}), mintlify.WithMaxRetries(0))
			var err error
			cost := costOf(func() { err = operations.Get(tc.op).Do(t.Context(), client) })
			assert.LessOrEqual(t, cost.live, uint64(64*mebibyte))
			if err != nil {
				assertReadable(t, err)
			}

			past := timePastTheEnd(t, tc)
			t.Logf("| %s | %s | %d MiB | %d MiB | %s |",
				tc.name, tc.op, cost.live/mebibyte, cost.allocated/mebibyte, past)
		})
	}
}

// timePastTheEnd returns how long a call goes on whose context ends with the body, or "—" if
// the call ends before the body does.
func timePastTheEnd(t *testing.T, h hostileBody) string {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	end := time.Now()
	rt := hostileService(h, func() {
		end = time.Now()
		cancel()
	})
	_ = operations.Get(h.op).Do(ctx, newClient(t, rt, mintlify.WithMaxRetries(0)))
	if ctx.Err() == nil {
		return "—"
	}
	return fmt.Sprintf("%d ms", time.Since(end).Milliseconds())
}

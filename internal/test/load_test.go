//go:build !race

// The race detector's own memory would be counted too.

package test

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

const (
	mebibyte   = 1 << 20
	withoutEnd = 1 << 30 // bytes of a body that is never read to its end
)

// hostileBody is a body of start, and unit over and over up to size bytes, and end.
type hostileBody struct {
	name             string
	op               mintlify.Operation // "": that gets a job
	status           int                // 0: 200
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
		{name: "404 without end", status: 404, unit: "no such job ", size: withoutEnd},
		{
			name: "404 of details that are read", status: 404,
			start: `{"details":[0`, unit: ",0", end: "]}", size: mostOfError,
		},
		{name: "502 of tags", status: 502, start: "<html><body>", unit: "<p", size: withoutEnd},
		{name: "400 of %", status: 400, unit: "%", size: withoutEnd},
		{
			name: "400 of an escaped message", status: 400,
			start: `{"error":"`, unit: `\u006d`, end: `"}`, size: mostOfError,
		},
		{name: "2xx without end", unit: " ", size: withoutEnd},
		{name: "job of %", unit: "%", size: mostOfJob},
		{name: "job of <", start: "<html>", unit: "<", size: mostOfJob},
		{name: "job of [", unit: "[", size: mostOfJob},
		{name: "job of one long id", start: `{"status":"active","id":"`, unit: "x", end: `"}`, size: mostOfJob},
		{name: "job of one long number", start: `{"id":"j","status":1`, unit: "9", end: "}", size: mostOfJob},
		{
			name:  "job of many fields",
			start: `{"id":"j","status":"active"`, unit: `,"a":0`, end: "}", size: mostOfJob,
		},
		{
			name: "job of many fields, truncated", op: mintlify.OpCreateJob, status: 201,
			start: `{"id":"j","status":"active"`, unit: `,"a":0`, size: mostOfJob,
		},
		{
			name: "job of many links, truncated", op: mintlify.OpCreateJob, status: 201,
			start: `{"id":"j"`, unit: `,"prLink":"` + strings.Repeat("x", 1000) + `"`, size: mostOfJob,
		},
		{
			name: "job of one long id, truncated", op: mintlify.OpCreateJob, status: 201,
			start: `{"status":"active","id":"`, unit: "x", size: mostOfJob,
		},
		{
			name: "visitors of empty rows", op: mintlify.OpGetVisitors,
			start: visitors + "}", unit: ",{}", end: "]}", size: most,
		},
		{
			name: "visitors of one long path", op: mintlify.OpGetVisitors,
			start: visitors + `"path":"`, unit: "x", end: `"}]}`, size: most,
		},
		{
			name: "visitors of one long path, rounded", op: mintlify.OpGetVisitors,
			start: visitors + `"ai":0.5,"path":"`, unit: "x", end: `"}]}`, size: most,
		},
		{
			name: "visitors of one long number", op: mintlify.OpGetVisitors,
			start: visitors + `"ai":0.`, unit: "5", end: "}]}", size: most,
		},
		{
			name: "searches of empty rows", op: mintlify.OpGetSearches,
			start: searches + "}", unit: ",{}", end: "]}", size: most,
		},
		{
			name: "searches of one long number", op: mintlify.OpGetSearches,
			start: searches + `"ctr":1e`, unit: "9", end: "}]}", size: most,
		},
		{
			name: "conversations of one long title", op: mintlify.OpGetConversations,
			start: conversations + `"sources":[{"title":"`, unit: "x", end: `"}]}]}`, size: most,
		},
		{ // a whole response of these takes 80 times as much
			name: "conversations of empty rows", op: mintlify.OpGetConversations,
			start: conversations + "}", unit: ",{}", end: "]}", size: mebibyte / 8,
		},
		{
			name: "feedback of empty rows", op: mintlify.OpGetFeedback,
			start: feedback + "}", unit: ",{}", end: "]}", size: mebibyte / 8,
		},
		{
			name: "deployment of many lists", op: mintlify.OpGetDeployment,
			start: deployment, unit: `,"logs":["",""]`, end: "}", size: most,
		},
		{
			name: "deployment of one long line", op: mintlify.OpGetDeployment,
			start: deployment + `,"logs":["`, unit: "x", end: `"]}`, size: most,
		},
	}
}

// memory returns the memory in use.
func memory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

// costOf runs f and returns the most memory in use at a time, beyond what was in use before. The
// collector runs so often that little garbage is counted.
func costOf(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	before := memory()

	stop := make(chan struct{})
	highest := make(chan uint64)
	go func() {
		most := before
		for {
			select {
			case <-stop:
				highest <- most
				return
			case <-time.After(100 * time.Microsecond):
				most = max(most, memory())
			}
		}
	}()

	f()
	after := memory()
	close(stop)
	return max(<-highest, after) - before
}

// TestNothingHostileCostsMuchMemory logs what docs/load.md has, besides what it asserts.
func TestNothingHostileCostsMuchMemory(t *testing.T) {
	for _, tc := range hostileBodies() {
		t.Run(tc.name, func(t *testing.T) {
			if tc.size < withoutEnd {
				skipUnlessLong(t)
			}

			op := cmp.Or(tc.op, mintlify.OpGetJob)
			rt := kit.Transport(func(*http.Request) (*http.Response, error) {
				resp := kit.Response(cmp.Or(tc.status, 200), "")
				resp.Body = io.NopCloser(tc.body())
				return resp, nil
			})
			client := kit.NewClient(t, rt, mintlify.WithMaxRetries(0))
			var err error
			cost := costOf(func() { err = operations.Get(op).Do(t.Context(), client) })
			assert.LessOrEqual(t, cost, uint64(64*mebibyte))
			if err != nil {
				kit.AssertReadable(t, err)
			}
			t.Logf("| %s | %s | %d MiB |", tc.name, op, cost/mebibyte)
		})
	}
}

// skipUnlessLong skips a test that takes seconds, unless MINTLIFY_LONG is set.
func skipUnlessLong(t *testing.T) {
	t.Helper()
	if os.Getenv("MINTLIFY_LONG") == "" {
		t.Skip("takes long: set MINTLIFY_LONG=1 to run it")
	}
}

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
	many := &endless{unit: strings.Repeat(h.unit, 1+4096/len(h.unit))}
	size := h.size - h.size%len(h.unit)
	return io.MultiReader(strings.NewReader(h.start), io.LimitReader(many, int64(size)), strings.NewReader(h.end))
}

// hostileBodies returns the bodies that cost the most memory per byte read.
func hostileBodies() []hostileBody {
	const most, mostOfError = 10*mebibyte - 1000, 255 << 10
	const visitors, conversations = `{"totals":{},"hasMore":true,"visitors":[{`, `{"hasMore":false,"conversations":[{`
	return []hostileBody{
		{"404 without end", mintlify.OpGetJob, 404, "", "no such job ", "", withoutEnd},
		{"404 of details", mintlify.OpGetJob, 404, `{"details":[0`, ",0", "]}", most},
		{"404 of details that are read", mintlify.OpGetJob, 404, `{"details":[0`, ",0", "]}", mostOfError},
		{"502 of tags", mintlify.OpGetJob, 502, "<html><body>", "<p", "", withoutEnd},
		{"502 of <", mintlify.OpGetJob, 502, "<html>", "<", "", withoutEnd},
		{"400 of %", mintlify.OpGetJob, 400, "", "%", "", withoutEnd},
		{"400 of an escaped message", mintlify.OpGetJob, 400, `{"error":"`, `\u006d`, `"}`, mostOfError},
		{"2xx without end", mintlify.OpGetJob, 200, "", " ", "", withoutEnd},
		{"job of %", mintlify.OpGetJob, 200, "", "%", "", most},
		{"job of <", mintlify.OpGetJob, 200, "<html>", "<", "", most},
		{"job of [", mintlify.OpGetJob, 200, "", "[", "", most},
		{"job of nested objects", mintlify.OpGetJob, 200, "", `{"id":`, "", most},
		{"job of one long id", mintlify.OpGetJob, 200, `{"status":"active","id":"`, "x", `"}`, most},
		{"job of one long number", mintlify.OpGetJob, 200, `{"id":"j","status":1`, "9", "}", most},
		{"job of many fields", mintlify.OpGetJob, 200, `{"id":"j","status":"active"`, `,"a":0`, "}", most},
		{"job of many fields, truncated", mintlify.OpCreateJob, 201, `{"id":"j","status":"active"`, `,"a":0`, "", most},
		{"job of many links, truncated", mintlify.OpCreateJob, 201, `{"id":"j"`, `,"prLink":"` + strings.Repeat("x", 1000) + `"`, "", most},
		{"job of one long id, truncated", mintlify.OpCreateJob, 201, `{"status":"active","id":"`, "x", "", most},
		{"visitors of empty rows", mintlify.OpGetVisitors, 200, visitors + "}", ",{}", "]}", most},
		{"visitors of null", mintlify.OpGetVisitors, 200, visitors + "}", ",null", "]}", most},
		{"visitors of one long path", mintlify.OpGetVisitors, 200, visitors + `"path":"`, "x", `"}]}`, most},
		{"visitors of one long path, rounded", mintlify.OpGetVisitors, 200, visitors + `"ai":0.5,"path":"`, "x", `"}]}`, most},
		{"visitors of one long number", mintlify.OpGetVisitors, 200, visitors + `"ai":0.`, "5", "}]}", most},
		{"searches of empty rows", mintlify.OpGetSearches, 200, `{"totalSearches":1,"searches":[{}`, ",{}", "]}", most},
		{"searches of one long number", mintlify.OpGetSearches, 200, `{"totalSearches":1,"searches":[{"ctr":1e`, "9", "}]}", most},
		{"conversations of one long title", mintlify.OpGetConversations, 200, conversations + `"sources":[{"title":"`, "x", `"}]}]}`, most},
		{"deployment of many lists", mintlify.OpGetDeployment, 200, `{"_id":"d","status":"queued"`, `,"logs":["",""]`, "}", most},
		{"deployment of one long line", mintlify.OpGetDeployment, 200, `{"_id":"d","status":"queued","logs":["`, "x", `"]}`, most},
	}
}

// peak returns the most memory in use while f ran, beyond what was in use before, and what
// f allocated in all. The collector runs so often that little of it is garbage.
func peak(f func()) (live, allocated uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage is not what a call costs
	runtime.GC()
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	before, allocatedBefore := samples[0].Value.Uint64(), samples[1].Value.Uint64()
	stop, stopped := make(chan struct{}), make(chan struct{})
	most := before
	go func() {
		defer close(stopped)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Microsecond):
				metrics.Read(sample)
				most = max(most, sample[0].Value.Uint64())
			}
		}
	}()
	f()
	metrics.Read(samples)
	close(stop)
	<-stopped
	return max(most, samples[0].Value.Uint64()) - before, samples[1].Value.Uint64() - allocatedBefore
}

// TestNothingHostileCostsMuchMemory logs what docs/load.md has, besides what it asserts.
func TestNothingHostileCostsMuchMemory(t *testing.T) {
	for _, tc := range hostileBodies() {
		t.Run(tc.name, func(t *testing.T) {
			if tc.size < withoutEnd {
				skipUnlessLong(t)
			}
			var whole func() // called at the end of the body
			client := newClient(t, transport(func(*http.Request) (*http.Response, error) {
				r := response(tc.status, "")
				r.Body = io.NopCloser(io.MultiReader(tc.body(), reading(func([]byte) (int, error) { whole(); return 0, io.EOF })))
				return r, nil
			}), mintlify.WithMaxRetries(0))
			var err error
			whole = func() {}
			live, allocated := peak(func() { err = operations.Get(tc.op).Do(t.Context(), client) })
			assert.LessOrEqual(t, live, uint64(64*mebibyte))
			if err != nil {
				assertReadable(t, err)
			}

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			end := time.Now()
			whole = func() { end = time.Now(); cancel() }
			_ = operations.Get(tc.op).Do(ctx, client)
			past := "—" // it ended before the body did
			if ctx.Err() != nil {
				past = fmt.Sprintf("%d ms", time.Since(end).Milliseconds())
			}
			t.Logf("| %s | %s | %d MiB | %d MiB | %s |", tc.name, tc.op, live/mebibyte, allocated/mebibyte, past)
		})
	}
}

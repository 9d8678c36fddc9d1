package main

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const bodySize = 10<<20 - 1000 // just below what the SDK reads

// body is start, unit over and over, and end. It is made while it is read, or it would be
// measured itself.
type body struct {
	start, unit, end string
	call             operation
}

// bodies are those that cost a client the most of what it reads: many small things, or
// one long one.
var bodies = []body{
	{`{"totals":{},"hasMore":true,"visitors":[{}`, `,{}`, `]}`, page},
	{`{"totals":{"human":0,"ai":0,"total":0},"hasMore":true,"visitors":[{"path":"","human":0,"ai":0,"total":0}`, `,{"path":"","human":0,"ai":0,"total":0}`, `]}`, page},
	{`{"totals":{},"hasMore":true,"visitors":[{"path":"`, "x", `"}]}`, page},
	{`{"totals":{},"hasMore":true,"visitors":[{"human":0.`, "5", `}]}`, page},
	{`{"totalSearches":1,"nextCursor":null,"searches":[{"ctr":1e`, "9", `}]}`, searches},
	{`{"hasMore":false,"conversations":[{}`, `,{}`, `]}`, conversations},
	{`{"id":"j","status":"`, `x`, `"}`, get},
}

// RoundTrip implements [http.RoundTripper].
func (b body) RoundTrip(r *http.Request) (*http.Response, error) {
	many := &endless{unit: strings.Repeat(b.unit, 1+4096/len(b.unit))}
	size := bodySize - bodySize%len(b.unit)
	text := io.MultiReader(strings.NewReader(b.start), io.LimitReader(many, int64(size)), strings.NewReader(b.end))
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(text), ContentLength: -1, Request: r,
	}, nil
}

// endless reads as unit over and over.
type endless struct {
	unit string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.unit[e.at:])
	e.at = (e.at + n) % len(e.unit)
	return n, nil
}

// hostile reports the most memory that any of the bodies takes while a call reads it.
// Whether the call then fails is its own affair.
func hostile(_ string, column columns.Column) error {
	var most uint64
	for _, b := range bodies {
		client := column.New(nowhere, service.Standard(b))
		most = max(most, peak(func() { _ = b.call.call(context.Background(), client) }))
	}
	report("hostile bytes", column, float64(most))
	return nil
}

// peak is the most memory of objects while f runs, beyond what there is before it. The
// garbage is collected so often that little of it counts.
func peak(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	objects := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := objects()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		highest := before
		for {
			select {
			case <-stop:
				most <- max(highest, objects())
				return
			case <-time.After(100 * time.Microsecond):
				highest = max(highest, objects())
			}
		}
	}()
	f()
	close(stop)
	return <-most - before
}

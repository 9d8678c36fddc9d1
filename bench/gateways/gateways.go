// Package gateways counts what becomes of prompts behind gateways that refuse requests over
// HTTP/2. The test runs them in virtual time, and writes the figures.
package gateways

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/callcost"
	"github.com/mintlify-community/mintlify-go/bench/service"
	"github.com/mintlify-community/mintlify-go/internal/http2server"
)

const (
	creates = 1600
	workers = 16
	every   = 20 // requests
	latency = 20 * time.Millisecond
)

// gateway makes a job of each request that it does not refuse, and responds.
type gateway struct {
	// refuses reports whether the gateway refuses a request, which has come whole.
	refuses func(g *gateway, stream *http2server.Stream) bool
	// jobs counts the jobs that are made.
	jobs atomic.Int64
}

func (g *gateway) handle(event http2server.Event, stream *http2server.Stream) {
	if event == http2server.Whole && !g.refuses(g, stream) {
		g.jobs.Add(1)
		stream.Respond("201", service.JobBody)
	}
}

// renews does what nginx does with keepalive_requests: with its 20th request a connection gets a
// GOAWAY, and requests that are on their way by then are refused by that.
func renews(_ *gateway, stream *http2server.Stream) bool {
	if stream.Number() == every {
		stream.GoAway(false)
	}
	return stream.Number() > every
}

// loses does what HAProxy does if the service closes a connection instead of responding: it resets
// every 20th request with REFUSED_STREAM, although the job is made.
func loses(g *gateway, stream *http2server.Stream) bool {
	if (g.jobs.Load()+1)%every != 0 {
		return false
	}
	g.jobs.Add(1)
	stream.Reset(http2server.RefusedStream)
	return true
}

// rewording is a transport that returns errors in words of its own: the SDK cannot tell what they
// prove.
type rewording struct {
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t rewording) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		err = fmt.Errorf("gateway: %w", err)
	}
	return response, err
}

type cost struct {
	// failures are the errors of the Creates that returned one.
	failures []error
	// extra is how many jobs there are beside one for each prompt. It is negative if some have none.
	extra int
}

// measure has workers create a job for each prompt with one client.
func measure(ctx context.Context, newClient bench.New, g *gateway) cost {
	server := &http2server.Server{Handle: g.handle, Latency: latency}
	defer server.Close()
	transport := server.Transport()
	defer transport.CloseIdleConnections()

	client := newClient(callcost.Nowhere, transport)
	errs := make([]error, creates)
	var begun atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := begun.Add(1) - 1; i < creates; i = begun.Add(1) - 1 {
				_, errs[i] = client.Create(ctx, strconv.FormatInt(i, 10))
			}
		})
	}
	all.Wait()

	succeeded := func(err error) bool { return err == nil }
	return cost{
		failures: slices.DeleteFunc(errs, succeeded),
		extra:    int(g.jobs.Load()) - creates,
	}
}

package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const outage = 10 * time.Minute

// outages break a world for [outage]. They are called in a bubble.
var outages = map[string]func(w *world){
	"the service limits":      func(w *world) { w.breakService(mintlifytest.Fault{Status: 429}) },
	"the service is down":     func(w *world) { w.breakService(mintlifytest.Fault{Status: 503}) },
	"the service is silent":   func(w *world) { w.breakService(mintlifytest.Fault{Delay: time.Hour}) },
	"no network":              func(w *world) { w.breakService(mintlifytest.Fault{Refuse: true}) },
	"pulls are down":          func(w *world) { w.breakForge("/pulls", response(502)) },
	"pulls have no network":   func(w *world) { w.breakForge("/pulls", nil) },
	"statuses are down":       func(w *world) { w.breakForge("/statuses", response(500)) },
	"statuses are limited":    func(w *world) { w.breakForge("/statuses", response(429)) },
	"GitHub says how long":    func(w *world) { w.breakForge("/pulls", response(403, "Retry-After", "300")) },
	"GitHub says until when":  func(w *world) { w.breakForge("/pulls", limitedUntil(time.Now().Add(5*time.Minute))) },
	"a status is not written": func(w *world) { w.breakForge("POST /statuses", response(503)) },
}

func limitedUntil(reset time.Time) *http.Response {
	return response(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
}

func (w *world) breakService(fault mintlifytest.Fault) {
	w.broken = mintlifytest.NewService()
	w.brokenUntil = time.Now().Add(outage)
	for _, op := range []mintlify.Operation{mintlify.OpGetJob, mintlify.OpCreateJob} {
		w.broken.FailNext(op, 10_000, fault)
	}
}

// breakForge has requests of a path fail, "POST " before it those that write.
func (w *world) breakForge(path string, resp *http.Response) {
	begun := time.Now()
	path, isWrite := strings.CutPrefix(path, "POST ")
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		isMeant := strings.Contains(r.URL.Path, path) && (!isWrite || r.Method == http.MethodPost)
		switch {
		case !isMeant || time.Since(begun) >= outage:
			return w.forge.RoundTrip(r)
		case resp == nil:
			return nil, io.ErrUnexpectedEOF
		}
		again := *resp
		again.Body = io.NopCloser(strings.NewReader("{}"))
		return &again, nil
	})
}

func TestARunWaitsForWhatPasses(t *testing.T) {
	one := merged(t)
	for name, begin := range outages {
		t.Run(name, func(t *testing.T) {
			run := func(after time.Duration, args ...string) (r citest.Ran, took time.Duration) {
				w := one.fresh(t)
				took = bubble(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if after > 0 {
						time.AfterFunc(after, cancel)
					}
					begin(w)
					r = w.run(ctx, args...)
				})
				return r, took
			}

			r, took := run(0)
			assert.Zero(t, r.Code, r.Log)
			assert.Equal(t, "job_1", r.Outputs["job-id"])
			assert.GreaterOrEqual(t, took, outage)
			assert.Less(t, took, 2*outage)
			assert.Contains(t, r.Log, "Nothing was sent yet (")
			assert.NotContains(t, r.Log, "once: ")

			r, took = run(0, "-no-wait")
			assert.Equal(t, 5, r.Code, r.Log)
			assert.Less(t, took, 5*time.Minute, "one attempt")

			r, took = run(0, "-timeout", "5m")
			assert.Equal(t, 5, r.Code, r.Log)
			assert.Less(t, took, 6*time.Minute, "the record is read back")
			assert.Contains(t, r.Log, "-timeout")

			r, took = run(4 * time.Minute)
			assert.Equal(t, 5, r.Code, r.Log)
			assert.LessOrEqual(t, took, 5*time.Minute, "a signal ends it")
		})
	}
}

// What a person has to mend does not pass.
func TestWhatDoesNotPassEndsTheRunAtOnce(t *testing.T) {
	for name, begin := range map[string]func(w *world){
		"the token is wrong":      func(w *world) { w.blind(response(401), "") },
		"the key is wrong":        func(w *world) { w.breakService(mintlifytest.Fault{Status: 401}) },
		"the credits are used up": func(w *world) { w.breakService(mintlifytest.Fault{Status: 402}) },
	} {
		w := merged(t)
		took := bubble(t, func(t *testing.T) {
			begin(w)
			assert.NotZero(t, w.run(t.Context()).Code, name)
		})
		assert.Less(t, took, 10*time.Second, name)
	}
}

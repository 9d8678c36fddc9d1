package mintlify_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestCreateMessageAndGetTakeAny2xxForASuccess(t *testing.T) {
	for _, status := range []int{200, 201, 202, 203, 207, 299} {
		for name, call := range jobCalls {
			job, err := call(t.Context(), newClient(t, respondWith(status, jobJSON)))
			require.NoError(t, err, "%s %d", name, status)
			assert.Equal(t, "job_1", job.ID)
		}
	}
}

func TestRedirects(t *testing.T) {
	const base = "https://api.example.com:8443/pre"
	for location, isFollowed := range map[string]bool{
		"/other":                         true,
		"other":                          true,
		base + "/v3":                     true,
		"https://API.example.com:8443/x": true, // the same origin
		"https://user:pass@api.example.com:8443/x": true,
		"https://evil.example.com/x":               false,
		"https://api.example.com/x":                false, // another port
		"https://api.example.com:443/x":            false,
		"http://api.example.com:8443/x":            false,
		"https://sub.api.example.com:8443/x":       false,
		"https://api.example.com.evil.com:8443":    false,
		"https://api.example.com.:8443/x":          false,
		"https://api.example.co:8443/x":            false,
		"//evil.example.com/x":                     false,
		"https://api.example.com:8443@evil.com":    false,
		"ftp://api.example.com:8443/x":             false,
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for name, call := range jobCalls {
				rt := newRecording(respondWith(status, "moved", "Location", location), respondWith(200, jobJSON))
				_, err := call(t.Context(), newClient(t, rt, mintlify.WithBaseURL(base)))

				assertHeadersFollow(t, rt.sent())
				if isFollowed && name == "Get" {
					require.NoError(t, err, "%d to %s", status, location)
					assert.Equal(t, 2, rt.count())
					continue
				}

				var apiErr *mintlify.APIError
				require.ErrorAs(t, err, &apiErr, "%s: %d to %s", name, status, location)
				assert.Equal(t, status, apiErr.StatusCode)
				assert.Equal(t, location, apiErr.Header.Get("Location"))
				assert.Equal(t, name != "Get", isOutcomeUnknown(err))
				assert.Equal(t, 1, rt.count())
				assert.Equal(t, "api.example.com:8443", rt.last().URL.Host)
			}
		}
	}
}

// assertHeadersFollow asserts that each request of a redirected call has the key, and that each
// but the first has the headers that http.Client adds.
func assertHeadersFollow(t *testing.T, requests []sentRequest) {
	t.Helper()
	for i, request := range requests {
		assert.Equal(t, []string{"Bearer " + testKey}, request.Header["Authorization"])
		assert.Equal(t, i > 0, request.Header.Get("Referer") != "", "what http.Client sets goes along")
	}
}

func TestGetFollowsARedirectToTheDefaultPort(t *testing.T) {
	for base, location := range map[string]string{
		"https://api.mintlify.com": "https://api.mintlify.com:443/x",
		"http://localhost":         "http://localhost:80/x",
	} {
		rt := newRecording(respondWith(302, "", "Location", location), respondWith(200, jobJSON))
		_, err := get(t.Context(), newClient(t, rt, mintlify.WithBaseURL(base)))
		require.NoError(t, err, base)
	}
}

func TestRedirectsWithoutEndOrTarget(t *testing.T) {
	rt := newRecording(respondWith(302, "", "Location", "/again"))
	_, err := get(t.Context(), newClient(t, rt))
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.Equal(t, 302, apiErr.StatusCode)
	assert.Equal(t, 11, rt.count())

	for name, call := range jobCalls {
		rt := newRecording(respondWith(302, "", "Location", "https://api.mintlify.com:"+testKey))
		_, err = call(t.Context(), newClient(t, rt))
		require.Error(t, err)
		assertReadable(t, err)
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
		assert.Equal(t, 1, rt.count())
	}
}

func TestErrorOfHTTPClientIsToldOnce(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(302, "", "Location", "::::"), mintlify.WithMaxRetries(0)))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), `Get "`, "the URL is in the message already")
}

func TestCancelDuringABackoffEndsTheCallAtOnceAndKeepsTheLastResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, call := range jobCalls {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second, errors.New("deploy window closed"))
			start := time.Now()
			_, err := call(ctx, newClient(t, respondWith(429, `{"error":"slow down"}`, "Retry-After", "20")))
			cancel()

			assert.Equal(t, 3*time.Second, time.Since(start))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorIs(t, err, mintlify.ErrRateLimited)
			assert.ErrorContains(t, err, "deploy window closed")
			assert.ErrorContains(t, err, "slow down")
			assert.False(t, isOutcomeUnknown(err), "%s: the 429 did nothing, and nothing was sent since", name)
			var apiErr *mintlify.APIError
			require.ErrorAs(t, err, &apiErr)
			assert.Equal(t, 20*time.Second, apiErr.RetryAfter)
		}
	})
}

func TestCanceledRetryKeepsTheResponseBefore(t *testing.T) {
	for name, call := range jobCalls {
		ctx, cancel := context.WithCancel(t.Context())
		rt := newRecording(respondWith(429, "slow down"), doing(cancel, hang))
		_, err := call(ctx, newClient(t, rt, mintlify.WithRetryWait(0, 0)))

		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, mintlify.ErrRateLimited, "%s: of the attempt before", name)
		assert.Equal(t, 1, strings.Count(err.Error(), "previous attempt"), "%v", err)
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
	}
}

func TestRetryRefusedByWithRateLimiterKeepsTheResponseBefore(t *testing.T) {
	exhausted := errors.New("no tokens left")
	for name, call := range jobCalls {
		asked := 0
		limiter := func(context.Context, mintlify.RequestInfo) error {
			asked++
			if asked > 1 {
				return exhausted
			}
			return nil
		}

		client := newClient(t, respondWith(429, "slow down"),
			mintlify.WithRetryWait(0, 0), mintlify.WithRateLimiter(limiter))
		_, err := call(t.Context(), client)
		assert.ErrorIs(t, err, exhausted, name)
		assert.ErrorIs(t, err, mintlify.ErrRateLimited)
		assert.False(t, isOutcomeUnknown(err))
	}
}

func TestGetKeepsNothingOfATruncatedAttempt(t *testing.T) {
	for name, second := range map[string]struct {
		status int
		body   string
		err    error
	}{
		"nothing":   {200, "", mintlify.ErrMalformedResponse},
		"array":     {200, "[]", mintlify.ErrMalformedResponse},
		"empty":     {200, "{}", mintlify.ErrMalformedResponse},
		"no id":     {200, `{"status":"active"}`, mintlify.ErrMalformedResponse},
		"truncated": {200, `{"x":`, mintlify.ErrMalformedResponse},
		"null":      {200, "null", mintlify.ErrMalformedResponse},
		"number":    {200, "5", mintlify.ErrMalformedResponse},
		"not found": {404, "", mintlify.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			first := breakOff(200, `{"id":"old","model":"m","status":"comp`)
			rt := newRecording(first, respondWith(second.status, second.body))
			job, err := get(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0)))
			require.ErrorIs(t, err, second.err)
			assert.Nil(t, job)
			assert.Equal(t, 2, rt.count())
		})
	}
}

func TestTruncatedResponseTellsTheNetworksError(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Truncate: true})
	_, err := create(t.Context(), svc.Client())
	assert.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, "truncated after")
}

func TestResponseThatIsWholeCountsThoughTheConnectionBreaks(t *testing.T) {
	for name, call := range jobCalls {
		job, err := call(t.Context(), newClient(t, breakOff(200, jobJSON)))
		require.NoError(t, err, name)
		assert.Equal(t, "job_1", job.ID)
	}
}

func TestMisbehavedTransport(t *testing.T) {
	nothing := func(*http.Request) (*http.Response, error) { return nil, nil }
	both := func(*http.Request) (*http.Response, error) { return response(200, jobJSON), errors.New("and an error") }
	noBody := func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil }

	for name, tc := range map[string]struct {
		rt     transport
		reason string
	}{
		"neither":   {nothing, "neither a response nor an error"},
		"both":      {both, "and an error"},
		"no body":   {noBody, "invalid JSON"},
		"no target": {respondWith(302, ""), "302"},
		"no URL":    {respondWith(307, "", "Location", "::::"), "Location"},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, tc.rt, mintlify.WithRetryWait(0, 0))
			for operation, call := range jobCalls {
				_, err := call(t.Context(), client)
				require.ErrorContains(t, err, tc.reason)
				assertReadable(t, err)
				assert.Equal(t, operation != "Get", isOutcomeUnknown(err))
			}
		})
	}
}

// Responses are data from outside.

func TestResponseLargerThanTheLimit(t *testing.T) {
	var read atomic.Int64
	withoutEnd := func(status int, prefix string) transport {
		return func(*http.Request) (*http.Response, error) {
			resp := response(status, "")
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(prefix), &counter{n: &read}))
			return resp, nil
		}
	}

	for name, call := range jobCalls {
		read.Store(0)
		job, err := call(t.Context(), newClient(t, withoutEnd(200, `{"id":"job_1","x":"`)))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorContains(t, err, "larger than 1 MiB")
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
		require.NotNil(t, job)
		assert.Equal(t, "job_1", job.ID)
		assert.Less(t, read.Load(), int64(1<<20+64<<10), "no more is read")
	}

	read.Store(0)
	_, err := newClient(t, withoutEnd(200, `{"x":"`)).Analytics.GetThread(t.Context(), "thread_1")
	assert.ErrorContains(t, err, "larger than 10 MiB")
	assert.Less(t, read.Load(), int64(11<<20), "no more is read")

	_, err = get(t.Context(), newClient(t, withoutEnd(404, "")))
	require.ErrorIs(t, err, mintlify.ErrNotFound, "an error of any length is that error")
}

func TestResponseJustWithinTheLimit(t *testing.T) {
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 1<<20-39) + `"}`
	require.Len(t, body, 1<<20)
	_, err := get(t.Context(), newClient(t, respondWith(200, body)))
	require.NoError(t, err)
}

func TestResponseThatIsAGzipBomb(t *testing.T) {
	bomb := gzipBomb()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb)
	}))
	defer server.Close()

	client, err := mintlify.NewClient(testKey, "proj", mintlify.WithBaseURL(server.URL))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	require.ErrorContains(t, err, "larger than 1 MiB")
}

func TestGetUsesItsBuffersAgain(t *testing.T) {
	const n = 100
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 200<<10) + `"}`
	client := newClient(t, respondWith(200, body))

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		_, err := get(t.Context(), client)
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)

	// A buffer that starts small takes four times the body; the race detector has the pool drop some.
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/n, uint64(9*len(body)/4))
}

// withTimeout gives each attempt of a client over rt that time.
func withTimeout(rt http.RoundTripper, timeout time.Duration) mintlify.Option {
	return mintlify.WithHTTPClient(&http.Client{Transport: rt, Timeout: timeout})
}

// beginning is a transport that has sent the request and has the first byte of the response,
// and then responds as next.
func beginning(next transport) transport {
	return func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		httptrace.ContextClientTrace(r.Context()).GotFirstResponseByte()
		return next(r)
	}
}

// respondAfter is a transport that responds as next after d, unless the request ends before.
func respondAfter(d time.Duration, next transport) transport {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return next(r)
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
}

func TestAttemptHasSixtySecondsUnlessWithHTTPClientSaysOtherwise(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		0:               time.Minute,
		7 * time.Second: 7 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, nil, withTimeout(transport(hang), timeout),
				mintlify.WithMaxRetries(1), mintlify.WithRetryWait(0, 0))
			start := time.Now()
			_, err := get(t.Context(), client)
			require.ErrorContains(t, err, "no response within "+want.String())
			assert.Equal(t, 2*want, time.Since(start), "of each attempt")
		})
	}
}

func TestAttemptsTimeIsNotTheCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, nil, withTimeout(transport(hang), time.Millisecond), mintlify.WithMaxRetries(0))
		for name, call := range jobCalls {
			_, err := call(t.Context(), client)
			require.Error(t, err, name)
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, context.Canceled)
			assert.ErrorContains(t, err, "no response within 1ms")

			var timeout interface{ Timeout() bool }
			require.ErrorAs(t, err, &timeout)
			assert.True(t, timeout.Timeout())
		}
	})
}

func TestGetEndsASlowBodyWithTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := stall(200, `{"id":`)
		start := time.Now()
		_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(0)))
		assert.Equal(t, 60*time.Second, time.Since(start))
		assert.ErrorContains(t, err, "the response did not end within 1m0s")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		_, err = get(ctx, newClient(t, rt))
		assert.Equal(t, time.Second, time.Since(start))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// The response of a POST is the id of a job that exists: it outlives the caller's
// context and the attempt.

func TestCreateAndMessageReadTheBodyBeyondTheContextAndTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range posts() {
			ctx, cancel := context.WithCancel(t.Context())
			slowly := func(r *http.Request, w *io.PipeWriter) {
				time.Sleep(time.Second)
				cancel()
				time.Sleep(time.Second)
				if r.Context().Err() != nil {
					w.CloseWithError(r.Context().Err())
				}
				io.WriteString(w, jobJSON)
				w.Close()
			}
			rt := transport(func(r *http.Request) (*http.Response, error) {
				time.Sleep(900 * time.Millisecond)
				return pipe(201, func(w *io.PipeWriter) { slowly(r, w) }), nil
			})

			job, err := jobCalls[name](ctx, newClient(t, nil, withTimeout(rt, time.Second)))
			require.NoError(t, err)
			assert.Equal(t, "job_1", job.ID)
			assert.Error(t, ctx.Err())
		}
	})
}

func TestCreateAndMessageReadTheBodyForFiveSecondsBeyondTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range posts() {
			rt := stall(201, `{"id":"job_1","status":"active","model":`)
			start := time.Now()
			job, err := jobCalls[name](t.Context(), newClient(t, rt))
			assert.Equal(t, 65*time.Second, time.Since(start))

			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assert.True(t, isOutcomeUnknown(err))
			assert.ErrorContains(t, err, "the response did not end within 1m0s")
			require.NotNil(t, job, "what came is kept")
			assert.Equal(t, "job_1", job.ID)
		}
	})
}

func TestCreateWaitsForTheRestOfAResponseThatHasBegun(t *testing.T) {
	slowBody := transport(func(*http.Request) (*http.Response, error) {
		return pipe(201, func(w *io.PipeWriter) {
			time.Sleep(4 * time.Second)
			io.WriteString(w, jobJSON)
			w.Close()
		}), nil
	})

	for name, tc := range map[string]struct {
		timeout  time.Duration // of an attempt; 0: the default
		canceled bool          // as soon as the response has begun
		rest     transport
		succeeds bool
	}{
		"beyond the context": {
			canceled: true, rest: respondAfter(time.Second, respondWith(201, jobJSON)), succeeds: true,
		},
		"for five seconds": {
			canceled: true, rest: respondAfter(time.Hour, respondWith(201, jobJSON)),
		},
		"beyond the attempt": {
			timeout: time.Second, rest: respondAfter(3*time.Second, respondWith(201, jobJSON)), succeeds: true,
		},
		"with a time of its own for the body": {
			canceled: true, rest: respondAfter(3*time.Second, slowBody), succeeds: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				rt := beginning(doing(func() {
					if tc.canceled {
						cancel()
					}
				}, tc.rest))

				start := time.Now()
				job, err := create(ctx, newClient(t, nil, withTimeout(rt, tc.timeout)))
				if tc.succeeds {
					require.NoError(t, err)
					assert.Equal(t, "job_1", job.ID)
					return
				}

				assert.ErrorIs(t, err, context.Canceled)
				assert.True(t, isOutcomeUnknown(err))
				assert.Equal(t, 5*time.Second, time.Since(start))
			})
		})
	}
}

func TestCreateAndMessageTakeAResponseThatComesAfterTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range posts() {
			ctx, cancel := context.WithCancel(t.Context())
			late := transport(func(*http.Request) (*http.Response, error) {
				cancel()
				synctest.Wait() // the attempt has been given up
				return response(201, jobJSON), nil
			})

			job, err := jobCalls[name](ctx, newClient(t, late))
			require.NoError(t, err, name)
			assert.Equal(t, "job_1", job.ID)
		}
	})
}

func TestCreateTakesAResponseThatComesAsTheContextEnds(t *testing.T) {
	whole := func(*http.Request) (*http.Response, error) {
		return pipe(201, func(w *io.PipeWriter) {
			io.WriteString(w, jobJSON)
			w.Close()
		}), nil
	}

	for range 300 { // a body that was closed by the end of the context would be lost now and then
		ctx, cancel := context.WithCancel(t.Context())
		job, err := create(ctx, newClient(t, doing(cancel, whole)))
		require.NoError(t, err)
		require.Equal(t, "job_1", job.ID)
	}
}

func TestCreateAndMessageKeepTheIDOfATruncatedResponseThoughTheContextHasEnded(t *testing.T) {
	for _, name := range posts() {
		ctx, cancel := context.WithCancel(t.Context())
		canceledWithin := transport(func(*http.Request) (*http.Response, error) {
			return pipe(201, func(w *io.PipeWriter) {
				io.WriteString(w, `{"id":"job_1","status":"active","model":`)
				cancel()
				w.CloseWithError(io.ErrUnexpectedEOF)
			}), nil
		})

		job, err := jobCalls[name](ctx, newClient(t, canceledWithin))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.True(t, isOutcomeUnknown(err))
		require.NotNil(t, job)
		assert.Equal(t, "job_1", job.ID)
	}
}

// Every other wait ends with the context, at once.

func TestCancelEndsAnAttemptWithoutAResponseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, call := range jobCalls {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			_, err := call(ctx, newClient(t, transport(hang)))
			cancel()

			assert.Equal(t, time.Second, time.Since(start), name)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, name != "Get", isOutcomeUnknown(err))
		}
	})
}

func TestCreateCanceledBeforeAConnectionIsNoUnknownOutcome(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	connecting := transport(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
		cancel()
		return hang(r)
	})

	_, err := create(ctx, newClient(t, connecting))
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, isOutcomeUnknown(err))
}

func TestGetIsInterruptedInTheBodyAtOnce(t *testing.T) {
	type respond func(cancel func(), r *http.Request) (*http.Response, error)

	onceBegun := func(cancel func(), r *http.Request) (*http.Response, error) {
		begun := pipe(200, func(w *io.PipeWriter) {
			io.WriteString(w, `{"id":"job_1",`)
			cancel()
		})
		return beginning(func(*http.Request) (*http.Response, error) { return begun, nil })(r)
	}
	beforeRead := func(cancel func(), r *http.Request) (*http.Response, error) {
		cancel()
		synctest.Wait()
		return stall(200, "")(r)
	}
	thenEndsWell := func(cancel func(), r *http.Request) (*http.Response, error) {
		resp := response(200, "")
		resp.Body = reading(func(p []byte) (int, error) {
			cancel()
			<-r.Context().Done()
			return copy(p, "{}"), io.EOF
		})
		return resp, nil
	}

	for name, respond := range map[string]respond{
		"once it has begun":   onceBegun,
		"before it is read":   beforeRead,
		"that then ends well": thenEndsWell,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				rt := transport(func(r *http.Request) (*http.Response, error) { return respond(cancel, r) })

				start := time.Now()
				job, err := get(ctx, newClient(t, rt))
				require.ErrorIs(t, err, context.Canceled)
				assert.NotErrorIs(t, err, mintlify.ErrMalformedResponse)
				assert.Nil(t, job)
				assert.Zero(t, time.Since(start))
			})
		})
	}
}

func TestTransportSeesTheCauseOfTheEnd(t *testing.T) {
	shutdown := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	rt := transport(func(r *http.Request) (*http.Response, error) {
		cancel(shutdown)
		<-r.Context().Done()
		assert.Equal(t, shutdown, context.Cause(r.Context()))
		return nil, r.Context().Err()
	})

	_, err := get(ctx, newClient(t, rt))
	require.ErrorIs(t, err, shutdown)
}

// onceOnly is a body that is to be closed once, and not read after that.
type onceOnly struct {
	io.Reader
	t      *testing.T
	closed atomic.Bool
}

func (b *onceOnly) Read(p []byte) (int, error) {
	assert.False(b.t, b.closed.Load(), "read after it was closed")
	return b.Reader.Read(p)
}

func (b *onceOnly) Close() error {
	assert.False(b.t, b.closed.Swap(true), "closed twice")
	return nil
}

func TestEveryBodyIsClosedOnceAndThenLeftAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		err    error
	}{
		"success":                  {200, jobJSON, nil},
		"malformed":                {200, "no job", nil},
		"redirect":                 {302, "moved", nil},
		"not found":                {404, "no job", nil},
		"rate limited":             {429, "no job", nil},
		"server error":             {503, "no job", nil},
		"response beside an error": {200, jobJSON, errors.New("both")},
	} {
		for operation, call := range jobCalls {
			t.Run(name+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var bodies []*onceOnly
					rt := transport(func(*http.Request) (*http.Response, error) {
						body := &onceOnly{Reader: strings.NewReader(tc.body), t: t}
						bodies = append(bodies, body)
						return &http.Response{StatusCode: tc.status, Body: body}, tc.err
					})

					_, _ = call(t.Context(), newClient(t, rt))
					synctest.Wait()
					require.NotEmpty(t, bodies)
					for _, body := range bodies {
						assert.True(t, body.closed.Load())
					}
				})
			})
		}
	}
}

// followed is a context that counts those who follow it.
type followed struct {
	context.Context
	done      chan struct{} // of its own, so that AfterFunc is asked
	followers atomic.Int32
}

func (f *followed) Done() <-chan struct{} { return f.done }

func (f *followed) AfterFunc(run func()) func() bool {
	f.followers.Add(1)
	stop := context.AfterFunc(f.Context, run)
	return func() bool {
		stopped := stop()
		if stopped {
			f.followers.Add(-1)
		}
		return stopped
	}
}

func TestNothingOfAnAttemptOutlivesTheCall(t *testing.T) {
	for name, steps := range map[string][]transport{
		"response": {respondWith(200, jobJSON)},
		"error":    {respondWith(404, "")},
		"network":  {failWith(errors.New("reset"))},
		"redirect": {respondWith(302, "", "Location", "/x"), respondWith(200, jobJSON)},
	} {
		for operation, call := range jobCalls {
			ctx := &followed{Context: t.Context(), done: make(chan struct{})}
			rt := newRecording(steps...)
			_, _ = call(ctx, newClient(t, rt, mintlify.WithMaxRetries(0)))

			require.NotEmpty(t, rt.sent())
			for _, request := range rt.sent() {
				assert.Error(t, request.Context().Err(), "%s %s: the attempt's context has ended", operation, name)
			}
			assert.Zero(t, ctx.followers.Load(), "%s %s: the caller's context is let go", operation, name)
		}
	}
}

// http1 is net/http's transport whose connections lead, in memory, to a service that
// writes response to each request and then goes silent.
func http1(t *testing.T, response string) *http.Transport {
	t.Helper()
	serve := func(conn net.Conn) {
		defer conn.Close()
		lines := bufio.NewReader(conn)
		req, err := http.ReadRequest(lines)
		if err != nil {
			return
		}

		_, _ = io.Copy(io.Discard, req.Body)
		io.WriteString(conn, response)
		_, _ = lines.ReadByte() // until the client closes
	}

	rt := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server)
		return client, nil
	}}
	t.Cleanup(rt.CloseIdleConnections)
	return rt
}

// silent are transports whose response is silent after body: until it is closed, or the
// request's context ends, or for ever.
var silent = map[string]func(t *testing.T, status int, body string) http.RoundTripper{
	"net/http": silentNetHTTP,
	"pipe": func(_ *testing.T, status int, body string) http.RoundTripper {
		return stall(status, body)
	},
	"EOF once closed": func(_ *testing.T, status int, body string) http.RoundTripper {
		return untilClosed(status, body, io.EOF)
	},
	"EOF once the context ends": func(_ *testing.T, status int, body string) http.RoundTripper {
		return untilDone(status, body, func(context.Context) error { return io.EOF })
	},
	"error of the context": func(_ *testing.T, status int, body string) http.RoundTripper {
		return untilDone(status, body, context.Context.Err)
	},
}

// silentNetHTTP names an upgrade, because net/http gives the body of a 101 to those who upgrade.
func silentNetHTTP(t *testing.T, status int, body string) http.RoundTripper {
	const header = "HTTP/1.1 %d So It Goes\r\nConnection: upgrade\r\nUpgrade: another\r\nContent-Length: 1000\r\n\r\n"
	return http1(t, fmt.Sprintf(header, status)+body)
}

// silentAfter is a response whose body ends as wait does.
func silentAfter(status int, body string, wait func() error) *http.Response {
	resp := response(status, "")
	resp.Body = reading(func(p []byte) (int, error) {
		if body != "" {
			n := copy(p, body)
			body = body[n:]
			return n, nil
		}
		return 0, wait()
	})
	return resp
}

type closer struct {
	io.Reader
	closed chan struct{}
}

func (c closer) Close() error {
	close(c.closed)
	return nil
}

func untilClosed(status int, body string, err error) transport {
	return func(*http.Request) (*http.Response, error) {
		closed := make(chan struct{})
		resp := silentAfter(status, body, func() error {
			<-closed
			return err
		})
		resp.Body = closer{resp.Body, closed}
		return resp, nil
	}
}

func untilDone(status int, body string, err func(context.Context) error) transport {
	return func(r *http.Request) (*http.Response, error) {
		return silentAfter(status, body, func() error {
			<-r.Context().Done()
			return err(r.Context())
		}), nil
	}
}

// interruption is how a call of TestInterruptedCallMatchesItsContext ends.
type interruption struct {
	transport string // of silent
	canceled  bool   // and not ended by a deadline
	status    int
	body      string // as far as it comes
}

func (i interruption) String() string {
	end := "deadline"
	if i.canceled {
		end = "canceled"
	}
	return fmt.Sprintf("%s/%s/%d/%s", i.transport, end, i.status, i.body)
}

// interruptions returns every combination that exists.
func interruptions() []interruption {
	var all []interruption
	for name := range silent {
		for _, status := range []int{101, 200, 201, 204, 301, 302, 400, 404, 408, 429, 500, 503} {
			if status == 204 && name == "net/http" {
				continue // has no body there
			}
			for _, body := range []string{"", `{"id":"job_1",`, `{"error":"so`} {
				deadline := interruption{transport: name, status: status, body: body}
				canceled := deadline
				canceled.canceled = true
				all = append(all, deadline, canceled)
			}
		}
	}
	return all
}

// context returns a context that ends with cause after a while.
func (i interruption) context(parent context.Context, after time.Duration, cause error) (context.Context, func()) {
	if !i.canceled {
		return context.WithTimeoutCause(parent, after, cause)
	}

	ctx, cancel := context.WithCancelCause(parent)
	timer := time.AfterFunc(after, func() { cancel(cause) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// If the context has ended and the body is truncated, the error matches the context's error
// and its cause, as well as its kinds by the status.
func TestInterruptedCallMatchesItsContext(t *testing.T) {
	names := []mintlify.Operation{
		mintlify.OpCreateJob, mintlify.OpGetJob, mintlify.OpGetVisitors, mintlify.OpTriggerUpdate,
	}
	for _, tc := range interruptions() {
		t.Run(tc.String(), func(t *testing.T) {
			for _, name := range names {
				synctest.Test(t, func(t *testing.T) { tc.test(t, operations.Get(name)) })
			}
		})
	}
}

func (i interruption) test(t *testing.T, op operations.Operation) {
	const after = time.Second
	cause := errors.New("the pod is shut down")
	ctx, cancel := i.context(t.Context(), after, cause)
	defer cancel()

	rt := silent[i.transport](t, i.status, i.body)
	start := time.Now()
	err := op.Do(ctx, newClient(t, rt, mintlify.WithBaseURL("http://127.0.0.1")))
	took := time.Since(start)

	assertInterrupted(t, ctx, cause, err)
	kindOfStatus := map[int]error{
		400: mintlify.ErrBadRequest, 404: mintlify.ErrNotFound, 429: mintlify.ErrRateLimited,
		500: mintlify.ErrServer, 503: mintlify.ErrServer,
	}
	if kind := kindOfStatus[i.status]; kind != nil {
		assert.ErrorIs(t, err, kind, op)
	}

	if !op.IsPost() {
		assert.Equal(t, after, took, op)
		return
	}
	acted := i.status < 400 || i.status > 499 || i.status == 408
	assert.Equal(t, acted, errors.Is(err, mintlify.ErrOutcomeUnknown), "%s: %v", op, err)
	assert.Equal(t, i.status/100 == 2, errors.Is(err, mintlify.ErrMalformedResponse), "%s: %v", op, err)
	assert.Equal(t, after+5*time.Second, took, "%s: the response of a POST is precious", op)
}

func assertInterrupted(t *testing.T, ctx context.Context, cause, err error) {
	t.Helper()
	assert.ErrorIs(t, err, ctx.Err())
	assert.ErrorIs(t, err, cause)

	_, again := mintlify.RetryAfter(err)
	assert.False(t, again, "%v", err)
	assertReadable(t, err)
}

// The same if the context ends as the response's header comes.
func TestInterruptedAsTheResponseComesMatchesItsContext(t *testing.T) {
	cause := errors.New("the pod is shut down")
	for _, op := range operations.All() {
		for _, status := range []int{101, 201, 301, 404, 429, 503} {
			ctx, cancel := context.WithCancelCause(t.Context())
			rt := transport(func(r *http.Request) (*http.Response, error) {
				cancel(cause)
				<-r.Context().Done()
				return untilDone(status, `{"id":`, context.Cause)(r)
			})

			client := newClient(t, rt)
			assertInterrupted(t, ctx, cause, op.Do(ctx, client))
			assert.Error(t, ctx.Err(), op)
		}
	}
}

// An informational response is not a response: a call that is canceled after one ends at once.
func TestCancelAfterAnInformationalResponseEndsTheCallAtOnce(t *testing.T) {
	for _, status := range []string{"100 Continue", "102 Processing", "103 Early Hints", "199 Miscellaneous"} {
		for _, op := range operations.All() {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				rt := http1(t, "HTTP/1.1 "+status+"\r\n\r\n")
				client := newClient(t, rt, mintlify.WithBaseURL("http://127.0.0.1"))

				start := time.Now()
				err := op.Do(ctx, client)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, op.IsPost(), errors.Is(err, mintlify.ErrOutcomeUnknown), "%s: %v", op, err)
				assert.Equal(t, time.Second, time.Since(start), "%s after a %s", op, status)
			})
		}
	}
}

// A response's body has the time that is left of the attempt.
func TestBodyHasTheRestOfTheAttempt(t *testing.T) {
	for _, took := range []time.Duration{6500 * time.Millisecond, 59 * time.Second} {
		for _, op := range operations.All() {
			synctest.Test(t, func(t *testing.T) {
				pause := took // before the first byte
				svc := operations.NewService()
				rt := transport(func(r *http.Request) (*http.Response, error) {
					resp, err := svc.RoundTrip(r)
					if err != nil {
						return nil, err
					}

					whole := resp.Body
					resp.Body = reading(func(p []byte) (int, error) {
						time.Sleep(pause)
						pause = 0
						return whole.Read(p)
					})
					return resp, nil
				})

				assert.NoError(t, op.Do(t.Context(), svc.Client(through(rt))), op)
			})
		}
	}
}

// A response that arrived in full counts, though the context has ended.
func TestResponseThatCameWholeCountsThoughTheContextHasEnded(t *testing.T) {
	for _, op := range operations.All() {
		ctx, cancel := context.WithCancel(t.Context())
		svc := operations.NewService()
		rt := transport(func(r *http.Request) (*http.Response, error) {
			resp, err := svc.RoundTrip(r)
			if err != nil {
				return nil, err
			}

			whole := resp.Body
			resp.Body = reading(func(p []byte) (int, error) {
				n, err := whole.Read(p)
				if err == io.EOF {
					cancel()
				}
				return n, err
			})
			return resp, nil
		})

		err := op.Do(ctx, svc.Client(through(rt)))
		if op.IsPost() {
			assert.NoError(t, err, op)
		} else if err != nil {
			assert.ErrorIs(t, err, context.Canceled, op)
		}
		cancel()
	}
}

// rowsField is the field of an operation's response that holds its rows.
type rowsField struct {
	name  string // in JSON; "" if there is no such field
	index int    // in the result
}

func rowsFieldOf(op operations.Operation) rowsField {
	result := reflect.TypeOf(op.Result).Elem()
	for i := range result.NumField() {
		field := result.Field(i)
		if field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			return rowsField{name, i}
		}
	}
	return rowsField{}
}

// count returns the number of rows of a result.
func (f rowsField) count(result any) int {
	return reflect.ValueOf(result).Elem().Field(f.index).Len()
}

// repeat returns op's response with the field once for each of the values.
func (f rowsField) repeat(t *testing.T, op operations.Operation, values string) string {
	var fields []string
	for value := range strings.SplitSeq(values, "|") {
		fields = append(fields, fmt.Sprintf("%q:%s", f.name, value))
	}

	var rest map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(op.Body), &rest))
	delete(rest, f.name)
	for name, value := range rest {
		fields = append(fields, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func TestListIsTheLastOfItsName(t *testing.T) {
	const malformed = -1
	for _, op := range operations.All() {
		rows := rowsFieldOf(op)
		if rows.name == "" {
			continue
		}

		for values, want := range map[string]int{
			`[{},{}]|[{}]`:        1,
			`[{}]|[{},{}]`:        2,
			`null|[{}]`:           1,
			`[{}]|[]`:             0,
			`[{"path":"["}]|[{}]`: 1,
			`[{}]|null`:           malformed,
			`[{},{}]|[{}]|null`:   malformed,
			`null`:                malformed,
			`"x"`:                 malformed,
			`{}`:                  malformed,
			`7`:                   malformed,
			`[7]`:                 malformed,
		} {
			body := rows.repeat(t, op, values)
			result, err := op.Call(t.Context(), newClient(t, respondWith(200, body)))
			if want == malformed {
				assert.ErrorIs(t, err, mintlify.ErrMalformedResponse, body)
				continue
			}
			require.NoError(t, err, body)
			assert.Equal(t, want, rows.count(result), body)
		}
	}
}

func TestIDIsFoundAtTheStartOfABrokenResponse(t *testing.T) {
	for _, padding := range []int{0, 100 << 10, 1<<20 - 100} {
		body := `{"x":"` + strings.Repeat("x", padding) + `","id":"job_1","status":"active","y":`
		job, err := create(t.Context(), newClient(t, respondWith(201, body)))
		assert.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.NotNil(t, job, padding)
	}
}

// The SDK reads no more of a header than any service needs.
func TestHeaderOfAResponseIsBounded(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 404 Not Found\r\n")
			_, _ = io.Copy(conn, io.LimitReader(repeated("X-Y: z\r\n", 500), 9<<20))
			io.WriteString(conn, "\r\n")
			conn.Close()
		}
	}()

	client, err := mintlify.NewClient(testKey, "proj", toListener(listener), mintlify.WithMaxRetries(0))
	require.NoError(t, err)

	_, err = get(t.Context(), client)
	assert.ErrorContains(t, err, "headers exceeded")

	_, err = create(t.Context(), client)
	assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
}

// lateContext is a context whose timer has not fired yet, as after a suspend.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

func TestNothingIsSentPastTheDeadlineByTheWallClock(t *testing.T) {
	for name, test := range map[string]struct {
		keySource time.Duration // how long it takes
		sent      bool
	}{
		"in time":                 {30 * time.Second, true},
		"stopped before the send": {time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				client := svc.Client(mintlify.WithKeySource(func(context.Context) (string, error) {
					time.Sleep(test.keySource)
					return mintlifytest.APIKey, nil
				}))

				ctx := lateContext{t.Context(), time.Now().Add(time.Minute)}
				_, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
				if test.sent {
					require.NoError(t, err)
					assert.Len(t, svc.Requests(), 1)
					return
				}

				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.Empty(t, svc.Requests())
				assert.NotContains(t, err.Error(), "attempts")
			})
		})
	}
}

package mintlify_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// withTimeout gives each attempt of a client over rt that time.
func withTimeout(rt http.RoundTripper, timeout time.Duration) mintlify.Option {
	return mintlify.WithHTTPClient(&http.Client{Transport: rt, Timeout: timeout})
}

// beginning is a transport that has the first byte of the response, and then responds as next.
func beginning(next transport) transport {
	return func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GotFirstResponseByte()
		return next(r)
	}
}

// after is a transport that responds as next after d, unless the request ends before.
func after(d time.Duration, next transport) transport {
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
	for timeout, want := range map[time.Duration]time.Duration{0: time.Minute, 7 * time.Second: 7 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, nil, withTimeout(transport(hang), timeout), mintlify.WithMaxRetries(1), mintlify.WithRetryWait(0, 0))
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
		for name, call := range operations {
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
			rt := transport(func(r *http.Request) (*http.Response, error) {
				time.Sleep(900 * time.Millisecond)
				return pipe(201, func(w *io.PipeWriter) {
					time.Sleep(time.Second)
					cancel()
					time.Sleep(time.Second)
					if r.Context().Err() != nil {
						w.CloseWithError(r.Context().Err())
					}
					io.WriteString(w, jobJSON)
					w.Close()
				}), nil
			})
			job, err := operations[name](ctx, newClient(t, nil, withTimeout(rt, time.Second)))
			require.NoError(t, err)
			assert.Equal(t, "job_1", job.ID)
			assert.Error(t, ctx.Err())
		}
	})
}

func TestCreateAndMessageReadTheBodyForFiveSecondsBeyondTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range posts() {
			start := time.Now()
			job, err := operations[name](t.Context(), newClient(t, stall(201, `{"id":"job_1","status":"active","model":`)))
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
	for name, tc := range map[string]struct {
		timeout  time.Duration // of an attempt; 0: as ever
		canceled bool          // as soon as the response has begun
		rest     transport
		succeeds bool
	}{
		"beyond the context": {canceled: true, rest: after(time.Second, respondWith(201, jobJSON)), succeeds: true},
		"for five seconds":   {canceled: true, rest: after(time.Hour, respondWith(201, jobJSON))},
		"beyond the attempt": {timeout: time.Second, rest: after(3*time.Second, respondWith(201, jobJSON)), succeeds: true},
		"with a time of its own for the body": {canceled: true, rest: after(3*time.Second, func(*http.Request) (*http.Response, error) {
			return pipe(201, func(w *io.PipeWriter) {
				time.Sleep(4 * time.Second)
				io.WriteString(w, jobJSON)
				w.Close()
			}), nil
		}), succeeds: true},
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
			job, err := operations[name](ctx, newClient(t, transport(func(*http.Request) (*http.Response, error) {
				cancel()
				synctest.Wait() // the attempt has been given up
				return response(201, jobJSON), nil
			})))
			require.NoError(t, err, name)
			assert.Equal(t, "job_1", job.ID)
		}
	})
}

func TestCreateTakesAResponseThatComesAsTheContextEnds(t *testing.T) {
	for range 300 { // a body that was closed by the end of the context would be lost now and then
		ctx, cancel := context.WithCancel(t.Context())
		job, err := create(ctx, newClient(t, doing(cancel, func(*http.Request) (*http.Response, error) {
			return pipe(201, func(w *io.PipeWriter) { io.WriteString(w, jobJSON); w.Close() }), nil
		})))
		require.NoError(t, err)
		require.Equal(t, "job_1", job.ID)
	}
}

func TestCreateAndMessageKeepTheIDOfATruncatedResponseThoughTheContextHasEnded(t *testing.T) {
	for _, name := range posts() {
		ctx, cancel := context.WithCancel(t.Context())
		job, err := operations[name](ctx, newClient(t, transport(func(*http.Request) (*http.Response, error) {
			return pipe(201, func(w *io.PipeWriter) {
				io.WriteString(w, `{"id":"job_1","status":"active","model":`)
				cancel()
				w.CloseWithError(io.ErrUnexpectedEOF)
			}), nil
		})))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.True(t, isOutcomeUnknown(err))
		require.NotNil(t, job)
		assert.Equal(t, "job_1", job.ID)
	}
}

// Every other wait ends with the context, at once.

func TestCancelEndsAnAttemptWithoutAResponseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, call := range operations {
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
	_, err := create(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
		cancel()
		return hang(r)
	})))
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, isOutcomeUnknown(err))
}

func TestGetIsInterruptedInTheBodyAtOnce(t *testing.T) {
	for name, body := range map[string]func(cancel func(), r *http.Request) (*http.Response, error){
		"once it has begun": func(cancel func(), r *http.Request) (*http.Response, error) {
			return beginning(func(*http.Request) (*http.Response, error) {
				return pipe(200, func(w *io.PipeWriter) {
					io.WriteString(w, `{"id":"job_1",`)
					cancel()
				}), nil
			})(r)
		},
		"before it is read": func(cancel func(), r *http.Request) (*http.Response, error) {
			cancel()
			synctest.Wait()
			return stall(200, "")(r)
		},
		"that then ends well": func(cancel func(), r *http.Request) (*http.Response, error) {
			response := response(200, "")
			response.Body = reading(func(p []byte) (int, error) {
				cancel()
				<-r.Context().Done()
				return copy(p, "{}"), io.EOF
			})
			return response, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				job, err := get(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) { return body(cancel, r) })))
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
	_, err := get(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		cancel(shutdown)
		<-r.Context().Done()
		assert.Equal(t, shutdown, context.Cause(r.Context()))
		return nil, r.Context().Err()
	})))
	require.ErrorIs(t, err, shutdown)
}

// net/http sends a POST again by itself where its GetBody allows it.

func TestCreateIsNotResentOnceItsHeadersAreWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		wroteHeaders bool
		writeErr     error
		again        bool
	}{"written": {true, nil, false}, "written in part": {true, errors.New("broken pipe"), false}, "not written": {false, errors.New("broken pipe"), true}} {
		t.Run(name, func(t *testing.T) {
			rt := transport(func(r *http.Request) (*http.Response, error) {
				first, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				trace := httptrace.ContextClientTrace(r.Context())
				if tc.wroteHeaders {
					trace.WroteHeaders()
				}
				trace.WroteRequest(httptrace.WroteRequestInfo{Err: tc.writeErr})
				body, err := r.GetBody()
				if !tc.again {
					assert.Error(t, err)
					return nil, errors.New("lost")
				}
				require.NoError(t, err)
				second, err := io.ReadAll(body)
				require.NoError(t, err)
				assert.Equal(t, first, second)
				return response(201, jobJSON), nil
			})
			_, err := create(t.Context(), newClient(t, rt))
			assert.Equal(t, tc.again, err == nil, "%v", err)
			assert.Equal(t, !tc.again, isOutcomeUnknown(err))
		})
	}
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
		"success": {200, jobJSON, nil}, "malformed": {200, "no job", nil}, "redirect": {302, "moved", nil}, "not found": {404, "no job", nil},
		"rate limited": {429, "no job", nil}, "server error": {503, "no job", nil}, "response beside an error": {200, jobJSON, errors.New("both")},
	} {
		for operation, call := range operations {
			t.Run(name+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var bodies []*onceOnly
					_, _ = call(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) {
						bodies = append(bodies, &onceOnly{Reader: strings.NewReader(tc.body), t: t})
						return &http.Response{StatusCode: tc.status, Body: bodies[len(bodies)-1]}, tc.err
					})))
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
		for operation, call := range operations {
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

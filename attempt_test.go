package mintlify_test

import (
	"context"
	"errors"
	"io"
	"net"
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

func TestAttemptHasSixtySecondsUnlessTheHTTPClientSaysOtherwise(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: time.Minute, 7 * time.Second: 7 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			hang := transport(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, context.Cause(r.Context())
			})
			client, err := mintlify.NewClient(testKey, "proj", mintlify.WithMaxRetries(1), mintlify.WithRetryWait(0, 0),
				mintlify.WithHTTPClient(&http.Client{Transport: hang, Timeout: timeout}))
			require.NoError(t, err)
			start := time.Now()
			_, err = get(t.Context(), client)
			require.ErrorContains(t, err, "no response within "+want.String())
			assert.Equal(t, 2*want, time.Since(start), "of each attempt")
		})
	}
}

func TestOwnTimeoutIsNotTheCallersDeadline(t *testing.T) {
	hang := transport(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	client, err := mintlify.NewClient(testKey, "proj", mintlify.WithMaxRetries(0),
		mintlify.WithHTTPClient(&http.Client{Transport: hang, Timeout: time.Millisecond}))
	require.NoError(t, err)
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
}

func TestSlowBodyOfAGetEndsWithTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(w *io.PipeWriter) { io.WriteString(w, `{"id":`) }
		rt := transport(func(*http.Request) (*http.Response, error) { return pipe(200, silent), nil })
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

func TestResponseOfAPostOutlivesTheCallersContextAndTheTrysTime(t *testing.T) {
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
			client, err := mintlify.NewClient(testKey, "proj", mintlify.WithHTTPClient(&http.Client{Transport: rt, Timeout: time.Second}))
			require.NoError(t, err)
			job, err := operations[name](ctx, client)
			require.NoError(t, err)
			assert.Equal(t, "job_1", job.ID)
			assert.Error(t, ctx.Err())
		}
	})
}

func TestResponseOfAPostThatHasBegunIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, arrives := range map[string]time.Duration{"soon": time.Second, "never": time.Hour} {
			ctx, cancel := context.WithCancel(t.Context())
			client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GotFirstResponseByte()
				cancel()
				select {
				case <-time.After(arrives): // the rest of the headers
					return response(201, jobJSON), nil
				case <-r.Context().Done():
					return nil, context.Cause(r.Context())
				}
			}))
			start := time.Now()
			job, err := create(ctx, client)
			if name == "soon" {
				require.NoError(t, err)
				assert.Equal(t, "job_1", job.ID)
				continue
			}
			assert.ErrorIs(t, err, context.Canceled)
			assert.True(t, isOutcomeUnknown(err))
			assert.Equal(t, 5*time.Second, time.Since(start))
		}
	})
}

func TestResponseOfAPostThatHasBegunOutlivesTheTrysTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := transport(func(r *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(r.Context()).GotFirstResponseByte()
			select {
			case <-time.After(3 * time.Second):
				return response(201, jobJSON), nil
			case <-r.Context().Done():
				return nil, context.Cause(r.Context())
			}
		})
		client, err := mintlify.NewClient(testKey, "proj", mintlify.WithHTTPClient(&http.Client{Transport: rt, Timeout: time.Second}))
		require.NoError(t, err)
		_, err = create(t.Context(), client)
		require.NoError(t, err)
	})
}

func TestResponseOfAPostThatComesAfterTheEndOfTheContext(t *testing.T) {
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

func TestResponseOfAPostIsReadThoughTheContextEndsAsItComes(t *testing.T) {
	for range 300 { // a body that was closed by the end of the context would be lost now and then
		ctx, cancel := context.WithCancel(t.Context())
		job, err := create(ctx, newClient(t, transport(func(*http.Request) (*http.Response, error) {
			cancel()
			return pipe(201, func(w *io.PipeWriter) { io.WriteString(w, jobJSON); w.Close() }), nil
		})))
		require.NoError(t, err)
		require.Equal(t, "job_1", job.ID)
	}
}

func TestBodyOfAnResponseThatHadBegunHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		job, err := create(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(r.Context()).GotFirstResponseByte()
			cancel()
			time.Sleep(3 * time.Second)
			return pipe(201, func(w *io.PipeWriter) {
				time.Sleep(4 * time.Second)
				io.WriteString(w, jobJSON)
				w.Close()
			}), nil
		})))
		require.NoError(t, err)
		assert.Equal(t, "job_1", job.ID)
	})
}

func TestResponseOfAPostIsReadForFiveSecondsBeyondTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range posts() {
			rt := transport(func(*http.Request) (*http.Response, error) {
				return pipe(201, func(w *io.PipeWriter) { io.WriteString(w, `{"id":"job_1","status":"active","model":`) }), nil
			})
			start := time.Now()
			job, err := operations[name](t.Context(), newClient(t, rt))
			assert.Equal(t, 65*time.Second, time.Since(start))
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assert.True(t, isOutcomeUnknown(err))
			assert.ErrorContains(t, err, "the response did not end within 1m0s")
			require.NotNil(t, job, "what came is kept")
			assert.Equal(t, "job_1", job.ID)
		}
	})
}

func TestIDOfATruncatedResponseIsKeptThoughTheContextHasEnded(t *testing.T) {
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

func TestCancelEndsAHangingRequestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, call := range operations {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			_, err := call(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, context.Cause(r.Context())
			})))
			cancel()
			assert.Equal(t, time.Second, time.Since(start), name)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, name != "Get", isOutcomeUnknown(err))
		}
	})
}

func TestCancelEndsAGetThatHasBegunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := get(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(r.Context()).GotFirstResponseByte()
			return pipe(200, func(w *io.PipeWriter) { io.WriteString(w, `{"id":`) }), nil
		})))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestCancelBeforeAConnectionIsNoUnknownOutcome(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rt := transport(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
		cancel()
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	})
	_, err := create(ctx, newClient(t, rt))
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, isOutcomeUnknown(err))
}

func TestContextThatEndsInTheBodyOfAGetIsNoMalformedResponse(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	job, err := get(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		return pipe(200, func(w *io.PipeWriter) {
			io.WriteString(w, `{"id":"job_1",`)
			cancel()
		}), nil
	})))
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.Nil(t, job)
}

func TestGetWhoseContextEndedInTheBodyIsInterruptedHoweverTheBodyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := get(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		response := response(200, "")
		response.Body = reading(func(p []byte) (int, error) {
			cancel()
			<-r.Context().Done()
			return copy(p, "{}"), io.EOF
		})
		return response, nil
	})))
	require.ErrorIs(t, err, context.Canceled)
}

func TestBodyOfAGetIsNotReadAfterTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		_, err := get(ctx, newClient(t, transport(func(*http.Request) (*http.Response, error) {
			cancel()
			synctest.Wait()
			return pipe(200, func(*io.PipeWriter) {}), nil
		})))
		assert.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, time.Since(start))
	})
}

func TestBodyIsNotHandedOutAgainOnceWritten(t *testing.T) {
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
					return nil, err
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

// On a stream reset with PROTOCOL_ERROR after the whole request, Go 1.26 sends
// the request again on a new stream.
func TestHTTP2StreamResetAfterTheRequestIsNotRetried(t *testing.T) {
	var received atomic.Int32
	hc, baseURL := newHTTP2Server(t, func(conn net.Conn, stream uint32) {
		received.Add(1)
		writeHTTP2RSTStream(conn, stream, http2ProtocolError)
	})
	client, err := mintlify.NewClient(testKey, "proj", mintlify.WithHTTPClient(hc), mintlify.WithBaseURL(baseURL))
	require.NoError(t, err)
	_, err = create(t.Context(), client)
	assert.True(t, isOutcomeUnknown(err), "%v", err)
	assert.EqualValues(t, 1, received.Load())
}

// onceOnly is a body that is to be closed once, and not read after that.
type onceOnly struct {
	io.Reader
	t      *testing.T
	closed bool
}

func (b *onceOnly) Read(p []byte) (int, error) {
	assert.False(b.t, b.closed, "read after it was closed")
	return b.Reader.Read(p)
}

func (b *onceOnly) Close() error {
	assert.False(b.t, b.closed, "closed twice")
	b.closed = true
	return nil
}

func TestBodiesAreLeftAloneOnceClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []int{200, 302, 404, 429, 503} {
			var bodies []*onceOnly
			_, err := get(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) {
				response := response(status, "")
				bodies = append(bodies, &onceOnly{Reader: strings.NewReader("no job"), t: t})
				response.Body = bodies[len(bodies)-1]
				return response, nil
			})))
			require.Error(t, err)
			for _, body := range bodies {
				assert.True(t, body.closed, status)
			}
		}
	})
}

// closing tells whether it was closed.
type closing struct {
	io.Reader
	closed atomic.Int32
}

func (c *closing) Close() error { c.closed.Add(1); return nil }

func TestEveryBodyIsClosed(t *testing.T) {
	for name, failure := range map[string]error{"response": nil, "response beside an error": errors.New("both")} {
		for operation, call := range operations {
			synctest.Test(t, func(t *testing.T) {
				body := &closing{Reader: strings.NewReader(jobJSON)}
				_, _ = call(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: 200, Body: body}, failure
				}), mintlify.WithMaxRetries(0)))
				synctest.Wait()
				assert.EqualValues(t, 1, body.closed.Load(), "%s %s", operation, name)
			})
		}
	}
	_, err := get(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) { return nil, nil }), mintlify.WithMaxRetries(0)))
	assert.ErrorContains(t, err, "neither a response nor an error")
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

func TestNothingOfAAttemptOutlivesTheCall(t *testing.T) {
	for name, responses := range map[string][]func() (*http.Response, error){
		"response": {func() (*http.Response, error) { return response(200, jobJSON), nil }},
		"error":    {func() (*http.Response, error) { return response(404, ""), nil }},
		"network":  {func() (*http.Response, error) { return nil, errors.New("reset") }},
		"redirect": {func() (*http.Response, error) { return response(302, "", "Location", "/x"), nil }, func() (*http.Response, error) { return response(200, jobJSON), nil }},
	} {
		for operation, call := range operations {
			ctx := &followed{Context: t.Context(), done: make(chan struct{})}
			var attempts []context.Context
			_, _ = call(ctx, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
				attempts = append(attempts, r.Context())
				return responses[min(len(attempts), len(responses))-1]()
			}), mintlify.WithMaxRetries(0)))
			require.NotEmpty(t, attempts)
			for _, attempt := range attempts {
				assert.Error(t, attempt.Err(), "%s %s: the attempt's context has ended", operation, name)
			}
			assert.Zero(t, ctx.followers.Load(), "%s %s: the caller's context is let go", operation, name)
		}
	}
}

package mintlify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Rule 1: a POST is retried only on proof that the service did not act.

func TestPostIsRetriedOnlyOnProof(t *testing.T) {
	for name, tc := range map[string]struct {
		fault          mintlifytest.Fault
		reached        int // requests that reach the service, when the fault comes three times
		jobs           int
		outcomeUnknown bool
		succeeds       bool
	}{
		"429":           {fault: mintlifytest.Fault{Status: 429}, reached: 4, jobs: 1, succeeds: true},
		"refused":       {fault: mintlifytest.Fault{Refuse: true}, reached: 1, jobs: 1, succeeds: true},
		"lost":          {fault: mintlifytest.Fault{Drop: true}, reached: 1, jobs: 1, outcomeUnknown: true},
		"truncated":     {fault: mintlifytest.Fault{Truncate: true}, reached: 1, jobs: 1, outcomeUnknown: true},
		"empty success": {fault: mintlifytest.Fault{Status: 200}, reached: 1, jobs: 1, outcomeUnknown: true},
		"500":           {fault: mintlifytest.Fault{Status: 500}, reached: 1, outcomeUnknown: true},
		"502":           {fault: mintlifytest.Fault{Status: 502}, reached: 1, outcomeUnknown: true},
		"503":           {fault: mintlifytest.Fault{Status: 503}, reached: 1, outcomeUnknown: true},
		"504":           {fault: mintlifytest.Fault{Status: 504}, reached: 1, outcomeUnknown: true},
		"408":           {fault: mintlifytest.Fault{Status: 408}, reached: 1, outcomeUnknown: true},
		"302":           {fault: mintlifytest.Fault{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, reached: 1, outcomeUnknown: true},
		"307":           {fault: mintlifytest.Fault{Status: 307, Header: http.Header{"Location": {"/elsewhere"}}}, reached: 1, outcomeUnknown: true},
		"400":           {fault: mintlifytest.Fault{Status: 400}, reached: 1},
		"401":           {fault: mintlifytest.Fault{Status: 401}, reached: 1},
		"409":           {fault: mintlifytest.Fault{Status: 409}, reached: 1},
		"425":           {fault: mintlifytest.Fault{Status: 425}, reached: 1},
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			client := svc.Client()
			svc.FailNext(mintlify.OpCreateJob, 3, tc.fault)
			_, err := create(t.Context(), client)
			assert.Equal(t, tc.succeeds, err == nil, "%v", err)
			assert.Equal(t, tc.outcomeUnknown, isOutcomeUnknown(err), "%v", err)
			assert.Len(t, svc.Requests(), tc.reached)
			assert.Len(t, svc.Jobs(), tc.jobs)

			svc = mintlifytest.NewService()
			client = svc.Client()
			svc.AddJob("job_1")
			svc.FailNext(mintlify.OpSendMessage, 3, tc.fault)
			_, err = message(t.Context(), client)
			assert.Equal(t, tc.succeeds, err == nil, "%v", err)
			assert.Equal(t, tc.outcomeUnknown, isOutcomeUnknown(err), "%v", err)
			assert.Len(t, svc.Requests(), tc.reached)
		})
	}
}

func TestPostOverASilentTransportIsSentOnce(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")} // no proof: the type alone
	for _, name := range posts() {
		sent := 0
		client := newClient(t, transport(func(*http.Request) (*http.Response, error) { sent++; return nil, refused }))
		_, err := operations[name](t.Context(), client)
		assert.True(t, isOutcomeUnknown(err))
		assert.ErrorIs(t, err, error(refused))
		assert.Equal(t, 1, sent)
	}
}

func TestPostOverAFailoverTransportIsSentOnce(t *testing.T) {
	sent := 0
	failover := transport(func(r *http.Request) (*http.Response, error) {
		sent++
		trace := httptrace.ContextClientTrace(r.Context())
		trace.GetConn("first.example.com:443")
		trace.GotConn(httptrace.GotConnInfo{}) // the first host gets the request and fails
		trace.GetConn("second.example.com:443")
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	})
	for _, name := range posts() {
		sent = 0
		_, err := operations[name](t.Context(), newClient(t, failover))
		assert.True(t, isOutcomeUnknown(err))
		assert.Equal(t, 1, sent)
	}
}

func TestProofIsOfEachAttemptAnew(t *testing.T) {
	sent := 0
	rt := transport(func(r *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(r.Context())
		sent++
		trace.GetConn("api.example.com:443")
		if sent == 1 {
			return nil, errors.New("refused")
		}
		trace.GotConn(httptrace.GotConnInfo{})
		return nil, errors.New("reset")
	})
	_, err := create(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0)))
	assert.True(t, isOutcomeUnknown(err))
	assert.Equal(t, 2, sent)
}

func TestRealSocketsGiveProof(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listener.Close()
		var asked int
		client, err := mintlify.NewClient(testKey, "proj", mintlify.WithBaseURL("http://"+listener.Addr().String()), mintlify.WithRetryWait(0, 0),
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; return nil }))
		require.NoError(t, err)
		for name, call := range operations {
			asked = 0
			_, err = call(t.Context(), client)
			require.ErrorContains(t, err, "connection refused", name)
			assert.ErrorContains(t, err, "4 attempts")
			assert.False(t, isOutcomeUnknown(err))
			assert.Equal(t, 4, asked, "certainly not sent: tried again")
		}
	})
	t.Run("unknown certificate authority", func(t *testing.T) {
		var served atomic.Int32
		server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
		server.Config.ErrorLog = discardLog()
		defer server.Close()
		asked := 0
		client, err := mintlify.NewClient(testKey, "proj", mintlify.WithBaseURL(server.URL), mintlify.WithRetryWait(0, 0),
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; return nil }))
		require.NoError(t, err)
		for name, call := range operations {
			asked = 0
			_, err = call(t.Context(), client)
			require.ErrorAs(t, err, new(x509.UnknownAuthorityError), name)
			assert.False(t, isOutcomeUnknown(err), "the handshake failed: nothing was sent")
			assert.Equal(t, 1, asked, "a certificate does not get better by trying again")
		}
		assert.Zero(t, served.Load())
	})
	t.Run("closed without an response", func(t *testing.T) {
		var served atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			served.Add(1)
			panic(http.ErrAbortHandler)
		}))
		defer server.Close()
		client, err := mintlify.NewClient(testKey, "proj", mintlify.WithBaseURL(server.URL), mintlify.WithRetryWait(0, 0))
		require.NoError(t, err)
		for name, call := range operations {
			served.Store(0)
			_, err = call(t.Context(), client)
			assert.Equal(t, name != "Get", isOutcomeUnknown(err), "%s: %v", name, err)
			assert.EqualValues(t, map[bool]int{true: 1, false: 4}[name != "Get"], served.Load(), name)
		}
	})
}

// net/http sends a POST again by itself where its GetBody allows it.

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

func TestGetIsRetried(t *testing.T) {
	for name, fault := range map[string]mintlifytest.Fault{
		"refused": {Refuse: true}, "lost": {Drop: true}, "truncated": {Truncate: true},
		"429": {Status: 429}, "500": {Status: 500}, "502": {Status: 502}, "503": {Status: 503}, "504": {Status: 504},
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("job_1")
			client := svc.Client()
			svc.FailNext(mintlify.OpGetJob, 3, fault)
			_, err := get(t.Context(), client)
			require.NoError(t, err, "three failures are made good by three retries")

			svc.FailNext(mintlify.OpGetJob, 4, fault)
			_, err = get(t.Context(), client)
			require.Error(t, err, "four are not")
			var apiErr *mintlify.APIError
			if errors.As(err, &apiErr) {
				assert.Equal(t, 4, apiErr.Attempts)
			}

			svc.FailNext(mintlify.OpGetJob, 1, fault)
			_, err = get(t.Context(), svc.Client(mintlify.WithMaxRetries(0)))
			require.Error(t, err, "and none where retries are off")
		})
	}
}

func TestGetIsNotRetriedInVain(t *testing.T) {
	for _, status := range []int{300, 304, 400, 401, 403, 404, 405, 408, 409, 422, 425, 501, 505} {
		sent := 0
		client := newClient(t, transport(func(*http.Request) (*http.Response, error) { sent++; return response(status, ""), nil }))
		_, err := get(t.Context(), client)
		require.Error(t, err)
		assert.Equal(t, 1, sent, status)
	}
	for name, body := range map[string]string{"malformed": "{}", "too large": strings.Repeat(" ", 11<<20)} {
		sent := 0
		client := newClient(t, transport(func(*http.Request) (*http.Response, error) { sent++; return response(200, body), nil }))
		_, err := get(t.Context(), client)
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.Equal(t, 1, sent, name)
	}
}

// instants are when requests came, since the start of the bubble.
type instants struct {
	next  http.RoundTripper
	start time.Time
	times []time.Duration
}

func (i *instants) RoundTrip(r *http.Request) (*http.Response, error) {
	i.times = append(i.times, time.Since(i.start))
	return i.next.RoundTrip(r)
}

func TestBackoffDoublesWithFullJitterWithinItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := make([]time.Duration, 8)
		for range 200 {
			rt := &instants{next: respondWith(503, ""), start: time.Now()}
			_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(8)))
			require.ErrorIs(t, err, mintlify.ErrServer)
			require.Len(t, rt.times, 9)
			for i := range longest {
				wait := rt.times[i+1] - rt.times[i]
				longest[i] = max(longest[i], wait)
				assert.LessOrEqual(t, wait, min(500*time.Millisecond<<i, 30*time.Second))
			}
		}
		for i, wait := range longest {
			assert.Greater(t, wait, min(500*time.Millisecond<<i, 30*time.Second)*3/4, "the whole range is used")
		}
	})
}

func TestRetryAfter(t *testing.T) {
	is := func(value string) func() string { return func() string { return value } }
	in := func(d time.Duration, layout string) func() string {
		return func() string { return time.Now().Add(d).UTC().Format(layout) }
	}
	for name, tc := range map[string]struct {
		value func() string
		slept time.Duration // exactly; 0: as long as the back-off says
	}{
		"seconds":     {is("7"), 7 * time.Second},
		"spaces":      {is(" 7 "), 7 * time.Second},
		"the maximum": {is("30"), 30 * time.Second},
		"date":        {in(9*time.Second, http.TimeFormat), 9 * time.Second},
		"old date":    {in(9*time.Second, "Monday, 02-Jan-06 15:04:05 GMT"), 9 * time.Second},
		"past date":   {in(-time.Hour, http.TimeFormat), 0},
		"zero":        {is("0"), 0},
		"negative":    {is("-5"), 0},
		"below all":   {is("-10000000000000000000"), 0},
		"far below":   {is("-9223372037"), 0}, // would overflow to a long wait
		"garbage":     {is("soon"), 0},
		"fraction":    {is("1.5"), 0},
		"absent":      {is(""), 0},
	} {
		for operation, call := range operations {
			t.Run(name+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rt := &instants{next: respondWith(429, "", "Retry-After", tc.value()), start: time.Now()}
					_, err := call(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(1)))
					require.ErrorIs(t, err, mintlify.ErrRateLimited)
					require.Len(t, rt.times, 2)
					if tc.slept > 0 {
						assert.Equal(t, tc.slept, rt.times[1])
					} else {
						assert.LessOrEqual(t, rt.times[1], 500*time.Millisecond)
					}
				})
			})
		}
	}
}

func TestRetryAfterBeyondTheMaximumIsReturnedNotSleptThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for value, want := range map[string]time.Duration{
			"31": 31 * time.Second, "86400": 24 * time.Hour, "9223372036": 9223372036 * time.Second,
			"9223372036854775807": 1<<63 - 1, "10000000000000000000": 1<<63 - 1, "9223372037": 1<<63 - 1,
		} {
			for name, call := range operations {
				rt := &instants{next: respondWith(429, "", "Retry-After", value), start: time.Now()}
				_, err := call(t.Context(), newClient(t, rt))
				var apiErr *mintlify.APIError
				require.ErrorAs(t, err, &apiErr)
				assert.Equal(t, want, apiErr.RetryAfter, "%s %s", name, value)
				assert.Equal(t, []time.Duration{0}, rt.times)
			}
		}
	})
}

func TestCancelledBackoffEndsAtOnceAndKeepsTheLastResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, call := range operations {
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

func TestLimiterErrorAfterAAttemptKeepsTheLastResponse(t *testing.T) {
	exhausted := errors.New("no tokens left")
	for name, call := range operations {
		asked := 0
		client := newClient(t, respondWith(429, "slow down"), mintlify.WithRetryWait(0, 0),
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error {
				if asked++; asked > 1 {
					return exhausted
				}
				return nil
			}))
		_, err := call(t.Context(), client)
		assert.ErrorIs(t, err, exhausted, name)
		assert.ErrorIs(t, err, mintlify.ErrRateLimited)
		assert.False(t, isOutcomeUnknown(err))
	}
}

// Rule 2: a success is never thrown away.

// pipe is a body that arrives by and by.
func pipe(status int, write func(*io.PipeWriter)) *http.Response {
	r, w := io.Pipe()
	go write(w)
	response := response(status, "")
	response.Body = r
	return response
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

func TestResponseThatIsWholeCountsThoughTheConnectionBreaks(t *testing.T) {
	for name, call := range operations {
		rt := transport(func(*http.Request) (*http.Response, error) {
			return pipe(200, func(w *io.PipeWriter) {
				io.WriteString(w, jobJSON)
				w.CloseWithError(io.ErrUnexpectedEOF)
			}), nil
		})
		job, err := call(t.Context(), newClient(t, rt))
		require.NoError(t, err, name)
		assert.Equal(t, "job_1", job.ID)
	}
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

func TestNothingOfAAttemptThatWasTruncatedIsLeftInTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, second := range []string{"", "[]", "{}", `{"status":"active"}`, `{"x":`, "null", "5"} {
			attempts := 0
			job, err := get(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) {
				if attempts++; attempts > 1 {
					return response(200, second), nil
				}
				return pipe(200, func(w *io.PipeWriter) {
					io.WriteString(w, `{"id":"old","model":"m","status":"comp`)
					w.CloseWithError(io.ErrUnexpectedEOF)
				}), nil
			})))
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse, second)
			assert.Nil(t, job, second)
			assert.Equal(t, 2, attempts)
		}
	})
}

func TestTruncatedResponseTellsTheNetworksError(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Truncate: true})
	_, err := create(t.Context(), svc.Client())
	assert.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, "truncated after")
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

// Rule 7: every wait can be cancelled, and cancelling one disturbs no other.

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

// closeCounter counts the calls that would take other requests' connections away.
type closeCounter struct {
	http.RoundTripper
	mu     sync.Mutex
	closed int
}

func (c *closeCounter) CloseIdleConnections() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
}

func TestFailureAndCancelLeaveTheConnectionsOfOthersAlone(t *testing.T) {
	for name, call := range operations {
		rt := &closeCounter{RoundTripper: respondWith(429, "")}
		client := newClient(t, rt, mintlify.WithRetryWait(0, 0))
		_, err := call(t.Context(), client)
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = call(ctx, client)
		require.Error(t, err)
		client.CloseIdleConnections()
		assert.Zero(t, rt.closed, "%s: a caller's transport is the caller's", name)
	}
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

func TestCancelledAttemptKeepsTheResponseBefore(t *testing.T) {
	for name, call := range operations {
		ctx, cancel := context.WithCancel(t.Context())
		sent := 0
		client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			if sent++; sent == 1 {
				return response(429, "slow down"), nil
			}
			cancel()
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), mintlify.WithRetryWait(0, 0))
		_, err := call(ctx, client)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, mintlify.ErrRateLimited, "%s: of the attempt before", name)
		assert.Equal(t, 1, strings.Count(err.Error(), "previous attempt"), "%v", err)
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
	}
}

func TestRetryAfterOfAServerErrorCountsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[string][]time.Duration{"7": {0, 7 * time.Second}, "31": {0}} {
			rt := &instants{next: respondWith(503, "", "Retry-After", after), start: time.Now()}
			_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(1)))
			require.ErrorIs(t, err, mintlify.ErrServer)
			assert.Equal(t, want, rt.times)
		}
	})
}

func TestCertificateErrorsAreFinal(t *testing.T) {
	for _, certificate := range []error{
		&tls.CertificateVerificationError{Err: errors.New("revoked")},
		x509.UnknownAuthorityError{},
		x509.HostnameError{Certificate: &x509.Certificate{}, Host: "api.example.com"},
		x509.CertificateInvalidError{Reason: x509.Expired},
	} {
		for name, call := range operations {
			sent := 0
			_, err := call(t.Context(), newClient(t, transport(func(r *http.Request) (*http.Response, error) {
				sent++
				httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
				return nil, certificate
			}), mintlify.WithRetryWait(0, 0)))
			require.Error(t, err)
			assert.False(t, isOutcomeUnknown(err))
			assert.Equal(t, 1, sent, "%s %T", name, certificate)
		}
	}
}

func TestBackoffOfManyRetriesStaysAtItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &instants{next: respondWith(503, ""), start: time.Now()}
		_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(100)))
		require.Error(t, err)
		require.Len(t, rt.times, 101)
		assert.Greater(t, rt.times[100]-rt.times[64], time.Minute) // 36 draws of 0 to 30 s
	})
}

func TestBackoffIsDrawnFromZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shortest := time.Hour
		for range 200 {
			rt := &instants{next: respondWith(503, ""), start: time.Now()}
			_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(1)))
			require.Error(t, err)
			shortest = min(shortest, rt.times[1])
		}
		assert.Less(t, shortest, 100*time.Millisecond) // a miss: 0.8^200
	})
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

func TestJobOfAnEarlierAttemptIsNotReturned(t *testing.T) {
	sent := 0
	job, err := get(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) {
		if sent++; sent > 1 {
			return response(404, ""), nil
		}
		return pipe(200, func(w *io.PipeWriter) {
			io.WriteString(w, `{"id":"job_1","status":"active",`)
			w.CloseWithError(io.ErrUnexpectedEOF)
		}), nil
	}), mintlify.WithRetryWait(0, 0)))
	require.ErrorIs(t, err, mintlify.ErrNotFound)
	assert.Nil(t, job)
}

func TestBackoffUsesItsWholeRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		for range 200 {
			rt := &instants{next: respondWith(503, ""), start: time.Now()}
			_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(1)))
			require.Error(t, err)
			waits = append(waits, rt.times[1])
		}
		assert.Less(t, slices.Min(waits), 50*time.Millisecond) // a miss: 0.9^200
		assert.Greater(t, slices.Max(waits), 450*time.Millisecond)
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

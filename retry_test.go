package mintlify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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
	"github.com/mintlify-community/mintlify-go/internal/http2server"
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestCreateAndMessageAreRetriedOnlyOnProof(t *testing.T) {
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

func TestCreateAndMessageNeedTheProofOfThisVeryAttempt(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")} // no proof: the type alone
	fails := func(events func(*httptrace.ClientTrace)) transport {
		return func(r *http.Request) (*http.Response, error) {
			events(httptrace.ContextClientTrace(r.Context()))
			return nil, refused
		}
	}
	unconnected := fails(func(trace *httptrace.ClientTrace) { trace.GetConn("api.example.com:443") })
	connected := fails(func(trace *httptrace.ClientTrace) {
		trace.GetConn("api.example.com:443")
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
	})
	for name, tc := range map[string]struct {
		steps    []transport
		attempts int
	}{
		"no trace events": {[]transport{failWith(refused)}, 1},
		"the first host got the request, the second cannot be reached": {[]transport{connected}, 1},
		"proof of the attempt before":                                  {[]transport{unconnected, connected}, 2},
	} {
		for _, operation := range posts() {
			t.Run(name+"/"+operation, func(t *testing.T) {
				rt := newRecording(tc.steps...)
				_, err := jobCalls[operation](t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0)))
				assert.True(t, isOutcomeUnknown(err))
				assert.ErrorIs(t, err, error(refused))
				assert.Equal(t, tc.attempts, rt.count())
			})
		}
	}
}

func TestRetryOverRealSockets(t *testing.T) {
	// asking returns a client of the SDK's own transport that counts the attempts.
	asking := func(t *testing.T, baseURL string) (client *mintlify.Client, attempts *int) {
		attempts = new(int)
		client, err := mintlify.NewClient(testKey, "proj", mintlify.WithBaseURL(baseURL), mintlify.WithRetryWait(0, 0),
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { *attempts++; return nil }))
		require.NoError(t, err)
		return client, attempts
	}
	t.Run("refused", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listener.Close()
		client, attempts := asking(t, "http://"+listener.Addr().String())
		for name, call := range jobCalls {
			*attempts = 0
			_, err = call(t.Context(), client)
			require.ErrorContains(t, err, "connection refused", name)
			assert.ErrorContains(t, err, "4 attempts")
			assert.False(t, isOutcomeUnknown(err))
			assert.Equal(t, 4, *attempts, "certainly not sent: retried")
		}
	})
	t.Run("unknown certificate authority", func(t *testing.T) {
		var served atomic.Int32
		server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
		server.Config.ErrorLog = discardLog()
		defer server.Close()
		client, attempts := asking(t, server.URL)
		for name, call := range jobCalls {
			*attempts = 0
			_, err := call(t.Context(), client)
			require.ErrorAs(t, err, new(x509.UnknownAuthorityError), name)
			assert.False(t, isOutcomeUnknown(err), "the handshake failed: nothing was sent")
			assert.Equal(t, 1, *attempts, "a retry does not make a certificate better")
		}
		assert.Zero(t, served.Load())
	})
	t.Run("closed without a response", func(t *testing.T) {
		var served atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			served.Add(1)
			panic(http.ErrAbortHandler)
		}))
		defer server.Close()
		client, _ := asking(t, server.URL)
		for name, call := range jobCalls {
			served.Store(0)
			_, err := call(t.Context(), client)
			assert.Equal(t, name != "Get", isOutcomeUnknown(err), "%s: %v", name, err)
			assert.EqualValues(t, map[bool]int{true: 1, false: 4}[name != "Get"], served.Load(), name)
		}
	})
}

func TestCertificateErrorIsNotRetried(t *testing.T) {
	for _, certificate := range []error{
		&tls.CertificateVerificationError{Err: errors.New("revoked")},
		x509.UnknownAuthorityError{},
		x509.HostnameError{Certificate: &x509.Certificate{}, Host: "api.example.com"},
		x509.CertificateInvalidError{Reason: x509.Expired},
	} {
		for name, call := range jobCalls {
			rt := newRecording(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
				return nil, certificate
			})
			_, err := call(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0)))
			require.Error(t, err)
			assert.False(t, isOutcomeUnknown(err))
			assert.Equal(t, 1, rt.count(), "%s %T", name, certificate)
		}
	}
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
		rt := newRecording(respondWith(status, ""))
		_, err := get(t.Context(), newClient(t, rt))
		require.Error(t, err)
		assert.Equal(t, 1, rt.count(), status)
	}
	for name, body := range map[string]string{"malformed": "{}", "too large": strings.Repeat(" ", 11<<20)} {
		rt := newRecording(respondWith(200, body))
		_, err := get(t.Context(), newClient(t, rt))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.Equal(t, 1, rt.count(), name)
	}
}

func TestWithRetryWaitDoublesUnderFullJitter(t *testing.T) {
	for name, tc := range map[string]struct {
		opts     []mintlify.Option
		min, max time.Duration
	}{
		"unset": {nil, 500 * time.Millisecond, 30 * time.Second},
		"set":   {[]mintlify.Option{mintlify.WithRetryWait(time.Minute, time.Hour)}, time.Minute, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				waits := make([][]time.Duration, 8)
				for range 200 {
					rt := newRecording(respondWith(503, ""))
					_, err := get(t.Context(), newClient(t, rt, append(tc.opts, mintlify.WithMaxRetries(8))...))
					require.ErrorIs(t, err, mintlify.ErrServer)
					times := rt.times()
					require.Len(t, times, 9)
					for i := range waits {
						waits[i] = append(waits[i], times[i+1]-times[i])
					}
				}
				for i, drawn := range waits {
					bound := min(tc.min<<i, tc.max)
					assert.LessOrEqual(t, slices.Max(drawn), bound)
					assert.Greater(t, slices.Max(drawn), bound*9/10, "the whole range is used; a miss: 0.9^200")
					assert.Less(t, slices.Min(drawn), bound/10)
				}
			})
		})
	}
}

func TestWithMaxRetriesOfManyStaysAtTheLongestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := newRecording(respondWith(503, ""))
		_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(100)))
		require.Error(t, err)
		times := rt.times()
		require.Len(t, times, 101)
		assert.Greater(t, times[100]-times[64], time.Minute) // 36 draws of 0 to 30 s
	})
}

func TestRetryAfterHeaderIsWaitedOut(t *testing.T) {
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
		for operation, call := range jobCalls {
			t.Run(name+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rt := newRecording(respondWith(429, "", "Retry-After", tc.value()))
					_, err := call(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(1)))
					require.ErrorIs(t, err, mintlify.ErrRateLimited)
					require.Equal(t, 2, rt.count())
					if tc.slept > 0 {
						assert.Equal(t, tc.slept, rt.last().at)
					} else {
						assert.LessOrEqual(t, rt.last().at, 500*time.Millisecond)
					}
				})
			})
		}
	}
}

func TestRetryAfterHeaderOfAServerErrorCountsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[string][]time.Duration{"7": {0, 7 * time.Second}, "31": {0}} {
			rt := newRecording(respondWith(503, "", "Retry-After", after))
			_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(1)))
			require.ErrorIs(t, err, mintlify.ErrServer)
			assert.Equal(t, want, rt.times())
		}
	})
}

func TestRetryAfterHeaderBeyondTheLongestWaitIsReturnedNotSleptThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for value, want := range map[string]time.Duration{
			"31": 31 * time.Second, "86400": 24 * time.Hour, "9223372036": 9223372036 * time.Second,
			"9223372036854775807": 1<<63 - 1, "10000000000000000000": 1<<63 - 1, "9223372037": 1<<63 - 1,
		} {
			for name, call := range jobCalls {
				rt := newRecording(respondWith(429, "", "Retry-After", value))
				_, err := call(t.Context(), newClient(t, rt))
				var apiErr *mintlify.APIError
				require.ErrorAs(t, err, &apiErr)
				assert.Equal(t, want, apiErr.RetryAfter, "%s %s", name, value)
				assert.Equal(t, []time.Duration{0}, rt.times())
			}
		}
	})
}

// docs/faults.md has the faults; here is how long, and what wraps them.
func TestRetryAfter(t *testing.T) {
	under := func(op mintlify.Operation, f mintlifytest.Fault) *mintlify.Client {
		svc := mintlifytest.NewService()
		svc.FailNext(op, 100, f)
		return svc.Client()
	}
	creating := func(f mintlifytest.Fault) func(context.Context) error {
		return func(ctx context.Context) error { _, err := create(ctx, under(mintlify.OpCreateJob, f)); return err }
	}
	getting := func(f mintlifytest.Fault) func(context.Context) error {
		return func(ctx context.Context) error { _, err := get(ctx, under(mintlify.OpGetJob, f)); return err }
	}
	waiting := func(f mintlifytest.Fault, opts ...mintlify.WaitOption) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := under(mintlify.OpGetJob, f).Jobs.WaitUntilDone(ctx, "j", opts...)
			return err
		}
	}
	in7s := http.Header{"Retry-After": {"7"}}
	for name, tc := range map[string]struct {
		call func(context.Context) error
		wait time.Duration
		ok   bool
	}{
		"create, 429":                  {creating(mintlifytest.Fault{Status: 429, Header: in7s}), 7 * time.Second, true},
		"create, 429 unsaid":           {creating(mintlifytest.Fault{Status: 429}), 0, true},
		"create, 503 with Retry-After": {creating(mintlifytest.Fault{Status: 503, Header: in7s}), 0, false},
		"create, 402":                  {creating(mintlifytest.Fault{Status: 402}), 0, false},
		"create, 425":                  {creating(mintlifytest.Fault{Status: 425}), 0, false},
		"create, no connection":        {creating(mintlifytest.Fault{Refuse: true}), 0, true},
		"create, connection lost":      {creating(mintlifytest.Fault{Drop: true}), 0, false},
		"create, limiter": {func(ctx context.Context) error {
			_, err := create(ctx, mintlifytest.NewService().Client(mintlify.WithRateLimiter(
				func(context.Context, mintlify.Operation, string) error { return errors.New("no tokens") })))
			return err
		}, 0, true},
		"create, context ended": {func(ctx context.Context) error {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			return creating(mintlifytest.Fault{})(ended)
		}, 0, false},
		"create, no prompt": {func(ctx context.Context) error {
			_, err := mintlifytest.NewService().Client().Jobs.Create(ctx, mintlify.CreateJobParams{})
			return err
		}, 0, false},
		"get, 503":             {getting(mintlifytest.Fault{Status: 503, Header: in7s}), 7 * time.Second, true},
		"get, 425":             {getting(mintlifytest.Fault{Status: 425}), 0, true},
		"get, connection lost": {getting(mintlifytest.Fault{Drop: true}), 0, true},
		"get, HTML":            {getting(mintlifytest.Fault{Status: 200, Body: "<html>"}), 0, false},
		"get, 404":             {getting(mintlifytest.Fault{}), 0, false},
		"get visitors, truncated": {func(ctx context.Context) error {
			_, err := under(mintlify.OpGetVisitors, mintlifytest.Fault{Truncate: true}).Analytics.GetVisitors(ctx, mintlify.VisitorsParams{})
			return err
		}, 0, true},
		"visitors, 429": {func(ctx context.Context) error {
			_, err := collect(under(mintlify.OpGetVisitors, mintlifytest.Fault{Status: 429, Header: in7s}).Analytics.Visitors(ctx, mintlify.VisitorsParams{}))
			return err
		}, 7 * time.Second, true},
		"wait, outage": {waiting(mintlifytest.Fault{Status: 502}, mintlify.WithMaxOutage(0)), 0, true},
		"wait, context ended": {func(ctx context.Context) error {
			ending, cancel := context.WithCancel(ctx)
			return waiting(mintlifytest.Fault{Status: 502}, mintlify.WithOnPoll(func(mintlify.Poll) { cancel() }))(ending)
		}, 0, false},
		"wrapped by the caller": {func(ctx context.Context) error {
			return fmt.Errorf("docs: %w", creating(mintlifytest.Fault{Status: 429, Header: in7s})(ctx))
		}, 7 * time.Second, true},
		"none":         {func(context.Context) error { return nil }, 0, false},
		"of elsewhere": {func(context.Context) error { return errors.New("disk full") }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.call(t.Context())
			wait, ok := mintlify.RetryAfter(err)
			assert.Equal(t, tc.ok, ok, "%v", err)
			assert.Equal(t, tc.wait, wait)
		})
	}
}

// The clocks of the service and of this machine need not agree.
func TestRetryAfterDateCountsFromTheResponsesDate(t *testing.T) {
	date := time.Date(2001, time.March, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{date.Format(http.TimeFormat): 90 * time.Second, "yesterday": 0} {
		_, err := get(t.Context(), newClient(t, respondWith(429, "", "Date", header, "Retry-After", date.Add(90*time.Second).Format(http.TimeFormat)), mintlify.WithMaxRetries(0)))
		wait, ok := mintlify.RetryAfter(err)
		assert.True(t, ok)
		assert.Equal(t, want, wait, header)
	}
}

// storms are what an HTTP/2 service can do to a request for which net/http sends it again,
// unseen by the SDK's retries.
var storms = map[string]func(*http2server.Stream){
	"reset, PROTOCOL_ERROR":   func(s *http2server.Stream) { s.Reset(http2server.ProtocolError) },
	"reset, REFUSED_STREAM":   func(s *http2server.Stream) { s.Reset(http2server.RefusedStream) },
	"GOAWAY below the stream": func(s *http2server.Stream) { s.GoAway(true) },
	"GOAWAY, closed":          func(s *http2server.Stream) { s.GoAway(true); s.CloseConn() },
}

// stormy is a service that does something to every request that has got so far, and a
// client of it.
func stormy(t *testing.T, when http2server.Event, storm func(*http2server.Stream), opts ...mintlify.Option) (*http2server.Server, *mintlify.Client) {
	t.Helper()
	server := &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
		if event == when {
			storm(stream)
		}
	}}
	rt := server.Transport()
	t.Cleanup(func() { rt.CloseIdleConnections(); server.Close() })
	return server, newClient(t, rt, append(opts, mintlify.WithBaseURL("http://127.0.0.1"))...)
}

func TestStormOfResetsBeginsAPostOnceAndAGetThreeTimesAnAttempt(t *testing.T) {
	for name, storm := range storms {
		for _, when := range []http2server.Event{http2server.Begun, http2server.Whole} {
			for _, op := range operations.All() {
				synctest.Test(t, func(t *testing.T) {
					asked := 0
					server, client := stormy(t, when, storm, mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; return nil }))
					err := op.Do(t.Context(), client)
					require.Error(t, err)
					if op.IsPost() {
						assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown, "%s, %s", op, name)
						assert.EqualValues(t, 1, server.Begun.Load(), "%s, %s", op, name)
						assert.Equal(t, 1, asked, op)
					} else {
						assert.Equal(t, 4, asked, "%s, %s: %v", op, name, err)
						assert.LessOrEqual(t, server.Begun.Load(), int64(4*3), "%s, %s", op, name)
					}
				})
			}
		}
	}
}

func TestStormDuringAPromptBeginsItOnce(t *testing.T) {
	prompt := strings.Repeat("prompt", 20<<10) // beyond what may be sent before the service says go on
	for name, storm := range storms {
		for _, when := range []http2server.Event{http2server.Begun, http2server.Body} {
			for _, send := range []call{
				func(ctx context.Context, c *mintlify.Client) error {
					_, err := c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
					return err
				},
				func(ctx context.Context, c *mintlify.Client) error {
					_, err := c.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: prompt})
					return err
				},
			} {
				synctest.Test(t, func(t *testing.T) {
					server, client := stormy(t, when, storm)
					err := send(t.Context(), client)
					assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown, name)
					assert.EqualValues(t, 1, server.Begun.Load(), name)
					assert.Zero(t, server.Whole.Load())
				})
			}
		}
	}
}

func TestPollOfAWaitIsAtMostThreeRequests(t *testing.T) {
	for name, storm := range storms {
		for waitName, wait := range waits {
			synctest.Test(t, func(t *testing.T) {
				server, client := stormy(t, http2server.Whole, storm)
				polls := int64(0)
				err := wait(t.Context(), client, mintlify.WithMaxOutage(time.Minute), mintlify.WithOnPoll(func(mintlify.Poll) { polls++ }))
				require.ErrorAs(t, err, new(*mintlify.WaitError))
				assert.Greater(t, polls, int64(5))
				assert.LessOrEqual(t, server.Begun.Load(), 3*polls, "%s, %s", waitName, name)
			})
		}
	}
}

// A Proxy function that fails is proof that nothing was sent. What it says may hold the
// proxy's password.
func TestFailingProxyFunctionIsLikeNoConnection(t *testing.T) {
	for _, op := range operations.All() {
		asked := 0
		rt := &http.Transport{Proxy: failingProxy}
		err := op.Do(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0), mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; return nil })))
		assert.ErrorContains(t, err, "proxy:3128", op)
		assert.NotContains(t, err.Error(), "hunter2")
		assert.False(t, isOutcomeUnknown(err), op)
		assert.Equal(t, 4, asked, op)
		_, again := mintlify.RetryAfter(err)
		assert.True(t, again, op)
	}
}

// What is registered for a scheme with a transport may send the request before it fails.
func TestRegisteredProtocolThatFailsLeavesTheOutcomeUnknown(t *testing.T) {
	for _, op := range operations.All() {
		sent := 0
		rt := &http.Transport{Protocols: new(http.Protocols)}
		rt.RegisterProtocol("https", transport(func(*http.Request) (*http.Response, error) {
			sent++
			return nil, errors.New("the connection was lost")
		}))
		err := op.Do(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0)))
		assert.Equal(t, op.IsPost(), isOutcomeUnknown(err), "%s: %v", op, err)
		assert.Equal(t, op.IsPost(), sent == 1, op)
	}
}

func TestNoDefaultTransportIsAnError(t *testing.T) {
	standard := http.DefaultTransport
	defer func() { http.DefaultTransport = standard }()
	http.DefaultTransport = nil
	client, err := mintlify.NewClient(testKey, "proj")
	require.NoError(t, err)
	for _, op := range operations.All() {
		err := op.Do(t.Context(), client)
		assert.ErrorContains(t, err, "http.DefaultTransport is nil", op)
		assert.False(t, isOutcomeUnknown(err), op)
	}
	client.CloseIdleConnections()
	assert.NotNil(t, mintlify.NewTransport())
}

// Against the contract of an http.RoundTripper, some gateways' wrappers rewrite the URL.
func TestTransportThatRewritesTheURLSeesItsOwnEachTime(t *testing.T) {
	for _, op := range operations.All() {
		if op.IsPost() {
			continue
		}
		var paths []string
		err := op.Do(t.Context(), newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			paths = append(paths, r.URL.Path)
			r.URL.Path = "/gateway" + r.URL.Path
			return response(503, ""), nil
		}), mintlify.WithRetryWait(0, 0)))
		require.Len(t, paths, 4, op)
		for _, path := range paths {
			assert.Equal(t, paths[0], path)
		}
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		assert.Equal(t, paths[0], apiErr.Path, "as sent")
	}
}

// overTLS serves HTTP/2 on a socket, and returns a client that agrees to it over TLS.
func overTLS(t *testing.T, server *http2server.Server) (hc *http.Client, baseURL string) {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(certified.Close)
	config := certified.TLS.Clone()
	config.NextProtos = []string{"h2"}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go server.Serve(conn)
		}
	}()
	rt := certified.Client().Transport.(*http.Transport)
	rt.ForceAttemptHTTP2 = true
	t.Cleanup(rt.CloseIdleConnections)
	return certified.Client(), "https://" + listener.Addr().String()
}

// As between a program and the service: over TLS, on a socket.
func TestHTTP2OverTLS(t *testing.T) {
	for name, storm := range storms {
		for _, op := range operations.All() {
			if !op.IsPost() {
				continue
			}
			server := &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
				if event == http2server.Whole {
					storm(stream)
				}
			}}
			hc, baseURL := overTLS(t, server)
			client, err := mintlify.NewClient(testKey, "proj", mintlify.WithHTTPClient(hc), mintlify.WithBaseURL(baseURL))
			require.NoError(t, err)
			err = op.Do(t.Context(), client)
			assert.True(t, isOutcomeUnknown(err), "%s, %s: %v", op, name, err)
			assert.EqualValues(t, 1, server.Begun.Load(), "%s, %s", op, name)
		}
	}
}

func TestHTTP2ResponseOverTLS(t *testing.T) {
	server := &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
		if event == http2server.Whole {
			stream.Respond("103", "")
			stream.Respond("201", jobJSON)
		}
	}}
	hc, baseURL := overTLS(t, server)
	client, err := mintlify.NewClient(testKey, "proj", mintlify.WithHTTPClient(hc), mintlify.WithBaseURL(baseURL))
	require.NoError(t, err)
	job, err := create(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, "job_1", job.ID)
}

// overPipes returns a client whose requests go to server by the SDK's own transport, without
// a socket.
func overPipes(t *testing.T, server *http2server.Server, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	rt := mintlify.NewTransport()
	rt.Proxy = nil
	rt.Protocols = new(http.Protocols)
	rt.Protocols.SetUnencryptedHTTP2(true)
	rt.DialContext = func(context.Context, string, string) (net.Conn, error) {
		client, conn := net.Pipe()
		go server.Serve(conn)
		return client, nil
	}
	t.Cleanup(func() { rt.CloseIdleConnections(); server.Close() })
	return newClient(t, rt, append(opts, mintlify.WithBaseURL("http://127.0.0.1"))...)
}

// Without pings every request would use the connection until it times out.
func TestHTTP2ConnectionThatGoesSilentIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := new(http2server.Server)
		server.Silent.Store(true)
		server.Handle = func(event http2server.Event, stream *http2server.Stream) {
			if event == http2server.Whole && server.Conns.Load() > 1 {
				stream.Respond("200", `{"id":"job_1","status":"completed"}`)
			}
		}
		client := overPipes(t, server)
		start := time.Now()
		_, err := get(t.Context(), client)
		require.NoError(t, err)
		assert.Less(t, time.Since(start), 30*time.Second)
	})
}

// A connection that is slow, but alive, is kept.
func TestHTTP2ResponseMayTakeLongerThanAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := new(http2server.Server)
		server.Handle = func(event http2server.Event, stream *http2server.Stream) {
			if event == http2server.Whole {
				time.AfterFunc(55*time.Second, func() { stream.Respond("201", jobJSON) })
			}
		}
		_, err := create(t.Context(), overPipes(t, server))
		require.NoError(t, err)
		assert.EqualValues(t, 1, server.Conns.Load())
	})
}

// net/http asks for a connection again whenever the one it has got has no stream left: that
// does not mean that a connection failed.
func TestBurstOfCallsOverHTTP2(t *testing.T) {
	for name, call := range map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error){"Create": create, "Get": get} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &http2server.Server{MaxStreams: 100, Handle: func(event http2server.Event, stream *http2server.Stream) {
					if event == http2server.Whole {
						time.AfterFunc(200*time.Millisecond, func() { stream.Respond("200", jobJSON) })
					}
				}}
				client := overPipes(t, server, mintlify.WithMaxRetries(0))
				var calls sync.WaitGroup
				for range 1000 {
					calls.Go(func() {
						_, err := call(t.Context(), client)
						assert.NoError(t, err)
					})
				}
				calls.Wait()
				assert.EqualValues(t, 1000, server.Begun.Load())
			})
		})
	}
}

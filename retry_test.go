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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

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

func TestBackoffOfManyRetriesStaysAtItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &instants{next: respondWith(503, ""), start: time.Now()}
		_, err := get(t.Context(), newClient(t, rt, mintlify.WithMaxRetries(100)))
		require.Error(t, err)
		require.Len(t, rt.times, 101)
		assert.Greater(t, rt.times[100]-rt.times[64], time.Minute) // 36 draws of 0 to 30 s
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

// The column "may be called again later" of docs/faults.md has the faults; here is how
// long, and what wraps them.
func TestRetryAfterOfAnError(t *testing.T) {
	fail := func(op mintlify.Operation, f mintlifytest.Fault, opts ...mintlify.Option) *mintlify.Client {
		svc := mintlifytest.NewService()
		svc.FailNext(op, 100, f)
		return svc.Client(opts...)
	}
	in7s := mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}}
	refused := mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { return errors.New("no tokens") })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		call func() error
		wait time.Duration
		ok   bool
	}{
		"create, 429": {func() error { _, err := create(t.Context(), fail(mintlify.OpCreateJob, in7s)); return err }, 7 * time.Second, true},
		"create, 429 unsaid": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 429}))
			return err
		}, 0, true},
		"create, 503 with Retry-After": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 503, Header: in7s.Header}))
			return err
		}, 0, false},
		"create, 402": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 402}))
			return err
		}, 0, false},
		"create, 425": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 425}))
			return err
		}, 0, false},
		"create, no connection": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Refuse: true}))
			return err
		}, 0, true},
		"create, connection lost": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Drop: true}))
			return err
		}, 0, false},
		"create, limiter":       {func() error { _, err := create(t.Context(), mintlifytest.NewService().Client(refused)); return err }, 0, true},
		"create, context ended": {func() error { _, err := create(ended, mintlifytest.NewService().Client()); return err }, 0, false},
		"create, no prompt": {func() error {
			_, err := mintlifytest.NewService().Client().Jobs.Create(t.Context(), mintlify.CreateJobParams{})
			return err
		}, 0, false},
		"get, 503": {func() error {
			_, err := get(t.Context(), fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 503, Header: in7s.Header}))
			return err
		}, 7 * time.Second, true},
		"get, 425": {func() error {
			_, err := get(t.Context(), fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 425}))
			return err
		}, 0, true},
		"get, truncated": {func() error {
			_, err := mintlifytest.NewService().Client().Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
			assert.NoError(t, err)
			_, err = fail(mintlify.OpGetVisitors, mintlifytest.Fault{Truncate: true}).Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
			return err
		}, 0, true},
		"get, HTML": {func() error { _, err := get(t.Context(), newClient(t, respondWith(200, "<html>"))); return err }, 0, false},
		"get, connection lost": {func() error {
			_, err := get(t.Context(), fail(mintlify.OpGetJob, mintlifytest.Fault{Drop: true}))
			return err
		}, 0, true},
		"get, 404": {func() error { _, err := get(t.Context(), mintlifytest.NewService().Client()); return err }, 0, false},
		"export": {func() error {
			_, err := collect(fail(mintlify.OpGetVisitors, in7s).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}))
			return err
		}, 7 * time.Second, true},
		"wait, outage": {func() error {
			_, err := fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 502}).Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithMaxOutage(0))
			return err
		}, 0, true},
		"wait, context ended": {func() error {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 502}).Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(mintlify.Poll) { cancel() }))
			return err
		}, 0, false},
		"wrapped by the caller": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, in7s))
			return fmt.Errorf("docs: %w", err)
		}, 7 * time.Second, true},
		"none":         {func() error { return nil }, 0, false},
		"of elsewhere": {func() error { return errors.New("disk full") }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			wait, ok := mintlify.RetryAfter(tc.call())
			assert.Equal(t, tc.ok, ok)
			assert.Equal(t, tc.wait, wait)
		})
	}
}

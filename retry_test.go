package mintlify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/http2server"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestCreateAndMessageNeedTheProofOfThisVeryAttempt(t *testing.T) {
	// The type of an error proves nothing.
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}

	unconnected := func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
		return nil, refused
	}
	connected := func(r *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(r.Context())
		trace.GetConn("api.example.com:443")
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
		return nil, refused
	}

	for name, tc := range map[string]struct {
		steps    []kit.Transport
		attempts int
	}{
		"no trace events": {[]kit.Transport{kit.FailWith(refused)}, 1},
		"the first host got the request, the second cannot be reached": {[]kit.Transport{connected}, 1},
		"proof of the attempt before":                                  {[]kit.Transport{unconnected, connected}, 2},
	} {
		for _, operation := range kit.Posts() {
			t.Run(name+"/"+operation, func(t *testing.T) {
				rt := kit.NewRecording(tc.steps...)
				_, err := kit.JobCalls[operation](t.Context(), kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0)))
				assert.True(t, kit.IsOutcomeUnknown(err))
				assert.ErrorIs(t, err, error(refused))
				assert.Equal(t, tc.attempts, rt.Count())
			})
		}
	}
}

// A read is retried after whatever passes, a change only if the service cannot have acted.
func TestStatusesThatAreRetried(t *testing.T) {
	for status, want := range map[int]struct{ get, create int }{
		408: {2, 1}, 425: {2, 2}, 429: {2, 2}, 499: {2, 1}, 500: {2, 1}, 503: {2, 1}, 520: {2, 1}, 522: {2, 1}, 530: {2, 1},
		400: {1, 1}, 401: {1, 1}, 404: {1, 1}, 409: {1, 1}, 418: {1, 1}, 501: {1, 1}, 505: {1, 1}, 511: {1, 1}, 304: {1, 1},
	} {
		for operation, attempts := range map[string]int{"Get": want.get, "Create": want.create, "Message": want.create} {
			service := kit.NewRecording(kit.RespondWith(status, ""))
			client := kit.NewClient(t, service, mintlify.WithMaxRetries(1), mintlify.WithRetryWait(0, 0))
			_, err := kit.JobCalls[operation](t.Context(), client)
			require.Error(t, err)
			assert.Equal(t, attempts, service.Count(), "%s after %d", operation, status)
		}
	}
}

func TestCertificateErrorIsNotRetried(t *testing.T) {
	for _, certificate := range []error{
		&tls.CertificateVerificationError{Err: errors.New("revoked")},
		x509.UnknownAuthorityError{},
		x509.HostnameError{Certificate: &x509.Certificate{}, Host: "api.example.com"},
		x509.CertificateInvalidError{Reason: x509.Expired},
		&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}, // the client's
	} {
		for name, call := range kit.JobCalls {
			rt := kit.NewRecording(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
				return nil, certificate
			})
			_, err := call(t.Context(), kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0)))
			require.Error(t, err)
			assert.False(t, kit.IsOutcomeUnknown(err))
			assert.Equal(t, 1, rt.Count(), "%s %T", name, certificate)
		}
	}
}

func TestWithRetryWaitOfTheLongestDoesNotOverflow(t *testing.T) {
	for _, least := range []time.Duration{0, time.Second, math.MaxInt64} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			client := kit.NewClient(t, kit.RespondWith(503, ""), mintlify.WithRetryWait(least, math.MaxInt64))
			_, err := kit.Get(ctx, client)
			assert.ErrorIs(t, err, mintlify.ErrServer)
		})
	}
}

func TestWithRetryWaitDoublesUnderFullJitter(t *testing.T) {
	for name, tc := range map[string]struct {
		opts     []mintlify.Option
		min, max time.Duration
	}{
		"unset": {nil, 500 * time.Millisecond, 30 * time.Second},
		"set":   {[]mintlify.Option{mintlify.WithRetryWait(time.Minute, time.Hour)}, time.Minute, time.Hour},
		"min 0": {[]mintlify.Option{mintlify.WithRetryWait(0, time.Second)}, 10 * time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := make([][]time.Duration, 8)
				for range 200 {
					rt := kit.NewRecording(kit.RespondWith(503, ""))
					_, err := kit.Get(t.Context(), kit.NewClient(t, rt, append(tc.opts, mintlify.WithMaxRetries(8))...))
					require.ErrorIs(t, err, mintlify.ErrServer)

					times := rt.Times()
					require.Len(t, times, 9)
					for i := range all {
						all[i] = append(all[i], times[i+1]-times[i])
					}
				}

				for i, drawn := range all {
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
		rt := kit.NewRecording(kit.RespondWith(503, ""))
		_, err := kit.Get(t.Context(), kit.NewClient(t, rt, mintlify.WithMaxRetries(100)))
		require.Error(t, err)
		times := rt.Times()
		require.Len(t, times, 101)
		assert.Greater(t, times[100]-times[64], time.Minute) // 36 draws of 0 to 30 s
	})
}

func TestRetryAfterHeaderIsWaitedOut(t *testing.T) {
	at := func(d time.Duration, layout string) string { return time.Now().Add(d).UTC().Format(layout) }
	const oldLayout = "Monday, 02-Jan-06 15:04:05 GMT"

	for name, tc := range map[string]struct {
		value string
		in    time.Duration // not 0: the value is the date after that time
		form  string        // of the date
		slept time.Duration // exactly; 0: as long as the back-off says
	}{
		"seconds":     {value: "7", slept: 7 * time.Second},
		"spaces":      {value: " 7 ", slept: 7 * time.Second},
		"the maximum": {value: "30", slept: 30 * time.Second},
		"date":        {in: 9 * time.Second, form: http.TimeFormat, slept: 9 * time.Second},
		"old date":    {in: 9 * time.Second, form: oldLayout, slept: 9 * time.Second},
		"past date":   {in: -time.Hour, form: http.TimeFormat},
		"zero":        {value: "0"},
		"negative":    {value: "-5"},
		"below all":   {value: "-10000000000000000000"},
		"far below":   {value: "-9223372037"}, // would overflow to a long wait
		"garbage":     {value: "soon"},
		"fraction":    {value: "1.5", slept: 2 * time.Second},
		"no fraction": {value: "7.000", slept: 7 * time.Second},
		"two points":  {value: "7.5.1"},
		"absent":      {value: ""},
	} {
		for operation, call := range kit.JobCalls {
			t.Run(name+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					value := tc.value
					if tc.in != 0 {
						value = at(tc.in, tc.form)
					}
					rt := kit.NewRecording(kit.RespondWith(429, "", "Retry-After", value))
					_, err := call(t.Context(), kit.NewClient(t, rt, mintlify.WithMaxRetries(1)))
					require.ErrorIs(t, err, mintlify.ErrRateLimited)

					require.Equal(t, 2, rt.Count())
					if tc.slept > 0 {
						assert.Equal(t, tc.slept, rt.Last().At)
					} else {
						assert.LessOrEqual(t, rt.Last().At, 500*time.Millisecond)
					}
				})
			})
		}
	}
}

// under returns a client of a fake where an operation fails.
func under(op mintlify.Operation, f mintlifytest.Fault) *mintlify.Client {
	svc := mintlifytest.NewService()
	svc.FailNext(op, 100, f)
	return svc.Client()
}

// docs/faults.md has the faults; here is how long, and what wraps them.
func TestRetryAfter(t *testing.T) {
	ctx := t.Context()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	canceling, end := context.WithCancel(ctx)
	endAtPoll := mintlify.WithOnPoll(func(mintlify.Poll) { end() })
	limited := mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}}
	unavailable := mintlifytest.Fault{Status: 503, Header: http.Header{"Retry-After": {"7"}}}
	noTokens := func(context.Context, mintlify.RequestInfo) error { return errors.New("no tokens") }

	creating := func(f mintlifytest.Fault) error {
		return operations.Get(mintlify.OpCreateJob).Do(ctx, under(mintlify.OpCreateJob, f))
	}
	getting := func(f mintlifytest.Fault) error {
		return operations.Get(mintlify.OpGetJob).Do(ctx, under(mintlify.OpGetJob, f))
	}
	waiting := func(ctx context.Context, opt mintlify.WaitOption) error {
		client := under(mintlify.OpGetJob, mintlifytest.Fault{Status: 502})
		_, err := client.Jobs.WaitUntilDone(ctx, "j", opt)
		return err
	}

	_, refusedByLimiter := kit.Create(ctx, mintlifytest.NewService().Client(mintlify.WithRateLimiter(noTokens)))
	noKey := func(context.Context) (string, error) { return "", nil } // such as a file that is being replaced
	_, withoutKey := kit.Create(ctx, mintlifytest.NewService().Client(mintlify.WithKeySource(noKey)))
	_, tooLate := kit.Create(ended, mintlifytest.NewService().Client())
	_, noPrompt := mintlifytest.NewService().Client().Jobs.Create(ctx, mintlify.CreateJobParams{})
	_, page := under(mintlify.OpGetVisitors, mintlifytest.Fault{Truncate: true}).
		Analytics.GetVisitorPage(ctx, mintlify.VisitorsParams{})
	export := func(f mintlifytest.Fault) error {
		_, err := mintlify.Collect(under(mintlify.OpGetVisitors, f).Analytics.Visitors(ctx, mintlify.VisitorsParams{}))
		return err
	}

	for name, tc := range map[string]struct {
		err  error
		wait time.Duration
		ok   bool
	}{
		"create, 429":                  {creating(limited), 7 * time.Second, true},
		"create, 429 unsaid":           {creating(mintlifytest.Fault{Status: 429}), 30 * time.Second, true},
		"create, 503 with Retry-After": {creating(unavailable), 0, false},
		"create, 425":                  {creating(mintlifytest.Fault{Status: 425}), 30 * time.Second, true},
		"create, 408":                  {creating(mintlifytest.Fault{Status: 408}), 0, false},
		"get, 522":                     {getting(mintlifytest.Fault{Status: 522}), 30 * time.Second, true},
		"get, 501":                     {getting(mintlifytest.Fault{Status: 501}), 0, false},
		"get, 401 with Retry-After":    {getting(mintlifytest.Fault{Status: 401, Header: limited.Header}), 0, false},
		"create, limiter":              {refusedByLimiter, 30 * time.Second, true},
		"create, bad key of a source":  {withoutKey, 30 * time.Second, true},
		"create, context ended":        {tooLate, 0, false},
		"create, no prompt":            {noPrompt, 0, false},
		"get, 503":                     {getting(unavailable), 7 * time.Second, true},
		"get visitors, truncated":      {page, 30 * time.Second, true},
		"visitors, 429":                {export(limited), 7 * time.Second, true},
		"visitors, 429 unsaid":         {export(mintlifytest.Fault{Status: 429}), 10 * time.Minute, true},
		"wait, outage":                 {waiting(ctx, mintlify.WithMaxOutage(0)), 30 * time.Second, true},
		"wait, context ended":          {waiting(canceling, endAtPoll), 0, false},
		"wrapped by the caller":        {fmt.Errorf("docs: %w", creating(limited)), 7 * time.Second, true},
		"none":                         {nil, 0, false},
		"of elsewhere":                 {errors.New("disk full"), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			wait, ok := mintlify.RetryAfter(tc.err)
			assert.Equal(t, tc.ok, ok, "%v", tc.err)
			assert.Equal(t, tc.wait, wait)
		})
	}
}

// The clocks of the service and of this machine need not agree.
func TestRetryAfterDateCountsFromTheResponsesDate(t *testing.T) {
	date := time.Date(2001, time.March, 1, 12, 0, 0, 0, time.UTC)
	retryAfter := date.Add(90 * time.Second).Format(http.TimeFormat)
	for header, want := range map[string]time.Duration{
		date.Format(http.TimeFormat): 90 * time.Second,
		"yesterday":                  30 * time.Second,
	} {
		rt := kit.RespondWith(429, "", "Date", header, "Retry-After", retryAfter)
		_, err := kit.Get(t.Context(), kit.NewClient(t, rt, mintlify.WithMaxRetries(0)))
		wait, ok := mintlify.RetryAfter(err)
		assert.True(t, ok)
		assert.Equal(t, want, wait, header)
	}
}

func TestPollOfAWaitIsAtMostTenRequests(t *testing.T) {
	for waitName, wait := range kit.Waits {
		synctest.Test(t, func(t *testing.T) {
			server := &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
				if event == http2server.Whole {
					stream.GoAway(true)
				}
			}}
			var polls []mintlify.Poll
			err := wait(t.Context(), overPipes(t, server), kit.KeepPolls(&polls))
			require.ErrorAs(t, err, new(*mintlify.WaitError))
			assert.Greater(t, len(polls), 5)
			assert.LessOrEqual(t, server.Begun.Load(), int64(10*len(polls)), waitName)
		})
	}
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
	t.Cleanup(func() {
		rt.CloseIdleConnections()
		server.Close()
	})

	return kit.NewClient(t, rt, append(opts, mintlify.WithBaseURL("http://127.0.0.1"))...)
}

// A connection that is slow, but alive, is kept.
func TestHTTP2ResponseMayTakeLongerThanAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := new(http2server.Server)
		server.Handle = func(event http2server.Event, stream *http2server.Stream) {
			if event == http2server.Whole {
				stream.Respond("103", "")
				time.AfterFunc(55*time.Second, func() { stream.Respond("201", kit.JobJSON) })
			}
		}

		job, err := kit.Create(t.Context(), overPipes(t, server))
		require.NoError(t, err)
		assert.Equal(t, "job_1", job.ID)
		assert.EqualValues(t, 1, server.Conns.Load())
	})
}

// A caller with three seconds learns more from the 429 than from the end of its context.
func TestRetryThatWouldComeTooLateIsNotWaitedFor(t *testing.T) {
	for operation, call := range kit.JobCalls {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()

			service := kit.NewRecording(kit.RespondWith(429, "", "Retry-After", "1"), kit.RespondWith(429, "", "Retry-After", "2"))
			_, err := call(ctx, kit.NewClient(t, service))
			require.ErrorIs(t, err, mintlify.ErrRateLimited, operation)
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(start), "the retry of the second would begin as the context ends")

			wait, ok := mintlify.RetryAfter(err)
			assert.True(t, ok)
			assert.Equal(t, 2*time.Second, wait)
		})
	}
}

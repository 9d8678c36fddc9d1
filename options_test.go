package mintlify_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestNewClientRefusesBadOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		option   mintlify.Option
		argument string
	}{
		"nil option":            {nil, "opts"},
		"nil HTTP client":       {mintlify.WithHTTPClient(nil), "httpClient"},
		"nil key source":        {mintlify.WithKeySource(nil), "keySource"},
		"empty user agent":      {mintlify.WithUserAgent(" "), "userAgent"},
		"user agent injection":  {mintlify.WithUserAgent("a\r\nX-Evil: 1"), "userAgent"},
		"user agent, non-ASCII": {mintlify.WithUserAgent("caf\u00e9"), "userAgent"},
		"user agent, control":   {mintlify.WithUserAgent("a\x7fb"), "userAgent"},
		"negative retries":      {mintlify.WithMaxRetries(-1), "maxRetries"},
		"negative wait":         {mintlify.WithRetryWait(-1, 1), "retryWait"},
		"max below min":         {mintlify.WithRetryWait(2, 1), "retryWait"},
		"nil limiter":           {mintlify.WithRateLimiter(nil), "rateLimiter"},
		"bad wait default":      {mintlify.WithWaitDefaults(mintlify.WithMaxOutage(-1)), "maxOutage"},
		"nil wait default":      {mintlify.WithWaitDefaults(nil), "opts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mintlify.NewClient("mint_abc", "proj", tc.option)
			kit.RequireArgumentError(t, err, tc.argument)
		})
	}

	_, err := mintlify.NewClient("mint_abc", "proj", mintlify.WithMaxRetries(0), nil)
	assert.Contains(t, kit.RequireArgumentError(t, err, "opts").Reason, "index 1")
}

func TestWithInsecureHTTPLiftsTheGuardInAnyOrder(t *testing.T) {
	for _, opts := range [][]mintlify.Option{
		{mintlify.WithInsecureHTTP(), mintlify.WithBaseURL("http://docs.mesh.internal")},
		{mintlify.WithBaseURL("http://docs.mesh.internal"), mintlify.WithInsecureHTTP()},
	} {
		_, err := mintlify.NewClient("mint_abc", "proj", opts...)
		require.NoError(t, err)
	}
}

func TestWithUserAgent(t *testing.T) {
	for want, opts := range map[string][]mintlify.Option{
		`^mintlify-go/\d+\.\d+\.\d+$`:                       nil,
		`^docs-bot/1\.2 \(~ci\) mintlify-go/\d+\.\d+\.\d+$`: {mintlify.WithUserAgent("docs-bot/1.2 (~ci)")},
		`^docs-bot/1\.3 mintlify-go/\d+\.\d+\.\d+$`:         {mintlify.WithUserAgent(" docs-bot/1.3\n")},
	} {
		rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
		_, err := kit.Get(t.Context(), kit.NewClient(t, rt, opts...))
		require.NoError(t, err)
		assert.Regexp(t, want, rt.Last().UserAgent())
	}
}

func TestWithHTTPClientUsesItAndNeverChangesIt(t *testing.T) {
	set := 0
	hc := &http.Client{
		Transport:     kit.RespondWith(200, kit.JobJSON, "Set-Cookie", "a=b"),
		Timeout:       time.Minute,
		Jar:           jarFunc(func() { set++ }),
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("not asked") },
	}

	client, err := mintlify.NewClient(kit.Key, "proj", mintlify.WithHTTPClient(hc))
	require.NoError(t, err)
	_, err = kit.Get(t.Context(), client)
	require.NoError(t, err)

	assert.Equal(t, 1, set, "its jar is used")
	assert.Error(t, hc.CheckRedirect(nil, nil))
	assert.Equal(t, time.Minute, hc.Timeout)
	assert.IsType(t, kit.Transport(nil), hc.Transport)
}

func TestWithHTTPClientWithoutATransportKeepsAnEarlierOnes(t *testing.T) {
	first := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
	second := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
	late := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
	client := func(hc ...*http.Client) *mintlify.Client {
		var opts []mintlify.Option
		for _, hc := range hc {
			opts = append(opts, mintlify.WithHTTPClient(hc))
		}
		return kit.NewClient(t, first, opts...)
	}

	jar := &http.Client{Jar: jarFunc(func() {})}
	_, err := kit.Get(t.Context(), client(&http.Client{Timeout: time.Minute}, jar))
	require.NoError(t, err)
	assert.Equal(t, 1, first.Count())

	_, err = kit.Get(t.Context(), client(&http.Client{Transport: second}, &http.Client{}))
	require.NoError(t, err)
	assert.Equal(t, 1, second.Count())

	empty := &http.Client{}
	changed := client(empty)
	empty.Transport = late // the fields are read at each request
	_, err = kit.Get(t.Context(), changed)
	require.NoError(t, err)
	assert.Equal(t, 1, late.Count())
	assert.Equal(t, 1, first.Count())
}

func TestWithHTTPClientSendsItsCookiesOnceAnAttempt(t *testing.T) {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	jar.SetCookies(&url.URL{Scheme: "https", Host: "api.mintlify.com"}, []*http.Cookie{{Name: "route", Value: "a"}})

	rt := kit.NewRecording(kit.RespondWith(503, ""))
	hc := mintlify.WithHTTPClient(&http.Client{Jar: jar, Transport: rt})
	_, err = kit.Get(t.Context(), kit.NewClient(t, nil, hc, mintlify.WithRetryWait(0, 0)))
	require.Error(t, err)
	require.Equal(t, 4, rt.Count())
	for _, request := range rt.Sent() {
		assert.Equal(t, []string{"route=a"}, request.Header["Cookie"])
	}
}

func TestWithKeySourceRefusesABadKeyUnseen(t *testing.T) {
	client := kit.NewClient(t, kit.RespondWith(200, kit.JobJSON),
		mintlify.WithKeySource(func(context.Context) (string, error) { return "mint_dsc_secret", nil }))
	_, err := kit.Create(t.Context(), client)
	kit.RequireArgumentError(t, err, "apiKey")
	assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.NotContains(t, err.Error(), "secret")
	assert.ErrorContains(t, err, "/job: apiKey is an assistant key")
}

func TestWithRateLimiterIsAskedBeforeEveryRequest(t *testing.T) {
	svc := mintlifytest.NewService()
	var asked []string
	client := svc.Client(mintlify.WithRateLimiter(func(_ context.Context, r mintlify.RequestInfo) error {
		asked = append(asked, fmt.Sprintf("%s, %s, attempt %d", r.Operation, r.ProjectID, r.Attempt))
		return nil
	}))

	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429})
	svc.ScriptJob(mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobCompleted})

	job, err := kit.Create(t.Context(), client)
	require.NoError(t, err)
	_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
	require.NoError(t, err)
	_, err = kit.Message(t.Context(), client)
	require.NoError(t, err)

	assert.Equal(t, []string{
		"create job, test-project, attempt 1",
		"create job, test-project, attempt 2",
		"get job, test-project, attempt 1", // each poll
		"get job, test-project, attempt 1",
		"send message, test-project, attempt 1",
	}, asked)
}

func TestWithKeySourceAndWithRateLimiterErrorsMeanThatNothingWasSent(t *testing.T) {
	broken := errors.New("vault is sealed")
	source := func(context.Context) (string, error) { return "", broken }
	limiter := func(context.Context, mintlify.RequestInfo) error { return broken }

	for name, option := range map[string]mintlify.Option{
		"key source": mintlify.WithKeySource(source),
		"limiter":    mintlify.WithRateLimiter(limiter),
	} {
		for operation, call := range kit.JobCalls {
			t.Run(name+"/"+operation, func(t *testing.T) {
				rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
				_, err := call(t.Context(), kit.NewClient(t, rt, option))

				require.ErrorIs(t, err, broken)
				assert.ErrorContains(t, err, "vault is sealed")
				assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.Zero(t, rt.Count())
			})
		}
	}
}

func TestWithKeySourceAndWithRateLimiterRunUnderTheCallersContext(t *testing.T) {
	limiter := func(ctx context.Context, _ mintlify.RequestInfo) error {
		<-ctx.Done()
		return ctx.Err()
	}
	source := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}

	deploy := errors.New("deploy window closed")
	for name, option := range map[string]mintlify.Option{
		"limiter":    mintlify.WithRateLimiter(limiter),
		"key source": mintlify.WithKeySource(source),
	} {
		synctest.Test(t, func(t *testing.T) {
			for operation, call := range kit.JobCalls {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, deploy)
				_, err := call(ctx, kit.NewClient(t, kit.RespondWith(200, kit.JobJSON), option))
				cancel()

				assert.ErrorIs(t, err, context.DeadlineExceeded, "%s %s", name, operation)
				assert.ErrorIs(t, err, deploy)
				assert.False(t, kit.IsOutcomeUnknown(err))
			}
		})
	}
}

func TestWithRateLimiterIsNotAskedOnceTheContextHasEnded(t *testing.T) {
	for name, call := range kit.JobCalls {
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		limiter := func(context.Context, mintlify.RequestInfo) error {
			asked++
			cancel()
			return nil
		}

		rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
		client := kit.NewClient(t, rt, mintlify.WithRateLimiter(limiter))
		for range 2 {
			_, err := call(ctx, client)
			assert.ErrorIs(t, err, context.Canceled, name)
			assert.False(t, kit.IsOutcomeUnknown(err))
			assert.Zero(t, rt.Count(), "it ended while the limiter waited")
			assert.Equal(t, 1, asked, "no token for a call that is over")
		}
	}
}

func TestWithKeySourceAndWithRateLimiterAreOutsideTheAttemptsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 50 * time.Second})

		limiter := func(context.Context, mintlify.RequestInfo) error {
			time.Sleep(50 * time.Second)
			return nil
		}
		source := func(context.Context) (string, error) {
			time.Sleep(50 * time.Second)
			return mintlifytest.APIKey, nil
		}

		client := svc.Client(mintlify.WithRateLimiter(limiter), mintlify.WithKeySource(source))
		_, err := kit.Create(t.Context(), client)
		require.NoError(t, err)
	})
}

func TestAllRateLimitersAreAskedInOrder(t *testing.T) {
	var asked []string
	limiter := func(name string, err error) mintlify.Option {
		return mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
			asked = append(asked, name)
			return err
		})
	}

	rt := kit.RespondWith(200, kit.JobJSON)
	_, err := kit.Get(t.Context(), kit.NewClient(t, rt, limiter("first", nil), limiter("second", nil)))
	require.NoError(t, err)
	assert.Equal(t, []string{"first", "second"}, asked)

	asked = nil
	full := errors.New("full")
	_, err = kit.Get(t.Context(), kit.NewClient(t, rt, limiter("first", full), limiter("second", nil)))
	assert.ErrorIs(t, err, full)
	assert.Equal(t, []string{"first"}, asked)
}

// hooks are the places where a program's own code runs within a call. Each option makes that
// code call f: in the first request, or in a later one.
var hooks = map[string]func(f func()) mintlify.Option{
	"limiter": func(f func()) mintlify.Option {
		return mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
			f()
			return nil
		})
	},
	"key source": func(f func()) mintlify.Option {
		return mintlify.WithKeySource(func(context.Context) (string, error) {
			f()
			return kit.Key, nil
		})
	},
	"log handler": func(f func()) mintlify.Option {
		return mintlify.WithLogger(slog.New(kit.LogHandler(func(slog.Record) { f() })))
	},
	"transport": func(f func()) mintlify.Option {
		return kit.Through(kit.Doing(f, operations.NewService().RoundTrip))
	},
	"trace hook": func(f func()) mintlify.Option {
		svc := operations.NewService()
		return kit.Through(kit.Transport(func(r *http.Request) (*http.Response, error) {
			trace := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GetConn: func(string) { f() }})
			httptrace.ContextClientTrace(trace).GetConn("api.example.com:443")
			return svc.RoundTrip(r)
		}))
	},
	"body": func(f func()) mintlify.Option {
		return kit.Through(responding(func(resp *http.Response) {
			rest := resp.Body
			resp.Body = kit.Reading(func(p []byte) (int, error) {
				f()
				return rest.Read(p)
			})
		}))
	},
	"cookie jar": func(f func()) mintlify.Option {
		rt := responding(func(resp *http.Response) { resp.Header.Add("Set-Cookie", "a=b") })
		return mintlify.WithHTTPClient(&http.Client{Jar: jarFunc(f), Transport: rt})
	},
}

// responding is a fake whose responses are changed.
func responding(change func(*http.Response)) kit.Transport {
	svc := operations.NewService()
	return func(r *http.Request) (*http.Response, error) {
		resp, err := svc.RoundTrip(r)
		if err == nil {
			change(resp)
		}
		return resp, err
	}
}

type jarFunc func()

func (f jarFunc) SetCookies(*url.URL, []*http.Cookie) { f() }
func (jarFunc) Cookies(*url.URL) []*http.Cookie       { return nil }

// endings are the ways in which a hook ends its goroutine: by a panic, or as t.FailNow does.
var endings = map[string]func(){
	"panic":  func() { panic("boom") },
	"Goexit": runtime.Goexit,
}

// TestWhatEndsAHookEndsTheCaller has every hook end its goroutine, in every call.
func TestWhatEndsAHookEndsTheCaller(t *testing.T) {
	for hook, calling := range hooks {
		for end, f := range endings {
			t.Run(hook+"/"+end, func(t *testing.T) {
				for name, call := range kit.AllCalls() {
					endsTheCaller(t, calling(f), end, name, call)
				}
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

// endsTheCaller makes a call whose hook ends its goroutine. A goroutine that stays behind
// fails the bubble.
func endsTheCaller(t *testing.T, opt mintlify.Option, end, name string, call kit.ResultFunc) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := &followed{Context: t.Context(), done: make(chan struct{})}
		returned, panicked := surfaced(func() {
			_, _ = call(ctx, operations.NewService().Client(opt))
		})

		assert.False(t, returned, "%s returned", name)
		assert.Equal(t, end == "panic", panicked == "boom", "%s: %v", name, panicked)
		synctest.Wait()
		assert.Zero(t, ctx.followers.Load(), "%s lets the context go", name)
	})
}

// surfaced runs f, and tells whether it returned, or else the panic that ended it.
func surfaced(f func()) (bool, any) {
	var returned bool
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		f()
		returned = true
	}()
	<-done

	return returned, panicked
}

// callingAt is a fake of 1000 visitors that calls f in the request for the rows from offset.
func callingAt(offset string, f func()) *mintlify.Client {
	svc := operations.NewService()
	svc.SetVisitors(kit.Visitors(1000))
	return svc.Client(kit.Through(kit.Transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("offset") == offset {
			f()
		}
		return svc.RoundTrip(r)
	})))
}

// A later page's hook ends the loop in its place, after the pages before it. A loop that breaks
// does not hide what ended the hook of a prefetched page.
func TestWhatEndsAHookOfALaterPageEndsTheLoopThere(t *testing.T) {
	for _, tc := range []struct {
		prefetch int
		offset   string // of the page whose hook ends
		breakAt  int    // the page at which the loop breaks; 0: none
		pages    int
	}{
		{prefetch: 0, offset: "500", pages: 2},
		{prefetch: 1, offset: "500", pages: 2},
		{prefetch: 4, offset: "500", pages: 2},
		{prefetch: 1, offset: "250", pages: 1, breakAt: 1},
	} {
		for end, f := range endings {
			synctest.Test(t, func(t *testing.T) {
				analytics := callingAt(tc.offset, f).Analytics
				prefetching := mintlify.WithPrefetch(tc.prefetch)
				pages := 0
				returned, panicked := surfaced(func() {
					for range analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, prefetching) {
						pages++
						if pages == tc.breakAt {
							synctest.Wait() // the next page has failed
							break
						}
					}
				})

				assert.False(t, returned, end)
				assert.Equal(t, end == "panic", panicked == "boom")
				assert.Equal(t, tc.pages, pages, "%+v", tc)
			})
		}
	}
}

func TestWithLoggerLogsEachRequestAndRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := func() { time.Sleep(time.Second) }
		rt := kit.NewRecording(
			kit.Doing(second, kit.FailWith(errors.New("reset"))),
			kit.Doing(second, kit.RespondWith(429, "", "Retry-After", "7")),
			kit.Doing(second, kit.RespondWith(200, kit.JobJSON)))

		var records []slog.Record
		_, err := kit.NewClient(t, rt, kit.LogRecords(&records)).Jobs.Get(t.Context(), "a/b")
		require.NoError(t, err)

		var levels []slog.Level
		for _, record := range records {
			levels = append(levels, record.Level)
		}
		const (
			debug = slog.LevelDebug
			warn  = slog.LevelWarn
		)
		assert.Equal(t, []slog.Level{debug, warn, debug, warn, debug}, levels)

		requests := kit.Logged(records, "mintlify: request")
		require.Len(t, requests, 3)
		for i, request := range requests {
			assert.Equal(t, "get job", request["operation"])
			assert.Equal(t, "GET", request["method"])
			assert.Equal(t, "/v2/agent/proj/job/a%2Fb", request["path"])
			assert.EqualValues(t, i+1, request["attempt"])
			assert.Equal(t, time.Second, request["duration"])
		}
		assert.Nil(t, requests[0]["status"])
		assert.EqualValues(t, 429, requests[1]["status"])
		assert.EqualValues(t, 200, requests[2]["status"])
		assert.Contains(t, requests[0]["error"], "reset")
		assert.Contains(t, requests[1]["error"], "429")
		assert.NotContains(t, requests[2], "error")

		retries := kit.Logged(records, "retrying request")
		require.Len(t, retries, 2)
		assert.EqualValues(t, 2, retries[1]["attempt"])
		assert.Equal(t, 7*time.Second, retries[1]["wait"])
	})
}

func TestWithLoggerLogsNoDurationOfARequestThatWithRateLimiterRefuses(t *testing.T) {
	for _, tokens := range []int{0, 1} {
		limiter := func(_ context.Context, r mintlify.RequestInfo) error {
			if r.Attempt > tokens {
				return errors.New("no tokens")
			}
			return nil
		}
		var records []slog.Record
		client := kit.NewClient(t, kit.RespondWith(503, ""), kit.LogRecords(&records),
			mintlify.WithRateLimiter(limiter), mintlify.WithRetryWait(0, 0))
		_, err := kit.Get(t.Context(), client)
		require.ErrorContains(t, err, "no tokens")

		requests := kit.Logged(records, "mintlify: request")
		require.Len(t, requests, tokens+1)
		for i, request := range requests {
			assert.Equal(t, i < tokens, request["duration"] != nil)
		}
	}
}

func TestWithLoggerOfNilIsSilent(t *testing.T) {
	client := kit.NewClient(t, kit.RespondWith(200, kit.JobJSON), mintlify.WithLogger(nil))
	_, err := kit.Get(t.Context(), client)
	require.NoError(t, err)
}

func TestWithLoggerLogsNoRetryOnceTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rt := kit.Doing(cancel, kit.RespondWith(429, ""))
	var records []slog.Record
	_, err := kit.Create(ctx, kit.NewClient(t, rt, kit.LogRecords(&records), mintlify.WithRetryWait(0, 0)))
	require.ErrorIs(t, err, mintlify.ErrRateLimited)
	require.NotErrorIs(t, err, context.Canceled, "the response is the result")
	assert.Empty(t, kit.Logged(records, "retrying request"))
}

// serveInMemory has http.DefaultTransport, and with it the SDK's own transport, connect
// to handler in memory until the test ends.
func serveInMemory(t *testing.T, handler http.Handler) *kit.PipeNetwork {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })

	network := kit.NewPipeNetwork(t, handler, false)
	http.DefaultTransport = &http.Transport{DialContext: network.Transport.DialContext}
	return network
}

// newInMemoryClient returns a client of the SDK's own transport, for [serveInMemory].
func newInMemoryClient(t *testing.T, opts ...mintlify.Option) *mintlify.Client {
	opts = append([]mintlify.Option{mintlify.WithBaseURL("http://localhost"), mintlify.WithRetryWait(0, 0)}, opts...)
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, opts...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := operations.NewService()
		network := serveInMemory(t, svc)
		client := newInMemoryClient(t)

		for range 3 {
			_, err := kit.Get(t.Context(), client)
			require.NoError(t, err)

			busy := mintlifytest.Fault{Status: 503, Body: strings.Repeat("busy ", 1000)}
			svc.FailNext(mintlify.OpGetJob, 4, busy)
			_, err = kit.Get(t.Context(), client)
			require.ErrorIs(t, err, mintlify.ErrServer)

			svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Body: "{}"})
			_, err = kit.Get(t.Context(), client)
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = kit.Get(ctx, client)
			require.ErrorIs(t, err, context.Canceled)
		}
		assert.Equal(t, 1, network.Dialed())

		other, err := client.ForProject("other")
		require.NoError(t, err)
		_, err = kit.Get(t.Context(), other)
		require.ErrorIs(t, err, mintlify.ErrNotFound)
		assert.Equal(t, 1, network.Dialed(), "ForProject shares the pool")

		client.CloseIdleConnections()
		_, err = kit.Get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, 2, network.Dialed())

		_, err = kit.Get(t.Context(), newInMemoryClient(t))
		require.NoError(t, err)
		assert.Equal(t, 3, network.Dialed(), "every NewClient has a pool of its own")
	})
}

func TestAHundredConnectionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100 // http.DefaultTransport keeps 2 per host
		svc := operations.NewService()
		var arrived sync.WaitGroup
		network := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived.Done()
			arrived.Wait() // all at once: each needs a connection of its own
			svc.ServeHTTP(w, r)
		}))

		client := newInMemoryClient(t)
		for range 2 {
			arrived.Add(n)

			var calls sync.WaitGroup
			for range n {
				calls.Go(func() {
					_, err := kit.Get(t.Context(), client)
					assert.NoError(t, err)
				})
			}
			calls.Wait()
		}
		assert.Equal(t, n, network.Dialed(), "the second wave dials none")
	})
}

func TestWithHTTPClientWithoutATransportUsesTheSDKsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := serveInMemory(t, operations.NewService())
		client := newInMemoryClient(t, mintlify.WithHTTPClient(&http.Client{Timeout: time.Minute}))
		for range 2 {
			_, err := kit.Get(t.Context(), client)
			require.NoError(t, err)
			client.CloseIdleConnections()
		}
		assert.Equal(t, 2, network.Dialed(), "its idle connections are the SDK's to close")
	})
}

func TestCloseIdleConnectionsAtAnyTime(t *testing.T) {
	client, err := mintlify.NewClient(kit.Key, "proj",
		mintlify.WithMaxRetries(0), mintlify.WithBaseURL("http://127.0.0.1:1"))
	require.NoError(t, err)

	var closing sync.WaitGroup
	closing.Go(client.CloseIdleConnections)
	_, _ = kit.Get(t.Context(), client)
	closing.Wait()
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

func TestWithHTTPClientKeepsItsIdleConnections(t *testing.T) {
	for name, call := range kit.JobCalls {
		rt := &closeCounter{RoundTripper: kit.RespondWith(429, "")}
		client := kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0))
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

func TestReplacedDefaultTransportIsLookedUpAtEachRequest(t *testing.T) {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })

	responding := kit.RespondWith(200, `{"id":"replaced","status":"active"}`)
	sameType := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	sameType.RegisterProtocol("https", responding)

	for name, replacement := range map[string]http.RoundTripper{
		"of another type":  responding,
		"of the same type": sameType,
	} {
		t.Run(name, func(t *testing.T) {
			http.DefaultTransport = standard
			server := httptest.NewTLSServer(http.NotFoundHandler())
			server.Config.ErrorLog = kit.DiscardLog()
			defer server.Close()

			client, err := mintlify.NewClient(kit.Key, "proj",
				mintlify.WithMaxRetries(0), mintlify.WithBaseURL(server.URL))
			require.NoError(t, err)

			_, err = kit.Get(t.Context(), client)
			require.ErrorContains(t, err, "certificate", "the real one")

			http.DefaultTransport = replacement
			job, err := kit.Get(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, "replaced", job.ID)

			http.DefaultTransport = standard
			_, err = kit.Get(t.Context(), client)
			require.ErrorContains(t, err, "certificate")
			client.CloseIdleConnections()
		})
	}
}

func TestLimiterOfTheExampleKeepsTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.EnforceQuotas()
		client := svc.Client(mintlify.WithRateLimiter(newLimiter(t.Context(), 10, 90)), mintlify.WithMaxRetries(0))

		start := time.Now()
		for range 400 {
			job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
			require.NoError(t, err)
			_, err = client.Jobs.Get(t.Context(), job.ID)
			require.NoError(t, err)
		}
		assert.Equal(t, 390*time.Hour/90, time.Since(start), "the polls wait too, or the quota is not used")
	})
}

// rotating returns a key source that returns each key once, and the last one from then on. An empty
// key is an error.
func rotating(keys ...string) mintlify.Option {
	return mintlify.WithKeySource(func(context.Context) (string, error) {
		key := keys[0]
		keys = keys[min(1, len(keys)-1):]
		if key == "" {
			return "", errors.New("the vault is sealed")
		}
		return key, nil
	})
}

func TestCallIsMadeOnceMoreWithANewKeyAfterA401(t *testing.T) {
	const old, older = "mint_before_1", "mint_before_2"
	for name, tc := range map[string]struct {
		keys     []string
		attempts int
		err      error
		says     string
	}{
		"another key":                {[]string{old, mintlifytest.APIKey}, 2, nil, ""},
		"the same key":               {[]string{old, old, mintlifytest.APIKey}, 1, mintlify.ErrUnauthorized, "401"},
		"another wrong key":          {[]string{old, older, mintlifytest.APIKey}, 2, mintlify.ErrUnauthorized, "[2 attempts]"},
		"the source fails":           {[]string{old, "", mintlifytest.APIKey}, 1, mintlify.ErrUnauthorized, "the vault is sealed"},
		"the source has a bad key":   {[]string{old, "mint_us_1", mintlifytest.APIKey}, 1, mintlify.ErrUnauthorized, "mint_us_"},
		"no 401, so it is not asked": {[]string{mintlifytest.APIKey, old}, 1, nil, ""},
	} {
		for _, op := range operations.All() {
			t.Run(name+"/"+op.String(), func(t *testing.T) {
				limited := 0
				limiter := mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
					limited++
					return nil
				})
				svc := operations.NewService()
				err := op.Do(t.Context(), svc.Client(rotating(tc.keys...), limiter, mintlify.WithMaxRetries(0)))

				assert.ErrorIs(t, err, tc.err)
				assert.Len(t, svc.Requests(), tc.attempts)
				assert.Equal(t, tc.attempts, limited)
				if err != nil {
					assert.ErrorContains(t, err, tc.says)
					assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				}
			})
		}
	}
}

func TestPollIsMadeOnceMoreWithANewKeyAfterA401(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", completed)
	client := svc.Client(rotating("mint_before_1", mintlifytest.APIKey))

	job, err := client.Jobs.WaitUntilDone(t.Context(), "j")
	require.NoError(t, err)
	assert.Equal(t, mintlify.JobCompleted, job.Status)
	assert.Len(t, svc.Requests(), 2)
}

package mintlify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
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

func TestCreateMessageAndGetTakeAny2xxForASuccess(t *testing.T) {
	for _, status := range []int{200, 201, 202, 203, 207, 299} {
		for name, call := range kit.JobCalls {
			job, err := call(t.Context(), kit.NewClient(t, kit.RespondWith(status, kit.JobJSON)))
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
			for name, call := range kit.JobCalls {
				moved := kit.RespondWith(status, "moved", "Location", location)
				rt := kit.NewRecording(moved, kit.RespondWith(200, kit.JobJSON))
				_, err := call(t.Context(), kit.NewClient(t, rt, mintlify.WithBaseURL(base)))

				assertHeadersFollow(t, rt.Sent())
				if isFollowed && name == "Get" {
					require.NoError(t, err, "%d to %s", status, location)
					assert.Equal(t, 2, rt.Count())
					continue
				}

				var apiErr *mintlify.APIError
				require.ErrorAs(t, err, &apiErr, "%s: %d to %s", name, status, location)
				assert.Equal(t, status, apiErr.StatusCode)
				assert.Equal(t, location, apiErr.Header.Get("Location"))
				assert.Equal(t, name != "Get", kit.IsOutcomeUnknown(err))
				assert.Equal(t, 1, rt.Count())
				assert.Equal(t, "api.example.com:8443", rt.Last().URL.Host)
			}
		}
	}
}

// assertHeadersFollow asserts that each request of a redirected call has the key, and that each
// but the first has the headers that http.Client adds.
func assertHeadersFollow(t *testing.T, requests []kit.SentRequest) {
	t.Helper()
	for i, request := range requests {
		assert.Equal(t, []string{"Bearer " + kit.Key}, request.Header["Authorization"])
		assert.Equal(t, i > 0, request.Header.Get("Referer") != "", "what http.Client sets goes along")
	}
}

func TestGetFollowsARedirectToTheDefaultPort(t *testing.T) {
	for base, location := range map[string]string{
		"https://api.mintlify.com": "https://api.mintlify.com:443/x",
		"http://localhost":         "http://localhost:80/x",
	} {
		moved := kit.RespondWith(302, "", "Location", location)
		rt := kit.NewRecording(moved, kit.RespondWith(200, kit.JobJSON))
		_, err := kit.Get(t.Context(), kit.NewClient(t, rt, mintlify.WithBaseURL(base)))
		require.NoError(t, err, base)
	}
}

func TestRedirectsWithoutEndOrTarget(t *testing.T) {
	rt := kit.NewRecording(kit.RespondWith(302, "", "Location", "/again"))
	_, err := kit.Get(t.Context(), kit.NewClient(t, rt))
	apiErr := kit.RequireAs[*mintlify.APIError](t, err)
	assert.Equal(t, 302, apiErr.StatusCode)
	assert.Equal(t, 11, rt.Count())

	for name, call := range kit.JobCalls {
		rt := kit.NewRecording(kit.RespondWith(302, "", "Location", "https://api.mintlify.com:"+kit.Key))
		_, err = call(t.Context(), kit.NewClient(t, rt))
		require.Error(t, err)
		kit.AssertReadable(t, err)
		assert.Equal(t, name != "Get", kit.IsOutcomeUnknown(err))
		assert.Equal(t, 1, rt.Count())
	}
}

func TestErrorOfHTTPClientIsToldOnce(t *testing.T) {
	nowhere := kit.RespondWith(302, "", "Location", "::::")
	_, err := kit.Get(t.Context(), kit.NewClient(t, nowhere, mintlify.WithMaxRetries(0)))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), `Get "`, "the URL is in the message already")
}

func TestRetryThatEndsEarlyKeepsTheResponseBefore(t *testing.T) {
	exhausted := errors.New("no tokens left")
	oneToken := func(_ context.Context, r mintlify.RequestInfo) error {
		if r.Attempt > 1 {
			return exhausted
		}
		return nil
	}

	synctest.Test(t, func(t *testing.T) { // a canceled POST is waited for
		for name, call := range kit.JobCalls {
			ctx, cancel := context.WithCancel(t.Context())
			limited := kit.RespondWith(429, "slow down")
			rt := kit.NewRecording(limited, kit.Doing(cancel, kit.Hang))
			_, canceled := call(ctx, kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0)))
			limiter := mintlify.WithRateLimiter(oneToken)
			_, refused := call(t.Context(), kit.NewClient(t, limited, limiter, mintlify.WithRetryWait(0, 0)))

			assert.ErrorIs(t, canceled, context.Canceled)
			assert.Equal(t, name != "Get", kit.IsOutcomeUnknown(canceled))
			assert.ErrorIs(t, refused, exhausted, name)
			assert.False(t, kit.IsOutcomeUnknown(refused))
			for _, err := range []error{canceled, refused} {
				assert.ErrorIs(t, err, mintlify.ErrRateLimited, "%s: of the attempt before", name)
				assert.Equal(t, 1, strings.Count(err.Error(), "previous attempt"), "%v", err)
			}
		}
	})
}

func TestGetKeepsNothingOfATruncatedAttempt(t *testing.T) {
	for name, second := range map[string]struct {
		status int
		body   string
		err    error
	}{
		"nothing":   {200, "", mintlify.ErrMalformedResponse},
		"no id":     {200, `{"status":"active"}`, mintlify.ErrMalformedResponse},
		"truncated": {200, `{"x":`, mintlify.ErrMalformedResponse},
		"not found": {404, "", mintlify.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			first := kit.BreakOff(200, `{"id":"old","model":"m","status":"comp`)
			rt := kit.NewRecording(first, kit.RespondWith(second.status, second.body))
			client := kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0), mintlify.WithMaxRetries(1))
			job, err := kit.Get(t.Context(), client)
			require.ErrorIs(t, err, second.err)
			assert.Nil(t, job)
			assert.Equal(t, 2, rt.Count())
		})
	}
}

func TestResponseThatIsWholeCountsThoughTheConnectionBreaks(t *testing.T) {
	for name, call := range kit.JobCalls {
		job, err := call(t.Context(), kit.NewClient(t, kit.BreakOff(200, kit.JobJSON)))
		require.NoError(t, err, name)
		assert.Equal(t, "job_1", job.ID)
	}
}

func TestMisbehavedTransport(t *testing.T) {
	nothing := func(*http.Request) (*http.Response, error) { return nil, nil }
	both := func(*http.Request) (*http.Response, error) {
		return kit.Response(200, kit.JobJSON), errors.New("and an error")
	}
	noBody := func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil }

	for name, tc := range map[string]struct {
		rt     kit.Transport
		reason string
	}{
		"neither":   {nothing, "neither a response nor an error"},
		"both":      {both, "and an error"},
		"no body":   {noBody, "invalid JSON"},
		"no target": {kit.RespondWith(302, ""), "302"},
		"no URL":    {kit.RespondWith(307, "", "Location", "::::"), "Location"},
	} {
		t.Run(name, func(t *testing.T) {
			client := kit.NewClient(t, tc.rt, mintlify.WithRetryWait(0, 0))
			for operation, call := range kit.JobCalls {
				_, err := call(t.Context(), client)
				require.ErrorContains(t, err, tc.reason)
				kit.AssertReadable(t, err)
				assert.Equal(t, operation != "Get", kit.IsOutcomeUnknown(err))
			}
		})
	}
}

// Responses are data from outside.

func TestResponseLargerThanTheLimit(t *testing.T) {
	var read atomic.Int64
	withoutEnd := func(status int, prefix string) kit.Transport {
		return func(*http.Request) (*http.Response, error) {
			resp := kit.Response(status, "")
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(prefix), &counter{n: &read}))
			return resp, nil
		}
	}

	for name, call := range kit.JobCalls {
		read.Store(0)
		job, err := call(t.Context(), kit.NewClient(t, withoutEnd(200, `{"id":"job_1","x":"`)))
		assert.Less(t, read.Load(), int64(1<<20+64<<10), "no more is read")
		if name != "Get" {
			require.NoError(t, err)
			assert.Equal(t, "job_1", job.ID)

			_, err = call(t.Context(), kit.NewClient(t, withoutEnd(200, `{"x":"`)))
			assert.True(t, kit.IsOutcomeUnknown(err))
		}
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorContains(t, err, "larger than 1 MiB")
	}

	for op, limit := range map[mintlify.Operation]int64{
		mintlify.OpGetThread:         10,
		mintlify.OpGetVisitors:       2,
		mintlify.OpGetSearches:       2,
		mintlify.OpGetFeedbackCounts: 2,
	} {
		read.Store(0)
		err := operations.Get(op).Do(t.Context(), kit.NewClient(t, withoutEnd(200, `{"x":"`)))
		assert.ErrorContains(t, err, fmt.Sprintf("larger than %d MiB", limit), op)
		assert.Less(t, read.Load(), (limit+1)<<20, "no more is read")
	}

	_, err := kit.Get(t.Context(), kit.NewClient(t, withoutEnd(404, "")))
	require.ErrorIs(t, err, mintlify.ErrNotFound, "an error of any length is that error")
}

func TestResponseJustWithinTheLimit(t *testing.T) {
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 1<<20-39) + `"}`
	require.Len(t, body, 1<<20)
	_, err := kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(200, body)))
	require.NoError(t, err)
}

func TestGetUsesItsBuffersAgain(t *testing.T) {
	const n = 100
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 200<<10) + `"}`
	client := kit.NewClient(t, kit.RespondWith(200, body))

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		_, err := kit.Get(t.Context(), client)
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)

	// A buffer that starts small takes four times the body; the race detector has the pool drop some.
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/n, uint64(9*len(body)/4))
}

func TestAttemptHasSixtySecondsUnlessWithHTTPClientSaysOtherwise(t *testing.T) {
	for _, tc := range []struct {
		rt             kit.Transport
		timeout, lasts time.Duration
		says           string
	}{
		{kit.Hang, 0, time.Minute, "no response within 1m0s"},
		{kit.Hang, 7 * time.Second, 7 * time.Second, "no response within 7s"},
		{kit.Stall(200, `{"id":`), 0, time.Minute, "the response did not end within 1m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			hc := mintlify.WithHTTPClient(&http.Client{Transport: tc.rt, Timeout: tc.timeout})
			client := kit.NewClient(t, nil, hc, mintlify.WithMaxRetries(1), mintlify.WithRetryWait(0, 0))
			start := time.Now()
			_, err := kit.Get(t.Context(), client)
			require.ErrorContains(t, err, tc.says)
			var isTimeout interface{ Timeout() bool }
			require.ErrorAs(t, err, &isTimeout)
			assert.True(t, isTimeout.Timeout())
			assert.Equal(t, 2*tc.lasts, time.Since(start), "of each attempt")
		})
	}
}

// The response of a POST is the id of a job that exists: it outlives the caller's
// context and the attempt.

func TestCreateAndMessageTakeAResponseThatComesAfterTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range kit.Posts() {
			ctx, cancel := context.WithCancel(t.Context())
			late := kit.Transport(func(*http.Request) (*http.Response, error) {
				cancel()
				synctest.Wait() // the attempt has been given up
				return kit.Response(201, kit.JobJSON), nil
			})

			job, err := kit.JobCalls[name](ctx, kit.NewClient(t, late))
			require.NoError(t, err, name)
			assert.Equal(t, "job_1", job.ID)
		}
	})
}

func TestCreateTakesAResponseThatComesAsTheContextEnds(t *testing.T) {
	whole := func(*http.Request) (*http.Response, error) {
		return kit.Pipe(201, func(w *io.PipeWriter) {
			io.WriteString(w, kit.JobJSON)
			w.Close()
		}), nil
	}

	for range 300 { // a body that was closed by the end of the context would be lost now and then
		ctx, cancel := context.WithCancel(t.Context())
		job, err := kit.Create(ctx, kit.NewClient(t, kit.Doing(cancel, whole)))
		require.NoError(t, err)
		require.Equal(t, "job_1", job.ID)
	}
}

func TestCreateAndMessageKeepTheIDOfATruncatedResponseThoughTheContextHasEnded(t *testing.T) {
	for _, name := range kit.Posts() {
		ctx, cancel := context.WithCancel(t.Context())
		canceledWithin := kit.Transport(func(*http.Request) (*http.Response, error) {
			return kit.Pipe(201, func(w *io.PipeWriter) {
				io.WriteString(w, `{"id":"job_1","status":"active","model":`)
				cancel()
				w.CloseWithError(io.ErrUnexpectedEOF)
			}), nil
		})

		job, err := kit.JobCalls[name](ctx, kit.NewClient(t, canceledWithin))
		require.NoError(t, err)
		assert.Equal(t, "job_1", job.ID)
	}
}

func TestTransportSeesTheValuesOfTheContextAndTheCauseOfItsEnd(t *testing.T) {
	type key struct{}
	shutdown := errors.New("shutting down")
	for _, call := range kit.JobCalls {
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "trace-7"))
		rt := kit.Transport(func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, "trace-7", r.Context().Value(key{}))
			cancel(shutdown)
			<-r.Context().Done()
			assert.Equal(t, shutdown, context.Cause(r.Context()))
			return nil, r.Context().Err()
		})

		_, err := call(ctx, kit.NewClient(t, rt))
		require.ErrorIs(t, err, shutdown)
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
		"success":                  {200, kit.JobJSON, nil},
		"malformed":                {200, "no job", nil},
		"redirect":                 {302, "moved", nil},
		"not found":                {404, "no job", nil},
		"rate limited":             {429, "no job", nil},
		"server error":             {503, "no job", nil},
		"response beside an error": {200, kit.JobJSON, errors.New("both")},
	} {
		for operation, call := range kit.JobCalls {
			t.Run(name+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var bodies []*onceOnly
					rt := kit.Transport(func(*http.Request) (*http.Response, error) {
						body := &onceOnly{Reader: strings.NewReader(tc.body), t: t}
						bodies = append(bodies, body)
						return &http.Response{StatusCode: tc.status, Body: body}, tc.err
					})

					_, _ = call(t.Context(), kit.NewClient(t, rt))
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

// silentAfter is a response whose body ends as wait does.
func silentAfter(status int, body string, wait func() error) *http.Response {
	resp := kit.Response(status, "")
	resp.Body = kit.Reading(func(p []byte) (int, error) {
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

// untilClosed is a transport whose response is silent after body until it is closed.
func untilClosed(status int, body string) kit.Transport {
	return func(*http.Request) (*http.Response, error) {
		closed := make(chan struct{})
		resp := silentAfter(status, body, func() error {
			<-closed
			return io.EOF
		})
		resp.Body = closer{resp.Body, closed}
		return resp, nil
	}
}

// untilDone makes transports whose response is silent after body until the request's context ends.
func untilDone(err func(context.Context) error) func(status int, body string) kit.Transport {
	return func(status int, body string) kit.Transport {
		return func(r *http.Request) (*http.Response, error) {
			return silentAfter(status, body, func() error {
				<-r.Context().Done()
				return err(r.Context())
			}), nil
		}
	}
}

// However a transport ends a body after the context, the error matches the context's and its
// cause, and the body of a POST had five seconds more.
func TestInterruptedBodyMatchesItsContext(t *testing.T) {
	cause := errors.New("the pod is shut down")
	for name, silent := range map[string]func(status int, body string) kit.Transport{
		"silent":           kit.Stall,
		"EOF once closed":  untilClosed,
		"EOF at the end":   untilDone(func(context.Context) error { return io.EOF }),
		"error of the end": untilDone(context.Context.Err),
	} {
		for _, status := range []int{101, 200, 301, 404, 503} {
			for operation, call := range kit.JobCalls {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
					defer cancel()
					start := time.Now()
					_, err := call(ctx, kit.NewClient(t, silent(status, `{"id":"job_1`)))

					assertInterrupted(t, ctx, cause, err)
					want := time.Second
					if operation != "Get" {
						want += 5 * time.Second
					}
					assert.Equal(t, want, time.Since(start), "%s: %s, %d", operation, name, status)
				})
			}
		}
	}
}

func assertInterrupted(t *testing.T, ctx context.Context, cause, err error) {
	t.Helper()
	assert.ErrorIs(t, err, ctx.Err())
	assert.ErrorIs(t, err, cause)

	_, again := mintlify.RetryAfter(err)
	assert.False(t, again, "%v", err)
	kit.AssertReadable(t, err)
}

// The same if the context ends as the response's header comes.
func TestInterruptedAsTheResponseComesMatchesItsContext(t *testing.T) {
	cause := errors.New("the pod is shut down")
	for _, op := range operations.All() {
		for _, status := range []int{101, 201, 301, 404, 429, 503} {
			ctx, cancel := context.WithCancelCause(t.Context())
			rt := kit.Transport(func(r *http.Request) (*http.Response, error) {
				cancel(cause)
				<-r.Context().Done()
				return untilDone(context.Cause)(status, `{"id":`)(r)
			})

			client := kit.NewClient(t, rt)
			assertInterrupted(t, ctx, cause, op.Do(ctx, client))
			assert.Error(t, ctx.Err(), op)
		}
	}
}

func TestListIsTheLastOfItsName(t *testing.T) {
	const malformed = -1
	for lists, want := range map[string]int{
		`"visitors":[{},{}],"visitors":[{}]`:        1,
		`"visitors":[{}],"visitors":[{},{}]`:        2,
		`"visitors":null,"visitors":[{}]`:           1,
		`"visitors":[{}],"visitors":[]`:             0,
		`"visitors":[{"path":"["}],"visitors":[{}]`: 1,
		`"visitors":[{}],"visitors":null`:           malformed,
		`"visitors":[7]`:                            malformed,
	} {
		body := `{"totals":{},` + lists + `,"hasMore":false}`
		client := kit.NewClient(t, kit.RespondWith(200, body))
		page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
		if want == malformed {
			assert.ErrorIs(t, err, mintlify.ErrMalformedResponse, body)
			continue
		}
		require.NoError(t, err, body)
		assert.Len(t, page.Visitors, want, body)
	}
}

func TestIDIsFoundAtTheStartOfABrokenResponse(t *testing.T) {
	for _, padding := range []int{0, 100 << 10, 1<<20 - 100} {
		body := `{"x":"` + strings.Repeat("x", padding) + `","id":"job_1","status":"active","y":`
		job, err := kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(201, body)))
		require.NoError(t, err, padding)
		assert.Equal(t, "job_1", job.ID)
	}
}

// A cancel does not lose the response of a POST that the service may have.

func TestCanceledPostIsWaitedFor(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault mintlifytest.Fault
		lasts time.Duration
		err   error // nil: it succeeds
	}{
		{"a late success", mintlifytest.Fault{Delay: 15 * time.Second}, 15 * time.Second, nil},
		{"nothing", mintlifytest.Fault{Delay: time.Hour}, 16 * time.Second, context.Canceled},
		{"429", mintlifytest.Fault{Status: 429, Delay: 9 * time.Second}, 9 * time.Second, mintlify.ErrRateLimited},
		{"not connected", mintlifytest.Fault{Refuse: true, Delay: time.Hour}, time.Second, context.Canceled},
	} {
		for _, op := range []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpTriggerUpdate} {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				svc.FailNext(op, 10, tc.fault)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				attempts := 0
				start := time.Now()
				err := operations.Get(op).Do(ctx, svc.Client(kit.CountAttempts(&attempts)))

				assert.Equal(t, tc.lasts, time.Since(start), "%s: %v", tc.name, err)
				assert.ErrorIs(t, err, tc.err, tc.name)
				assert.Equal(t, errors.Is(tc.err, context.Canceled), errors.Is(err, context.Canceled), tc.name)
				assert.Equal(t, tc.name == "nothing", kit.IsOutcomeUnknown(err), "%s: %v", tc.name, err)
				assert.Equal(t, 1, attempts, "nothing is made again")
			})
		}
	}
}

// A GET whose JSON ends too early is retried, also if the end of the connection looks like the body's.
func TestReadThatEndsTooEarlyIsRetried(t *testing.T) {
	for _, op := range operations.All() {
		if op.IsPost() {
			continue
		}
		for cut := 1; cut < len(op.Body); cut++ {
			rt := kit.NewRecording(kit.RespondWith(200, op.Body[:cut]), kit.RespondWith(200, op.Body))
			require.NoError(t, op.Do(t.Context(), kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0))))
			require.Equal(t, 2, rt.Count(), "%s: %s", op, op.Body[:cut])
		}

		for _, body := range []string{"", " ", op.Body + "x", "<html>"} {
			rt := kit.NewRecording(kit.RespondWith(200, body))
			err := op.Do(t.Context(), kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0)))
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse, "%s: %s", op, body)
			require.Equal(t, 1, rt.Count(), "%s: %s", op, body)
		}
	}
}

// net/http decodes what it has asked for itself. A caller's Accept-Encoding, or a gateway that
// compresses unasked, leaves the rest.
func TestGzipIsDecoded(t *testing.T) {
	acceptsGzip := mintlify.CallParams{
		Method: http.MethodGet,
		Path:   "/v1",
		Header: http.Header{"Accept-Encoding": {"gzip"}},
	}
	zeros := `{"x":"` + strings.Repeat("0", 11<<20) + `"}`

	for name, tc := range map[string]struct {
		status         int
		encoding, body string
		reason         string // of the error; "": none
	}{
		"gzip":            {200, "gzip", compressed(kit.JobJSON), ""},
		"in another case": {200, "GZIP", compressed(kit.JobJSON), ""},
		"not compressed":  {200, "gzip", kit.JobJSON, ""},
		"one byte":        {200, "gzip", "7", ""},
		"not said":        {200, "", compressed(kit.JobJSON), "invalid JSON"},
		"cut off":         {200, "gzip", compressed(kit.JobJSON)[:20], "truncated"},
		"in its header":   {200, "gzip", compressed(kit.JobJSON)[:5], "truncated"},
		"another body":    {200, "gzip", "\x1f\x8b\x07not gzip ----", "truncated"},
		"too large":       {200, "gzip", compressed(zeros), "larger than 10 MiB"},
		"an error":        {404, "gzip", compressed(`{"error":"no such page"}`), "no such page"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
				w.Header().Set("Content-Encoding", tc.encoding)
				w.WriteHeader(tc.status)
				io.WriteString(w, tc.body)
			}))
			defer server.Close()

			client, err := mintlify.NewClient(kit.Key, "proj", mintlify.WithBaseURL(server.URL), mintlify.WithMaxRetries(0))
			require.NoError(t, err)
			defer client.CloseIdleConnections()

			var got any
			err = client.Call(t.Context(), acceptsGzip, &got)
			if tc.reason != "" {
				require.ErrorContains(t, err, tc.reason)
				kit.AssertReadable(t, err)
				return
			}
			require.NoError(t, err)
			assert.NotNil(t, got)
		})
	}
}

// counter is an endless stream of x that counts what is read of it.
type counter struct{ n *atomic.Int64 }

var exes = bytes.Repeat([]byte("x"), 1<<20)

func (c *counter) Read(p []byte) (int, error) {
	n := copy(p, exes)
	c.n.Add(int64(n))
	return n, nil
}

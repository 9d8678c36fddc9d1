package mintlify_test

import (
	"context"
	"errors"
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
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestCreateMessageAndGetTakeAny2xxForASuccess(t *testing.T) {
	for _, status := range []int{200, 201, 202, 203, 207, 299} {
		for name, call := range operations {
			job, err := call(t.Context(), newClient(t, respondWith(status, jobJSON)))
			require.NoError(t, err, "%s %d", name, status)
			assert.Equal(t, "job_1", job.ID)
		}
	}
}

func TestRedirects(t *testing.T) {
	const base = "https://api.example.com:8443/pre"
	for location, followed := range map[string]bool{
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
			for name, call := range operations {
				rt := newRecording(respondWith(status, "moved", "Location", location), respondWith(200, jobJSON))
				_, err := call(t.Context(), newClient(t, rt, mintlify.WithBaseURL(base)))
				for i, request := range rt.sent() {
					assert.Equal(t, []string{"Bearer " + testKey}, request.Header["Authorization"])
					assert.Equal(t, i > 0, request.Header.Get("Referer") != "", "what http.Client sets goes along")
				}
				if followed && name == "Get" {
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

	for name, call := range operations {
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

func TestCanceledRetryKeepsTheResponseBefore(t *testing.T) {
	for name, call := range operations {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := call(ctx, newClient(t, newRecording(respondWith(429, "slow down"), doing(cancel, hang)), mintlify.WithRetryWait(0, 0)))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, mintlify.ErrRateLimited, "%s: of the attempt before", name)
		assert.Equal(t, 1, strings.Count(err.Error(), "previous attempt"), "%v", err)
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
	}
}

func TestRetryRefusedByWithRateLimiterKeepsTheResponseBefore(t *testing.T) {
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

func TestGetKeepsNothingOfATruncatedAttempt(t *testing.T) {
	malformed := mintlify.ErrMalformedResponse
	for name, second := range map[string]struct {
		status int
		body   string
		err    error
	}{
		"nothing": {200, "", malformed}, "array": {200, "[]", malformed}, "empty": {200, "{}", malformed}, "no id": {200, `{"status":"active"}`, malformed},
		"truncated": {200, `{"x":`, malformed}, "null": {200, "null", malformed}, "number": {200, "5", malformed},
		"not found": {404, "", mintlify.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			rt := newRecording(breakOff(200, `{"id":"old","model":"m","status":"comp`), respondWith(second.status, second.body))
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
	for name, call := range operations {
		job, err := call(t.Context(), newClient(t, breakOff(200, jobJSON)))
		require.NoError(t, err, name)
		assert.Equal(t, "job_1", job.ID)
	}
}

func TestMisbehavedTransport(t *testing.T) {
	for name, tc := range map[string]struct {
		rt     transport
		reason string
	}{
		"neither":   {func(*http.Request) (*http.Response, error) { return nil, nil }, "neither a response nor an error"},
		"both":      {func(*http.Request) (*http.Response, error) { return response(200, jobJSON), errors.New("and an error") }, "and an error"},
		"no body":   {func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil }, "invalid JSON"},
		"no target": {respondWith(302, ""), "302"},
		"no URL":    {respondWith(307, "", "Location", "::::"), "Location"},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, tc.rt, mintlify.WithRetryWait(0, 0))
			for operation, call := range operations {
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
	endless := func(status int, prefix string) transport {
		return func(*http.Request) (*http.Response, error) {
			response := response(status, "")
			response.Body = io.NopCloser(io.MultiReader(strings.NewReader(prefix), &counter{n: &read}))
			return response, nil
		}
	}
	for name, call := range operations {
		read.Store(0)
		job, err := call(t.Context(), newClient(t, endless(200, `{"id":"job_1","x":"`)))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorContains(t, err, "larger than 10 MiB")
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
		require.NotNil(t, job)
		assert.Equal(t, "job_1", job.ID)
		assert.Less(t, read.Load(), int64(11<<20), "no more is read")
	}

	_, err := get(t.Context(), newClient(t, endless(404, "")))
	require.ErrorIs(t, err, mintlify.ErrNotFound, "an error of any length is that error")
}

func TestResponseJustWithinTheLimit(t *testing.T) {
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 10<<20-39) + `"}`
	require.Len(t, body, 10<<20)
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
	require.ErrorContains(t, err, "larger than 10 MiB")
}

func TestGetUsesItsBuffersAgain(t *testing.T) {
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 200<<10) + `"}`
	client := newClient(t, respondWith(200, body))
	var before, after runtime.MemStats
	const n = 100
	runtime.ReadMemStats(&before)
	for range n {
		_, err := get(t.Context(), client)
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	// A buffer that grows anew takes four times the body; the race detector has the pool drop some.
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/n, uint64(9*len(body)/4))
}

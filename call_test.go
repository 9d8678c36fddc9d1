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

func TestAnyTwoHundredIsASuccess(t *testing.T) {
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
		"//evil.example.com/x":                     false,
		"https://api.example.com:8443@evil.com":    false,
		"ftp://api.example.com:8443/x":             false,
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for name, call := range operations {
				var hosts []string
				client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
					hosts = append(hosts, r.URL.Host)
					assert.Equal(t, []string{"Bearer " + testKey}, r.Header["Authorization"])
					if len(hosts) == 1 {
						return response(status, "moved", "Location", location), nil
					}
					assert.NotEmpty(t, r.Header.Get("Referer"), "what http.Client sets goes along")
					return response(200, jobJSON), nil
				}), mintlify.WithBaseURL(base))
				_, err := call(t.Context(), client)
				if followed && name == "Get" {
					require.NoError(t, err, "%d to %s", status, location)
					assert.Len(t, hosts, 2)
					continue
				}
				var apiErr *mintlify.APIError
				require.ErrorAs(t, err, &apiErr, "%s: %d to %s", name, status, location)
				assert.Equal(t, status, apiErr.StatusCode)
				assert.Equal(t, location, apiErr.Header.Get("Location"))
				assert.Equal(t, name != "Get", isOutcomeUnknown(err))
				assert.Equal(t, []string{"api.example.com:8443"}, hosts)
			}
		}
	}
}

func TestDefaultPortIsTheSameOrigin(t *testing.T) {
	sent := 0
	client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		if sent++; sent == 1 {
			return response(302, "", "Location", "https://api.mintlify.com:443/x"), nil
		}
		return response(200, jobJSON), nil
	}))
	_, err := get(t.Context(), client)
	require.NoError(t, err)
}

func TestDefaultPortOfPlainHTTPIsTheSameOrigin(t *testing.T) {
	sent := 0
	client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		if sent++; sent == 1 {
			return response(302, "", "Location", "http://localhost:80/x"), nil
		}
		return response(200, jobJSON), nil
	}), mintlify.WithBaseURL("http://localhost"))
	_, err := get(t.Context(), client)
	require.NoError(t, err)
}

func TestRedirectsWithoutEndOrAim(t *testing.T) {
	sent := 0
	rt := func(location string) transport {
		return func(*http.Request) (*http.Response, error) {
			sent++
			return response(302, "", "Location", location), nil
		}
	}
	_, err := get(t.Context(), newClient(t, rt("/again")))
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.Equal(t, 302, apiErr.StatusCode)
	assert.Equal(t, 11, sent)

	sent = 0
	for name, call := range operations {
		_, err = call(t.Context(), newClient(t, rt("https://api.mintlify.com:"+testKey)))
		require.Error(t, err)
		assertReadable(t, err)
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
	}
	assert.Equal(t, 3, sent, "once each")
}

func TestErrorOfHTTPClientIsToldOnce(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(302, "", "Location", "::::"), mintlify.WithMaxRetries(0)))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), `Get "`, "the URL is in the message already")
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

func TestResponseLargerThanTheLimit(t *testing.T) {
	var read atomic.Int64
	endless := func(prefix string) *http.Response {
		response := response(200, "")
		response.Body = io.NopCloser(io.MultiReader(strings.NewReader(prefix), &counter{n: &read}))
		return response
	}
	for name, call := range operations {
		read.Store(0)
		client := newClient(t, transport(func(*http.Request) (*http.Response, error) { return endless(`{"id":"job_1","x":"`), nil }))
		job, err := call(t.Context(), client)
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorContains(t, err, "larger than 10 MiB")
		assert.Equal(t, name != "Get", isOutcomeUnknown(err))
		require.NotNil(t, job)
		assert.Equal(t, "job_1", job.ID)
		assert.Less(t, read.Load(), int64(11<<20), "no more is read")
	}

	client := newClient(t, transport(func(*http.Request) (*http.Response, error) {
		response := endless("")
		response.StatusCode = 404
		return response, nil
	}))
	_, err := get(t.Context(), client)
	require.ErrorIs(t, err, mintlify.ErrNotFound, "an error of any length is that error")
}

func TestResponseJustWithinTheLimit(t *testing.T) {
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 10<<20-39) + `"}`
	require.Len(t, body, 10<<20)
	_, err := get(t.Context(), newClient(t, respondWith(200, body)))
	require.NoError(t, err)
}

func TestGzipBomb(t *testing.T) {
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

func TestBuffersAreUsedAgain(t *testing.T) {
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 200<<10) + `"}`
	client := newClient(t, respondWith(200, body))
	var before, after runtime.MemStats
	const n = 200
	runtime.ReadMemStats(&before)
	for range n {
		_, err := get(t.Context(), client)
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	// A buffer that grows anew takes four times the body; the race detector has the pool drop some.
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/n, uint64(9*len(body)/4))
}

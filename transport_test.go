package mintlify_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
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
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Rule 3: the key goes to the base URL's origin and nowhere else.

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

// leaks are all the ways in which a value may end in a log.
func leaks(v any) string {
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	encoded, _ := json.Marshal(v)
	b.Write(encoded)
	textLogger(&b).Error("leak", "value", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Error("leak", "value", v)
	return b.String()
}

// A key that is cut in the middle would not be recognized.
func TestKeyIsRedactedOutBeforeTextIsCut(t *testing.T) {
	for pad := range 320 {
		for name, body := range map[string]string{
			"JSON": `{"error":"` + strings.Repeat("x", pad) + `\u006d` + testKey[1:] + `"}`,
			"text": strings.Repeat("x", pad) + testKey,
			"HTML": "<p>" + strings.Repeat("x", pad) + "&#109;" + testKey[1:],
		} {
			for _, status := range []int{200, 400} {
				_, err := create(t.Context(), newClient(t, respondWith(status, body)))
				require.Error(t, err)
				assert.NotContains(t, err.Error(), testKey[:8], "%s, %d", name, pad)
			}
		}
	}
}

func TestWhatAllKeysBeginWithIsNoKey(t *testing.T) {
	const words = "the key must begin with mint_"
	_, err := get(t.Context(), newClient(t, respondWith(401, words)))
	assert.ErrorContains(t, err, words)
	_, err = get(t.Context(), newClient(t, respondWith(401, words+testKey[len("mint_"):len("mint_")+1])))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "mint_", "a key that was truncated")
}

func TestKeyIsNowhereToBeSeen(t *testing.T) {
	echo := `{"error":"no such key ` + testKey + `","details":[{"message":"` + testKey + `"}]}`
	escaped := `{"error":"no such key \u006d` + testKey[1:] + `"}`
	var lines strings.Builder
	logger := mintlify.WithLogger(textLogger(&lines))
	for name, rt := range map[string]http.RoundTripper{
		"error":     respondWith(401, echo, "X-Echo", "Bearer "+testKey, "X-Request-Id", testKey),
		"escaped":   respondWith(401, escaped),
		"text":      respondWith(503, "key "+testKey),
		"entities":  respondWith(200, "<p>&#109;"+testKey[1:]),
		"count":     respondWith(200, `{"totals":{"human":"`+testKey+`"},"visitors":[],"hasMore":false}`),
		"HTML":      respondWith(502, "<title>"+testKey+"</title>"),
		"malformed": respondWith(200, "key "+testKey, "X-Echo", testKey),
		"truncated": transport(func(*http.Request) (*http.Response, error) {
			return pipe(200, func(w *io.PipeWriter) {
				io.WriteString(w, testKey)
				w.CloseWithError(errors.New("lost " + testKey))
			}), nil
		}),
		"JSON": respondWith(401, `{"x":"\u006Dint\u005f`+testKey[5:]+`"}`),
		"URL":  respondWith(302, "", "Location", "https://evil.example.com/?key=mint%5F"+testKey[5:]),
		"cut short": transport(func(*http.Request) (*http.Response, error) {
			return pipe(401, func(w *io.PipeWriter) {
				io.WriteString(w, "bad key "+testKey[:len(testKey)-1])
				w.CloseWithError(io.ErrUnexpectedEOF)
			}), nil
		}),
		"redirect": respondWith(302, "", "Location", "https://evil.example.com/?key="+testKey),
		"network": transport(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("sent %v", r.Header)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, rt, logger, mintlify.WithRetryWait(0, 0))
			for _, call := range operations {
				_, err := call(t.Context(), client)
				require.Error(t, err)
				for err := range chain(err) {
					assert.NotContains(t, leaks(err), testKey[5:len(testKey)-1], "%T", err)
				}
				var apiErr *mintlify.APIError
				if errors.As(err, &apiErr) {
					assert.NotContains(t, leaks(*apiErr), testKey)
					assert.NotContains(t, string(apiErr.Body), testKey)
				}
				var malformed *mintlify.ResponseError
				if errors.As(err, &malformed) {
					assert.NotContains(t, leaks(*malformed), testKey)
					assert.NotContains(t, string(malformed.Body), testKey)
				}
			}
			for _, v := range []any{client, *client, client.Jobs, *client.Jobs} {
				assert.NotContains(t, leaks(v), testKey)
			}
		})
	}
	assert.NotEmpty(t, lines.String())
	assert.NotContains(t, lines.String(), testKey)
}

// chain walks the errors of the SDK in err: what a transport returned is its own.
func chain(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		for err != nil && strings.Contains(fmt.Sprintf("%T", err), "mintlify.") {
			if !yield(err) {
				return
			}
			err = errors.Unwrap(err)
		}
	}
}

// Rule 7: connections are pooled, and one request's failure takes none away.

func TestConnectionsAreUsedAgain(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1", mintlifytest.Step{})
	var conns atomic.Int32
	server := newCountingServer(t, svc, &conns)
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(server.URL), mintlify.WithRetryWait(0, 0))
	require.NoError(t, err)
	for range 3 {
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		svc.FailNext(mintlify.OpGetJob, 4, mintlifytest.Fault{Status: 503, Body: strings.Repeat("busy ", 1000)})
		_, err = get(t.Context(), client)
		require.ErrorIs(t, err, mintlify.ErrServer)
		svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Body: "{}"})
		_, err = get(t.Context(), client)
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = get(ctx, client)
		require.ErrorIs(t, err, context.Canceled)
	}
	assert.EqualValues(t, 1, conns.Load())

	other, err := client.ForProject("other")
	require.NoError(t, err)
	_, err = get(t.Context(), other)
	require.ErrorIs(t, err, mintlify.ErrNotFound)
	assert.EqualValues(t, 1, conns.Load(), "ForProject shares the pool")

	client.CloseIdleConnections()
	_, err = get(t.Context(), client)
	require.NoError(t, err)
	assert.EqualValues(t, 2, conns.Load())

	own, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(server.URL))
	require.NoError(t, err)
	_, err = get(t.Context(), own)
	require.NoError(t, err)
	assert.EqualValues(t, 3, conns.Load(), "every NewClient has a pool of its own")
}

func TestManyConnectionsAreKept(t *testing.T) {
	const n = 120 // beyond the 100 that http.DefaultTransport keeps in all
	svc := mintlifytest.NewService()
	svc.AddJob("job_1", mintlifytest.Step{})
	var conns atomic.Int32
	var arrived sync.WaitGroup
	server := newCountingServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		arrived.Wait() // all at once: each needs a connection of its own
		svc.ServeHTTP(w, r)
	}), &conns)
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(server.URL))
	require.NoError(t, err)
	for range 2 {
		arrived.Add(n)
		var calls sync.WaitGroup
		for range n {
			calls.Go(func() {
				_, err := get(t.Context(), client)
				assert.NoError(t, err)
			})
		}
		calls.Wait()
	}
	assert.EqualValues(t, n, conns.Load(), "the second wave dials none")
}

// Rule 8: responses are data from outside.

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

// counter is an endless stream of x that counts what is read of it.
type counter struct{ n *atomic.Int64 }

var exes = bytes.Repeat([]byte("x"), 1<<20)

func (c *counter) Read(p []byte) (int, error) {
	n := copy(p, exes)
	c.n.Add(int64(n))
	return n, nil
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

// gzipBomb is 16 MiB of one letter, compressed.
var gzipBomb = sync.OnceValue(func() []byte {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 16 {
		w.Write(exes)
	}
	w.Close()
	return bomb.Bytes()
})

func TestResponseJustWithinTheLimit(t *testing.T) {
	body := `{"id":"job_1","status":"active","x":"` + strings.Repeat("x", 10<<20-39) + `"}`
	require.Len(t, body, 10<<20)
	_, err := get(t.Context(), newClient(t, respondWith(200, body)))
	require.NoError(t, err)
}

// Rule 9: the default transport, and the time of a attempt.

func TestReplacedDefaultTransportIsLookedUpAtEachRequest(t *testing.T) {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	for name, replacement := range map[string]http.RoundTripper{
		"of another type": respondWith(200, `{"id":"replaced","status":"active"}`),
		"of the same type": func() http.RoundTripper {
			rt := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
			rt.RegisterProtocol("https", respondWith(200, `{"id":"replaced","status":"active"}`))
			return rt
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			http.DefaultTransport = standard
			server := httptest.NewTLSServer(http.NotFoundHandler())
			server.Config.ErrorLog = discardLog()
			defer server.Close()
			client, err := mintlify.NewClient(testKey, "proj", mintlify.WithMaxRetries(0), mintlify.WithBaseURL(server.URL))
			require.NoError(t, err)
			_, err = get(t.Context(), client)
			require.ErrorContains(t, err, "certificate", "the real one")
			http.DefaultTransport = replacement
			job, err := get(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, "replaced", job.ID)
			http.DefaultTransport = standard
			_, err = get(t.Context(), client)
			require.ErrorContains(t, err, "certificate")
			client.CloseIdleConnections()
		})
	}
}

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

func TestLimiterAndKeySourceAreOutsideTheTrysTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 50 * time.Second})
		client := svc.Client(
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { time.Sleep(50 * time.Second); return nil }),
			mintlify.WithKeySource(func(context.Context) (string, error) { time.Sleep(50 * time.Second); return mintlifytest.APIKey, nil }))
		_, err := create(t.Context(), client)
		require.NoError(t, err)
	})
}

func TestMisbehavedTransport(t *testing.T) {
	for name, rt := range map[string]transport{
		"neither":  func(*http.Request) (*http.Response, error) { return nil, nil },
		"both":     func(*http.Request) (*http.Response, error) { return response(200, jobJSON), errors.New("and an error") },
		"no body":  func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil },
		"no aim":   respondWith(302, ""),
		"no ports": respondWith(307, "", "Location", "::::"),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, rt, mintlify.WithRetryWait(0, 0))
			for operation, call := range operations {
				_, err := call(t.Context(), client)
				require.Error(t, err)
				assertReadable(t, err)
				assert.Equal(t, operation != "Get", isOutcomeUnknown(err))
			}
		})
	}
}

func TestRequestOfTheCallerIsNotChanged(t *testing.T) {
	var headers []http.Header
	client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		headers = append(headers, r.Header)
		r.Header.Set("X-Mine", "1") // a transport that takes liberties
		return response(429, ""), nil
	}), mintlify.WithRetryWait(0, 0))
	_, err := create(t.Context(), client)
	require.Error(t, err)
	require.Len(t, headers, 4)
	headers[0].Set("X-Later", "1")
	assert.NotContains(t, headers[1], "X-Later", "each attempt has a header of its own")
}

func TestValuesOfTheContextReachTheTransport(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "trace-7")
	client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, "trace-7", r.Context().Value(key{}))
		return response(200, jobJSON), nil
	}))
	for _, call := range operations {
		_, err := call(ctx, client)
		require.NoError(t, err)
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

func TestErrorOfHTTPClientIsToldOnce(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(302, "", "Location", "::::"), mintlify.WithMaxRetries(0)))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), `Get "`, "the URL is in the message already")
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

func TestKeyEscapedInADetailIsRedactedOut(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(400, `{"details":["\u006d`+testKey[1:]+`"]}`)))
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.Equal(t, []string{"[API key]"}, apiErr.Details)
}

func TestResponseOfTheTransportIsNotChanged(t *testing.T) {
	header := http.Header{"X-Echo": {testKey}}
	client := newClient(t, transport(func(*http.Request) (*http.Response, error) {
		response := response(400, "")
		response.Header = header
		return response, nil
	}))
	_, err := get(t.Context(), client)
	require.Error(t, err)
	assert.Equal(t, http.Header{"X-Echo": {testKey}}, header, "a recorder may have kept it")
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

func TestContextIsLookedAtBeforeAndAfterTheLimiter(t *testing.T) {
	for name, call := range operations {
		ctx, cancel := context.WithCancel(t.Context())
		asked, sent := 0, 0
		client := newClient(t, transport(func(*http.Request) (*http.Response, error) { sent++; return response(200, jobJSON), nil }),
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; cancel(); return nil }))
		for range 2 {
			_, err := call(ctx, client)
			assert.ErrorIs(t, err, context.Canceled, name)
			assert.False(t, isOutcomeUnknown(err))
			assert.Zero(t, sent, "it ended while the limiter waited")
			assert.Equal(t, 1, asked, "no token for a call that is over")
		}
	}
}

func TestLimiterAndKeySourceHeedTheCallersContext(t *testing.T) {
	for name, option := range map[string]mintlify.Option{
		"limiter":    mintlify.WithRateLimiter(func(ctx context.Context, _ mintlify.Operation, _ string) error { <-ctx.Done(); return ctx.Err() }),
		"key source": mintlify.WithKeySource(func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }),
	} {
		synctest.Test(t, func(t *testing.T) {
			deploy := errors.New("deploy window closed")
			for operation, call := range operations {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, deploy)
				_, err := call(ctx, newClient(t, respondWith(200, jobJSON), option))
				cancel()
				assert.ErrorIs(t, err, context.DeadlineExceeded, "%s %s", name, operation)
				assert.ErrorIs(t, err, deploy)
				assert.False(t, isOutcomeUnknown(err))
			}
		})
	}
}

func TestHTTPClientWithoutTransportUsesTheSDKsOwn(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1", mintlifytest.Step{})
	var conns atomic.Int32
	server := newCountingServer(t, svc, &conns)
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(server.URL),
		mintlify.WithHTTPClient(&http.Client{Timeout: time.Minute}))
	require.NoError(t, err)
	for range 2 {
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		client.CloseIdleConnections()
	}
	assert.EqualValues(t, 2, conns.Load(), "its idle connections are the SDK's to close")
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

// reading is a body that is read by a function.
type reading func([]byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }
func (f reading) Close() error               { return nil }

func TestIdleConnectionsAreClosedAfterThirtySeconds(t *testing.T) {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		http.DefaultTransport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials++
			client, server := net.Pipe()
			go func() {
				defer server.Close()
				r := bufio.NewReader(server)
				for {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					fmt.Fprintf(server, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(jobJSON), jobJSON)
				}
			}()
			return client, nil
		}}
		client, err := mintlify.NewClient(testKey, "proj", mintlify.WithBaseURL("http://localhost"))
		require.NoError(t, err)
		for _, step := range []struct {
			idle  time.Duration
			dials int
		}{{0, 1}, {29 * time.Second, 1}, {31 * time.Second, 2}} {
			time.Sleep(step.idle)
			_, err = get(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, step.dials, dials, "after %v", step.idle)
		}
		client.CloseIdleConnections()
	})
}

func TestConnectionsMayBeClosedAtAnyTime(t *testing.T) {
	client, err := mintlify.NewClient(testKey, "proj", mintlify.WithMaxRetries(0), mintlify.WithBaseURL("http://127.0.0.1:1"))
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { defer close(done); client.CloseIdleConnections() }()
	_, _ = get(t.Context(), client)
	<-done
}

func TestKeyIsRedactedOutOfEachHeaderValue(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(400, "", "X-Echo", "a", "X-Echo", testKey)))
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.Equal(t, []string{"a", "[API key]"}, apiErr.Header["X-Echo"])
}

func TestMoreEchoesOfTheKey(t *testing.T) {
	var escaped strings.Builder
	for _, c := range []byte(testKey) {
		escaped.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
	}
	for body, leak := range map[string]string{
		strings.Repeat("x", 64<<10-60) + escaped.String(): escaped.String()[:30],
		"&#0109;" + testKey[1:]:                           testKey[1:],
	} {
		_, err := get(t.Context(), newClient(t, respondWith(400, body)))
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		assert.NotContains(t, string(apiErr.Body), leak)
	}
	client, err := mintlify.NewClient("mint_a/b+secret", "proj", mintlify.WithHTTPClient(&http.Client{Transport: respondWith(400, `{"error":"mint_a\/b+secret"}`)}))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.NotContains(t, string(apiErr.Body), "secret")
}

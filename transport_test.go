package mintlify_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
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

// newCountingServer serves handler until the test ends and counts the connections.
func newCountingServer(t *testing.T, handler http.Handler, conns *atomic.Int32) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server
}

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

func TestNewTransportIsTheSDKsOwnToWrap(t *testing.T) {
	own := mintlify.NewTransport()
	assert.Equal(t, 1024, own.MaxIdleConnsPerHost)
	assert.Equal(t, 30*time.Second, own.IdleConnTimeout)
	assert.NotNil(t, own.Proxy)
	assert.NotSame(t, own, mintlify.NewTransport())

	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = respondWith(200, "")
	assert.NotNil(t, mintlify.NewTransport().Proxy, "where the program has replaced the default")
}

package mintlify_test

import (
	"bufio"
	"context"
	"crypto/tls"
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

func TestEachAttemptHasAHeaderOfItsOwn(t *testing.T) {
	rt := newRecording(
		func(r *http.Request) (*http.Response, error) {
			r.Header.Set("X-Mine", "1") // a transport that takes liberties
			return response(429, ""), nil
		},
		respondWith(429, ""))
	_, err := create(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0)))
	require.Error(t, err)
	require.Equal(t, 4, rt.count())
	rt.sent()[0].Header.Set("X-Later", "1")
	assert.NotContains(t, rt.sent()[1].Header, "X-Mine")
	assert.NotContains(t, rt.sent()[1].Header, "X-Later")
}

func TestValuesOfTheContextReachTheTransport(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "trace-7")
	rt := newRecording(respondWith(200, jobJSON))
	for _, call := range operations {
		_, err := call(ctx, newClient(t, rt))
		require.NoError(t, err)
		assert.Equal(t, "trace-7", rt.last().Context().Value(key{}))
	}
}

// serveInMemory has http.DefaultTransport, and with it the SDK's own transport, connect
// to handler in memory until the test ends. It counts the connections.
func serveInMemory(t *testing.T, handler http.Handler) (conns *atomic.Int32) {
	conns = new(atomic.Int32)
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		conns.Add(1)
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for requests := bufio.NewReader(server); ; {
				request, err := http.ReadRequest(requests)
				if err != nil {
					return
				}
				response := httptest.NewRecorder()
				handler.ServeHTTP(response, request)
				response.Result().Write(server)
			}
		}()
		return client, nil
	}}
	return conns
}

// withJob is the fake with the job that get gets.
func withJob() *mintlifytest.Service {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1", mintlifytest.Step{})
	return svc
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
		svc := withJob()
		conns := serveInMemory(t, svc)
		client := newInMemoryClient(t)
		for range 3 {
			_, err := get(t.Context(), client)
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

		_, err = get(t.Context(), newInMemoryClient(t))
		require.NoError(t, err)
		assert.EqualValues(t, 3, conns.Load(), "every NewClient has a pool of its own")
	})
}

func TestManyConnectionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 120 // beyond the 100 that http.DefaultTransport keeps in all
		svc := withJob()
		var arrived sync.WaitGroup
		conns := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
					_, err := get(t.Context(), client)
					assert.NoError(t, err)
				})
			}
			calls.Wait()
		}
		assert.EqualValues(t, n, conns.Load(), "the second wave dials none")
	})
}

func TestWithHTTPClientWithoutATransportUsesTheSDKsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := serveInMemory(t, withJob())
		client := newInMemoryClient(t, mintlify.WithHTTPClient(&http.Client{Timeout: time.Minute}))
		for range 2 {
			_, err := get(t.Context(), client)
			require.NoError(t, err)
			client.CloseIdleConnections()
		}
		assert.EqualValues(t, 2, conns.Load(), "its idle connections are the SDK's to close")
	})
}

func TestIdleConnectionsAreClosedAfterThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := serveInMemory(t, withJob())
		client := newInMemoryClient(t)
		for _, step := range []struct {
			idle  time.Duration
			dials int
		}{{0, 1}, {29 * time.Second, 1}, {31 * time.Second, 2}} {
			time.Sleep(step.idle)
			_, err := get(t.Context(), client)
			require.NoError(t, err)
			assert.EqualValues(t, step.dials, conns.Load(), "after %v", step.idle)
		}
	})
}

func TestCloseIdleConnectionsAtAnyTime(t *testing.T) {
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

func TestWithHTTPClientKeepsItsIdleConnections(t *testing.T) {
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

func TestNewTransport(t *testing.T) {
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

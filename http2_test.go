package mintlify_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/http2server"
)

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
		for op, call := range calls {
			if !isPost(op) {
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
			err = call(t.Context(), client)
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
// is no failure of a connection.
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

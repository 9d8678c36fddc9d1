package mintlify_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

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

package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/test/http2server"
)

// storms are what an HTTP/2 service can do to every request. net/http takes most of them
// for a reason to send the request again, without end where each is on a new connection.
var storms = map[string]func(*http2server.Stream){
	"reset, PROTOCOL_ERROR":   func(s *http2server.Stream) { s.Reset(http2server.ProtocolError) },
	"reset, REFUSED_STREAM":   func(s *http2server.Stream) { s.Reset(http2server.RefusedStream) },
	"reset, CANCEL":           func(s *http2server.Stream) { s.Reset(http2server.Cancel) },
	"GOAWAY below the stream": func(s *http2server.Stream) { s.GoAway(true) },
	"GOAWAY below the stream, closed": func(s *http2server.Stream) {
		s.GoAway(true)
		s.CloseConn()
	},
	"GOAWAY above the stream, closed": func(s *http2server.Stream) {
		s.GoAway(false)
		s.CloseConn()
	},
	"connection closed": func(s *http2server.Stream) { s.CloseConn() },
	"GOAWAY below the stream, refused": func(s *http2server.Stream) {
		s.GoAway(true)
		s.Reset(http2server.RefusedStream)
	},
}

func TestHTTP2StormReadsAPostOnce(t *testing.T) {
	beyondTheWindow := strings.Repeat("prompt", 20<<10)
	for _, tc := range []struct {
		name string
		when http2server.Event
		body string
	}{
		{"begun/no body", http2server.Begun, ""},
		{"begun/a short body", http2server.Begun, "prompt"},
		{"begun/a body beyond the window", http2server.Begun, beyondTheWindow},
		{"in the body/a short body", http2server.Body, "prompt"},
		{"in the body/a body beyond the window", http2server.Body, beyondTheWindow},
		{"whole/no body", http2server.Whole, ""},
		{"whole/a short body", http2server.Whole, "prompt"},
	} {
		for name, storm := range storms {
			t.Run(name+"/"+tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := stormyServer(tc.when, storm)
					b := newSenderOf(t, server)
					var read atomic.Int64 // bodies of which some was read
					req := newRequest(t, http.MethodPost, "http://127.0.0.1", tc.body)
					countReads(req, &read)
					_, err := send(b, req)
					require.Error(t, err)

					if tc.body == "" {
						assert.EqualValues(t, 1, server.Begun.Load(), "%v", err)
						assert.False(t, b.Attempt.NeverSent(), "%v", err)
						return
					}
					assert.LessOrEqual(t, read.Load(), int64(1), "%v", err)
					assert.LessOrEqual(t, server.Begun.Load(), int64(10), "%v", err)
					isProven := read.Load() == 0 || errors.Is(err, ErrRepeatable)
					assert.Equal(t, isProven, b.Attempt.NeverSent(), "%v", err)
				})
			})
		}
	}
}

// countReads counts the bodies of a request of which some was read.
func countReads(req *http.Request, read *atomic.Int64) {
	if req.Body == nil {
		return
	}
	get := req.GetBody
	count := func(body io.ReadCloser) io.ReadCloser {
		return &countedBody{ReadCloser: body, first: func() { read.Add(1) }}
	}
	req.Body = count(req.Body)
	req.GetBody = func() (io.ReadCloser, error) {
		body, err := get()
		return count(body), err
	}
}

type countedBody struct {
	io.ReadCloser
	once  sync.Once
	first func()
}

func (b *countedBody) Read(p []byte) (int, error) {
	b.once.Do(b.first)
	return b.ReadCloser.Read(p)
}

func TestHTTP2StormBeginsAGetTenTimesAtMost(t *testing.T) {
	for event, when := range map[string]http2server.Event{
		"begun": http2server.Begun,
		"whole": http2server.Whole,
	} {
		for name, storm := range storms {
			t.Run(name+"/"+event, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := stormyServer(when, storm)
					_, err := send(newSenderOf(t, server), newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
					require.Error(t, err)
					assert.LessOrEqual(t, server.Begun.Load(), int64(10), "headers, whatever the connections: %v", err)
				})
			})
		}
	}
}

// stormyServer does something to each request that has got so far.
func stormyServer(when http2server.Event, storm func(*http2server.Stream)) *http2server.Server {
	return &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
		if event == when {
			storm(stream)
		}
	}}
}

// newSenderOf returns a Sender whose requests go to the server.
func newSenderOf(t *testing.T, server *http2server.Server) *Sender {
	base := server.Transport()
	t.Cleanup(func() {
		base.CloseIdleConnections()
		server.Close()
	})
	return newSender(t.Context(), base)
}

// What the service got no part of may be sent on another connection.
func TestHTTP2RequestGoesOnOnceTheStormIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := new(http2server.Server)
		server.Handle = func(event http2server.Event, stream *http2server.Stream) {
			if event != http2server.Whole {
				return
			}
			if server.Whole.Load() < 2 {
				stream.GoAway(true)
				return
			}
			stream.Respond("200", "done")
		}

		b := newSenderOf(t, server)
		body, err := send(b, newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
		assert.NoError(t, err)
		assert.Equal(t, "done", body)
	})
}

// sentOnHTTP1 is what a request is on the wire.
func sentOnHTTP1(t *testing.T, req *http.Request) string {
	client, server := net.Pipe()
	dial := func(context.Context, string, string) (net.Conn, error) { return client, nil }
	base := &http.Transport{DialContext: dial}
	defer base.CloseIdleConnections()

	wire := make(chan string)
	go func() {
		var b strings.Builder
		lines := bufio.NewReader(io.TeeReader(server, &b))
		line := "-"
		for strings.TrimSpace(line) != "" {
			line, _ = lines.ReadString('\n')
		}
		io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		server.Close()
		wire <- b.String()
	}()

	_, err := send(newSender(t.Context(), base), req)
	require.NoError(t, err)
	return <-wire
}

func TestPostWithoutABodyHasNothingOnTheWire(t *testing.T) {
	wire := sentOnHTTP1(t, newRequest(t, http.MethodPost, "http://127.0.0.1/x", ""))
	assert.Contains(t, wire, "\r\nContent-Length: 0\r\n")
	assert.True(t, strings.HasSuffix(wire, "\r\n\r\n"), "%q", wire)
	for _, name := range []string{"Transfer-Encoding", "Content-Type", "Expect", "Trailer"} {
		assert.NotContains(t, wire, "\r\n"+name+":")
	}

	wire = sentOnHTTP1(t, newRequest(t, http.MethodGet, "http://127.0.0.1/x", ""))
	assert.NotContains(t, wire, "Content-")
}

// net/http sends a request again, too, on a connection that was closed while it was idle.
// Where the request was not written that is welcome.
func TestIdleConnectionThatWasClosedCostsNothing(t *testing.T) {
	for _, body := range []string{"", "prompt"} {
		synctest.Test(t, func(t *testing.T) {
			var conns []net.Conn
			base := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				conns = append(conns, server)
				go respondOnce(server)
				return client, nil
			}}
			defer base.CloseIdleConnections()

			for range 3 {
				b := newSender(t.Context(), base)
				got, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", body))
				require.NoError(t, err)
				require.Equal(t, "ok", got)
				conns[len(conns)-1].Close()
				synctest.Wait()
			}
			assert.Len(t, conns, 3)
		})
	}
}

func respondOnce(conn net.Conn) {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
}

// A transport that resends a request by itself, on any connection, calls GetBody.
func TestPostWithABodyHasNoGetBody(t *testing.T) {
	b := newSender(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
		assert.Nil(t, r.GetBody)
		return respondWith(201, http.NoBody)(r)
	}))
	_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
	assert.NoError(t, err)
}

func TestGetBodyOfAPostWithoutABodyFailsOnceTheRequestIsWritten(t *testing.T) {
	failed := httptrace.WroteRequestInfo{Err: io.ErrClosedPipe}
	for name, tc := range map[string]struct {
		event func(*httptrace.ClientTrace)
		again bool
	}{
		"nothing":            {func(*httptrace.ClientTrace) {}, true},
		"write failed":       {func(c *httptrace.ClientTrace) { c.WroteRequest(failed) }, true},
		"header written":     {func(c *httptrace.ClientTrace) { c.WroteHeaders() }, false},
		"request is written": {func(c *httptrace.ClientTrace) { c.WroteRequest(httptrace.WroteRequestInfo{}) }, false},
	} {
		b := newSender(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
			tc.event(traceOf(r))
			again, err := r.GetBody()
			assert.Equal(t, tc.again, err == nil, "%s: %v", name, err)
			if err == nil {
				read, _ := io.ReadAll(again)
				assert.Empty(t, read)
			}
			return nil, err
		}))

		_, _ = send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", ""))
	}
}

func failingProxy(*http.Request) (*url.URL, error) { return nil, errors.New("no proxy today") }

func TestFailingProxyFunctionIsProofThatNothingWasSent(t *testing.T) {
	for _, body := range []string{"", "prompt"} {
		b := newSender(t.Context(), &http.Transport{Proxy: failingProxy})
		_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", body))
		assert.ErrorContains(t, err, "no proxy today")
		assert.True(t, b.Attempt.NeverSent())
	}
}

// A transport with a registered protocol does not ask its Proxy function, and the protocol
// may fire no trace events.
func TestErrorOfARegisteredProtocolIsNoProof(t *testing.T) {
	for name, proxy := range map[string]func(*http.Request) (*url.URL, error){
		"no proxy":             nil,
		"from the environment": http.ProxyFromEnvironment,
		"fails too":            failingProxy,
	} {
		base := &http.Transport{Proxy: proxy, Protocols: new(http.Protocols)}
		base.RegisterProtocol("https", roundTripper(func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("sent, and then the connection was lost")
		}))

		b := newSender(t.Context(), base)
		_, err := send(b, newRequest(t, http.MethodPost, "https://127.0.0.1", "prompt"))
		assert.ErrorContains(t, err, "was lost")
		assert.False(t, b.Attempt.NeverSent(), name)
	}
}

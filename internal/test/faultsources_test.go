package test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/http2server"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// faultSource is where a fault comes from: a service or a network that misbehaves. It is started
// anew for each call.
type faultSource interface {
	start(t *testing.T) started
}

// started is a source in use.
type started struct {
	opts     []mintlify.Option // a client with these options meets the fault
	requests func() int        // how many requests the service counted, complete or not
	acted    func() int        // how many of them changed something
}

// sourceFunc is a source for one fault alone.
type sourceFunc func(*testing.T) started

func (f sourceFunc) start(t *testing.T) started { return f(t) }

// toListener sends a client's requests to a listener, without TLS.
func toListener(listener net.Listener) mintlify.Option {
	return mintlify.WithBaseURL("http://" + listener.Addr().String())
}

func none() int { return 0 }

// The fake.

// startFake returns the fake as a source that is in use. The options lead a client to it.
func startFake(svc *mintlifytest.Service, opts ...mintlify.Option) started {
	requests := func() int { return len(svc.Requests()) }

	acted := func() int {
		n := 0
		for _, request := range svc.Requests() {
			if request.Acted && request.Method == http.MethodPost {
				n++
			}
		}
		return n
	}

	return started{opts: opts, requests: requests, acted: acted}
}

// failingFake is a fake all of whose operations fail.
func failingFake(f mintlifytest.Fault) *mintlifytest.Service {
	svc := operations.NewService()
	for _, op := range operations.All() {
		svc.FailNext(op.Name, 1000, f)
	}
	return svc
}

// inMemory is a fake that responds to every request with the fault.
type inMemory mintlifytest.Fault

func (f inMemory) start(*testing.T) started {
	svc := failingFake(mintlifytest.Fault(f))
	return startFake(svc, kit.Through(svc))
}

// onSocket is inMemory over a socket, with the SDK's own transport.
type onSocket mintlifytest.Fault

func (f onSocket) start(t *testing.T) started {
	svc := failingFake(mintlifytest.Fault(f))
	server := httptest.NewServer(svc)
	t.Cleanup(server.Close)

	return startFake(svc, mintlify.WithBaseURL(server.URL))
}

// responds is a fake that responds to every request with a status; header is name, value, …
func responds(status int, header ...string) inMemory {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return inMemory{Status: status, Header: h, Body: `{"error":"so it goes"}`}
}

// rateLimiting is a fake that responds to every request with 429 and a Retry-After: seconds, or
// the date that is in a while.
type rateLimiting struct {
	seconds string
	in      time.Duration
}

func (l rateLimiting) start(t *testing.T) started {
	value := l.seconds
	if l.in != 0 {
		value = httpDate(l.in)
	}
	return retrying{responds(429, "Retry-After", value), 30 * time.Second}.start(t)
}

// retrying is a source whose client waits before a retry as the service asks it to.
type retrying struct {
	source faultSource
	most   time.Duration
}

func (r retrying) start(t *testing.T) started {
	s := r.source.start(t)
	s.opts = append(s.opts, mintlify.WithRetryWait(0, r.most))
	return s
}

// rotating is the fake behind a key source that first has one key, and then another.
type rotating struct{ before, after string }

func (r rotating) start(*testing.T) started {
	svc := operations.NewService()
	asked := false
	source := func(context.Context) (string, error) {
		if asked {
			return r.after, nil
		}
		asked = true
		return r.before, nil
	}
	return startFake(svc, kit.Through(svc), mintlify.WithKeySource(source))
}

// redirecting responds with a redirect to location, and behind /moved as the fake.
type redirecting struct {
	status   int
	location string
}

func (redirect redirecting) start(*testing.T) started {
	svc := operations.NewService()
	var requests atomic.Int64
	rt := kit.Transport(func(r *http.Request) (*http.Response, error) {
		requests.Add(1)
		if strings.HasPrefix(r.URL.Path, "/moved") {
			return svc.RoundTrip(r)
		}
		return kit.Response(redirect.status, "", "Location", redirect.location+"/moved"+r.URL.RequestURI()), nil
	})

	s := startFake(svc, kit.Through(rt))
	s.requests = func() int { return int(requests.Load()) }
	return s
}

// refusedAddress is an address where nobody listens.
func refusedAddress(t *testing.T) started {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())

	return started{opts: []mintlify.Option{toListener(listener)}, requests: none, acted: none}
}

// unknownAuthority is the fake with a certificate that nobody trusts.
func unknownAuthority(t *testing.T) started {
	svc := operations.NewService()
	server := httptest.NewTLSServer(svc)
	server.Config.ErrorLog = kit.DiscardLog()
	t.Cleanup(server.Close)

	return startFake(svc, mintlify.WithBaseURL(server.URL))
}

// withoutTLS is the fake over plain HTTP, to a client that expects TLS.
func withoutTLS(t *testing.T) started {
	svc := operations.NewService()
	server := httptest.NewServer(svc)
	t.Cleanup(server.Close)

	return startFake(svc, mintlify.WithBaseURL(strings.Replace(server.URL, "http:", "https:", 1)))
}

// refusedTunnel is a proxy that responds to CONNECT with a status.
type refusedTunnel int

func (status refusedTunnel) start(t *testing.T) started {
	_, viaProxy := refuseTunnels(t, int(status))
	opts := []mintlify.Option{kit.Through(viaProxy), mintlify.WithBaseURL("https://api.example.com")}
	return started{opts: opts, requests: none, acted: none}
}

// A transport.

// unreachable is a RoundTripper that reaches no service.
type unreachable struct{ http.RoundTripper }

func (u unreachable) start(*testing.T) started {
	return started{opts: []mintlify.Option{kit.Through(u.RoundTripper)}, requests: none, acted: none}
}

var (
	unresolved = unreachable{&http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
		},
	}}

	badProxy = unreachable{&http.Transport{Proxy: failingProxy}}

	neverConnected = unreachable{kit.Transport(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
		return kit.Hang(r)
	})}
)

func failingProxy(*http.Request) (*url.URL, error) {
	return url.Parse("http://user:hunter2@proxy:3128/%zz") //nolint:staticcheck // it has to fail
}

// byTransport is a transport that plays the service.
type byTransport struct {
	transport kit.Transport
	opts      []mintlify.Option
}

func (s byTransport) start(*testing.T) started {
	var requests atomic.Int64
	rt := kit.Doing(func() { requests.Add(1) }, s.transport)

	return started{
		opts:     append(s.opts, kit.Through(rt)),
		requests: func() int { return int(requests.Load()) },
		acted:    none,
	}
}

// oversized is a response whose body is start, and then unit over and over, up to size.
func oversized(status int, start, unit string, size int64) byTransport {
	return byTransport{transport: func(*http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader(start), io.LimitReader(repeated(unit, 4096), size))
		resp := kit.Response(status, "")
		resp.Body = io.NopCloser(body)
		return resp, nil
	}}
}

// endless reads as unit over and over.
type endless struct {
	unit string
	at   int
}

// repeated is endless with a unit of n times text, which is quicker to read.
func repeated(text string, n int) *endless { return &endless{unit: strings.Repeat(text, n)} }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.unit[e.at:])
	e.at = (e.at + n) % len(e.unit)
	return n, nil
}

// A TCP listener.

// listens is a TCP listener that handles each connection by the function.
type listens func(net.Conn)

func (handle listens) start(t *testing.T) started {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })

	var requests atomic.Int64
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			requests.Add(1)
			go handle(conn)
		}
	}()

	return started{
		opts:     []mintlify.Option{toListener(listener)},
		requests: func() int { return int(requests.Load()) },
		acted:    none,
	}
}

// reset resets a connection on its first byte: the other side has it by then.
func reset(conn net.Conn) {
	io.ReadFull(conn, make([]byte, 1))
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// speakSSH responds to a request with a line that is not HTTP.
func speakSSH(conn net.Conn) {
	io.ReadAtLeast(conn, make([]byte, 4096), 1)
	io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n")
	conn.Close()
}

// sendLongHeader responds with a header of many fields.
func sendLongHeader(conn net.Conn) {
	defer conn.Close()
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		return
	}
	io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
	io.Copy(conn, io.LimitReader(repeated("X-Y: z\r\n", 500), 9<<20))
}

// bombing responds with a gzip bomb.
func bombing(t *testing.T) started {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(gzipBomb())
	}))
	t.Cleanup(server.Close)

	return started{
		opts:     []mintlify.Option{mintlify.WithBaseURL(server.URL)},
		requests: func() int { return int(requests.Load()) },
		acted:    none,
	}
}

// HTTP/2, frame by frame.

// streamFault has an HTTP/2 service do something to each request that has got so far. A
// request without a body is whole instead of on its way.
type streamFault struct {
	when http2server.Event
	do   func(*http2server.Stream)
}

func (f streamFault) start(t *testing.T) started {
	handle := func(event http2server.Event, stream *http2server.Stream) {
		if event == f.when || f.when == http2server.Body && event == http2server.Whole {
			f.do(stream)
		}
	}
	server := &http2server.Server{Handle: handle}
	rt := server.Transport()
	t.Cleanup(func() {
		rt.CloseIdleConnections()
		server.Close()
	})

	return started{
		opts:     []mintlify.Option{kit.Through(rt), mintlify.WithBaseURL("http://127.0.0.1")},
		requests: func() int { return int(server.Begun.Load()) },
		acted:    none,
	}
}

func cancelStream(s *http2server.Stream) { s.Reset(http2server.Cancel) }

func breakProtocol(s *http2server.Stream) { s.Reset(http2server.ProtocolError) }

func refuseStream(s *http2server.Stream) { s.Reset(http2server.RefusedStream) }

func goAwayBelow(s *http2server.Stream) { s.GoAway(true) }

func goAwayAboveAndClose(s *http2server.Stream) {
	s.GoAway(false)
	s.CloseConn()
}

func respond103(s *http2server.Stream) { s.Respond("103", "") }

// The SDK's own transport in memory.

// silentConnection is a connection that serves one request, and then goes silent.
type silentConnection struct{ isHTTP2 bool }

func (c silentConnection) start(t *testing.T) started {
	svc := operations.NewService()
	network := kit.NewPipeNetwork(t, svc, c.isHTTP2)
	s := startFake(svc, kit.Through(network.Transport), mintlify.WithBaseURL("http://127.0.0.1"))

	_, err := kit.Get(t.Context(), svc.Client(s.opts...))
	require.NoError(t, err)
	network.Silence()

	before := len(svc.Requests())
	s.requests = func() int { return len(svc.Requests()) - before }
	return s
}

// slowHTTP2 is a service that is slow to respond, on connections of few streams.
func slowHTTP2(t *testing.T) started {
	svc := failingFake(mintlifytest.Fault{Delay: 200 * time.Millisecond})
	network := kit.NewPipeNetwork(t, svc, true)
	return startFake(svc, kit.Through(network.Transport), mintlify.WithBaseURL("http://127.0.0.1"))
}

func httpDate(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }

// gzipBomb is 16 MiB of one letter, compressed.
var gzipBomb = sync.OnceValue(func() []byte {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 16 {
		w.Write(bytes.Repeat([]byte("x"), 1<<20))
	}
	w.Close()
	return bomb.Bytes()
})

package mintlify_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/http2server"
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Ways to arm a fault.

// faulty is a fake all of whose operations fail.
func faulty(f mintlifytest.Fault) *mintlifytest.Service {
	svc := operations.NewService()
	for _, op := range operations.All() {
		svc.FailNext(op.Name, 1000, f)
	}
	return svc
}

// armedBy is a fault of the fake's.
func armedBy(svc *mintlifytest.Service, opts ...mintlify.Option) armed {
	return armed{opts: opts, requests: func() int { return len(svc.Requests()) }, acted: func() (n int) {
		for _, request := range svc.Requests() {
			if request.Acted && request.Method == http.MethodPost {
				n++
			}
		}
		return n
	}}
}

// inMemory responds to every request with a fault of the fake.
func inMemory(f mintlifytest.Fault) func(*testing.T) armed {
	return func(*testing.T) armed {
		svc := faulty(f)
		return armedBy(svc, through(svc))
	}
}

// onSocket is inMemory over a socket, with the SDK's own transport.
func onSocket(f mintlifytest.Fault) func(*testing.T) armed {
	return func(t *testing.T) armed {
		svc := faulty(f)
		server := httptest.NewServer(svc)
		t.Cleanup(server.Close)
		return armedBy(svc, mintlify.WithBaseURL(server.URL))
	}
}

func status(code int, header ...string) func(*testing.T) armed {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return inMemory(mintlifytest.Fault{Status: code, Header: h, Body: `{"error":"so it goes"}`})
}

// withRetryWait has a client wait before a retry, as the service asks it to.
func withRetryWait(arm func(*testing.T) armed, most time.Duration) func(*testing.T) armed {
	return func(t *testing.T) armed {
		armed := arm(t)
		armed.opts = append(armed.opts, mintlify.WithRetryWait(0, most))
		return armed
	}
}

func through(rt http.RoundTripper) mintlify.Option {
	return mintlify.WithHTTPClient(&http.Client{Transport: rt})
}

func none() int { return 0 }

// unreachable has every request go to rt, which reaches no service.
func unreachable(rt http.RoundTripper) func(*testing.T) armed {
	return func(*testing.T) armed { return armed{[]mintlify.Option{through(rt)}, none, none} }
}

// over has every request go to rt, which is the service.
func over(rt transport, opts ...mintlify.Option) func(*testing.T) armed {
	return func(*testing.T) armed {
		var requests atomic.Int64
		return armed{append(opts, through(doing(func() { requests.Add(1) }, rt))), func() int { return int(requests.Load()) }, none}
	}
}

// listening has each connection of a TCP listener handled by handle.
func listening(handle func(net.Conn)) func(*testing.T) armed {
	return func(t *testing.T) armed {
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
		return armed{[]mintlify.Option{mintlify.WithBaseURL("http://" + listener.Addr().String())}, func() int { return int(requests.Load()) }, none}
	}
}

// reset resets a connection on its first byte: the other side has it by then.
func reset(conn net.Conn) {
	io.ReadFull(conn, make([]byte, 1))
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// http2 has an HTTP/2 service do something to each request that has got so far. A request
// without a body is whole instead of on its way.
func http2(when http2server.Event, do func(*http2server.Stream)) func(*testing.T) armed {
	return func(t *testing.T) armed {
		server := &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
			if event == when || when == http2server.Body && event == http2server.Whole {
				do(stream)
			}
		}}
		rt := server.Transport()
		t.Cleanup(func() { rt.CloseIdleConnections(); server.Close() })
		return armed{[]mintlify.Option{through(rt), mintlify.WithBaseURL("http://127.0.0.1")}, func() int { return int(server.Begun.Load()) }, none}
	}
}

// keptConnections has requests go, in memory and by the SDK's own transport, to svc on
// connections of a protocol. It returns what silences those that are open: from then on
// nothing comes through, and nobody is told.
func keptConnections(t *testing.T, svc http.Handler, isHTTP2 bool) (rt *http.Transport, silence func()) {
	if isHTTP2 && strings.HasPrefix(runtime.Version(), "go1.25") {
		t.Skip("Go 1.25's HTTP/2 server shares channels between bubbles")
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!isHTTP2)
	protocols.SetUnencryptedHTTP2(isHTTP2)
	dialed := make(chan net.Conn)
	server := &http.Server{Handler: svc, Protocols: protocols, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams}}
	go server.Serve(pipes(dialed))
	var mu sync.Mutex
	var open []*silenced
	rt = mintlify.NewTransport()
	rt.Proxy, rt.Protocols = nil, protocols
	rt.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		dialed <- theirs
		conn := &silenced{Conn: ours}
		mu.Lock()
		defer mu.Unlock()
		open = append(open, conn)
		return conn, nil
	}
	t.Cleanup(func() { rt.CloseIdleConnections(); server.Close() })
	return rt, func() {
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range open {
			conn.silent.Store(true)
		}
	}
}

const streams = 100 // at once on an HTTP/2 connection, which net/http expects until it is told

// pipes is a listener of the connections that it receives.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error { close(p); return nil }
func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// silenced is a connection that loses everything once it is silent.
type silenced struct {
	net.Conn
	silent atomic.Bool
}

func (c *silenced) Write(p []byte) (int, error) {
	if c.silent.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *silenced) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.silent.Load() {
			return n, err
		}
	}
}

// goneSilent has a connection serve a request, and then go silent.
func goneSilent(isHTTP2 bool) func(*testing.T) armed {
	return func(t *testing.T) armed {
		svc := operations.NewService()
		rt, silence := keptConnections(t, svc, isHTTP2)
		armed := armedBy(svc, through(rt), mintlify.WithBaseURL("http://127.0.0.1"))
		before := svc.Client(armed.opts...)
		_, err := get(t.Context(), before)
		require.NoError(t, err)
		silence()
		requests := armed.requests
		armed.requests = func() int { return requests() - 1 }
		return armed
	}
}

// burstOverHTTP2 is a service that is slow to respond on connections of few streams.
func burstOverHTTP2(t *testing.T) armed {
	svc := faulty(mintlifytest.Fault{Delay: 200 * time.Millisecond})
	rt, _ := keptConnections(t, svc, true)
	return armedBy(svc, through(rt), mintlify.WithBaseURL("http://127.0.0.1"))
}

// redirected responds with a redirect to location, and behind /moved as the service.
func redirected(code int, location string) func(*testing.T) armed {
	return func(*testing.T) armed {
		svc := operations.NewService()
		var requests atomic.Int64
		armed := armedBy(svc, through(transport(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			if strings.HasPrefix(r.URL.Path, "/moved") {
				return svc.RoundTrip(r)
			}
			return response(code, "", "Location", location+"/moved"+r.URL.RequestURI()), nil
		})))
		armed.requests = func() int { return int(requests.Load()) }
		return armed
	}
}

// hostile responds with a body of unit over and over, up to size.
func hostile(status int, start, unit string, size int64) func(*testing.T) armed {
	return over(func(*http.Request) (*http.Response, error) {
		resp := response(status, "")
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(start), io.LimitReader(&endless{unit: strings.Repeat(unit, 4096)}, size)))
		return resp, nil
	})
}

// longHeader responds with a header of many fields.
func longHeader(conn net.Conn) {
	defer conn.Close()
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
		_, _ = io.Copy(conn, io.MultiReader(strings.NewReader("HTTP/1.1 200 OK\r\n"), io.LimitReader(&endless{unit: strings.Repeat("X-Y: z\r\n", 500)}, 9<<20)))
	}
}

func failingProxy(*http.Request) (*url.URL, error) {
	return url.Parse("http://user:hunter2@proxy:3128/%zz") //nolint:staticcheck // it has to fail
}

func httpDate(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }

// The outcomes.

func once(kinds, again string) outcome {
	return outcome{attempts: 1, requests: 1, err: kinds, again: again}
}

func four(kinds, again string) outcome {
	return outcome{attempts: 4, requests: 4, err: kinds, again: again}
}

func (o outcome) seen(requests int) outcome       { o.requests = requests; return o }
func (o outcome) seenAtMost(requests int) outcome { o.requests, o.most = requests, true; return o }
func (o outcome) actedOn() outcome                { o.acted = 1; return o }

var (
	unknownOnce     = once(unknown, "no")
	lost            = four("", "yes") // of a read
	neverSent       = four("", "yes").seen(0)
	malformedPost   = once("MalformedResponse, OutcomeUnknown", "no")
	malformed       = once("MalformedResponse", "no")
	truncated       = four("MalformedResponse", "yes")
	serverErrorPost = once("OutcomeUnknown, Server", "no")
	serverError     = four("Server", "yes")
)

// The faults.

// few operations stand for all in faults that would take long with all of them.
var few = []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpTriggerUpdate, mintlify.OpGetJob, mintlify.OpGetVisitors}

func faultClasses() []faultClass {
	return []faultClass{networkFaults(), http2Faults(), connectionFaults(), slowFaults(), redirectFaults(), statusFaults(), limitFaults(), bodyFaults(), hostileFaults(), canceledBefore(), canceledDuring()}
}

func networkFaults() faultClass {
	return faultClass{name: "The network", note: "Over real sockets, if a request gets that far.", faults: []fault{
		{name: "connection refused", socket: true, arm: func(t *testing.T) armed {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			listener.Close()
			return armed{[]mintlify.Option{mintlify.WithBaseURL("http://" + listener.Addr().String())}, none, none}
		}, post: neverSent, get: neverSent, wait: goesOn},
		{name: "name that does not resolve", socket: true, arm: unreachable(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
		}}), post: neverSent, get: neverSent, wait: goesOn},
		{name: "proxy function that fails", arm: unreachable(&http.Transport{Proxy: failingProxy}), post: neverSent, get: neverSent, wait: goesOn},
		{name: "certificate of an unknown authority", socket: true, arm: func(t *testing.T) armed {
			svc := operations.NewService()
			server := httptest.NewTLSServer(svc)
			server.Config.ErrorLog = discardLog()
			t.Cleanup(server.Close)
			return armedBy(svc, mintlify.WithBaseURL(server.URL))
		}, post: once("", "no").seen(0), get: once("", "no").seen(0), wait: goesOn},
		{name: "no TLS on the other side", socket: true, arm: func(t *testing.T) armed {
			svc := operations.NewService()
			server := httptest.NewServer(svc)
			t.Cleanup(server.Close)
			return armedBy(svc, mintlify.WithBaseURL(strings.Replace(server.URL, "http:", "https:", 1)))
		}, post: neverSent, get: neverSent, wait: goesOn},
		{name: "connection reset within the request", socket: true, arm: listening(reset), post: unknownOnce, get: lost, wait: goesOn},
		{name: "connection closed after the request", socket: true, arm: onSocket(mintlifytest.Fault{Drop: true}), post: unknownOnce.actedOn(), get: lost, wait: goesOn},
		{name: "body truncated", socket: true, arm: onSocket(mintlifytest.Fault{Truncate: true}), post: malformedPost.actedOn(), get: truncated, wait: goesOn},
		{name: "no HTTP at all", socket: true, arm: listening(func(conn net.Conn) {
			io.ReadAtLeast(conn, make([]byte, 4096), 1)
			io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n")
			conn.Close()
		}), post: unknownOnce, get: lost, wait: goesOn},
	}}
}

func http2Faults() faultClass {
	class := faultClass{name: "HTTP/2", note: "Frame by frame, each as the request begins, within its body, and after it."}
	for _, storm := range []struct {
		name string
		do   func(*http2server.Stream)
		get  outcome
	}{
		{"reset with CANCEL", func(s *http2server.Stream) { s.Reset(http2server.Cancel) }, lost},
		{"reset with PROTOCOL_ERROR", func(s *http2server.Stream) { s.Reset(http2server.ProtocolError) }, lost.seenAtMost(12)},
		{"reset with REFUSED_STREAM", func(s *http2server.Stream) { s.Reset(http2server.RefusedStream) }, lost.seenAtMost(12)},
		{"GOAWAY above the stream, and connection closed", func(s *http2server.Stream) { s.GoAway(false); s.CloseConn() }, lost},
		{"GOAWAY below the stream", func(s *http2server.Stream) { s.GoAway(true) }, lost.seenAtMost(12)},
		{"GOAWAY below the stream, and connection closed", func(s *http2server.Stream) { s.GoAway(true); s.CloseConn() }, lost.seenAtMost(12)},
	} {
		for when, event := range []http2server.Event{http2server.Begun, http2server.Body, http2server.Whole} {
			variant := []string{", as it begins", ", within the body", ", after the request"}[when]
			class.faults = append(class.faults, fault{name: storm.name, variant: variant, arm: http2(event, storm.do), post: unknownOnce, get: storm.get, wait: goesOn})
		}
	}
	return class
}

func connectionFaults() faultClass {
	const calls = 250
	afresh := outcome{attempts: 2, requests: 1, err: "ok"}
	return faultClass{name: "Connections", note: "A connection of the SDK's own transport goes silent after its first request; a new connection works.", faults: []fault{
		{name: "HTTP/1 connection that goes silent", arm: goneSilent(false), post: unknownOnce.seen(0), get: afresh, wait: goesOn},
		{name: "HTTP/2 connection that goes silent", arm: goneSilent(true), post: unknownOnce.seen(0), get: afresh, wait: goesOn},
		{name: fmt.Sprintf("burst of %d calls over HTTP/2, %d streams a connection", calls, streams), burst: calls, only: few, arm: burstOverHTTP2, post: once("ok", "").actedOn(), get: once("ok", "")},
	}}
}

func slowFaults() faultClass {
	class := faultClass{name: "Time", note: "Each attempt times out after 60 s.", faults: []fault{
		{name: "headers that never come", arm: inMemory(mintlifytest.Fault{Delay: 24 * time.Hour}), post: unknownOnce.actedOn(), get: lost, wait: goesOn},
		{name: "nothing after a 103", arm: http2(http2server.Whole, func(s *http2server.Stream) { s.Respond("103", "") }), post: unknownOnce, get: lost, wait: goesOn},
		{name: "body of a 200 that does not end", arm: over(stall(200, `{"id":`)), post: malformedPost, get: truncated, wait: goesOn},
	}}
	for _, tc := range []struct {
		status    int
		post, get outcome
		wait      string
	}{
		{101, unknownOnce, once("", "no"), goesOn},
		{301, unknownOnce, once("", "no"), ends},
		{404, once("NotFound", "no"), once("NotFound", "no"), ends},
		{429, four("RateLimited", "yes"), four("RateLimited", "yes"), goesOn},
		{503, serverErrorPost, serverError, goesOn},
	} {
		class.faults = append(class.faults, fault{name: fmt.Sprintf("body of a %d that does not end", tc.status), arm: over(stall(tc.status, `{"error":`)), post: tc.post, get: tc.get, wait: tc.wait})
	}
	return class
}

func redirectFaults() faultClass {
	class := faultClass{name: "Redirects", note: "301, 302, 303, 307 and 308."}
	for _, code := range []int{301, 302, 303, 307, 308} {
		class.faults = append(class.faults,
			fault{name: "within the origin", variant: fmt.Sprintf(", %d", code), arm: redirected(code, ""), post: unknownOnce, get: outcome{attempts: 2, requests: 2, err: "ok"}, wait: isDone},
			fault{name: "to another origin", variant: fmt.Sprintf(", %d", code), arm: redirected(code, "https://other.example.com"), post: unknownOnce, get: once("", "no"), wait: ends})
	}
	return class
}

func statusFaults() faultClass {
	class := faultClass{name: "Statuses"}
	for _, tc := range []struct {
		status    int
		post, get outcome
		wait      string
	}{
		{400, once("BadRequest", "no"), once("BadRequest", "no"), ends},
		{401, once("Unauthorized", "no"), once("Unauthorized", "no"), ends},
		{403, once("Forbidden", "no"), once("Forbidden", "no"), ends},
		{404, once("NotFound", "no"), once("NotFound", "no"), ends},
		{408, unknownOnce, once("", "yes"), goesOn},
		{409, once("Conflict", "no"), once("Conflict", "no"), ends},
		{422, once("BadRequest", "no"), once("BadRequest", "no"), ends},
		{425, once("", "no"), once("", "yes"), goesOn},
		{500, serverErrorPost, serverError, goesOn},
		{501, serverErrorPost, once("Server", "yes"), goesOn},
		{502, serverErrorPost, serverError, goesOn},
		{503, serverErrorPost, serverError, goesOn},
		{504, serverErrorPost, serverError, goesOn},
	} {
		class.faults = append(class.faults, fault{name: fmt.Sprint(tc.status), arm: status(tc.status), post: tc.post, get: tc.get, wait: tc.wait})
	}
	page := "<html><title>Bad gateway</title>" + strings.Repeat("<p>wall</p>", 10000)
	return faultClass{name: class.name, faults: append(class.faults,
		fault{name: "502 with an HTML page", arm: inMemory(mintlifytest.Fault{Status: 502, Body: page}), post: serverErrorPost, get: serverError, wait: goesOn},
		fault{name: "504 of a gateway, after the service has acted", arm: inMemory(mintlifytest.Fault{Status: 504, Acted: true}), post: serverErrorPost.actedOn(), get: serverError, wait: goesOn})}
}

func limitFaults() faultClass {
	class := faultClass{name: "429", note: "By its Retry-After. WithRetryWait allows waits of up to 30 s, the default."}
	limited := func(again string) outcome { return four("RateLimited", again) }
	limitedOnce := func(again string) outcome { return once("RateLimited", again) }
	for _, tc := range []struct {
		name, value string
		want        outcome
		wait        string
	}{
		{"none", "", limited("yes"), goesOn},
		{"5 seconds", "5", limited("yes, in 5s"), delayed},
		{"a date in 5 seconds", "date", limited("yes"), delayed},
		{"5 minutes", "300", limitedOnce("yes, in 5m0s"), delayed},
		{"2 hours", "7200", limitedOnce("yes, in 2h0m0s"), ends},
		{"0", "0", limited("yes"), goesOn},
		{"a past date", "past", limited("yes"), goesOn},
		{"below zero", "-5", limited("yes"), goesOn},
		{"nonsense", "soon", limited("yes"), goesOn},
		{"10^19 seconds", "10000000000000000000", limitedOnce("yes, in years"), ends},
	} {
		arm := func(t *testing.T) armed {
			value := map[string]string{"date": httpDate(5 * time.Second), "past": httpDate(-time.Hour)}[tc.value]
			if value == "" {
				value = tc.value
			}
			return status(429, "Retry-After", value)(t)
		}
		class.faults = append(class.faults, fault{name: tc.name, arm: withRetryWait(arm, 30*time.Second), post: tc.want, get: tc.want, wait: tc.wait})
	}
	return class
}

// wrongTypes returns a response that has the top fields of every good one, each with a value
// of another type.
func wrongTypes() string {
	fields := map[string]any{}
	for _, op := range operations.All() {
		var body map[string]any
		if err := json.Unmarshal([]byte(op.Body), &body); err != nil {
			panic(err) // of a constant
		}
		for name, value := range body {
			fields[name] = "x"
			if _, ok := value.(string); ok {
				fields[name] = []any{7}
			}
		}
	}
	wrong, _ := json.Marshal(fields)
	return string(wrong)
}

func bodyFaults() faultClass {
	ok := func(body string) func(*testing.T) armed { return inMemory(mintlifytest.Fault{Status: 200, Body: body}) }
	wrong := wrongTypes()
	run := []mintlify.Operation{mintlify.OpTriggerAutomation} // whose response has no field that must be there
	return faultClass{name: "Responses of status 2xx", faults: []fault{
		{name: "HTML page", arm: ok("<html><title>Sign in</title>"), post: malformedPost.actedOn(), get: malformed, wait: goesOn},
		{name: "empty", arm: ok(""), post: malformedPost.actedOn(), get: malformed, wait: goesOn},
		{name: "null", arm: ok("null"), post: malformedPost.actedOn(), get: malformed, wait: goesOn},
		{name: "{}", arm: ok("{}"), not: run, post: malformedPost.actedOn(), get: malformed, wait: goesOn},
		{name: "{}, of an automation", arm: ok("{}"), only: run, post: once("ok", "").actedOn()},
		{name: "fields of wrong types", arm: ok(wrong), not: run, post: malformedPost.actedOn(), get: malformed, wait: goesOn},
		{name: "fields of wrong types, of an automation", arm: ok(wrong), only: run, post: once("ok", "").actedOn()},
	}}
}

func hostileFaults() faultClass {
	return faultClass{name: "Hostile responses", note: "[load.md](load.md) says what they cost.", faults: []fault{
		{name: "200 of 1 GiB", only: few, arm: hostile(200, "", "x", 1<<30), post: malformedPost, get: malformed},
		{name: "200 of a gzip bomb", only: few, socket: true, arm: func(t *testing.T) armed {
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				w.Header().Set("Content-Encoding", "gzip")
				w.Write(gzipBomb())
			}))
			t.Cleanup(server.Close)
			return armed{[]mintlify.Option{mintlify.WithBaseURL(server.URL)}, func() int { return int(requests.Load()) }, none}
		}, post: malformedPost, get: malformed},
		{name: "200 of 10 MiB of [", only: few, arm: hostile(200, "", "[", 10<<20), post: malformedPost, get: malformed},
		{name: "200 of 3 million rows", only: []mintlify.Operation{mintlify.OpGetVisitors}, arm: hostile(200, `{"totals":{},"hasMore":true,"visitors":[{}`, ",{}", 9<<20), get: malformed},
		{name: "200 with a header of 9 MiB", only: few, socket: true, arm: listening(longHeader), post: unknownOnce, get: lost},
		{name: "404 of 1 GiB", arm: hostile(404, `{"details":[0`, ",0", 1<<30), post: once("NotFound", "no"), get: once("NotFound", "no"), wait: ends},
		{name: "503 of 1 GiB of <", only: few, arm: hostile(503, "<html>", "<", 1<<30), post: serverErrorPost, get: serverError},
	}}
}

func canceledBefore() faultClass {
	const over = "context.Canceled"
	class := faultClass{name: "The context is over before the call", note: "Nothing is sent.",
		ctx: func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(parent)
			cancel()
			return ctx, cancel
		},
		faults: []fault{
			{name: "network", socket: true, arm: onSocket(mintlifytest.Fault{Drop: true})},
			{name: "time", arm: inMemory(mintlifytest.Fault{Delay: time.Hour})},
			{name: "redirect", arm: redirected(302, "")},
			{name: "status", arm: status(503)},
			{name: "429", arm: status(429, "Retry-After", "5")},
			{name: "response", arm: inMemory(mintlifytest.Fault{Status: 200})},
		}}
	for i := range class.faults {
		nothing := outcome{err: over, again: "no"}
		class.faults[i].post, class.faults[i].get, class.faults[i].wait = nothing, nothing, "WaitError: "+over
	}
	return class
}

// canceledDuring ends the context after 10 s of virtual time.
func canceledDuring() faultClass {
	const over10s = "context.DeadlineExceeded"
	const wait = "WaitError: " + over10s
	over := func(rt transport) func(*testing.T) armed {
		return over(rt, mintlify.WithRetryWait(time.Minute, time.Minute))
	}
	class := faultClass{name: "The context ends during the call", note: "After 10 s.",
		ctx: func(parent context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(parent, 10*time.Second)
		},
		faults: []fault{
			{name: "network: while connecting", arm: unreachable(transport(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
				return hang(r)
			})), post: once(over10s, "no").seen(0), get: once(over10s, "no").seen(0), wait: wait},
			{name: "time: before the headers", arm: inMemory(mintlifytest.Fault{Delay: time.Hour}), post: once("OutcomeUnknown, "+over10s, "no").actedOn(), get: once(over10s, "no"), wait: wait},
			{name: "time: after a 103", arm: http2(http2server.Whole, func(s *http2server.Stream) { s.Respond("103", "") }), post: once("OutcomeUnknown, "+over10s, "no"), get: once(over10s, "no"), wait: wait},
			{name: "time: in the body of a 200", arm: over(stall(200, `{"id":`)), post: once("MalformedResponse, OutcomeUnknown, "+over10s, "no"), get: once(over10s, "no"), wait: wait},
			{name: "redirect: at its target", arm: over(func(r *http.Request) (*http.Response, error) {
				if strings.HasPrefix(r.URL.Path, "/moved") {
					return hang(r)
				}
				return response(302, "", "Location", "/moved"), nil
			}), post: unknownOnce, get: outcome{attempts: 2, requests: 2, err: over10s, again: "no"}, wait: wait},
			{name: "status: 503, before the retry", arm: withRetryWait(status(503, "Retry-After", "20"), time.Minute), post: serverErrorPost, get: once("Server, "+over10s, "no"), wait: "WaitError: Server, " + over10s},
			{name: "429: before the retry", arm: withRetryWait(status(429, "Retry-After", "20"), time.Minute), post: once("RateLimited, "+over10s, "no"), get: once("RateLimited, "+over10s, "no"), wait: "WaitError: RateLimited, " + over10s},
		}}
	for _, tc := range []struct {
		status     int
		post, kind string
		wait       string
	}{
		{101, unknown, "", wait},
		{301, unknown, "", ends},
		{404, "NotFound", "NotFound", ends},
		{429, "RateLimited", "RateLimited", wait},
		{503, "OutcomeUnknown, Server", "Server", wait},
	} {
		class.faults = append(class.faults, fault{name: fmt.Sprintf("time: in the body of a %d", tc.status), arm: over(stall(tc.status, `{"error":`)),
			post: once(tc.post+", "+over10s, "no"), get: once(strings.TrimPrefix(tc.kind+", "+over10s, ", "), "no"), wait: tc.wait})
	}
	return class
}

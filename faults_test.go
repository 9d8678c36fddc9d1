package mintlify_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"slices"
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

var updateFaults = flag.Bool("update-faults", false, "write docs/faults.md from the results of TestFaults")

// fault is something that goes wrong at every request, and what has to come of it.
type fault struct {
	name string
	// arm has it happen to the requests of a client with the options that it
	// returns, and says how many prompts the service has acted on.
	arm  func(t *testing.T) (opts []mintlify.Option, acted func() int)
	post outcome // of Create and Message
	get  outcome // of Get, GetVisitors and Visitors
	wait string  // of WaitUntilDone
}

type outcome struct {
	attempts int    // requests let go
	err      string // the kinds that it matches; "" for none but the network's error, "ok" for no error
	acted    int    // prompts that the service has acted on, of a POST
}

type faultClass struct {
	name, note string
	faults     []fault
	ctx        func(context.Context) (context.Context, context.CancelFunc)
}

const (
	unknown = "OutcomeUnknown"
	goesOn  = "goes on" // the poll has failed, and the next one comes by the schedule
	delayed = "waits, then goes on"
	ends    = "ends"
	isDone  = "is done"
)

func (c faultClass) context(parent context.Context) (context.Context, context.CancelFunc) {
	if c.ctx == nil {
		return context.WithCancel(parent)
	}
	return c.ctx(parent)
}

// The calls, and which outcome of a fault is theirs.

var faultPosts = map[string]func(context.Context, *mintlify.Client) error{
	"Create":  func(ctx context.Context, c *mintlify.Client) error { _, err := create(ctx, c); return err },
	"Message": func(ctx context.Context, c *mintlify.Client) error { _, err := message(ctx, c); return err },
}

var faultGets = map[string]func(context.Context, *mintlify.Client) error{
	"Get": func(ctx context.Context, c *mintlify.Client) error { _, err := get(ctx, c); return err },
	"GetVisitors": func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetVisitors(ctx, mintlify.VisitorsParams{})
		return err
	},
	"Visitors": func(ctx context.Context, c *mintlify.Client) error {
		_, err := collect(c.Analytics.Visitors(ctx, mintlify.VisitorsParams{}))
		var pageErr *mintlify.PageError
		if err != nil && (!errors.As(err, &pageErr) || pageErr.Offset != 0) {
			return fmt.Errorf("not a PageError at offset 0: %w", err)
		}
		return err
	},
}

// measure makes one call under a fault.
func (f fault) measure(t *testing.T, class faultClass, call func(context.Context, *mintlify.Client) error) (o outcome, err error) {
	opts, acted := f.arm(t)
	opts = append([]mintlify.Option{mintlify.WithRetryWait(0, 0)}, append(opts,
		mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { o.attempts++; return nil }))...)
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, opts...)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	ctx, cancel := class.context(t.Context())
	defer cancel()
	err = call(ctx, client)
	if err != nil {
		assertReadable(t, err)
		assert.NotContains(t, err.Error(), mintlifytest.APIKey)
	}
	o.err, o.acted = kindNames(err), acted()
	return o, err
}

func kindNames(err error) string {
	if err == nil {
		return "ok"
	}
	names := kindsOf(err)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "Err")
	}
	for name, kind := range map[string]error{"context.Canceled": context.Canceled, "context.DeadlineExceeded": context.DeadlineExceeded} {
		if errors.Is(err, kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// measureWait is what a wait makes of its first poll.
func (f fault) measureWait(t *testing.T, class faultClass) string {
	var first mintlify.Poll
	_, err := f.measure(t, class, func(ctx context.Context, c *mintlify.Client) error {
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		_, err := c.Jobs.WaitUntilDone(stop, "job_1", mintlify.WithPollInterval(time.Second, time.Second), mintlify.WithOnPoll(func(p mintlify.Poll) {
			first = p
			if class.ctx == nil {
				cancel()
			}
		}))
		return err
	})
	switch {
	case class.ctx != nil:
		require.ErrorAs(t, err, new(*mintlify.WaitError))
		return "WaitError: " + kindNames(err)
	case err == nil:
		return isDone
	case first.Next == 0:
		require.Equal(t, first.Err, err)
		return ends
	case first.Next > 2*time.Second:
		return delayed
	}
	return goesOn
}

// Ways to arm a fault.

// acts counts the jobs that were created beside that of service.
func acts(svc *mintlifytest.Service) func() int {
	return func() int { return len(svc.Jobs()) - 1 }
}

func failAll(svc *mintlifytest.Service, f mintlifytest.Fault) {
	for _, op := range []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpSendMessage, mintlify.OpGetJob, mintlify.OpGetVisitors} {
		svc.FailNext(op, 100, f)
	}
}

// inMemory responses every request with a fault of the fake.
func inMemory(f mintlifytest.Fault) func(*testing.T) ([]mintlify.Option, func() int) {
	return func(*testing.T) ([]mintlify.Option, func() int) {
		svc := service()
		failAll(svc, f)
		return []mintlify.Option{through(svc)}, acts(svc)
	}
}

// onSocket is inMemory over a socket, with the SDK's own transport.
func onSocket(f mintlifytest.Fault) func(*testing.T) ([]mintlify.Option, func() int) {
	return func(t *testing.T) ([]mintlify.Option, func() int) {
		svc := service()
		failAll(svc, f)
		server := httptest.NewServer(svc)
		t.Cleanup(server.Close)
		return []mintlify.Option{mintlify.WithBaseURL(server.URL)}, acts(svc)
	}
}

func status(code int, header ...string) func(*testing.T) ([]mintlify.Option, func() int) {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return inMemory(mintlifytest.Fault{Status: code, Header: h, Body: `{"error":"so it goes"}`})
}

func through(rt http.RoundTripper) mintlify.Option {
	return mintlify.WithHTTPClient(&http.Client{Transport: rt})
}

func none() int { return 0 }

// over has every request go to rt, which no service is behind.
func over(rt http.RoundTripper) func(*testing.T) ([]mintlify.Option, func() int) {
	return func(*testing.T) ([]mintlify.Option, func() int) { return []mintlify.Option{through(rt)}, none }
}

// listening has each connection of a TCP listener handled by handle.
func listening(handle func(net.Conn)) func(*testing.T) ([]mintlify.Option, func() int) {
	return func(t *testing.T) ([]mintlify.Option, func() int) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go handle(conn)
			}
		}()
		return []mintlify.Option{mintlify.WithBaseURL("http://" + listener.Addr().String())}, none
	}
}

// reset resets a connection on its first byte: the other side has it by then.
func reset(conn net.Conn) {
	io.ReadFull(conn, make([]byte, 1))
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

func http2(onRequest func(net.Conn, uint32)) func(*testing.T) ([]mintlify.Option, func() int) {
	return func(t *testing.T) ([]mintlify.Option, func() int) {
		hc, baseURL := newHTTP2Server(t, onRequest)
		return []mintlify.Option{mintlify.WithHTTPClient(hc), mintlify.WithBaseURL(baseURL)}, none
	}
}

// redirected responses with a redirect to location, and behind /moved as the service.
func redirected(code int, location string) func(*testing.T) ([]mintlify.Option, func() int) {
	return func(*testing.T) ([]mintlify.Option, func() int) {
		svc := service()
		return []mintlify.Option{through(transport(func(r *http.Request) (*http.Response, error) {
			if strings.HasPrefix(r.URL.Path, "/moved") {
				return svc.RoundTrip(r)
			}
			return response(code, "", "Location", location+"/moved"+r.URL.RequestURI()), nil
		}))}, acts(svc)
	}
}

func httpDate(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }

func faultClasses() []faultClass {
	once := func(kinds string) outcome { return outcome{attempts: 1, err: kinds} }
	four := func(kinds string) outcome { return outcome{attempts: 4, err: kinds} }
	acted := func(o outcome) outcome { o.acted = 1; return o }
	const malformed, malformedPost = "MalformedResponse", "MalformedResponse, OutcomeUnknown"

	network := faultClass{name: "The network", note: "Real sockets.", faults: []fault{
		{"connection refused", func(t *testing.T) ([]mintlify.Option, func() int) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			listener.Close()
			return []mintlify.Option{mintlify.WithBaseURL("http://" + listener.Addr().String())}, none
		}, four(""), four(""), goesOn},
		{"name that does not resolve", over(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
		}}), four(""), four(""), goesOn},
		{"certificate of an unknown authority", func(t *testing.T) ([]mintlify.Option, func() int) {
			server := httptest.NewTLSServer(service())
			server.Config.ErrorLog = discardLog()
			t.Cleanup(server.Close)
			return []mintlify.Option{mintlify.WithBaseURL(server.URL)}, none
		}, once(""), once(""), goesOn},
		{"no TLS on the other side", func(t *testing.T) ([]mintlify.Option, func() int) {
			server := httptest.NewServer(service())
			t.Cleanup(server.Close)
			return []mintlify.Option{mintlify.WithBaseURL(strings.Replace(server.URL, "http:", "https:", 1))}, none
		}, four(""), four(""), goesOn},
		{"connection reset within the request", listening(reset), once(unknown), four(""), goesOn},
		{"connection closed after the request", onSocket(mintlifytest.Fault{Drop: true}), acted(once(unknown)), four(""), goesOn},
		{"body truncated", onSocket(mintlifytest.Fault{Truncate: true}), acted(once(malformedPost)), four(malformed), goesOn},
		{"no HTTP at all", listening(func(conn net.Conn) {
			io.ReadAtLeast(conn, make([]byte, 4096), 1)
			io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n")
			conn.Close()
		}), once(unknown), four(""), goesOn},
		{"HTTP/2: stream reset after the request", http2(func(conn net.Conn, stream uint32) { writeHTTP2RSTStream(conn, stream, 0x2) }), once(unknown), four(""), goesOn},
		{"HTTP/2: GOAWAY and connection closed after the request", http2(func(conn net.Conn, stream uint32) {
			writeHTTP2GoAway(conn, stream)
			conn.Close()
		}), once(unknown), four(""), goesOn},
	}}

	slow := faultClass{name: "Time", note: "In virtual time.", faults: []fault{
		{"headers that never come", inMemory(mintlifytest.Fault{Delay: 24 * time.Hour}), acted(once(unknown)), four(""), goesOn},
		{"body that never ends", over(transport(func(*http.Request) (*http.Response, error) {
			return pipe(200, func(w *io.PipeWriter) { io.WriteString(w, `{"id":`) }), nil
		})), once(malformedPost), four(malformed), goesOn},
	}}

	redirects := faultClass{name: "Redirects"}
	for _, code := range []int{301, 302, 303, 307, 308} {
		redirects.faults = append(redirects.faults,
			fault{fmt.Sprintf("%d within the origin", code), redirected(code, ""), once(unknown), outcome{attempts: 2, err: "ok"}, isDone},
			fault{fmt.Sprintf("%d to another origin", code), redirected(code, "https://other.example.com"), once(unknown), once(""), ends})
	}

	statuses := faultClass{name: "Statuses", faults: []fault{
		{"400", status(400), once("BadRequest"), once("BadRequest"), ends},
		{"401", status(401), once("Unauthorized"), once("Unauthorized"), ends},
		{"403", status(403), once("Forbidden"), once("Forbidden"), ends},
		{"404", status(404), once("NotFound"), once("NotFound"), ends},
		{"408", status(408), once(unknown), once(""), goesOn},
		{"409", status(409), once("Conflict"), once("Conflict"), ends},
		{"422", status(422), once("BadRequest"), once("BadRequest"), ends},
		{"425", status(425), once(""), once(""), goesOn},
		{"500", status(500), once("OutcomeUnknown, Server"), four("Server"), goesOn},
		{"501", status(501), once("OutcomeUnknown, Server"), once("Server"), goesOn},
		{"502", status(502), once("OutcomeUnknown, Server"), four("Server"), goesOn},
		{"503", status(503), once("OutcomeUnknown, Server"), four("Server"), goesOn},
		{"504", status(504), once("OutcomeUnknown, Server"), four("Server"), goesOn},
		{"502 with an HTML page", inMemory(mintlifytest.Fault{Status: 502, Body: "<html><title>Bad gateway</title>" + strings.Repeat("<p>wall</p>", 10000)}), once("OutcomeUnknown, Server"), four("Server"), goesOn},
	}}

	limits := faultClass{name: "429 and Retry-After", note: "With the longest wait of WithRetryWait at its default of 30 s.", faults: []fault{}}
	limited, limitedOnce := four("RateLimited"), once("RateLimited")
	for _, tc := range []struct {
		name, value string
		want        outcome
		wait        string
	}{
		{"without Retry-After", "", limited, goesOn},
		{"with Retry-After of 5 seconds", "5", limited, delayed},
		{"with Retry-After of a date", "date", limited, delayed},
		{"with Retry-After of 5 minutes", "300", limitedOnce, delayed},
		{"with Retry-After of 2 hours", "7200", limitedOnce, ends},
		{"with Retry-After of 0", "0", limited, goesOn},
		{"with Retry-After of a past date", "past", limited, goesOn},
		{"with Retry-After below zero", "-5", limited, goesOn},
		{"with Retry-After of nonsense", "soon", limited, goesOn},
		{"with Retry-After of 10^19 seconds", "10000000000000000000", limitedOnce, ends},
	} {
		limits.faults = append(limits.faults, fault{"429 " + tc.name, func(t *testing.T) ([]mintlify.Option, func() int) {
			value := map[string]string{"date": httpDate(5 * time.Second), "past": httpDate(-time.Hour)}[tc.value]
			if value == "" {
				value = tc.value
			}
			opts, acted := status(429, "Retry-After", value)(t)
			return append(opts, mintlify.WithRetryWait(0, 30*time.Second)), acted
		}, tc.want, tc.want, tc.wait})
	}

	bodies := faultClass{name: "Responses of status 2xx", faults: []fault{
		{"HTML page", inMemory(mintlifytest.Fault{Status: 200, Body: "<html><title>Sign in</title>"}), acted(once(malformedPost)), once(malformed), goesOn},
		{"empty", inMemory(mintlifytest.Fault{Status: 200}), acted(once(malformedPost)), once(malformed), goesOn},
		{"{}", inMemory(mintlifytest.Fault{Status: 200, Body: "{}"}), acted(once(malformedPost)), once(malformed), goesOn},
		{"null", inMemory(mintlifytest.Fault{Status: 200, Body: "null"}), acted(once(malformedPost)), once(malformed), goesOn},
		{"fields of wrong types", inMemory(mintlifytest.Fault{Status: 200, Body: `{"id":7,"status":[],"totals":1,"visitors":"x","hasMore":{}}`}), acted(once(malformedPost)), once(malformed), goesOn},
		{"1 GiB", over(transport(func(*http.Request) (*http.Response, error) {
			response := response(200, "")
			response.Body = io.NopCloser(io.LimitReader(&counter{n: new(atomic.Int64)}, 1<<30))
			return response, nil
		})), once(malformedPost), once(malformed), goesOn},
		{"gzip bomb", func(t *testing.T) ([]mintlify.Option, func() int) {
			bomb := gzipBomb()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				w.Write(bomb)
			}))
			t.Cleanup(server.Close)
			return []mintlify.Option{mintlify.WithBaseURL(server.URL)}, none
		}, once(malformedPost), once(malformed), goesOn},
	}}
	return []faultClass{network, slow, redirects, statuses, limits, bodies, canceledBefore(), canceledDuring()}
}

func canceledBefore() faultClass {
	const over = "context.Canceled"
	wait := "WaitError: " + over
	nothing := outcome{attempts: 0, err: over}
	return faultClass{name: "The context is over before the call", note: "Nothing is sent.",
		ctx: func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(parent)
			cancel()
			return ctx, cancel
		},
		faults: []fault{
			{"network", onSocket(mintlifytest.Fault{Drop: true}), nothing, nothing, wait},
			{"time", inMemory(mintlifytest.Fault{Delay: time.Hour}), nothing, nothing, wait},
			{"redirect", redirected(302, ""), nothing, nothing, wait},
			{"status", status(503), nothing, nothing, wait},
			{"429", status(429, "Retry-After", "5"), nothing, nothing, wait},
			{"response", inMemory(mintlifytest.Fault{Status: 200}), nothing, nothing, wait},
		}}
}

// canceledDuring ends the context after 10 s of virtual time.
func canceledDuring() faultClass {
	const over = "context.DeadlineExceeded"
	wait := "WaitError: " + over
	until := func(rt transport) func(*testing.T) ([]mintlify.Option, func() int) {
		return func(*testing.T) ([]mintlify.Option, func() int) {
			return []mintlify.Option{through(rt), mintlify.WithRetryWait(time.Minute, time.Minute)}, none
		}
	}
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	return faultClass{name: "The context ends during the call", note: "In virtual time.",
		ctx: func(parent context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(parent, 10*time.Second)
		},
		faults: []fault{
			{"network: while connecting", until(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
				return hang(r)
			}), outcome{attempts: 1, err: over}, outcome{attempts: 1, err: over}, wait},
			{"time: before the headers", inMemory(mintlifytest.Fault{Delay: time.Hour}), outcome{1, "OutcomeUnknown, " + over, 1}, outcome{attempts: 1, err: over}, wait},
			{"time: in the body", over10s(), outcome{attempts: 1, err: "MalformedResponse, OutcomeUnknown, " + over}, outcome{attempts: 1, err: over}, wait},
			{"redirect: at its aim", func(t *testing.T) ([]mintlify.Option, func() int) {
				return until(func(r *http.Request) (*http.Response, error) {
					if strings.HasPrefix(r.URL.Path, "/moved") {
						return hang(r)
					}
					return response(302, "", "Location", "/moved"), nil
				})(t)
			}, outcome{attempts: 1, err: unknown}, outcome{attempts: 2, err: over}, wait},
			{"status: 503, before the retry", func(t *testing.T) ([]mintlify.Option, func() int) {
				opts, acted := status(503, "Retry-After", "20")(t)
				return append(opts, mintlify.WithRetryWait(0, time.Minute)), acted
			}, outcome{attempts: 1, err: "OutcomeUnknown, Server"}, outcome{attempts: 1, err: "Server, " + over}, "WaitError: Server, " + over},
			{"429: before the retry", func(t *testing.T) ([]mintlify.Option, func() int) {
				opts, acted := status(429, "Retry-After", "20")(t)
				return append(opts, mintlify.WithRetryWait(0, time.Minute)), acted
			}, outcome{attempts: 1, err: "RateLimited, " + over}, outcome{attempts: 1, err: "RateLimited, " + over}, "WaitError: RateLimited, " + over},
		}}
}

// over10s is an response that begins at once and does not end.
func over10s() func(*testing.T) ([]mintlify.Option, func() int) {
	return over(transport(func(*http.Request) (*http.Response, error) {
		return pipe(200, func(w *io.PipeWriter) { io.WriteString(w, `{"id":`) }), nil
	}))
}

func TestFaults(t *testing.T) {
	var doc strings.Builder
	doc.WriteString(faultsIntroduction)
	for _, class := range faultClasses() {
		fmt.Fprintf(&doc, "\n## %s\n\n", class.name)
		if class.note != "" {
			doc.WriteString(class.note + "\n\n")
		}
		doc.WriteString("| fault | `Create`, `Message`: requests | error | acted on | `Get`, `GetVisitors`, `Visitors`: requests | error | `WaitUntilDone` |\n|---|---|---|---|---|---|---|\n")
		for _, f := range class.faults {
			t.Run(class.name+"/"+f.name, func(t *testing.T) { f.test(t, class, &doc) })
		}
	}
	if *updateFaults {
		require.NoError(t, os.WriteFile("docs/faults.md", []byte(doc.String()), 0o644))
	}
	written, err := os.ReadFile("docs/faults.md")
	require.NoError(t, err)
	if !t.Failed() {
		require.Equal(t, string(written), doc.String(), "docs/faults.md is stale: go test -run TestFaults . -update-faults")
	}
}

const faultsIntroduction = `# What happens under each fault

Generated from the results of a test, so that it cannot be out of date:

    go test -run TestFaults . -update-faults

Each fault happens at every request of the call. Retries are at their default, 3.
*Requests* counts what was let go, redirects that are followed included. *Error* is
what ` + "`errors.Is`" + ` matches, without the Err: — is an error of no kind, such as the
network's own or that of a redirect. *Acted on* says whether the service has acted on the prompt, which the
SDK cannot know: where it says yes, the error matches OutcomeUnknown, or there is
none. An error of ` + "`Visitors`" + ` is a PageError besides.

*WaitUntilDone*: goes on, the poll has failed and the next one comes by the schedule,
until polls have failed for 10 minutes in a row; waits, by the Retry-After first, and
it is no outage; ends, the error of that poll is that of the wait; WaitError, the
context has ended it.
`

func (f fault) test(t *testing.T, class faultClass, doc *strings.Builder) {
	inTime := func(test func(t *testing.T)) {
		if class.name == "The network" || f.name == "gzip bomb" || class.name == "The context is over before the call" {
			test(t) // a bubble with a socket in it never advances its clock
		} else {
			synctest.Test(t, test)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(faultPosts)) {
		inTime(func(t *testing.T) {
			got, err := f.measure(t, class, faultPosts[name])
			if name == "Message" {
				got.acted = f.post.acted // the fake counts jobs
			}
			assert.Equal(t, f.post, got, "%s: %v", name, err)
			if got.acted > 0 && err != nil {
				assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(faultGets)) {
		inTime(func(t *testing.T) {
			got, err := f.measure(t, class, faultGets[name])
			got.acted = 0
			assert.Equal(t, f.get, got, "%s: %v", name, err)
		})
	}
	inTime(func(t *testing.T) { assert.Equal(t, f.wait, f.measureWait(t, class)) })

	cell := func(s string) string {
		if s == "" {
			return "—"
		}
		return s
	}
	acted := "no"
	if f.post.acted > 0 {
		acted = "yes"
	}
	fmt.Fprintf(doc, "| %s | %d | %s | %s | %d | %s | %s |\n", f.name, f.post.attempts, cell(f.post.err), acted, f.get.attempts, cell(f.get.err), f.wait)
}

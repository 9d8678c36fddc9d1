package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/http2server"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The outcomes.

func oneAttempt(kinds, again string) outcome {
	return outcome{attempts: 1, requests: 1, err: kinds, again: again}
}

func fourAttempts(kinds, again string) outcome {
	return outcome{attempts: 4, requests: 4, err: kinds, again: again}
}

func (o outcome) seen(requests int) outcome {
	o.requests = requests
	return o
}

func (o outcome) seenAtMost(requests int) outcome {
	o.requests = requests
	o.most = true
	return o
}

func (o outcome) actedOn() outcome {
	o.acted = 1
	return o
}

var (
	succeeds        = oneAttempt("ok", "")
	succeedsSecond  = outcome{attempts: 2, requests: 2, err: "ok"}
	rejected        = oneAttempt("", "no")
	unknownOnce     = oneAttempt(unknown, "no")
	notFound        = oneAttempt("NotFound", "no")
	badRequest      = oneAttempt("BadRequest", "no")
	lostRead        = fourAttempts("", "yes")
	neverSent       = lostRead.seen(0)
	malformedPost   = oneAttempt("MalformedResponse, OutcomeUnknown", "no")
	malformedRead   = oneAttempt("MalformedResponse", "no")
	truncatedRead   = fourAttempts("MalformedResponse", "yes")
	serverErrorPost = oneAttempt("OutcomeUnknown, Server", "no")
	serverError     = fourAttempts("Server", "yes")
)

// The faults.

// few are the operations that are tested if a fault would take long with all of them.
var few = []mintlify.Operation{
	mintlify.OpCreateJob, mintlify.OpTriggerUpdate, mintlify.OpGetJob, mintlify.OpGetVisitors,
}

// bodiless are the operations that send a POST without a body.
var bodiless = []mintlify.Operation{mintlify.OpTriggerUpdate, mintlify.OpTriggerAutomation}

// prompts are the operations for which the id of their job is enough.
var prompts = []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpSendMessage}

func faultClasses() []faultClass {
	return []faultClass{
		networkFaults(),
		http2Faults(),
		connectionFaults(),
		slowFaults(),
		redirectFaults(),
		statusFaults(),
		limitFaults(),
		bodyFaults(),
		hostileFaults(),
		canceledBefore(),
		canceledDuring(),
	}
}

func networkFaults() faultClass {
	notSent := fault{socket: true, post: neverSent, get: neverSent, wait: goesOn}
	final := fault{socket: true, post: rejected.seen(0), get: rejected.seen(0), wait: goesOn}
	lost := fault{socket: true, post: unknownOnce, get: lostRead, wait: goesOn}
	lostResponse := fault{socket: true, post: unknownOnce.actedOn(), get: lostRead, wait: goesOn}
	truncated := fault{socket: true, not: prompts, post: malformedPost.actedOn(), get: truncatedRead, wait: goesOn}
	hasID := fault{socket: true, only: prompts, post: succeeds.actedOn()}

	return faultClass{name: "The network", note: "Over real sockets, if a request gets that far.", faults: []fault{
		notSent.of("connection refused", sourceFunc(refusedAddress)),
		notSent.of("name that does not resolve", unresolved),
		notSent.of("proxy function that fails", badProxy),
		final.of("certificate of an unknown authority", sourceFunc(unknownAuthority)),
		notSent.of("no TLS on the other side", sourceFunc(withoutTLS)),
		final.of("proxy that responds 403 to CONNECT", refusedTunnel(403)),
		notSent.of("proxy that responds 503 to CONNECT", refusedTunnel(503)),
		lost.of("connection reset within the request", listens(reset)),
		lostResponse.of("connection closed after the request", onSocket{Drop: true}),
		truncated.of("body truncated", onSocket{Truncate: true}),
		hasID.of("body truncated behind the id of a prompt's job", onSocket{Truncate: true}),
		lost.of("no HTTP at all", listens(speakSSH)),
	}}
}

func http2Faults() faultClass {
	refused := outcome{attempts: 10, requests: 10, again: "yes"} // 6 of them at once
	resent := lostRead.seenAtMost(40)

	var faults []fault
	for _, tc := range []struct {
		fault fault
		do    func(*http2server.Stream)
	}{
		{fault{name: "reset with CANCEL", post: unknownOnce, get: lostRead}, cancelStream},
		{fault{name: "reset with PROTOCOL_ERROR", post: unknownOnce, get: resent}, breakProtocol},
		{fault{name: "reset with REFUSED_STREAM", post: unknownOnce, get: resent}, refuseStream},
		{
			fault{name: "GOAWAY above the stream, and connection closed", post: unknownOnce, get: lostRead},
			goAwayAboveAndClose,
		},
		{fault{name: "GOAWAY below the stream", not: bodiless, post: refused, get: resent}, goAwayBelow},
		{
			fault{name: "GOAWAY below the stream of a change without a body", only: bodiless, post: unknownOnce},
			goAwayBelow,
		},
	} {
		f := tc.fault
		f.wait = goesOn
		if f.only != nil {
			f.wait = ""
		}
		faults = append(faults,
			f.as(", as it begins", streamFault{http2server.Begun, tc.do}),
			f.as(", within the body", streamFault{http2server.Body, tc.do}),
			f.as(", after the request", streamFault{http2server.Whole, tc.do}))
	}

	const note = "Frame by frame, each as the request begins, within its body, and after it."
	return faultClass{name: "HTTP/2", note: note, faults: faults}
}

func connectionFaults() faultClass {
	const calls = 250
	const note = "A connection of the SDK's own transport goes silent after its first request; a new connection works."
	onNewConnection := outcome{attempts: 2, requests: 1, err: "ok"}

	return faultClass{name: "Connections", note: note, faults: []fault{
		{
			name: "HTTP/1 connection that goes silent", source: silentConnection{isHTTP2: false},
			post: unknownOnce.seen(0), get: onNewConnection, wait: goesOn,
		},
		{
			name: "HTTP/2 connection that goes silent", source: silentConnection{isHTTP2: true},
			post: unknownOnce.seen(0), get: onNewConnection, wait: goesOn,
		},
		{
			name:  fmt.Sprintf("burst of %d calls over HTTP/2, %d streams a connection", calls, kit.Streams),
			burst: calls, only: few, source: sourceFunc(slowHTTP2),
			post: succeeds.actedOn(), get: succeeds,
		},
	}}
}

func slowFaults() faultClass {
	tooMany := fourAttempts("RateLimited", "yes")
	silent := fault{post: unknownOnce, get: lostRead, wait: goesOn}
	acted := fault{post: unknownOnce.actedOn(), get: lostRead, wait: goesOn}
	faults := []fault{
		acted.of("headers that never come", inMemory{Delay: 24 * time.Hour}),
		silent.of("nothing after a 103", streamFault{http2server.Whole, respond103}),
	}

	for _, tc := range []struct {
		status    int
		post, get outcome
		wait      string
	}{
		{200, malformedPost, truncatedRead, goesOn},
		{101, unknownOnce, rejected, ends},
		{301, unknownOnce, rejected, ends},
		{404, notFound, notFound, ends},
		{429, tooMany, tooMany, goesOn},
		{503, serverErrorPost, serverError, goesOn},
	} {
		faults = append(faults, fault{
			name: fmt.Sprintf("body of a %d that does not end", tc.status), source: startsBody(tc.status),
			post: tc.post, get: tc.get, wait: tc.wait,
		})
	}
	return faultClass{name: "Time", note: "Each attempt times out after 60 s.", faults: faults}
}

// startsBody is a service whose response does not end.
func startsBody(status int, opts ...mintlify.Option) faultSource {
	return byTransport{kit.Stall(status, `{"id":`), opts}
}

func redirectFaults() faultClass {
	within := fault{name: "within the origin", post: unknownOnce, get: succeedsSecond, wait: isDone}
	across := fault{name: "to another origin", post: unknownOnce, get: rejected, wait: ends}

	var faults []fault
	for _, code := range []int{301, 302, 303, 307, 308} {
		variant := fmt.Sprintf(", %d", code)
		faults = append(faults,
			within.as(variant, redirecting{code, ""}),
			across.as(variant, redirecting{code, "https://other.example.com"}))
	}
	return faultClass{name: "Redirects", note: "301, 302, 303, 307 and 308.", faults: faults}
}

func statusFaults() faultClass {
	var faults []fault
	for _, tc := range []struct {
		status    int
		post, get outcome
		wait      string
	}{
		{400, badRequest, badRequest, ends},
		{401, oneAttempt("Unauthorized", "no"), oneAttempt("Unauthorized", "no"), ends},
		{402, oneAttempt("PaymentRequired", "no"), oneAttempt("PaymentRequired", "no"), ends},
		{403, oneAttempt("Forbidden", "no"), oneAttempt("Forbidden", "no"), ends},
		{404, notFound, notFound, ends},
		{408, unknownOnce, lostRead, goesOn},
		{409, oneAttempt("", "no"), oneAttempt("", "no"), ends},
		{422, badRequest, badRequest, ends},
		{425, lostRead, lostRead, goesOn},
		{499, unknownOnce, lostRead, goesOn},
		{500, serverErrorPost, serverError, goesOn},
		{501, serverErrorPost, oneAttempt("Server", "no"), ends},
		{502, serverErrorPost, serverError, goesOn},
		{503, serverErrorPost, serverError, goesOn},
		{504, serverErrorPost, serverError, goesOn},
		{511, serverErrorPost, oneAttempt("Server", "no"), ends},
		{522, serverErrorPost, serverError, goesOn},
	} {
		faults = append(faults, fault{
			name: fmt.Sprint(tc.status), source: responds(tc.status),
			post: tc.post, get: tc.get, wait: tc.wait,
		})
	}

	page := "<html><title>Bad gateway</title>" + strings.Repeat("<p>wall</p>", 10000)
	blocked := fault{post: oneAttempt("Forbidden", "no"), get: oneAttempt("Forbidden", "no"), wait: ends}
	unauthorized := oneAttempt("Unauthorized", "no")
	twice := unauthorized
	twice.attempts = 2
	twice.requests = 2

	return faultClass{name: "Statuses", faults: append(faults,
		blocked.of("403 with a page of Cloudflare's", inMemory{
			Status: 403, Header: http.Header{"Server": {"cloudflare"}},
			Body: "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>",
		}),
		fault{
			name: "503 that asks to wait for 5 minutes", source: retrying{responds(503, "Retry-After", "300"), 30 * time.Second},
			post: serverErrorPost, get: oneAttempt("Server", "yes, in 5m0s"), wait: delayed,
		},
		fault{
			name: "401, and the key source has another key", source: rotating{"mint_old1", mintlifytest.APIKey},
			post: succeedsSecond.actedOn(), get: succeedsSecond, wait: isDone,
		},
		fault{
			name: "401, and another 401 to the key source's other key", source: rotating{"mint_old1", "mint_old2"},
			post: twice, get: twice, wait: ends,
		},
		fault{
			name: "401, and the key source has no other key", source: rotating{"mint_old1", "mint_old1"},
			post: unauthorized, get: unauthorized, wait: ends,
		},
		fault{
			name: "502 with an HTML page", source: inMemory{Status: 502, Body: page},
			post: serverErrorPost, get: serverError, wait: goesOn,
		},
		fault{
			name: "504 of a gateway, after the service has acted", source: inMemory{Status: 504, Acted: true},
			post: serverErrorPost.actedOn(), get: serverError, wait: goesOn,
		},
	)}
}

func limitFaults() faultClass {
	four := func(again string) outcome { return fourAttempts("RateLimited", again) }
	one := func(again string) outcome { return oneAttempt("RateLimited", again) }

	var faults []fault
	for _, tc := range []struct {
		name       string
		retryAfter rateLimiting
		want       outcome
		wait       string
	}{
		{"none", rateLimiting{}, four("yes"), goesOn},
		{"5 seconds", rateLimiting{seconds: "5"}, four("yes, in 5s"), delayed},
		{"a date in 5 seconds", rateLimiting{in: 5 * time.Second}, four("yes"), delayed},
		{"5 minutes", rateLimiting{seconds: "300"}, one("yes, in 5m0s"), delayed},
		{"2 hours", rateLimiting{seconds: "7200"}, one("yes, in 2h0m0s"), ends},
		{"0", rateLimiting{seconds: "0"}, four("yes"), goesOn},
		{"a past date", rateLimiting{in: -time.Hour}, four("yes"), goesOn},
		{"below zero", rateLimiting{seconds: "-5"}, four("yes"), goesOn},
		{"nonsense", rateLimiting{seconds: "soon"}, four("yes"), goesOn},
		{"10^19 seconds", rateLimiting{seconds: "10000000000000000000"}, one("yes, in years"), ends},
	} {
		faults = append(faults, fault{
			name: tc.name, source: tc.retryAfter,
			post: tc.want, get: tc.want, wait: tc.wait,
		})
	}

	const note = "By its Retry-After. WithRetryWait allows waits of up to 30 s, the default."
	return faultClass{name: "429", note: note, faults: faults}
}

func bodyFaults() faultClass {
	// The response of an automation has no field that must be there.
	automation := []mintlify.Operation{mintlify.OpTriggerAutomation}
	wrong := wrongTypes()

	malformed := fault{not: automation, post: malformedPost.actedOn(), get: malformedRead, wait: goesOn}
	malformedOfAll := fault{post: malformedPost.actedOn(), get: malformedRead, wait: goesOn}
	enough := fault{only: automation, post: succeeds.actedOn()}

	return faultClass{name: "Responses of status 2xx", faults: []fault{
		malformedOfAll.of("HTML page", inMemory{Status: 200, Body: "<html><title>Sign in</title>"}),
		malformedOfAll.of("empty", inMemory{Status: 200}),
		malformedOfAll.of("null", inMemory{Status: 200, Body: "null"}),
		malformed.of("{}", inMemory{Status: 200, Body: "{}"}),
		enough.of("{}, of an automation", inMemory{Status: 200, Body: "{}"}),
		malformed.of("fields of wrong types", inMemory{Status: 200, Body: wrong}),
		enough.of("fields of wrong types, of an automation", inMemory{Status: 200, Body: wrong}),
	}}
}

// wrongTypes returns a response with the top fields of every good response, each with a value
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
			if _, isString := value.(string); isString {
				fields[name] = []any{7}
			}
		}
	}

	wrong, _ := json.Marshal(fields)
	return string(wrong)
}

func hostileFaults() faultClass {
	rows := fault{only: []mintlify.Operation{mintlify.OpGetVisitors}, get: malformedRead}
	malformed := fault{only: few, post: malformedPost, get: malformedRead}
	malformedOnSocket := fault{only: few, socket: true, post: malformedPost, get: malformedRead}
	lost := fault{only: few, socket: true, post: unknownOnce, get: lostRead}
	failed := fault{only: few, post: serverErrorPost, get: serverError}
	final := fault{post: notFound, get: notFound, wait: ends}
	page := `{"totals":{},"hasMore":true,"visitors":[{}`

	return faultClass{name: "Hostile responses", note: "[load.md](load.md) says what they cost.", faults: []fault{
		malformed.of("200 of 1 GiB", oversized(200, "", "x", 1<<30)),
		malformedOnSocket.of("200 of a gzip bomb", sourceFunc(bombing)),
		malformed.of("200 of 10 MiB of [", oversized(200, "", "[", 10<<20)),
		rows.of("200 of 3 million rows", oversized(200, page, ",{}", 9<<20)),
		lost.of("200 with a header of 9 MiB", listens(sendLongHeader)),
		final.of("404 of 1 GiB", oversized(404, `{"details":[0`, ",0", 1<<30)),
		failed.of("503 of 1 GiB of <", oversized(503, "<html>", "<", 1<<30)),
	}}
}

func canceledBefore() faultClass {
	class := faultClass{
		name: "The context is over before the call", note: "Nothing is sent.",
		ctx: func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(parent)
			cancel()
			return ctx, cancel
		},
		faults: []fault{
			{name: "network", socket: true, source: onSocket{Drop: true}},
			{name: "time", source: inMemory{Delay: time.Hour}},
			{name: "redirect", source: redirecting{302, ""}},
			{name: "status", source: responds(503)},
			{name: "429", source: responds(429, "Retry-After", "5")},
			{name: "response", source: inMemory{Status: 200}},
		},
	}

	for i := range class.faults {
		f := &class.faults[i]
		f.post = outcome{err: "context.Canceled", again: "no"}
		f.get = f.post
		f.wait = "WaitError: context.Canceled"
	}
	return class
}

// canceledDuring ends the context after 10 s of virtual time.
func canceledDuring() faultClass {
	const deadline = "context.DeadlineExceeded"
	const waitError = "WaitError: " + deadline

	once := func(kinds string) outcome { return oneAttempt(kinds, "no") }

	slowly := mintlify.WithRetryWait(time.Minute, time.Minute)
	hangingTarget := func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/moved") {
			return kit.Hang(r)
		}
		return kit.Response(302, "", "Location", "/moved"), nil
	}

	faults := []fault{
		{
			name: "network: while connecting", source: neverConnected,
			post: once(deadline).seen(0), get: once(deadline).seen(0), wait: waitError,
		},
		{
			name: "time: before the headers", source: inMemory{Delay: time.Hour},
			post: once("OutcomeUnknown, " + deadline).actedOn(), get: once(deadline), wait: waitError,
		},
		{
			name: "time: after a 103", source: streamFault{http2server.Whole, respond103},
			post: once("OutcomeUnknown, " + deadline), get: once(deadline), wait: waitError,
		},
		{
			name: "time: in the body of a 200", source: startsBody(200, slowly),
			post: once("MalformedResponse, OutcomeUnknown, " + deadline), get: once(deadline), wait: waitError,
		},
		{
			name: "redirect: at its target", source: byTransport{hangingTarget, []mintlify.Option{slowly}},
			post: unknownOnce, get: outcome{attempts: 2, requests: 2, err: deadline, again: "no"}, wait: waitError,
		},
		{
			name:   "status: 503, and the retry would come too late",
			source: retrying{responds(503, "Retry-After", "20"), time.Minute},
			post:   serverErrorPost, get: oneAttempt("Server", "yes, in 20s"), wait: "WaitError: Server, " + deadline,
		},
		{
			name:   "429: the retry would come too late",
			source: retrying{responds(429, "Retry-After", "20"), time.Minute},
			post:   oneAttempt("RateLimited", "yes, in 20s"), get: oneAttempt("RateLimited", "yes, in 20s"),
			wait: "WaitError: RateLimited, " + deadline,
		},
	}

	for _, tc := range []struct {
		status    int
		post, get string // the kinds besides the deadline
		wait      string
	}{
		{101, "OutcomeUnknown, ", "", ends},
		{301, "OutcomeUnknown, ", "", ends},
		{404, "NotFound, ", "NotFound, ", ends},
		{429, "RateLimited, ", "RateLimited, ", waitError},
		{503, "OutcomeUnknown, Server, ", "Server, ", waitError},
	} {
		faults = append(faults, fault{
			name: fmt.Sprintf("time: in the body of a %d", tc.status), source: startsBody(tc.status, slowly),
			post: once(tc.post + deadline), get: once(tc.get + deadline), wait: tc.wait,
		})
	}
	return faultClass{
		name: "The context ends during the call", note: "After 10 s.", faults: faults,
		ctx: func(parent context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(parent, 10*time.Second, errors.New("the pod is shut down"))
		},
	}
}

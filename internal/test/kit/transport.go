package kit

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Transport is a RoundTripper made of a function. It fires no trace events.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f Transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// RespondWith returns a transport that gives each request the same response.
func RespondWith(status int, body string, header ...string) Transport {
	return func(*http.Request) (*http.Response, error) { return Response(status, body, header...), nil }
}

// BreakOff is a transport whose response is truncated after body.
func BreakOff(status int, body string) Transport {
	return BreakOffWith(status, body, io.ErrUnexpectedEOF)
}

// BreakOffWith is breakOff with the network's error.
func BreakOffWith(status int, body string, err error) Transport {
	return func(*http.Request) (*http.Response, error) {
		return Pipe(status, func(w *io.PipeWriter) {
			io.WriteString(w, body)
			w.CloseWithError(err)
		}), nil
	}
}

// Stall is a transport whose response goes silent after body.
func Stall(status int, body string) Transport {
	return func(*http.Request) (*http.Response, error) {
		return Pipe(status, func(w *io.PipeWriter) { io.WriteString(w, body) }), nil
	}
}

// FailWith is a transport whose requests all fail.
func FailWith(err error) Transport {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// Hang is a transport that never responds.
func Hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// Doing is a transport that calls do and then responds as next.
func Doing(do func(), next Transport) Transport {
	return func(r *http.Request) (*http.Response, error) {
		do()
		return next(r)
	}
}

// Response is an http.Response; header is name, value, name, value.
func Response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// Pipe returns a response whose body arrives while write writes it.
func Pipe(status int, write func(*io.PipeWriter)) *http.Response {
	r, w := io.Pipe()
	go write(w)
	resp := Response(status, "")
	resp.Body = r
	return resp
}

// Reading is a body whose Read is a function.
type Reading func([]byte) (int, error)

// Read calls f.
func (f Reading) Read(p []byte) (int, error) { return f(p) }

// Close returns nil.
func (f Reading) Close() error { return nil }

// SentRequest is a request as a transport gets it.
type SentRequest struct {
	*http.Request

	// Text is the body that was sent.
	Text string

	// At is when it was sent, since the recording began.
	At time.Duration
}

// Recording is a transport that keeps what is sent, and when, and responds by its
// steps: to each request by the next of them, and by the last from there on.
type Recording struct {
	// Steps are the responses, in order.
	Steps []Transport
	start time.Time

	mu       sync.Mutex
	requests []SentRequest
}

// NewRecording returns a recording that begins now.
func NewRecording(steps ...Transport) *Recording { return &Recording{Steps: steps, start: time.Now()} }

// RoundTrip keeps a request, and responds by the next step.
func (r *Recording) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}

	r.mu.Lock()
	r.requests = append(r.requests, SentRequest{req, string(body), time.Since(r.start)})
	step := r.Steps[min(len(r.requests), len(r.Steps))-1]
	r.mu.Unlock()

	return step(req)
}

// Count returns how many requests have been sent.
func (r *Recording) Count() int { return len(r.Sent()) }

// Last returns the last request.
func (r *Recording) Last() SentRequest { return r.Sent()[r.Count()-1] }

// Sent returns all requests so far.
func (r *Recording) Sent() []SentRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// Times returns when each request was sent, since the recording began.
func (r *Recording) Times() []time.Duration {
	var times []time.Duration
	for _, request := range r.Sent() {
		times = append(times, request.At)
	}
	return times
}

// Through sends a client's requests to rt.
func Through(rt http.RoundTripper) mintlify.Option {
	return mintlify.WithHTTPClient(&http.Client{Transport: rt})
}

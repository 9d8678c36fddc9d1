package mintlify_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// transport is a RoundTripper made of a function. It fires no trace events.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respondWith is a transport that gives each request the same response.
func respondWith(status int, body string, header ...string) transport {
	return func(*http.Request) (*http.Response, error) { return response(status, body, header...), nil }
}

// breakOff is a transport whose response is truncated after body.
func breakOff(status int, body string) transport {
	return breakOffWith(status, body, io.ErrUnexpectedEOF)
}

// breakOffWith is breakOff with the network's error.
func breakOffWith(status int, body string, err error) transport {
	return func(*http.Request) (*http.Response, error) {
		return pipe(status, func(w *io.PipeWriter) {
			io.WriteString(w, body)
			w.CloseWithError(err)
		}), nil
	}
}

// stall is a transport whose response goes silent after body.
func stall(status int, body string) transport {
	return func(*http.Request) (*http.Response, error) {
		return pipe(status, func(w *io.PipeWriter) { io.WriteString(w, body) }), nil
	}
}

func failWith(err error) transport {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// hang is a transport that never responds.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// doing is a transport that calls do and then responds as next.
func doing(do func(), next transport) transport {
	return func(r *http.Request) (*http.Response, error) {
		do()
		return next(r)
	}
}

// response is an http.Response; header is name, value, name, value.
func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// pipe returns a response whose body arrives while write writes it.
func pipe(status int, write func(*io.PipeWriter)) *http.Response {
	r, w := io.Pipe()
	go write(w)
	resp := response(status, "")
	resp.Body = r
	return resp
}

// reading is a body whose Read is a function.
type reading func([]byte) (int, error)

func (f reading) Close() error { return nil }

func (f reading) Read(p []byte) (int, error) { return f(p) }

// sentRequest is a request as a transport gets it.
type sentRequest struct {
	*http.Request
	body string
	at   time.Duration // since the recording began
}

// recording is a transport that keeps what is sent, and when, and responds by its
// steps: to each request by the next of them, and by the last from there on.
type recording struct {
	steps []transport
	start time.Time

	mu       sync.Mutex
	requests []sentRequest
}

func newRecording(steps ...transport) *recording { return &recording{steps: steps, start: time.Now()} }

func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}

	r.mu.Lock()
	r.requests = append(r.requests, sentRequest{req, string(body), time.Since(r.start)})
	step := r.steps[min(len(r.requests), len(r.steps))-1]
	r.mu.Unlock()

	return step(req)
}

func (r *recording) count() int { return len(r.sent()) }

func (r *recording) last() sentRequest { return r.sent()[r.count()-1] }

func (r *recording) sent() []sentRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

func (r *recording) times() []time.Duration {
	var times []time.Duration
	for _, request := range r.sent() {
		times = append(times, request.at)
	}
	return times
}

// through sends a client's requests to rt.
func through(rt http.RoundTripper) mintlify.Option {
	return mintlify.WithHTTPClient(&http.Client{Transport: rt})
}

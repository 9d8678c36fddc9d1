// Package load holds the SDK to its promises under load. It is a module of its
// own so that the SDK's module does not require a leak detector.
package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"syscall"
)

// Faulty is a transport on which a share of the requests to Next fails, by chance.
type Faulty struct {
	Next    http.RoundTripper
	Refused float64 // share of connections that are refused
	Failing float64 // share of requests that fail: half before the service acts, half after

	mu    sync.Mutex
	acted map[string]int
}

var errLost = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// RoundTrip implements [http.RoundTripper].
func (f *Faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn(r.URL.Host)

	draw := rand.Float64()
	if draw < f.Refused {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}

	trace.GotConn(httptrace.GotConnInfo{})
	trace.WroteHeaders()

	draw -= f.Refused
	if draw < f.Failing/4 {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody}, nil
	}
	if draw < f.Failing/2 {
		return nil, errLost
	}

	prompt, err := promptOf(r)
	if err != nil {
		return nil, err
	}

	response, err := f.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}

	f.note(prompt, response)
	if draw < f.Failing {
		response.Body.Close()
		return nil, errLost
	}
	return response, nil
}

func promptOf(r *http.Request) (string, error) {
	if r.Body == nil {
		return "", nil
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	if len(body) == 0 {
		return "", nil
	}

	r.Body = io.NopCloser(bytes.NewReader(body))
	var sent struct{ Prompt string }
	err = json.Unmarshal(body, &sent)
	return sent.Prompt, errors.Join(err, r.Context().Err())
}

func (f *Faulty) note(prompt string, response *http.Response) {
	if prompt == "" || response.StatusCode > 299 {
		return
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.acted == nil {
		f.acted = map[string]int{}
	}
	f.acted[prompt]++
}

// Acted is how often the service has acted on prompt.
func (f *Faulty) Acted(prompt string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.acted[prompt]
}

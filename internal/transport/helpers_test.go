package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const testKey = "mint_secret"

// roundTripper is a RoundTripper made of a function. It fires no trace events.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newSender(ctx context.Context, base http.RoundTripper) *Sender {
	return &Sender{Context: ctx, Settings: &Settings{
		Client: &http.Client{Transport: base},
		Key:    func(context.Context) (string, error) { return testKey, nil },
	}}
}

// newRequest returns a request to url; body "": none.
func newRequest(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, url, reader)
	require.NoError(t, err)
	return req
}

// send makes one attempt and returns the body of its response.
func send(b *Sender, req *http.Request) (string, error) {
	defer func() { b.Attempt.End() }()
	resp, err := b.RoundTrip(req)
	if err != nil {
		return "", err
	}

	var body bytes.Buffer
	err = b.Attempt.Read(resp, &body, 1<<20)
	return body.String(), err
}

// event is something that happens to a request in a transport.
type event func(*http.Request)

// losing is a transport that fails with err after events.
func losing(err error, events ...event) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		for _, happen := range events {
			happen(r)
		}
		return nil, err
	}
}

// fetchToken fires the events of a whole request that a transport makes on its own, such as
// one for a token.
func fetchToken(r *http.Request) {
	trace := traceOf(r)
	trace.GetConn("tokens.example.com:443")
	trace.GotConn(httptrace.GotConnInfo{})
	trace.WroteHeaders()
	trace.WroteRequest(httptrace.WroteRequestInfo{})
	trace.GotFirstResponseByte()
}

// connect fires the events of a connection for the request itself.
func connect(r *http.Request) {
	ask(r)
	traceOf(r).GotConn(httptrace.GotConnInfo{})
}

func ask(r *http.Request)         { traceOf(r).GetConn("api.example.com:443") }
func writeHeader(r *http.Request) { traceOf(r).WroteHeaders() }
func readBody(r *http.Request)    { _, _ = io.ReadAll(r.Body) }

func traceOf(r *http.Request) *httptrace.ClientTrace {
	return httptrace.ContextClientTrace(r.Context())
}

package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
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

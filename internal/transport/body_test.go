package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func respondWith(status int, body io.ReadCloser) roundTripper {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: body}, nil
	}
}

// The body of a foreign transport may ignore its context. It ends with Close.
func TestBodyIsClosedWhenTheAttemptIsAbandoned(t *testing.T) {
	gone := errors.New("the caller has gone")
	for method, want := range map[string]time.Duration{
		http.MethodGet:  time.Second,
		http.MethodPost: time.Second + gracePeriod,
	} {
		for _, status := range []int{http.StatusOK, http.StatusSwitchingProtocols} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(gone) })
				body, w := io.Pipe()
				go io.WriteString(w, "partial")

				start := time.Now()
				b := newSender(ctx, respondWith(status, body))
				got, err := send(b, newRequest(t, method, "http://127.0.0.1", ""))
				assert.ErrorIs(t, err, gone)
				assert.Equal(t, "partial", got, "what has come is kept")
				assert.Equal(t, want, time.Since(start), method)
			})
		}
	}
}

func TestBodyEndsWithTheAttemptsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, _ := io.Pipe()
		start := time.Now()
		b := newSender(t.Context(), respondWith(200, body))
		_, err := send(b, newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
		assert.ErrorContains(t, err, "the response did not end within 1m0s")
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

// http.Client reads the body of a redirect that it follows.
func TestBodyOfARedirectEndsWithTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		body, _ := io.Pipe()
		b := newSender(ctx, roundTripper(func(*http.Request) (*http.Response, error) {
			header := http.Header{"Location": {"/there"}}
			return &http.Response{StatusCode: 302, Header: header, Body: body, ContentLength: -1}, nil
		}))
		defer func() { b.Attempt.End() }()

		hc := &http.Client{Transport: b}
		start := time.Now()
		_, err := hc.Do(newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReadReadsJustBeyondTheLimit(t *testing.T) {
	body := bytes.NewReader(make([]byte, 10_000))
	b := newSender(t.Context(), respondWith(200, io.NopCloser(body)))
	resp, err := b.RoundTrip(newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
	require.NoError(t, err)
	defer b.Attempt.End()

	var got bytes.Buffer
	require.NoError(t, b.Attempt.Read(resp, &got, 5000))
	assert.Equal(t, 5001, got.Len(), "which tells that there is more")
	assert.Equal(t, 4999, body.Len())
}

// closing counts how often it is closed.
type closing struct {
	io.Reader
	closed int
}

func (c *closing) Close() error {
	c.closed++
	return nil
}

func TestWhatEndsAReadSurfacesAndClosesTheBody(t *testing.T) {
	for name, end := range map[string]func(){
		"panic":  func() { panic("boom") },
		"Goexit": runtime.Goexit,
	} {
		body := &closing{Reader: readerFunc(func([]byte) (int, error) {
			end()
			return 0, nil
		})}

		var returned bool
		var panicked any
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { panicked = recover() }()
			b := newSender(t.Context(), respondWith(200, body))
			_, _ = send(b, newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
			returned = true
		}()
		<-done

		assert.False(t, returned, name)
		assert.Equal(t, name == "panic", panicked == "boom", name)
		assert.Equal(t, 1, body.closed, name)
	}
}

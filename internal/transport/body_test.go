package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stubborn is a body that heeds nothing: Read gives chunk, then nothing until released,
// and Close does not end it.
type stubborn struct {
	chunk   string
	release chan struct{}
	closed  atomic.Int64
}

func (s *stubborn) Read(p []byte) (int, error) {
	if s.chunk != "" {
		n := copy(p, s.chunk)
		s.chunk = ""
		return n, nil
	}
	<-s.release
	return copy(p, "too late"), io.EOF
}

func (s *stubborn) Close() error { s.closed.Add(1); <-s.release; return nil }

func respondWith(status int, body io.ReadCloser) roundTripper {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: body}, nil
	}
}

func TestBodyThatHeedsNothingEndsWithTheAttempt(t *testing.T) {
	gone := errors.New("the caller has gone")
	for method, want := range map[string]time.Duration{http.MethodGet: time.Second, http.MethodPost: time.Second + gracePeriod} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(gone) })
			rest := &stubborn{chunk: "partial", release: make(chan struct{})}
			start := time.Now()
			got, err := send(newBearer(ctx, respondWith(200, rest)), newRequest(t, method, "http://127.0.0.1", ""))
			assert.ErrorIs(t, err, gone)
			assert.Equal(t, "partial", got, "what has come is kept")
			assert.Equal(t, want, time.Since(start), method)
			synctest.Wait()
			assert.EqualValues(t, 1, rest.closed.Load())
			close(rest.release)
		})
	}
}

func TestBodyThatHeedsNothingEndsWithTheAttemptsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rest := &stubborn{release: make(chan struct{})}
		start := time.Now()
		_, err := send(newBearer(t.Context(), respondWith(200, rest)), newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
		assert.ErrorContains(t, err, "the response did not end within 1m0s")
		assert.Equal(t, time.Minute, time.Since(start))
		close(rest.release)
	})
}

// http.Client reads the body of a redirect that it follows.
func TestBodyOfARedirectEndsWithTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		rest := &stubborn{release: make(chan struct{})}
		b := newBearer(ctx, roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 302, Header: http.Header{"Location": {"/there"}}, Body: rest, ContentLength: -1}, nil
		}))
		defer func() { b.Attempt.End() }()
		hc := &http.Client{Transport: b}
		start := time.Now()
		_, err := hc.Do(newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
		close(rest.release)
	})
}

// idle gives nothing, and no error either.
type idle struct{ reads int }

func (i *idle) Read([]byte) (int, error) { i.reads++; return 0, nil }
func (i *idle) Close() error             { return nil }

func TestBodyThatGivesNothingForEverEnds(t *testing.T) {
	body := new(idle)
	_, err := send(newBearer(t.Context(), respondWith(200, body)), newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
	assert.ErrorIs(t, err, io.ErrNoProgress)
	assert.Equal(t, maxEmptyReads, body.reads)
}

func TestBodyMayPauseBetweenItsBytes(t *testing.T) {
	text := strings.Repeat("0123456789", 1000)
	reads := 0
	source := strings.NewReader(text)
	body := readerFunc(func(p []byte) (int, error) {
		if reads++; reads%maxEmptyReads != 0 {
			return 0, nil
		}
		return source.Read(p)
	})
	got, err := send(newBearer(t.Context(), respondWith(200, io.NopCloser(body))), newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
	assert.NoError(t, err)
	assert.Equal(t, text, got)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReadReadsJustBeyondTheLimit(t *testing.T) {
	body := bytes.NewReader(make([]byte, 10_000))
	b := newBearer(t.Context(), respondWith(200, io.NopCloser(body)))
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

func (c *closing) Close() error { c.closed++; return nil }

func TestWhatEndsAReadSurfacesAndClosesTheBody(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		body := &closing{Reader: readerFunc(func([]byte) (int, error) { end(); return 0, nil })}
		var returned bool
		var panicked any
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { panicked = recover() }()
			_, _ = send(newBearer(t.Context(), respondWith(200, body)), newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
			returned = true
		}()
		<-done
		assert.False(t, returned, name)
		assert.Equal(t, name == "panic", panicked == "boom", name)
		assert.Equal(t, 1, body.closed, name)
	}
}

func TestResponseOfTheTransportKeepsItsBody(t *testing.T) {
	body := io.NopCloser(strings.NewReader("x"))
	recorded := &http.Response{StatusCode: 200, Body: body}
	b := newBearer(t.Context(), roundTripper(func(*http.Request) (*http.Response, error) { return recorded, nil }))
	got, err := send(b, newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
	assert.NoError(t, err)
	assert.Equal(t, "x", got)
	assert.Equal(t, body, recorded.Body)
}

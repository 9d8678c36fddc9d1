package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func written(r *http.Request) { traceOf(r).WroteRequest(httptrace.WroteRequestInfo{}) }
func inform(r *http.Request)  { _ = traceOf(r).Got1xxResponse(103, nil) }
func reuse(r *http.Request)   { traceOf(r).GotConn(httptrace.GotConnInfo{Reused: true}) }

// takes is a transport that responds after d, unless the attempt is abandoned.
func takes(d time.Duration, events ...event) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		for _, happen := range events {
			happen(r)
		}

		select {
		case <-time.After(d):
			return &http.Response{StatusCode: 201, Body: io.NopCloser(strings.NewReader("job"))}, nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

func TestHowLongACanceledRequestIsWaitedFor(t *testing.T) {
	const wholeHour = time.Hour
	for name, tc := range map[string]struct {
		method, body string
		events       []event
		deadline     time.Duration // of the context, which is canceled after a second; 0: none
		timeout      time.Duration // of the attempt; 0: a minute
		lasts        time.Duration
	}{
		"written":                 {"POST", "prompt", []event{connect, writeHeader, readBody, written}, 0, 0, 16 * time.Second},
		"written without a body":  {"POST", "", []event{connect, writeHeader, written}, 0, 0, 16 * time.Second},
		"only written":            {"POST", "", []event{written}, 0, 0, 16 * time.Second},
		"body begun":              {"POST", "prompt", []event{connect, readBody}, 0, 0, 16 * time.Second},
		"connected":               {"POST", "", []event{connect}, 0, 0, 16 * time.Second},
		"reused":                  {"POST", "prompt", []event{reuse, readBody}, 0, 0, 16 * time.Second},
		"no event, body begun":    {"POST", "prompt", []event{readBody}, 0, 0, 16 * time.Second},
		"a 1xx":                   {"POST", "prompt", []event{connect, readBody, inform}, 0, 0, 16 * time.Second},
		"until the deadline":      {"POST", "prompt", []event{connect, readBody}, 4 * time.Second, 0, 4 * time.Second},
		"until its own time":      {"POST", "prompt", []event{connect, readBody}, wholeHour, 7 * time.Second, 7 * time.Second},
		"no event, no body begun": {"POST", "prompt", nil, 0, 0, time.Second},
		"no event, no body":       {"POST", "", nil, 0, 0, time.Second},
		"connecting":              {"POST", "prompt", []event{ask}, 0, 0, time.Second},
		"body read to sign it":    {"POST", "prompt", []event{readBody, ask}, 0, 0, time.Second},
		"body not begun":          {"POST", "prompt", []event{connect, writeHeader}, 0, 0, time.Second},
		"a token, then asked":     {"POST", "prompt", []event{fetchToken, ask}, 0, 0, time.Second},
		"a GET":                   {"GET", "", []event{connect, writeHeader, written}, 0, 0, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			parent := t.Context()
			if tc.deadline > 0 {
				limited, stop := context.WithTimeout(parent, tc.deadline)
				defer stop()
				parent = limited
			}
			ctx, cancel := context.WithCancel(parent)
			time.AfterFunc(time.Second, cancel)

			b := newSender(ctx, takes(wholeHour, tc.events...))
			b.Settings.Client.Timeout = tc.timeout
			start := time.Now()
			_, err := send(b, newRequest(t, tc.method, "http://127.0.0.1", tc.body))
			assert.ErrorIs(t, err, context.Canceled, name)
			assert.Equal(t, tc.lasts, time.Since(start), name)
		})
	}
}

func TestResponseThatComesWhileACanceledPostIsWaitedFor(t *testing.T) {
	for took, comes := range map[time.Duration]bool{15900 * time.Millisecond: true, 16100 * time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			b := newSender(ctx, takes(took, connect, writeHeader, readBody, written, inform))
			got, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			assert.Equal(t, comes, err == nil && got == "job", "%v: %v", took, err)
		})
	}
}

func TestBodyHasFiveSecondsAfterTheHeaderOfACanceledPost(t *testing.T) {
	for took, whole := range map[time.Duration]bool{4900 * time.Millisecond: true, 5100 * time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			b := newSender(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
				connect(r)
				readBody(r)
				time.Sleep(15 * time.Second)
				return &http.Response{StatusCode: 201, Body: slow("job", took)}, nil
			}))
			got, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			assert.Equal(t, whole, err == nil && got == "job", "%v: %v", took, err)
			time.Sleep(time.Minute)
		})
	}
}

// A response that has begun keeps a canceled attempt beyond the deadline, but not beyond the wait.
func TestDeadlineWhileACanceledPostIsWaitedFor(t *testing.T) {
	for deadline, lasts := range map[time.Duration]time.Duration{
		4 * time.Second:  9 * time.Second,
		14 * time.Second: 16 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			parent, stop := context.WithTimeout(t.Context(), deadline)
			defer stop()
			ctx, cancel := context.WithCancel(parent)
			time.AfterFunc(time.Second, cancel)
			respond := func(r *http.Request) { traceOf(r).GotFirstResponseByte() }
			b := newSender(ctx, takes(time.Hour, connect, readBody, respond))
			start := time.Now()
			_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, lasts, time.Since(start))
		})
	}
}

// A transport may begin a request that the SDK has given up.
func TestBodyOfAnAbandonedAttemptIsNotBegun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var read error
	b := newSender(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
		connect(r)
		cancel()
		<-r.Context().Done()
		_, read = r.Body.Read(make([]byte, 1))
		return nil, errors.New("given up")
	}))
	_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, read, context.Canceled)
	assert.True(t, b.Attempt.NeverSent())
}

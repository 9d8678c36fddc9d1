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
	"github.com/stretchr/testify/require"
)

// slow is a body that is whole after d.
func slow(text string, d time.Duration) io.ReadCloser {
	r, w := io.Pipe()
	time.AfterFunc(d, func() {
		io.WriteString(w, text)
		w.Close()
	})
	return r
}

func TestBodyOfAPostHasTheRestOfTheAttempt(t *testing.T) {
	for took, whole := range map[time.Duration]bool{
		6500 * time.Millisecond: true,
		59 * time.Second:        true,
		64 * time.Second:        true,
		66 * time.Second:        false,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newSender(t.Context(), respondWith(201, slow("job", took)))
			got, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			assert.Equal(t, whole, err == nil && got == "job", "%v: %v", took, err)
			time.Sleep(took) // the pipe's writer has ended
		})
	}
}

func TestBodyOfAPostHasFiveSecondsOnceTheContextHasEnded(t *testing.T) {
	for took, whole := range map[time.Duration]bool{4900 * time.Millisecond: true, 5100 * time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			b := newSender(ctx, roundTripper(func(*http.Request) (*http.Response, error) {
				time.AfterFunc(time.Second, cancel)
				return &http.Response{StatusCode: 201, Body: slow("job", time.Second+took)}, nil
			}))

			got, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			assert.Equal(t, whole, err == nil && got == "job", "%v: %v", took, err)

			assert.Equal(t, !whole, errors.Is(err, context.Canceled))
			time.Sleep(time.Minute)
		})
	}
}

// What has begun to arrive has the grace period for its header, and then for its body.
func TestResponseThatIsArrivingHasTwoGracePeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		body, _ := io.Pipe()
		b := newSender(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
			traceOf(r).GotFirstResponseByte()
			time.Sleep(time.Second + gracePeriod - 1)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body}, nil
		}))

		start := time.Now()
		_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", ""))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second+2*gracePeriod-1, time.Since(start))
	})
}

// An informational response is none: it tells nothing of the final one.
func TestInformationalResponseDoesNotKeepAnEndedAttempt(t *testing.T) {
	firstByte := func(c *httptrace.ClientTrace) { c.GotFirstResponseByte() }
	informational := func(c *httptrace.ClientTrace) {
		c.GotFirstResponseByte()
		c.Got1xxResponse(103, nil)
	}
	late := func(c *httptrace.ClientTrace) { // the end comes between its first byte and its last
		c.GotFirstResponseByte()
		time.Sleep(2 * time.Second)
		c.Got1xxResponse(103, nil)
	}

	for name, tc := range map[string]struct {
		events func(*httptrace.ClientTrace)
		took   time.Duration
	}{
		"no response":            {func(*httptrace.ClientTrace) {}, time.Second},
		"first byte":             {firstByte, time.Second + gracePeriod},
		"informational":          {informational, time.Second},
		"informational, by then": {late, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			b := newSender(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
				_, _ = io.ReadAll(r.Body)
				tc.events(traceOf(r))
				<-r.Context().Done()
				return nil, r.Context().Err()
			}))

			start := time.Now()
			_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			assert.ErrorIs(t, err, context.DeadlineExceeded, name)
			assert.Equal(t, tc.took, time.Since(start), name)
		})
	}
}

func TestInformationalResponsesAreBounded(t *testing.T) {
	b := newSender(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
		trace := traceOf(r)
		for range maxInformationals {
			require.NoError(t, trace.Got1xxResponse(103, nil))
		}
		return nil, trace.Got1xxResponse(103, nil)
	}))

	_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
	assert.ErrorContains(t, err, "more than 100 informational responses")
}

func TestEndLeavesNothingBehind(t *testing.T) {
	cancelAndWait := func(cancel func()) {
		cancel()
		synctest.Wait()
	}
	for name, end := range map[string]func(cancel func()){
		"in time":           func(func()) {},
		"after the context": cancelAndWait,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b := newSender(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
				traceOf(r).GotFirstResponseByte()
				end(cancel)
				return &http.Response{StatusCode: 201, Body: io.NopCloser(strings.NewReader("job"))}, nil
			}))

			_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			require.NoError(t, err)

			assert.False(t, b.Attempt.clock.Stop(), "%s: the attempt's clock is stopped", name)
			assert.False(t, b.Attempt.unfollow(), "%s: the caller's context is let go", name)
			assert.Error(t, b.Attempt.ctx.Err(), name)
			if b.Attempt.grace != nil {
				assert.False(t, b.Attempt.grace.Stop(), name)
			}
		})
	}

	var none *Attempt
	none.End() // of a call that sent nothing
}

func TestEachAttemptHasAURLAndAHeaderOfItsOwn(t *testing.T) {
	var paths []string
	b := newSender(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
		r.URL.Path = "/gateway" + r.URL.Path
		r.Header.Add("X-Via", "gateway")
		paths = append(paths, r.URL.Path+" "+strings.Join(r.Header["X-Via"], ","))
		return nil, errors.New("lost")
	}))

	req := newRequest(t, http.MethodGet, "http://127.0.0.1/v2", "")
	for range 3 {
		_, err := send(b, req)
		require.Error(t, err)
	}

	assert.Equal(t, []string{"/gateway/v2 gateway", "/gateway/v2 gateway", "/gateway/v2 gateway"}, paths)
	assert.Equal(t, "/v2", req.URL.Path)
	assert.Empty(t, req.Header)
}

// A transport may return a response though the attempt was given up.
func TestResponseThatComesAfterTheEnd(t *testing.T) {
	for method, want := range map[string]string{http.MethodPost: "job", http.MethodGet: ""} {
		ctx, cancel := context.WithCancel(t.Context())
		var given context.Context
		b := newSender(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
			given = r.Context()
			cancel()
			<-given.Done()
			return &http.Response{StatusCode: 201, Body: io.NopCloser(strings.NewReader("job"))}, nil
		}))

		got, err := send(b, newRequest(t, method, "http://127.0.0.1", ""))
		assert.Equal(t, want == "", err != nil, "%s: %q", method, got)
		assert.Equal(t, want == "", errors.Is(err, context.Canceled), "%s: %v", method, err)
	}
}

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A transport may go on after it has returned.
func TestJudgingThatNothingWasSentSealsTheBody(t *testing.T) {
	for _, unsent := range []bool{true, false} {
		var given *http.Request
		b := newSender(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
			given = r
			fetchToken(r)
			if !unsent {
				_, _ = r.Body.Read(make([]byte, 1))
			}
			return nil, errors.New("the connection was lost")
		}))
		_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
		require.Error(t, err)
		require.Equal(t, unsent, b.Attempt.NeverSent())

		_, err = given.Body.Read(make([]byte, 1))
		assert.Equal(t, unsent, err != nil, "%v", err)
	}
}

func TestResponseToATokenDoesNotKeepAnEndedAttempt(t *testing.T) {
	for name, readBody := range map[string]bool{"before the body": false, "after the body": true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			b := newSender(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
				fetchToken(r)
				if readBody {
					connect(r)
					_, _ = io.ReadAll(r.Body)
				}
				<-r.Context().Done()
				return nil, r.Context().Err()
			}))
			start := time.Now()
			_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
			assert.ErrorIs(t, err, context.DeadlineExceeded, name)
			assert.Equal(t, time.Second, time.Since(start), name)
		})
	}
}

func TestPostWithoutABodyEndsAtTheTransportsOwnRequest(t *testing.T) {
	b := newSender(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
		fetchToken(r)
		connect(r)
		return nil, r.Context().Err()
	}))
	_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", ""))
	assert.ErrorContains(t, err, "the transport made a request of its own under the request's context")
	assert.False(t, b.Attempt.NeverSent())
}

func TestAttemptEndsOnceTenHeadersAreWritten(t *testing.T) {
	for method, body := range map[string]string{http.MethodGet: "", http.MethodPost: "prompt"} {
		for own, ends := range map[int]bool{5: false, 9: false, 10: true} {
			b := newSender(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
				for range own {
					fetchToken(r)
				}
				connect(r)
				if err := r.Context().Err(); err != nil {
					return nil, err
				}
				return respondWith(200, http.NoBody)(r)
			}))
			_, err := send(b, newRequest(t, method, "http://127.0.0.1", body))
			if !ends {
				assert.NoError(t, err, "%s after %d requests", method, own)
				continue
			}
			assert.ErrorContains(t, err, "10 headers were written", method)
		}
	}
}

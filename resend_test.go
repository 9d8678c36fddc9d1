package mintlify_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/http2server"
)

// storms are what an HTTP/2 service can do to a request for which net/http sends it again,
// unseen by the SDK's retries.
var storms = map[string]func(*http2server.Stream){
	"reset, PROTOCOL_ERROR":   func(s *http2server.Stream) { s.Reset(http2server.ProtocolError) },
	"reset, REFUSED_STREAM":   func(s *http2server.Stream) { s.Reset(http2server.RefusedStream) },
	"GOAWAY below the stream": func(s *http2server.Stream) { s.GoAway(true) },
	"GOAWAY, closed":          func(s *http2server.Stream) { s.GoAway(true); s.CloseConn() },
}

// stormy is a service that does something to every request that has got so far, and a
// client of it.
func stormy(t *testing.T, when http2server.Event, storm func(*http2server.Stream), opts ...mintlify.Option) (*http2server.Server, *mintlify.Client) {
	t.Helper()
	server := &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
		if event == when {
			storm(stream)
		}
	}}
	rt := server.Transport()
	t.Cleanup(func() { rt.CloseIdleConnections(); server.Close() })
	return server, newClient(t, rt, append(opts, mintlify.WithBaseURL("http://127.0.0.1"))...)
}

func TestStormOfResetsBeginsAPostOnceAndAGetThreeTimesAnAttempt(t *testing.T) {
	for name, storm := range storms {
		for _, when := range []http2server.Event{http2server.Begun, http2server.Whole} {
			for op, call := range calls {
				synctest.Test(t, func(t *testing.T) {
					asked := 0
					server, client := stormy(t, when, storm, mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; return nil }))
					err := call(t.Context(), client)
					require.Error(t, err)
					if isPost(op) {
						assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown, "%s, %s", op, name)
						assert.EqualValues(t, 1, server.Begun.Load(), "%s, %s", op, name)
						assert.Equal(t, 1, asked, op)
					} else {
						assert.Equal(t, 4, asked, "%s, %s: %v", op, name, err)
						assert.LessOrEqual(t, server.Begun.Load(), int64(4*3), "%s, %s", op, name)
					}
				})
			}
		}
	}
}

func TestStormDuringAPromptBeginsItOnce(t *testing.T) {
	prompt := strings.Repeat("prompt", 20<<10) // beyond what may be sent before the service says go on
	for name, storm := range storms {
		for _, when := range []http2server.Event{http2server.Begun, http2server.Body} {
			for _, send := range []call{
				func(ctx context.Context, c *mintlify.Client) error {
					_, err := c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
					return err
				},
				func(ctx context.Context, c *mintlify.Client) error {
					_, err := c.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: prompt})
					return err
				},
			} {
				synctest.Test(t, func(t *testing.T) {
					server, client := stormy(t, when, storm)
					err := send(t.Context(), client)
					assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown, name)
					assert.EqualValues(t, 1, server.Begun.Load(), name)
					assert.Zero(t, server.Whole.Load())
				})
			}
		}
	}
}

func TestPollOfAWaitIsAtMostThreeRequests(t *testing.T) {
	for name, storm := range storms {
		for waitName, wait := range waits {
			synctest.Test(t, func(t *testing.T) {
				server, client := stormy(t, http2server.Whole, storm)
				polls := int64(0)
				err := wait(t.Context(), client, mintlify.WithMaxOutage(time.Minute), mintlify.WithOnPoll(func(mintlify.Poll) { polls++ }))
				require.ErrorAs(t, err, new(*mintlify.WaitError))
				assert.Greater(t, polls, int64(5))
				assert.LessOrEqual(t, server.Begun.Load(), 3*polls, "%s, %s", waitName, name)
			})
		}
	}
}

// A Proxy function that fails is proof that nothing was sent. What it says may hold the
// proxy's password.
func TestFailingProxyFunctionIsLikeNoConnection(t *testing.T) {
	for op, call := range calls {
		asked := 0
		rt := &http.Transport{Proxy: failingProxy}
		err := call(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0), mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; return nil })))
		assert.ErrorContains(t, err, "proxy:3128", op)
		assert.NotContains(t, err.Error(), "hunter2")
		assert.False(t, isOutcomeUnknown(err), op)
		assert.Equal(t, 4, asked, op)
		_, again := mintlify.RetryAfter(err)
		assert.True(t, again, op)
	}
}

// What is registered for a scheme with a transport may send the request before it fails.
func TestRegisteredProtocolThatFailsLeavesTheOutcomeUnknown(t *testing.T) {
	for op, call := range calls {
		sent := 0
		rt := &http.Transport{Protocols: new(http.Protocols)}
		rt.RegisterProtocol("https", transport(func(*http.Request) (*http.Response, error) {
			sent++
			return nil, errors.New("the connection was lost")
		}))
		err := call(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, 0)))
		assert.Equal(t, isPost(op), isOutcomeUnknown(err), "%s: %v", op, err)
		assert.Equal(t, isPost(op), sent == 1, op)
	}
}

func TestNoDefaultTransportIsAnError(t *testing.T) {
	standard := http.DefaultTransport
	defer func() { http.DefaultTransport = standard }()
	http.DefaultTransport = nil
	client, err := mintlify.NewClient(testKey, "proj")
	require.NoError(t, err)
	for op, call := range calls {
		err := call(t.Context(), client)
		assert.ErrorContains(t, err, "http.DefaultTransport is nil", op)
		assert.False(t, isOutcomeUnknown(err), op)
	}
	client.CloseIdleConnections()
	assert.NotNil(t, mintlify.NewTransport())
}

// Against the contract of an http.RoundTripper, some gateways' wrappers rewrite the URL.
func TestTransportThatRewritesTheURLSeesItsOwnEachTime(t *testing.T) {
	for op, call := range calls {
		if isPost(op) {
			continue
		}
		var paths []string
		err := call(t.Context(), newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			paths = append(paths, r.URL.Path)
			r.URL.Path = "/gateway" + r.URL.Path
			return response(503, ""), nil
		}), mintlify.WithRetryWait(0, 0)))
		require.Len(t, paths, 4, op)
		for _, path := range paths {
			assert.Equal(t, paths[0], path)
		}
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		assert.Equal(t, paths[0], apiErr.Path, "as sent")
	}
}

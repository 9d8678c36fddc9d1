package mintlify_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// http1 is net/http's transport whose connections lead, in memory, to a service that
// writes response to each request and then goes silent.
func http1(t *testing.T, response string) *http.Transport {
	t.Helper()
	rt := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			lines := bufio.NewReader(server)
			req, err := http.ReadRequest(lines)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			io.WriteString(server, response)
			_, _ = lines.ReadByte() // until the client closes
		}()
		return client, nil
	}}
	t.Cleanup(rt.CloseIdleConnections)
	return rt
}

// silent are transports whose response is silent after body: until it is closed, or the
// request's context ends, or for ever.
var silent = map[string]func(t *testing.T, status int, body string) http.RoundTripper{
	"net/http": func(t *testing.T, status int, body string) http.RoundTripper { // a body of a 101 is for who upgrades
		return http1(t, fmt.Sprintf("HTTP/1.1 %d So It Goes\r\nConnection: upgrade\r\nUpgrade: another\r\nContent-Length: 1000\r\n\r\n%s", status, body))
	},
	"pipe": func(_ *testing.T, status int, body string) http.RoundTripper { return stall(status, body) },
	"EOF once closed": func(_ *testing.T, status int, body string) http.RoundTripper {
		return untilClosed(status, body, io.EOF)
	},
	"EOF once the context ends": func(_ *testing.T, status int, body string) http.RoundTripper {
		return untilDone(status, body, func(context.Context) error { return io.EOF })
	},
	"error of the context": func(_ *testing.T, status int, body string) http.RoundTripper {
		return untilDone(status, body, context.Context.Err)
	},
}

// silentAfter is a response whose body ends as wait does.
func silentAfter(status int, body string, wait func() error) *http.Response {
	resp := response(status, "")
	resp.Body = reading(func(p []byte) (int, error) {
		if body != "" {
			n := copy(p, body)
			body = body[n:]
			return n, nil
		}
		return 0, wait()
	})
	return resp
}

type closer struct {
	io.Reader
	closed chan struct{}
}

func (c closer) Close() error { close(c.closed); return nil }

func untilClosed(status int, body string, err error) transport {
	return func(*http.Request) (*http.Response, error) {
		closed := make(chan struct{})
		resp := silentAfter(status, body, func() error { <-closed; return err })
		resp.Body = closer{resp.Body, closed}
		return resp, nil
	}
}

func untilDone(status int, body string, err func(context.Context) error) transport {
	return func(r *http.Request) (*http.Response, error) {
		return silentAfter(status, body, func() error { <-r.Context().Done(); return err(r.Context()) }), nil
	}
}

// Whenever the context has ended and the body did not come whole, the error is the
// context's and its cause's besides what it is by the status.
func TestInterruptedCallMatchesItsContext(t *testing.T) {
	cause := errors.New("the pod is shut down")
	const after = time.Second
	ends := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"canceled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			timer := time.AfterFunc(after, func() { cancel(cause) })
			return ctx, func() { timer.Stop(); cancel(nil) }
		},
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, after, cause)
		},
	}
	kind := map[int]error{400: mintlify.ErrBadRequest, 404: mintlify.ErrNotFound, 429: mintlify.ErrRateLimited, 500: mintlify.ErrServer, 503: mintlify.ErrServer}
	for name, silent := range silent {
		for end, ending := range ends {
			for _, status := range []int{101, 200, 201, 204, 301, 302, 400, 404, 408, 429, 500, 503} {
				for _, body := range []string{"", `{"id":"job_1",`, `{"error":"so`} {
					if status == 204 && name == "net/http" {
						continue // has no body there
					}
					t.Run(fmt.Sprintf("%s/%s/%d/%s", name, end, status, body), func(t *testing.T) {
						for _, op := range []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpGetJob, mintlify.OpGetVisitors, mintlify.OpTriggerUpdate} {
							synctest.Test(t, func(t *testing.T) {
								ctx, cancel := ending(t.Context())
								defer cancel()
								client := newClient(t, silent(t, status, body), mintlify.WithBaseURL("http://127.0.0.1"))
								start := time.Now()
								err := calls[op](ctx, client)
								assertInterrupted(t, ctx, cause, err)
								if kind := kind[status]; kind != nil {
									assert.ErrorIs(t, err, kind, op)
								}
								most := after
								if isPost(op) {
									most += 5 * time.Second // for a response that is precious
									acted := status < 400 || status > 499 || status == 408
									assert.Equal(t, acted, errors.Is(err, mintlify.ErrOutcomeUnknown), "%s: %v", op, err)
									assert.Equal(t, status/100 == 2, errors.Is(err, mintlify.ErrMalformedResponse), "%s: %v", op, err)
								}
								assert.Equal(t, most, time.Since(start), op)
							})
						}
					})
				}
			}
		}
	}
}

func assertInterrupted(t *testing.T, ctx context.Context, cause, err error) {
	t.Helper()
	assert.ErrorIs(t, err, ctx.Err())
	assert.ErrorIs(t, err, cause)
	_, again := mintlify.RetryAfter(err)
	assert.False(t, again, "%v", err)
	assertReadable(t, err)
}

// The same where the end of the context races the response's header.
func TestInterruptedAsTheResponseComesMatchesItsContext(t *testing.T) {
	cause := errors.New("the pod is shut down")
	for op, call := range calls {
		for _, status := range []int{101, 201, 301, 404, 429, 503} {
			ctx, cancel := context.WithCancelCause(t.Context())
			client := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
				cancel(cause)
				<-r.Context().Done()
				return untilDone(status, `{"id":`, context.Cause)(r)
			}))
			assertInterrupted(t, ctx, cause, call(ctx, client))
			assert.Error(t, ctx.Err(), op)
		}
	}
}

// An informational response is none: a call that is canceled after one ends at once.
func TestCancelAfterAnInformationalResponseEndsTheCallAtOnce(t *testing.T) {
	for _, status := range []string{"100 Continue", "102 Processing", "103 Early Hints", "199 Miscellaneous"} {
		for op, call := range calls {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				client := newClient(t, http1(t, "HTTP/1.1 "+status+"\r\n\r\n"), mintlify.WithBaseURL("http://127.0.0.1"))
				start := time.Now()
				err := call(ctx, client)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, isPost(op), errors.Is(err, mintlify.ErrOutcomeUnknown), "%s: %v", op, err)
				assert.Equal(t, time.Second, time.Since(start), "%s after a %s", op, status)
			})
		}
	}
}

// The body of a response has what is left of the attempt, whatever time it takes.
func TestBodyHasTheRestOfTheAttempt(t *testing.T) {
	for _, took := range []time.Duration{6500 * time.Millisecond, 59 * time.Second} {
		for op, call := range calls {
			synctest.Test(t, func(t *testing.T) {
				svc := service()
				client := svc.Client(through(transport(func(r *http.Request) (*http.Response, error) {
					resp, err := svc.RoundTrip(r)
					if err != nil {
						return nil, err
					}
					whole := resp.Body
					resp.Body = reading(func(p []byte) (int, error) { time.Sleep(took); took = 0; return whole.Read(p) })
					return resp, nil
				})))
				assert.NoError(t, call(t.Context(), client), op)
			})
		}
	}
}

// What has come whole counts, though the context has ended.
func TestResponseThatCameWholeCountsThoughTheContextHasEnded(t *testing.T) {
	for op, call := range calls {
		ctx, cancel := context.WithCancel(t.Context())
		svc := service()
		client := svc.Client(through(transport(func(r *http.Request) (*http.Response, error) {
			resp, err := svc.RoundTrip(r)
			if err == nil {
				whole := resp.Body
				resp.Body = reading(func(p []byte) (int, error) {
					n, err := whole.Read(p)
					if err == io.EOF {
						cancel()
					}
					return n, err
				})
			}
			return resp, err
		})))
		err := call(ctx, client)
		if isPost(op) {
			assert.NoError(t, err, op)
		} else if err != nil {
			assert.ErrorIs(t, err, context.Canceled, op)
		}
		cancel()
	}
}

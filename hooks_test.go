package mintlify_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// hooks are where a program's own code runs within a call, each set up to call f: in the
// first request, or a later one.
var hooks = map[string]func(f func()) []mintlify.Option{
	"limiter": func(f func()) []mintlify.Option {
		return []mintlify.Option{mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { f(); return nil })}
	},
	"key source": func(f func()) []mintlify.Option {
		return []mintlify.Option{mintlify.WithKeySource(func(context.Context) (string, error) { f(); return testKey, nil })}
	},
	"log handler": func(f func()) []mintlify.Option {
		return []mintlify.Option{mintlify.WithLogger(slog.New(handlerFunc(func(slog.Record) { f() })))}
	},
	"transport": func(f func()) []mintlify.Option { return []mintlify.Option{through(doing(f, service().RoundTrip))} },
	"trace hook": func(f func()) []mintlify.Option {
		svc := service()
		return []mintlify.Option{through(transport(func(r *http.Request) (*http.Response, error) {
			trace := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GetConn: func(string) { f() }})
			httptrace.ContextClientTrace(trace).GetConn("api.example.com:443")
			return svc.RoundTrip(r)
		}))}
	},
	"body": func(f func()) []mintlify.Option {
		svc := service()
		return []mintlify.Option{through(transport(func(r *http.Request) (*http.Response, error) {
			resp, err := svc.RoundTrip(r)
			if err == nil {
				rest := resp.Body
				resp.Body = reading(func(p []byte) (int, error) { f(); return rest.Read(p) })
			}
			return resp, err
		}))}
	},
	"cookie jar": func(f func()) []mintlify.Option {
		svc := service()
		return []mintlify.Option{mintlify.WithHTTPClient(&http.Client{Jar: jarFunc(f), Transport: transport(func(r *http.Request) (*http.Response, error) {
			resp, err := svc.RoundTrip(r)
			if err == nil {
				resp.Header.Add("Set-Cookie", "a=b")
			}
			return resp, err
		})})}
	},
}

type handlerFunc func(slog.Record)

func (handlerFunc) Enabled(context.Context, slog.Level) bool             { return true }
func (f handlerFunc) Handle(_ context.Context, record slog.Record) error { f(record); return nil }
func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler                 { return f }
func (f handlerFunc) WithGroup(string) slog.Handler                      { return f }

type jarFunc func()

func (f jarFunc) SetCookies(*url.URL, []*http.Cookie) { f() }
func (jarFunc) Cookies(*url.URL) []*http.Cookie       { return nil }

// TestWhatEndsAHookEndsTheCaller has every hook panic, or end its goroutine as
// t.FailNow does, in every call.
func TestWhatEndsAHookEndsTheCaller(t *testing.T) {
	ends := map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit}
	for hook, setUp := range hooks {
		for end, f := range ends {
			t.Run(hook+"/"+end, func(t *testing.T) {
				for op, call := range calls {
					endsTheCaller(t, setUp(f), end, string(op), call)
				}
				for name, call := range exports {
					endsTheCaller(t, setUp(f), end, name, call)
				}
				for name, wait := range waits {
					endsTheCaller(t, setUp(f), end, name, func(ctx context.Context, c *mintlify.Client) error { return wait(ctx, c) })
				}
				for _, prefetch := range []int{1, 2, 8} {
					endsTheCaller(t, setUp(f), end, "prefetch", func(ctx context.Context, c *mintlify.Client) error {
						_, err := collect(c.Analytics.Visitors(ctx, mintlify.VisitorsParams{}, mintlify.WithPrefetch(prefetch)))
						return err
					})
				}
			})
		}
	}
}

// endsTheCaller makes a call whose hook ends its goroutine. A goroutine that stays behind
// fails the bubble.
func endsTheCaller(t *testing.T, opts []mintlify.Option, end, name string, call call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := &followed{Context: t.Context(), done: make(chan struct{})}
		returned, panicked := surfaced(func() {
			client := service().Client(opts...)
			_ = call(ctx, client)
		})
		assert.False(t, returned, "%s returned", name)
		assert.Equal(t, end == "panic", panicked == "boom", "%s: %v", name, panicked)
		synctest.Wait()
		assert.Zero(t, ctx.followers.Load(), "%s lets the context go", name)
	})
}

// surfaced runs f, and tells how it ended.
func surfaced(f func()) (returned bool, panicked any) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		f()
		returned = true
	}()
	<-done
	return returned, panicked
}

// A later page's hook ends the loop in its place, after the pages before it, with prefetch
// too.
func TestWhatEndsAHookOfALaterPageEndsTheLoopThere(t *testing.T) {
	for _, prefetch := range []int{0, 1, 4} {
		for end, f := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
			synctest.Test(t, func(t *testing.T) {
				svc := service()
				svc.SetVisitors(visitors(1000))
				client := svc.Client(through(transport(func(r *http.Request) (*http.Response, error) {
					if r.URL.Query().Get("offset") == "500" {
						f()
					}
					return svc.RoundTrip(r)
				})))
				pages := 0
				returned, panicked := surfaced(func() {
					for range client.Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(prefetch)) {
						pages++
					}
				})
				assert.False(t, returned)
				assert.Equal(t, end == "panic", panicked == "boom")
				assert.Equal(t, 2, pages, "prefetch %d", prefetch)
			})
		}
	}
}

// A loop that breaks off does not hide what ended the hook of a prefetched page.
func TestWhatEndsAPrefetchSurfacesThoughTheLoopBreaksOff(t *testing.T) {
	for end, f := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			svc := service()
			svc.SetVisitors(visitors(1000))
			client := svc.Client(through(transport(func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("offset") == "250" {
					f()
				}
				return svc.RoundTrip(r)
			})))
			returned, panicked := surfaced(func() {
				for range client.Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(1)) {
					synctest.Wait() // the next page has failed
					break
				}
			})
			assert.False(t, returned, end)
			assert.Equal(t, end == "panic", panicked == "boom")
		})
	}
}

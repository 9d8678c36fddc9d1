package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// echoing is a service that tells the key back in each header and body, and fails.
func echoing(status int) transport {
	return func(r *http.Request) (*http.Response, error) {
		key := r.Header.Get("Authorization")
		return response(status, fmt.Sprintf(`{"error":"bad key %s","details":[{"message":%q}],"id":%q}`, key, key, key),
			"X-Echo", key, "X-Request-Id", key, "Location", "https://other.example.com/?key="+url.QueryEscape(key)), nil
	}
}

func TestNoExportedValueShowsTheKey(t *testing.T) {
	client := newClient(t, echoing(500), mintlify.WithRetryWait(0, 0))
	ctx := t.Context()
	other, err := client.ForProject("other")
	require.NoError(t, err)
	values := []any{client, *client, other, client.Jobs, *client.Jobs, client.Analytics, *client.Analytics,
		mintlify.WithBaseURL("https://" + testKey + ":x@api.example.com"),
		mintlify.WithKeySource(func(context.Context) (string, error) { return testKey, nil }),
	}
	for _, status := range []int{200, 302, 400, 401, 403, 404, 429, 500} {
		client := newClient(t, echoing(status), mintlify.WithRetryWait(0, 0))
		job, err := create(ctx, client)
		values = append(values, err, job)
		_, err = message(ctx, client)
		values = append(values, err)
		_, err = get(ctx, client)
		values = append(values, err)
		_, err = client.Analytics.GetVisitors(ctx, mintlify.VisitorsParams{})
		values = append(values, err)
		_, err = collect(client.Analytics.Visitors(ctx, mintlify.VisitorsParams{}))
		values = append(values, err)
		_, err = client.Jobs.WaitUntilDone(ctx, "job_1", mintlify.WithMaxOutage(0), mintlify.WithPollInterval(0, 0),
			mintlify.WithOnPoll(func(p mintlify.Poll) { values = append(values, p, &p) }))
		values = append(values, err)
		var apiErr *mintlify.APIError
		if errors.As(err, &apiErr) {
			values = append(values, *apiErr)
		}
		var malformed *mintlify.ResponseError
		if errors.As(err, &malformed) {
			values = append(values, *malformed)
		}
		var waitErr *mintlify.WaitError
		if errors.As(err, &waitErr) {
			values = append(values, *waitErr)
		}
	}
	_, err = mintlify.NewClient("my-project", testKey) // swapped
	values = append(values, err)
	_, err = mintlify.NewClient(testKey+"\n"+testKey, "proj")
	values = append(values, err)
	_, err = mintlify.NewClient("x", "proj", mintlify.WithBaseURL(testKey))
	values = append(values, err)
	for _, v := range values {
		if job, ok := v.(*mintlify.Job); ok && job != nil {
			continue // what the service calls an id is its id
		}
		assert.NotContains(t, leaks(v), testKey[5:], "%T", v)
	}
}

func TestNoLogLineShowsTheKey(t *testing.T) {
	for name, handler := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler {
			return slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.Level(-100), AddSource: true})
		},
		"JSON": func(w io.Writer) slog.Handler {
			return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.Level(-100), AddSource: true})
		},
	} {
		var lines strings.Builder
		for _, status := range []int{200, 302, 401, 429, 500} {
			client := newClient(t, echoing(status), mintlify.WithRetryWait(0, 0), mintlify.WithLogger(slog.New(handler(&lines))))
			for _, call := range operations {
				_, _ = call(t.Context(), client)
			}
			_, _ = client.Jobs.WaitUntilDone(t.Context(), "job_1", mintlify.WithMaxOutage(0))
		}
		assert.NotEmpty(t, lines.String())
		assert.NotContains(t, lines.String(), testKey[5:], name)
	}
}

func TestStackOfAPanicDoesNotShowTheKey(t *testing.T) {
	stacks := func(panicking mintlify.Option, call func(context.Context, *mintlify.Client) (*mintlify.Job, error)) (stack string) {
		defer func() {
			stack = fmt.Sprint(recover(), string(debug.Stack()))
		}()
		client := newClient(t, transport(func(*http.Request) (*http.Response, error) {
			panic("in the transport")
		}), panicking)
		_, _ = call(t.Context(), client)
		return ""
	}
	for _, call := range operations {
		for _, panicking := range []mintlify.Option{
			mintlify.WithMaxRetries(0),
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { panic("in the limiter") }),
		} {
			stack := stacks(panicking, call)
			assert.Contains(t, stack, "in the ")
			assert.NotContains(t, stack, testKey[5:])
		}
	}
}

func TestProxyDoesNotSeeTheKey(t *testing.T) {
	var seen strings.Builder
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(&seen, r.Method, r.RequestURI, r.Header)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	proxyURL, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	rt := &http.Transport{Proxy: http.ProxyURL(proxyURL)}
	defer rt.CloseIdleConnections()
	for name, call := range operations {
		_, err := call(t.Context(), newClient(t, rt, mintlify.WithRetryWait(0, time.Millisecond)))
		require.Error(t, err)
		assert.False(t, isOutcomeUnknown(err), "%s: the tunnel was refused: %v", name, err)
	}
	assert.Contains(t, seen.String(), "CONNECT api.mintlify.com:443")
	assert.NotContains(t, seen.String(), testKey[5:])
	assert.NotContains(t, seen.String(), "Authorization")
}

// An error of the key source may show a key: the one before, in a later attempt, poll or
// page, or one that this call has never seen.
func TestErrorOfTheKeySourceDoesNotShowAKey(t *testing.T) {
	const other = "mint_0ld_key_of_yesterday"
	for name, call := range map[string]call{
		"retry": calls[mintlify.OpGetJob],
		"wait": func(ctx context.Context, c *mintlify.Client) error {
			return waits["Jobs.WaitUntilDone"](ctx, c, mintlify.WithMaxOutage(time.Hour))
		},
		"pages": exports["Visitors"],
	} {
		for _, shown := range []string{testKey, other} {
			synctest.Test(t, func(t *testing.T) {
				var lines strings.Builder
				asked := 0
				source := func(context.Context) (string, error) {
					if asked++; asked > 1 {
						return "", fmt.Errorf("refresh of %q (or %s): vault is sealed", shown, url.QueryEscape(shown))
					}
					return testKey, nil
				}
				svc := service()
				svc.SetVisitors(visitors(1000))
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				rt := transport(func(r *http.Request) (*http.Response, error) {
					if name == "pages" {
						r.Header.Set("Authorization", "Bearer "+mintlifytest.APIKey)
						return svc.RoundTrip(r)
					}
					return response(503, ""), nil
				})
				err := call(ctx, newClient(t, rt, mintlify.WithKeySource(source), mintlify.WithLogger(textLogger(&lines))))
				require.Greater(t, asked, 1, name)
				assert.ErrorContains(t, err, "vault is sealed")
				assert.NotContains(t, leaks(err)+lines.String(), shown[5:], name)
			})
		}
	}
}

func TestKeyEchoedAsTheNameOfAHeaderIsRedacted(t *testing.T) {
	for op, call := range calls {
		err := call(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) {
			resp := response(400, "")
			resp.Header[testKey] = []string{"1"}
			resp.Header[http.CanonicalHeaderKey("X-"+testKey)] = []string{"2"}
			return resp, nil
		})))
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr, op)
		assert.NotContains(t, strings.ToLower(fmt.Sprintf("%v %+v", apiErr.Header, leaks(*apiErr))), testKey[5:], op)
	}
}

package mintlify_test

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	testKey = "mint_secret_9f3b"
	jobJSON = `{"id":"job_1","status":"active"}`
)

var nilContext context.Context

// transport is a RoundTripper made of a function. It fires no trace events.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newClient returns a client of project "proj" whose requests go to rt.
func newClient(t testing.TB, rt http.RoundTripper, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	opts = append([]mintlify.Option{mintlify.WithHTTPClient(&http.Client{Transport: rt})}, opts...)
	client, err := mintlify.NewClient(testKey, "proj", opts...)
	require.NoError(t, err)
	return client
}

// response is an http.Response; header is name, value, name, value.
func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// answering is a transport that gives each request the same response.
func respondWith(status int, body string, header ...string) transport {
	return func(*http.Request) (*http.Response, error) { return response(status, body, header...), nil }
}

func create(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
}

func message(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: "And the links"})
}

func get(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Get(ctx, "job_1")
}

// operations are the calls that send a single request, by name.
var operations = map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error){
	"Create": create, "Message": message, "Get": get,
}

func posts() []string { return []string{"Create", "Message"} }

// jar counts the responses whose cookies it was given.
type jar struct{ set int }

func (j *jar) SetCookies(*url.URL, []*http.Cookie) { j.set++ }
func (j *jar) Cookies(*url.URL) []*http.Cookie     { return nil }

func isOutcomeUnknown(err error) bool { return errors.Is(err, mintlify.ErrOutcomeUnknown) }

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// newCountingServer serves handler until the test ends and counts the connections.
func newCountingServer(t *testing.T, handler http.Handler, conns *atomic.Int32) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server
}

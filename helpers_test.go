package mintlify_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

const (
	testKey   = "mint_secret_9f3b"
	jobJSON   = `{"id":"job_1","status":"active"}`
	emptyPage = `{"totals":{"human":0,"ai":0,"total":0},"visitors":[],"hasMore":false}`
)

var nilContext context.Context

// The calls.

// newClient returns a client of project "proj" whose requests go to rt.
func newClient(t testing.TB, rt http.RoundTripper, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	opts = append([]mintlify.Option{mintlify.WithHTTPClient(&http.Client{Transport: rt})}, opts...)
	client, err := mintlify.NewClient(testKey, "proj", opts...)
	require.NoError(t, err)
	return client
}

// newSocketClient returns a client of the SDK's own transport, which retries without a wait.
func newSocketClient(t *testing.T, baseURL string, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	opts = append(opts, mintlify.WithBaseURL(baseURL), mintlify.WithRetryWait(0, 0))
	client, err := mintlify.NewClient(testKey, "proj", opts...)
	require.NoError(t, err)
	return client
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

// callFunc is a call whose result does not matter.
type callFunc func(context.Context, *mintlify.Client) error

// jobCalls has the call of every operation that returns a job, by its method: Create, Message
// and Get.
var jobCalls = func() map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error) {
	calls := map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error){}
	for _, op := range operations.All() {
		if !returnsJob(op) {
			continue
		}
		calls[jobMethod(op)] = func(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
			result, err := op.Call(ctx, c)
			return result.(*mintlify.Job), err
		}
	}
	return calls
}()

func returnsJob(op operations.Operation) bool {
	_, ok := op.Result.(*mintlify.Job)
	return ok
}

func jobMethod(op operations.Operation) string { return strings.TrimPrefix(op.Func, "Jobs.") }

// posts are the jobCalls that change something.
func posts() []string {
	var names []string
	for _, op := range operations.All() {
		if returnsJob(op) && op.IsPost() {
			names = append(names, jobMethod(op))
		}
	}
	return names
}

// exports has a range over the rows of every export, by the method that gets a page.
var exports = func() map[string]callFunc {
	exports := map[string]callFunc{}
	for _, op := range operations.All() {
		if op.Rows == nil {
			continue
		}
		exports[op.Func] = func(ctx context.Context, c *mintlify.Client) error {
			_, err := op.Rows(ctx, c)
			return failsAtTheStart(err)
		}
	}
	return exports
}()

// failsAtTheStart returns err, the error of an export, if it is nil or of the first page.
func failsAtTheStart(err error) error {
	var pageErr *mintlify.ExportError
	if err != nil && (!errors.As(err, &pageErr) || pageErr.Offset != 0 || pageErr.Cursor != "") {
		return fmt.Errorf("not a ExportError of the first page: %w", err)
	}
	return err
}

// waits has every WaitUntilDone, by the method that polls.
var waits = func() map[string]func(context.Context, *mintlify.Client, ...mintlify.WaitOption) error {
	waits := map[string]func(context.Context, *mintlify.Client, ...mintlify.WaitOption) error{}
	for _, op := range operations.All() {
		if op.Wait == nil {
			continue
		}
		waits[op.Func] = func(ctx context.Context, c *mintlify.Client, opts ...mintlify.WaitOption) error {
			_, err := op.Wait(ctx, c, opts...)
			return err
		}
	}
	return waits
}()

// resultFunc is a call of any method, and its result.
type resultFunc func(context.Context, *mintlify.Client) (any, error)

// allCalls returns the call of every operation, and its ranges, its wait and its poll.
func allCalls() map[string]resultFunc {
	calls := map[string]resultFunc{}
	for _, op := range operations.All() {
		calls[op.String()] = op.Call
		if op.Rows != nil {
			for _, pages := range []int{0, 1, 8} {
				calls[fmt.Sprintf("%s: export, prefetch of %d", op, pages)] =
					func(ctx context.Context, c *mintlify.Client) (any, error) {
						return op.Rows(ctx, c, mintlify.WithPrefetch(pages))
					}
			}
		}

		if op.Wait != nil {
			calls[op.String()+": wait"] = func(ctx context.Context, c *mintlify.Client) (any, error) {
				return op.Wait(ctx, c, mintlify.WithMaxOutage(0))
			}
			calls[op.String()+": poll"] = op.Poll
		}
	}
	return calls
}

// The transports.

// transport is a RoundTripper made of a function. It fires no trace events.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respondWith is a transport that gives each request the same response.
func respondWith(status int, body string, header ...string) transport {
	return func(*http.Request) (*http.Response, error) { return response(status, body, header...), nil }
}

// breakOff is a transport whose response is truncated after body.
func breakOff(status int, body string) transport {
	return breakOffWith(status, body, io.ErrUnexpectedEOF)
}

// breakOffWith is breakOff with the network's error.
func breakOffWith(status int, body string, err error) transport {
	return func(*http.Request) (*http.Response, error) {
		return pipe(status, func(w *io.PipeWriter) {
			io.WriteString(w, body)
			w.CloseWithError(err)
		}), nil
	}
}

// stall is a transport whose response goes silent after body.
func stall(status int, body string) transport {
	return func(*http.Request) (*http.Response, error) {
		return pipe(status, func(w *io.PipeWriter) { io.WriteString(w, body) }), nil
	}
}

func failWith(err error) transport {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// hang is a transport that never responds.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// doing is a transport that calls do and then responds as next.
func doing(do func(), next transport) transport {
	return func(r *http.Request) (*http.Response, error) {
		do()
		return next(r)
	}
}

// recording is a transport that keeps what is sent, and when, and responds by its
// steps: to each request by the next of them, and by the last from there on.
type recording struct {
	steps []transport
	start time.Time

	mu       sync.Mutex
	requests []sentRequest
}

// sentRequest is a request as a transport gets it.
type sentRequest struct {
	*http.Request
	body string
	at   time.Duration // since the recording began
}

func newRecording(steps ...transport) *recording { return &recording{steps: steps, start: time.Now()} }

func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}

	r.mu.Lock()
	r.requests = append(r.requests, sentRequest{req, string(body), time.Since(r.start)})
	step := r.steps[min(len(r.requests), len(r.steps))-1]
	r.mu.Unlock()

	return step(req)
}

func (r *recording) sent() []sentRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

func (r *recording) count() int { return len(r.sent()) }

func (r *recording) last() sentRequest { return r.sent()[r.count()-1] }

func (r *recording) times() []time.Duration {
	var times []time.Duration
	for _, request := range r.sent() {
		times = append(times, request.at)
	}
	return times
}

// The responses.

// response is an http.Response; header is name, value, name, value.
func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// pipe returns a response whose body arrives while write writes it.
func pipe(status int, write func(*io.PipeWriter)) *http.Response {
	r, w := io.Pipe()
	go write(w)
	resp := response(status, "")
	resp.Body = r
	return resp
}

// reading is a body whose Read is a function.
type reading func([]byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }
func (f reading) Close() error               { return nil }

// counter is an endless stream of x that counts what is read of it.
type counter struct{ n *atomic.Int64 }

var exes = bytes.Repeat([]byte("x"), 1<<20)

func (c *counter) Read(p []byte) (int, error) {
	n := copy(p, exes)
	c.n.Add(int64(n))
	return n, nil
}

// gzipBomb is 16 MiB of one letter, compressed.
var gzipBomb = sync.OnceValue(func() []byte {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 16 {
		w.Write(exes)
	}
	w.Close()
	return bomb.Bytes()
})

// visitors returns n rows.
func visitors(n int) []mintlify.Visitor {
	rows := make([]mintlify.Visitor, n)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprintf("/page/%d", i), Human: int64(i), AI: 2, Total: int64(i) + 1}
	}
	return rows
}

// The errors.

var kinds = map[string]error{
	"ErrInvalidArgument":   mintlify.ErrInvalidArgument,
	"ErrBadRequest":        mintlify.ErrBadRequest,
	"ErrUnauthorized":      mintlify.ErrUnauthorized,
	"ErrForbidden":         mintlify.ErrForbidden,
	"ErrNotFound":          mintlify.ErrNotFound,
	"ErrPaymentRequired":   mintlify.ErrPaymentRequired,
	"ErrRateLimited":       mintlify.ErrRateLimited,
	"ErrServer":            mintlify.ErrServer,
	"ErrMalformedResponse": mintlify.ErrMalformedResponse,
	"ErrOutcomeUnknown":    mintlify.ErrOutcomeUnknown,
	"ErrJobFailed":         mintlify.ErrJobFailed,
	"ErrDeploymentFailed":  mintlify.ErrDeploymentFailed,
}

func kindsOf(err error) []string {
	var names []string
	for name, kind := range kinds {
		if errors.Is(err, kind) {
			names = append(names, name)
		}
	}
	return names
}

func isOutcomeUnknown(err error) bool { return errors.Is(err, mintlify.ErrOutcomeUnknown) }

// requireAs requires that err is an error of a type, and returns that error.
func requireAs[E error](t *testing.T, err error) E {
	t.Helper()
	var target E
	require.ErrorAs(t, err, &target)
	return target
}

func requireArgumentError(t *testing.T, err error, name string) *mintlify.ArgumentError {
	t.Helper()
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	argument := requireAs[*mintlify.ArgumentError](t, err)
	assert.Equal(t, name, argument.Name)
	assert.NotEmpty(t, argument.Reason)
	return argument
}

// assertReadable asserts that a message is one line, printable and under 1 KB.
func assertReadable(t *testing.T, err error) {
	t.Helper()
	assert.Less(t, len(err.Error()), 1024)
	assert.NotContains(t, err.Error(), testKey)
	isUnprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	assert.Equal(t, -1, strings.IndexFunc(err.Error(), isUnprintable), "%q", err.Error())
}

// leaks are all the ways in which a value may end in a log.
func leaks(v any) string {
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}

	encoded, _ := json.Marshal(v)
	b.Write(encoded)

	textLogger(&b).Error("leak", "value", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Error("leak", "value", v)
	return b.String()
}

// skipUnlessLong skips a test that takes seconds, unless MINTLIFY_LONG is set.
func skipUnlessLong(t *testing.T) {
	t.Helper()
	if os.Getenv("MINTLIFY_LONG") == "" {
		t.Skip("takes long: set MINTLIFY_LONG=1 to run it")
	}
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

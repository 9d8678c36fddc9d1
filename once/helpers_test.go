package once_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

const key = "acme/api@5907854"

var task = once.Task{Key: key, Prompt: "Document the flag --json"}

// world is a service, a store, and a runner between them.
type world struct {
	*once.Runner
	t     *testing.T
	svc   *mintlifytest.Service
	store once.Store
	log   *bytes.Buffer

	logger *slog.Logger // to log, for all Runners: it writes one line at a time
}

func newWorld(t *testing.T, store once.Store, opts ...mintlify.Option) *world {
	t.Helper()
	w := &world{t: t, svc: mintlifytest.NewService(), store: store, log: &bytes.Buffer{}}
	w.logger = slog.New(slog.NewTextHandler(w.log, nil))
	w.Runner = w.runner(w.svc.Client(append([]mintlify.Option{mintlifytest.WithRealSchedule()}, opts...)...))
	return w
}

// inBubble runs f as a subtest in a bubble.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// inWorld runs f in a bubble, with a world of its own.
func inWorld(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t, oncetest.NewStore())) })
}

// assertHeld asserts that a step waits for the end of a hold, which may be 0: none. What a hold has made wait comes
// within 5 s after it.
func assertHeld(t *testing.T, hold, next time.Duration, args ...any) {
	t.Helper()
	if hold == 0 {
		assert.Zero(t, next, args...)
		return
	}
	assert.GreaterOrEqual(t, next, hold, args...)
	assert.Less(t, next, hold+5*time.Second, args...)
}

// do is a Do that must succeed.
func (w *world) do(task once.Task) once.Record {
	w.t.Helper()
	record, err := w.Do(w.t.Context(), task)
	require.NoError(w.t, err)
	return record
}

// step is a Step that must succeed.
func (w *world) step(key string) once.Step {
	w.t.Helper()
	step, err := w.Step(w.t.Context(), key)
	require.NoError(w.t, err)
	return step
}

// must returns the record of a decision that must succeed.
func (w *world) must(record once.Record, err error) once.Record {
	w.t.Helper()
	require.NoError(w.t, err)
	return record
}

// runner is another one on the same store, as of another process.
func (w *world) runner(client *mintlify.Client, opts ...once.Option) *once.Runner {
	w.t.Helper()
	r, err := once.New(client, w.store, append([]once.Option{once.WithLogger(w.logger)}, opts...)...)
	require.NoError(w.t, err)
	return r
}

// get returns what is on record.
func (w *world) get(key string) once.Record {
	w.t.Helper()
	record, err := w.store.Get(context.Background(), key)
	require.NoError(w.t, err)
	return record
}

// prompts returns the prompts and messages that reached the service, in order.
func (w *world) prompts() (prompts []string) {
	for _, request := range w.svc.Requests() {
		if request.Prompt != "" {
			prompts = append(prompts, request.Prompt)
		}
	}
	return prompts
}

// posts returns how many requests for a job reached the service.
func (w *world) posts() (n int) {
	for _, request := range w.svc.Requests() {
		if request.Operation == mintlify.OpCreateJob {
			n++
		}
	}
	return n
}

// count returns how many requests of op reached the service.
func (w *world) count(op mintlify.Operation) (n int) {
	for _, request := range w.svc.Requests() {
		if request.Operation == op {
			n++
		}
	}
	return n
}

// preflights returns how often the service was asked first.
func (w *world) preflights() (n int) {
	for _, request := range w.svc.Requests() {
		if strings.HasSuffix(request.Path, "/preflight") {
			n++
		}
	}
	return n
}

// add adds tasks.
func (w *world) add(tasks ...once.Task) {
	w.t.Helper()
	for _, task := range tasks {
		_, added, err := w.Add(context.Background(), task)
		require.NoError(w.t, err)
		require.True(w.t, added)
	}
}

// states returns how many records are in each state.
func (w *world) states() map[once.State]int {
	w.t.Helper()
	all, err := w.store.List(context.Background())
	require.NoError(w.t, err)
	states := map[once.State]int{}
	for _, record := range all {
		states[record.State]++
	}
	return states
}

// weather is a way to the service on which requests fail with the status of fails, unless
// that is 0. The connection is lost if it is less.
type weather struct {
	svc   *mintlifytest.Service
	fails func(*http.Request) int
}

func (w *weather) RoundTrip(r *http.Request) (*http.Response, error) {
	status := w.fails(r)
	switch {
	case status == 0:
		return w.svc.RoundTrip(r)
	case status < 0:
		return nil, io.ErrUnexpectedEOF
	}
	return respond(r, status, http.Header{}), nil
}

func respond(r *http.Request, status int, header http.Header) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: http.NoBody, Request: r}
}

// runnerIn is another runner on the store of w, on whose way to the service requests fail.
func (w *world) runnerIn(fails func(*http.Request) int) *once.Runner {
	w.t.Helper()
	way := mintlify.WithHTTPClient(&http.Client{Transport: &weather{w.svc, fails}})
	return w.runner(w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithMaxRetries(0), way))
}

// hooked is a store with functions between.
type hooked struct {
	once.Store
	get func(ctx context.Context, key string) (once.Record, error)
	put func(ctx context.Context, r once.Record) error

	list func(ctx context.Context, states ...once.State) ([]once.Record, error)
}

func (h *hooked) List(ctx context.Context, states ...once.State) ([]once.Record, error) {
	if h.list != nil {
		return h.list(ctx, states...)
	}
	return h.Store.List(ctx, states...)
}

func (h *hooked) Get(ctx context.Context, key string) (once.Record, error) {
	if h.get != nil {
		return h.get(ctx, key)
	}
	return h.Store.Get(ctx, key)
}

func (h *hooked) Put(ctx context.Context, r once.Record) error {
	if h.put != nil {
		return h.put(ctx, r)
	}
	return h.Store.Put(ctx, r)
}

// publicStore is a store that leaves out what others must not read.
func publicStore() once.Store {
	store := oncetest.NewStore()
	return &hooked{Store: store, put: func(ctx context.Context, r once.Record) error {
		r.Prompt = ""
		r.ProjectID = ""
		r.Problem = ""
		return store.Put(ctx, r)
	}}
}

// takingNoJob is a store that stores no job: err is why.
func takingNoJob(err error) once.Store {
	store := oncetest.NewStore()
	return &hooked{Store: store, put: func(ctx context.Context, r once.Record) error {
		if r.State == once.Running {
			return err
		}
		return store.Put(ctx, r)
	}}
}

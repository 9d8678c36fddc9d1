package once_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
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
}

func newWorld(t *testing.T, store once.Store, opts ...mintlify.Option) *world {
	t.Helper()
	w := &world{t: t, svc: mintlifytest.NewService(), store: store, log: &bytes.Buffer{}}
	w.Runner = w.runner(w.svc.Client(append([]mintlify.Option{mintlifytest.WithRealSchedule()}, opts...)...))
	return w
}

// runner is another one on the same store, as of another process.
func (w *world) runner(client *mintlify.Client, opts ...once.Option) *once.Runner {
	w.t.Helper()
	logger := slog.New(slog.NewTextHandler(w.log, nil))
	r, err := once.New(client, w.store, append([]once.Option{once.WithLogger(logger)}, opts...)...)
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

// posts returns how many requests for a job reached the service.
func (w *world) posts() (n int) {
	for _, request := range w.svc.Requests() {
		if request.Operation == mintlify.OpCreateJob {
			n++
		}
	}
	return n
}

// hooked is a store with functions between.
type hooked struct {
	once.Store
	get func(ctx context.Context, key string) (once.Record, error)
	put func(ctx context.Context, r once.Record) error
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

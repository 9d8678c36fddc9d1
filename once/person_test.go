package once_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// lost returns a world with a record that is unknown: the response was lost, and the job exists.
func lost(t *testing.T) *world {
	w := newWorld(t, oncetest.NewStore())
	w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	_, err := w.Do(t.Context(), task)
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	return w
}

func TestWaysOutOfUnknown(t *testing.T) {
	for name, test := range map[string]struct {
		out   func(w *world) (once.Record, error)
		state once.State // after it
		posts int        // after a Do that follows
	}{
		"Adopt": {func(w *world) (once.Record, error) { return w.Adopt(context.Background(), key, "job_1") }, once.Running, 1},
		"MarkDone": {func(w *world) (once.Record, error) {
			return w.MarkDone(context.Background(), key, "https://example.com/7")
		}, once.Done, 1},
		"SendAgain": {func(w *world) (once.Record, error) { return w.SendAgain(context.Background(), key) }, once.Pending, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := lost(t)
				record, err := test.out(w)
				require.NoError(t, err)
				assert.Equal(t, test.state, record.State)
				assert.Empty(t, record.Problem)
				assert.Equal(t, w.get(key), record)
				record, err = w.Do(t.Context(), once.Task{Key: key})
				require.NoError(t, err)
				assert.Equal(t, once.Done, record.State)
				assert.NotEmpty(t, record.PRLink)
				assert.Equal(t, test.posts, w.posts())
			})
		})
	}
}

func TestAdoptLooksTheJobUpFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := lost(t)
		before := w.get(key)
		for _, id := range []string{"", " ", ".."} {
			_, err := w.Adopt(t.Context(), key, id)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument, id)
		}
		_, err := w.Adopt(t.Context(), key, "job_77")
		require.ErrorIs(t, err, mintlify.ErrNotFound)
		assert.Equal(t, before, w.get(key))
		_, err = w.Adopt(t.Context(), "no/record", "job_1")
		require.ErrorContains(t, err, "not on record")
		_, err = w.Adopt(t.Context(), key, "job_1")
		require.NoError(t, err)
		after := w.get(key)
		_, err = w.Adopt(t.Context(), key, "job_1")
		require.NoError(t, err)
		assert.Equal(t, after, w.get(key), "safe to call again")
	})
}

func TestDecisionsByState(t *testing.T) {
	allowed := map[string][]once.State{
		"Adopt":     {once.Pending, once.Unknown, once.Failed, once.Running, once.Done},
		"MarkDone":  {once.Unknown, once.Failed, once.Running, once.Refused, once.Done},
		"SendAgain": {once.Unknown, once.Failed, once.Refused, once.Canceled},
		"Cancel":    {once.Pending},
	}
	become := map[string]once.State{"Adopt": once.Running, "MarkDone": once.Done, "SendAgain": once.Pending, "Cancel": once.Canceled}
	for _, state := range []once.State{once.Pending, once.Sending, once.Running, once.Done, once.Failed, once.Refused, once.Unknown, once.Canceled} {
		assert.Equal(t, state == once.Pending || state == once.Sending || state == once.Running, state.IsOpen())
		for name, from := range allowed {
			w := newWorld(t, oncetest.NewStore())
			before := once.Record{Task: task, Version: 1, State: state, Problem: "x"}
			require.NoError(t, w.store.Put(t.Context(), before))
			r, err := once.New(nil, w.store) // a process without a key
			require.NoError(t, err)
			switch name {
			case "Adopt":
				_, err = r.Adopt(t.Context(), key, "job_5")
			case "MarkDone":
				_, err = r.MarkDone(t.Context(), key, "")
			case "SendAgain":
				_, err = r.SendAgain(t.Context(), key)
			case "Cancel":
				_, err = r.Cancel(t.Context(), key)
			}
			ok := false
			for _, s := range from {
				ok = ok || s == state
			}
			if !ok {
				require.ErrorContains(t, err, string(state), name)
				assert.Equal(t, before, w.get(key), name)
				continue
			}
			require.NoError(t, err, name)
			assert.Equal(t, become[name], w.get(key).State, name)
		}
	}
}

func TestProcessWithoutAKey(t *testing.T) {
	r, err := once.New(nil, oncetest.NewStore())
	require.NoError(t, err)
	_, added, err := r.Add(t.Context(), task)
	require.NoError(t, err)
	assert.True(t, added)
	_, err = r.Do(t.Context(), task)
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	_, err = r.Step(t.Context(), key)
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	require.ErrorIs(t, r.Resume(t.Context()), mintlify.ErrInvalidArgument)
}

func TestCanceledIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore())
		_, _, err := w.Add(t.Context(), task)
		require.NoError(t, err)
		_, err = w.Cancel(t.Context(), key)
		require.NoError(t, err)
		require.NoError(t, w.Resume(t.Context()))
		_, err = w.Do(t.Context(), task)
		require.ErrorContains(t, err, "canceled")
		assert.Zero(t, w.posts())
		_, err = w.SendAgain(t.Context(), key)
		require.NoError(t, err)
		_, err = w.Do(t.Context(), task)
		require.NoError(t, err)
	})
}

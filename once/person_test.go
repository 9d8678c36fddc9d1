package once_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
		inBubble(t, name, func(t *testing.T) {
			w := lost(t)
			record, err := test.out(w)
			require.NoError(t, err)
			assert.Equal(t, test.state, record.State)
			assert.Empty(t, record.Problem)
			assert.Equal(t, w.get(key), record)
			record = w.do(once.Task{Key: key})
			assert.Equal(t, once.Done, record.State)
			assert.NotEmpty(t, record.PRLink)
			assert.Equal(t, test.posts, w.posts())
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
		w.must(w.Adopt(t.Context(), key, "job_1"))
		after := w.get(key)
		w.must(w.Adopt(t.Context(), key, "job_1"))
		assert.Equal(t, after, w.get(key), "safe to call again")
	})
}

func TestDecisionsByState(t *testing.T) {
	states := []once.State{
		"", once.Pending, once.Sending, once.Running, once.Done, once.Failed, once.Refused, once.Unknown, once.Canceled,
	}
	for name, test := range map[string]struct {
		decide func(r *once.Runner) (once.Record, error)
		from   []once.State // that it is allowed in
		become once.State
	}{
		"Adopt": {
			decide: func(r *once.Runner) (once.Record, error) { return r.Adopt(t.Context(), key, "job_5") },
			from:   []once.State{once.Pending, once.Unknown, once.Failed, once.Running, once.Done},
			become: once.Running,
		},
		"MarkDone": {
			decide: func(r *once.Runner) (once.Record, error) { return r.MarkDone(t.Context(), key, "") },
			from:   []once.State{once.Unknown, once.Failed, once.Running, once.Refused, once.Done},
			become: once.Done,
		},
		"SendAgain": {
			decide: func(r *once.Runner) (once.Record, error) { return r.SendAgain(t.Context(), key) },
			from:   []once.State{once.Unknown, once.Failed, once.Refused, once.Canceled},
			become: once.Pending,
		},
		"Cancel": {
			decide: func(r *once.Runner) (once.Record, error) { return r.Cancel(t.Context(), key) },
			from:   []once.State{once.Pending},
			become: once.Canceled,
		},
	} {
		for _, state := range states {
			w := newWorld(t, oncetest.NewStore())
			if state != "" { // else there is no record
				w.put(once.Record{Task: task, State: state, Problem: "x"})
			}
			before := w.get(key)
			r := w.runner(nil) // a process without a key

			_, err := test.decide(r)
			if slices.Contains(test.from, state) {
				require.NoError(t, err, name)
				assert.Equal(t, test.become, w.get(key).State, name)
				continue
			}
			requireStateError(t, err, name, state)
			assert.Equal(t, before, w.get(key), name)
		}
	}
}

// requireStateError checks the error of a decision that the state of key's record does not allow.
func requireStateError(t *testing.T, err error, decision string, state once.State) {
	t.Helper()
	require.ErrorIs(t, err, once.ErrState, decision)
	assert.NotErrorIs(t, err, once.ErrConflict, decision)

	var refused *once.StateError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, key, refused.Key)
	assert.Equal(t, state, refused.State)
	assert.Equal(t, decision, refused.Decision)
	assert.NotContains(t, refused.Allowed, state)

	assert.Equal(t, 1, strings.Count(err.Error(), key), "named once: %v", err)
	for _, want := range []string{decision, cmp.Or(string(state), "not on record")} {
		assert.ErrorContains(t, err, want)
	}
}

func TestIsOpen(t *testing.T) {
	for _, state := range []once.State{once.Pending, once.Sending, once.Running} {
		assert.True(t, state.IsOpen(), state)
	}
	for _, state := range []once.State{"", once.Done, once.Failed, once.Refused, once.Unknown, once.Canceled} {
		assert.False(t, state.IsOpen(), state)
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
	inWorld(t, func(t *testing.T, w *world) {
		w.add(task)
		w.must(w.Cancel(t.Context(), key))
		require.NoError(t, w.Resume(t.Context()))
		_, err := w.Do(t.Context(), task)
		require.ErrorContains(t, err, "canceled")
		assert.Zero(t, w.posts())
		w.must(w.SendAgain(t.Context(), key))
		w.do(task)
	})
}

// When a person has decided about a record, its follow-ups look again: in the same Runner at once, in a Run of another
// process at its next List. Their Problem goes.
func TestDecisionWakesWhatFollows(t *testing.T) {
	for name, decide := range map[string]func(r *once.Runner) (once.Record, error){
		"Adopt":     func(r *once.Runner) (once.Record, error) { return r.Adopt(context.Background(), key, "job_1") },
		"SendAgain": func(r *once.Runner) (once.Record, error) { return r.SendAgain(context.Background(), key) },
		"MarkDone": func(r *once.Runner) (once.Record, error) {
			if _, err := r.MarkDone(context.Background(), key, ""); err != nil {
				return once.Record{}, err
			}
			return r.Adopt(context.Background(), key, "job_1")
		},
	} {
		for _, isOther := range []bool{false, true} {
			inBubble(t, fmt.Sprintf("%s, another process %t", name, isOther), func(t *testing.T) {
				w := lost(t)
				w.add(comment)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() { _ = w.Run(ctx) }()
				time.Sleep(time.Hour)
				waiting := w.get(commentKey)
				require.Equal(t, once.Pending, waiting.State)
				require.Contains(t, waiting.Problem, "unknown")

				decider := w.Runner
				if isOther {
					var err error
					decider, err = once.New(nil, w.store)
					require.NoError(t, err)
				}
				w.must(decide(decider))
				assert.NotContains(t, w.get(commentKey).Problem, "unknown")
				start := time.Now()
				for w.get(commentKey).State == once.Pending {
					time.Sleep(time.Second)
				}
				assert.Less(t, time.Since(start), 90*time.Second, "a minute more if the prompt is sent again first")
			})
		}
	}
}

// Without a job the follow-up goes on waiting, and says for what.
func TestDecisionThatBringsNoJobChangesWhatFollowsSay(t *testing.T) {
	inBubble(t, "MarkDone", func(t *testing.T) {
		w := lost(t)
		w.add(comment)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { _ = w.Run(ctx) }()
		time.Sleep(30 * time.Minute)

		w.must(w.MarkDone(t.Context(), key, "https://example.com/7"))
		time.Sleep(time.Minute)
		assert.Contains(t, w.get(commentKey).Problem, "without the id of a job")
	})
}

// steppingStore has another goroutine's step come before a List.
type steppingStore struct {
	once.Store
	beforeList func()
}

func (s *steppingStore) List(ctx context.Context, states ...once.State) ([]once.Record, error) {
	if step := s.beforeList; step != nil {
		s.beforeList = nil
		step()
	}
	return s.Store.List(ctx, states...)
}

// A follow-up that looks between a decision and the List of what to wake goes on saying what it has seen.
func TestFollowUpThatLooksBesideADecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &steppingStore{Store: oncetest.NewStore()}
		w := newWorld(t, store)
		w.put(once.Record{Task: task, State: once.Unknown})
		w.add(comment)
		w.step(commentKey)
		require.Contains(t, w.get(commentKey).Problem, "unknown")

		store.beforeList = func() { w.step(commentKey) }
		w.must(w.MarkDone(t.Context(), key, "https://example.com/7"))
		w.step(commentKey)
		assert.Contains(t, w.get(commentKey).Problem, "without the id of a job")
	})
}

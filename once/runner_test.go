package once_test

import (
	"context"
	"errors"
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

// otherProject is a Runner of another project on the store of w.
func (w *world) otherProject() *once.Runner {
	w.t.Helper()
	client, err := w.svc.Client(mintlifytest.WithRealSchedule()).ForProject("project-2")
	require.NoError(w.t, err)
	return w.runner(client)
}

// One database, two docs sites: what the service of one has added goes to its project,
// whichever worker finds it first.
func TestProjectIsPinned(t *testing.T) {
	first := mintlifytest.ProjectID
	for name, test := range map[string]struct {
		begin func(t *testing.T, w *world) // by the Runner of the first project
		want  string
	}{
		"Add": {func(_ *testing.T, w *world) { w.add(task) }, first},
		"Add without a client": {func(t *testing.T, w *world) {
			webhook := w.runner(nil)

			_, _, err := webhook.Add(t.Context(), task)
			require.NoError(t, err)
		}, "project-2"},
		"claim": {func(t *testing.T, w *world) {
			w.put(once.Record{Task: task, State: once.Pending})
			w.step(key)
		}, first},
		"Do that asked in vain": {func(t *testing.T, w *world) {
			w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503})
			_, err := w.Do(t.Context(), task)
			require.Error(t, err)
		}, first},
		"Adopt": {func(t *testing.T, w *world) {
			w.put(once.Record{Task: task, State: once.Pending})
			w.svc.AddJob("job_7")
			record := w.must(w.Adopt(t.Context(), key, "job_7"))
			assert.Equal(t, first, record.ProjectID)
		}, first},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			test.begin(t, w)
			other := w.otherProject()
			require.NoError(t, other.Resume(t.Context()))
			assert.Equal(t, once.Done, w.get(key).State)
			assert.Equal(t, test.want, w.get(key).ProjectID)

			for _, request := range w.svc.Requests() {
				assert.Equal(t, test.want, request.ProjectID)
			}
		})
	}
}

// asleep is a context whose deadline has passed by the wall clock while the machine slept: its
// timer, by the monotonic clock, has not fired.
type asleep struct {
	context.Context
	deadline time.Time
}

func (a *asleep) Deadline() (time.Time, bool) { return a.deadline, true }

func TestDeadlineThatPassedWhileTheMachineSlept(t *testing.T) {
	for name, call := range map[string]func(w *world, ctx context.Context) error{
		"Do": func(w *world, ctx context.Context) error {
			_, err := w.Do(ctx, task)
			return err
		},
		"Step": func(w *world, ctx context.Context) error {
			for {
				step, err := w.Step(ctx, key)
				if err != nil || step.Next == 0 {
					return err
				}
				time.Sleep(step.Next)
			}
		},
		"Resume": func(w *world, ctx context.Context) error { return w.Resume(ctx) },
		"Run":    func(w *world, ctx context.Context) error { return w.Run(ctx) },
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.svc.ScriptJob(mintlifytest.JobStep{})
			w.add(task)
			start := time.Now()
			ctx := &asleep{t.Context(), start.Add(2 * time.Minute)}
			err := call(w, ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Less(t, time.Since(start), 3*time.Minute, "at its next wake-up")
			assert.Equal(t, once.Running, w.get(key).State)

			requests := len(w.svc.Requests())
			require.ErrorIs(t, call(w, ctx), context.DeadlineExceeded)
			assert.Len(t, w.svc.Requests(), requests, "nothing is begun")
		})
	}
}

// The cause of a context may be an error of another call, which must not pass for this one's.
func TestCauseOfAContextLendsNoKind(t *testing.T) {
	w := newWorld(t, oncetest.NewStore())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&mintlify.APIError{Operation: mintlify.OpCreateJob, StatusCode: 504})
	_, err := w.Do(ctx, task)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.ErrorContains(t, err, "504")

	why := errors.New("the job exists")
	ctx, cancel = context.WithCancelCause(t.Context())
	cancel(why)
	_, err = w.Do(ctx, task)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, why, "the caller's own")
}

func TestErrorsNameTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()}
		w := newWorld(t, store)
		calls := map[string]func(key string) error{
			"Do":        func(key string) error { _, err := w.Do(t.Context(), once.Task{Key: key}); return err },
			"Add":       func(key string) error { _, _, err := w.Add(t.Context(), once.Task{Key: key}); return err },
			"Step":      func(key string) error { _, err := w.Step(t.Context(), key); return err },
			"Adopt":     func(key string) error { _, err := w.Adopt(t.Context(), key, "job_1"); return err },
			"no id":     func(key string) error { _, err := w.Adopt(t.Context(), key, ""); return err },
			"MarkDone":  func(key string) error { _, err := w.MarkDone(t.Context(), key, ""); return err },
			"SendAgain": func(key string) error { _, err := w.SendAgain(t.Context(), key); return err },
			"Cancel":    func(key string) error { _, err := w.Cancel(t.Context(), key); return err },
		}
		for name, call := range calls {
			err := call(key)
			assert.ErrorContains(t, err, "once: "+key+": ", name)

			err = call("a b\n" + string(make301()))
			assert.ErrorContains(t, err, `once: "a b kkk`, name)
			assert.Less(t, len(err.Error()), 300, name)
		}
		store.get = func(context.Context, string) (once.Record, error) { return once.Record{}, errors.New("down") }
		for name, call := range calls {
			assert.ErrorContains(t, call(key), "once: "+key+": ", name)
		}
		store.get = nil
		bad := once.Task{Key: "bad-project", Prompt: "x", ProjectID: "a/b"}
		w.put(once.Record{Task: bad, State: once.Running, JobID: "job_1"})
		_, err := w.Step(t.Context(), "bad-project")
		assert.ErrorContains(t, err, "once: bad-project: ")
		assert.ErrorContains(t, w.Resume(t.Context()), "once: bad-project: ")
	})
}

func TestNilLoggerIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		r, err := once.New(svc.Client(mintlifytest.WithRealSchedule()), oncetest.NewStore(), once.WithLogger(nil))
		require.NoError(t, err)

		_, err = r.Do(t.Context(), task)
		require.NoError(t, err)
	})
}

package once_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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

// start runs Run of r until the test or stop ends it.
func start(t *testing.T, r *once.Runner) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-ended
	}
}

func TestRunStaysForWhatIsAddedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.add(once.Task{Key: "a", Prompt: "x"})
		stop := start(t, w.Runner)
		time.Sleep(20 * time.Second)
		assert.Equal(t, once.Done, w.get("a").State)

		time.Sleep(2 * time.Second)
		w.add(once.Task{Key: "b", Prompt: "x"})
		synctest.Wait()
		assert.Equal(t, once.Running, w.get("b").State, "its own at once")

		time.Sleep(30 * time.Second)

		webhook := w.runner(nil)

		for i := range 5 {
			key := fmt.Sprint("others-", i)
			_, _, err := webhook.Add(t.Context(), once.Task{Key: key, Prompt: "x"})
			require.NoError(t, err)

			time.Sleep(6 * time.Second)
			assert.NotEqual(t, once.Pending, w.get(key).State)
		}

		_, err := w.Cancel(t.Context(), "b")
		require.ErrorIs(t, err, once.ErrState)

		err = stop()
		require.ErrorIs(t, err, context.Canceled)

		posts := w.posts()
		w.add(once.Task{Key: "c", Prompt: "x"})
		time.Sleep(time.Minute)
		assert.Equal(t, posts, w.posts(), "nothing more after its end")
	})
}

func TestRunBeginsWhatIsSentAgainAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: task, State: once.Canceled})
		stop := start(t, w.Runner)
		time.Sleep(time.Second)
		w.must(w.SendAgain(t.Context(), key))

		synctest.Wait()
		assert.Equal(t, once.Running, w.get(key).State)
		require.ErrorIs(t, stop(), context.Canceled)
	})
}

// A List that takes long delays neither polls nor what this Runner adds.
func TestSlowListDelaysNoStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		store := &hooked{Store: oncetest.NewStore()}
		store.list = func(ctx context.Context, states ...once.State) ([]once.Record, error) {
			calls++
			time.Sleep(time.Second)
			return store.Store.List(ctx, states...)
		}
		w := newWorld(t, store)
		script := make([]mintlifytest.JobStep, 4)
		w.svc.ScriptJob(append(script, mintlifytest.JobStep{Status: mintlify.JobCompleted})...)
		w.add(task)
		began := time.Now()
		require.NoError(t, w.Resume(t.Context()))
		assert.Less(t, w.get(key).UpdatedAt.Sub(began), 24*time.Second, "five polls, 5 s apart")
		assert.LessOrEqual(t, calls, 3)

		stop := start(t, w.Runner)
		time.Sleep(2 * time.Second)
		w.add(once.Task{Key: "own", Prompt: "x"})
		synctest.Wait()
		assert.Equal(t, once.Running, w.get("own").State)

		webhook := w.runner(nil)

		_, _, err := webhook.Add(t.Context(), once.Task{Key: "others", Prompt: "x"})
		require.NoError(t, err)

		time.Sleep(22 * time.Second)
		assert.Equal(t, once.Running, w.get("others").State, "20 times as long as a List takes")
		require.ErrorIs(t, stop(), context.Canceled)
	})
}

// Run says once what fails, and tries again.
func TestRunLogsErrorsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := oncetest.NewStore()
		var down atomic.Bool
		down.Store(true)
		store := &hooked{Store: memory, get: func(ctx context.Context, key string) (once.Record, error) {
			if down.Load() && key == "bad" {
				return once.Record{}, errors.New("the page is damaged")
			}
			return memory.Get(ctx, key)
		}}
		store.list = func(ctx context.Context, states ...once.State) ([]once.Record, error) {
			records, err := memory.List(ctx, states...)
			if down.Load() {
				err = errors.New("the index is damaged")
			}
			return records, err
		}
		w := newWorld(t, store)
		for _, k := range []string{"bad", "good"} {
			pending := once.Record{Task: once.Task{Key: k, Prompt: "x"}, Version: 1, State: once.Pending}
			require.NoError(t, memory.Put(t.Context(), pending))
		}
		w.put(once.Record{Task: once.Task{Key: "unknown", Prompt: "x"}, State: once.Unknown})
		w.add(once.Task{Key: "stuck", Prompt: "x", After: "unknown"})
		stop := start(t, w.Runner)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		assert.Equal(t, once.Done, w.get("good").State)
		assert.Equal(t, 1, strings.Count(w.log.String(), "once: bad: the page is damaged"))
		assert.Equal(t, 1, strings.Count(w.log.String(), "the index is damaged"))
		assert.Equal(t, 1, strings.Count(w.log.String(), "once: stuck: waits for unknown"))

		down.Store(false)
		time.Sleep(time.Minute)
		assert.Equal(t, once.Done, w.get("bad").State)

		w.must(w.MarkDone(t.Context(), "unknown", ""))
		require.ErrorIs(t, stop(), context.Canceled)
	})
}

func TestRunNeedsAStoreThatListsAndAClient(t *testing.T) {
	unlisted := func(context.Context, ...once.State) ([]once.Record, error) { return nil, errors.ErrUnsupported }
	w := newWorld(t, &hooked{Store: oncetest.NewStore(), list: unlisted})
	err := w.Run(t.Context())
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.EqualError(t, err, "once: the records cannot be listed: unsupported operation")
	require.ErrorIs(t, w.Resume(t.Context()), errors.ErrUnsupported)

	r, err := once.New(nil, oncetest.NewStore())
	require.NoError(t, err)
	require.ErrorIs(t, r.Run(t.Context()), mintlify.ErrInvalidArgument)
	require.ErrorIs(t, r.Resume(t.Context()), mintlify.ErrInvalidArgument)
}

// A replica that lags behind lists, for a while, records that are over.
func TestStaleListDoesNotSpin(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		calls := 0
		until := time.Now().Add(time.Minute)
		stale := func(ctx context.Context, states ...once.State) ([]once.Record, error) {
			calls++
			if time.Now().Before(until) {
				states = nil // that of what is over, too
			}
			return w.store.List(ctx, states...)
		}
		lagging := &hooked{Store: w.store, list: stale}
		r, err := once.New(w.svc.Client(mintlifytest.WithRealSchedule()), lagging)
		require.NoError(t, err)

		w.add(task)
		require.NoError(t, r.Resume(t.Context()))
		assert.LessOrEqual(t, calls, 700)
		assert.Equal(t, 1, w.posts())
	})
}

// What this Runner adds comes before what waits already.
func TestRunBeginsItsOwnFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for i := range 10 {
			w.add(once.Task{Key: fmt.Sprint("k", i), Prompt: fmt.Sprint("prompt ", i)})
		}
		w.svc.FailNext(mintlify.OpCreateJob, 10, mintlifytest.Fault{Delay: 20 * time.Second})
		stop := start(t, w.Runner)
		time.Sleep(10 * time.Second)
		w.add(once.Task{Key: "own", Prompt: "its own"})
		time.Sleep(15 * time.Second)
		require.Len(t, w.prompts(), 2)
		assert.Contains(t, w.prompts()[1], "its own\n")
		require.ErrorIs(t, stop(), context.Canceled)
	})
}

// What another process adds as the last record ends is not left behind.
func TestResumeListsBeforeItEnds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		webhook := w.runner(nil)
		addLate := once.WithOnChange(func(r once.Record) {
			if r.Key == key && r.State == once.Done {
				_, _, err := webhook.Add(context.Background(), once.Task{Key: "late", Prompt: "x"})
				assert.NoError(t, err)
			}
		})
		w.add(task)

		r := w.runner(w.svc.Client(mintlifytest.WithRealSchedule()), addLate)
		require.NoError(t, r.Resume(t.Context()))
		assert.Equal(t, once.Done, w.get("late").State)
	})
}

// The oldest update is the first to be sent.
func TestResumeSendsInOrder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var want []string
		for i := range 20 {
			prompt := fmt.Sprint("prompt ", i)
			w.add(once.Task{Key: fmt.Sprint("k", 19-i), Prompt: prompt})
			want = append(want, prompt)
			time.Sleep(time.Second)
		}
		require.NoError(t, w.Resume(t.Context()))

		for i, prompt := range w.prompts() {
			assert.Contains(t, prompt, want[i]+"\n")
		}
	})
}

// The figures of docs/once.md: each process that runs Resume polls each job.
func TestEachProcessPolls(t *testing.T) {
	polls := map[int]int{}
	for _, processes := range []int{1, 3} {
		inWorld(t, func(t *testing.T, w *world) {
			began := time.Now()
			w.svc.AddJob("job_7", mintlifytest.JobStep{})
			w.put(once.Record{Task: task, State: once.Running, JobID: "job_7"})
			time.AfterFunc(45*time.Minute, func() {
				w.svc.AddJob("job_7", mintlifytest.JobStep{Status: mintlify.JobCompleted})
			})
			var all sync.WaitGroup
			for range processes {
				r := w.runner(w.svc.Client(mintlifytest.WithRealSchedule()))
				all.Go(func() { assert.NoError(t, r.Resume(t.Context())) })
			}
			all.Wait()
			assert.Less(t, time.Since(began), 47*time.Minute)

			polls[processes] = w.count(mintlify.OpGetJob)
		})
	}
	t.Logf("a job of 45 minutes: %d polls of one process, %d of three", polls[1], polls[3])
	assert.InDelta(t, 3*polls[1], polls[3], 20)
}

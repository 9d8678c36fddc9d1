package once_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

// A store or a key source that takes longer than the send time stands for a process that is
// stopped between its claim and its request.
func TestStoppedBetweenClaimAndRequest(t *testing.T) {
	for name, slow := range map[string]struct{ store, keySource time.Duration }{
		"store":                  {store: 2 * time.Minute},
		"key source":             {keySource: 2 * time.Minute},
		"store, and key source ": {store: 40 * time.Second, keySource: 40 * time.Second},
	} {
		inBubble(t, name, func(t *testing.T) {
			memory := oncetest.NewStore()
			store := &hooked{Store: memory, put: func(_ context.Context, r once.Record) error {
				if r.State == once.Sending {
					time.Sleep(slow.store)
				}
				return memory.Put(t.Context(), r)
			}}
			w := newWorld(t, store, mintlify.WithKeySource(func(context.Context) (string, error) {
				time.Sleep(slow.keySource)
				return mintlifytest.APIKey, nil
			}))
			record, err := w.Do(t.Context(), task)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
			assert.Zero(t, w.posts())
			assert.Equal(t, once.Pending, record.State)
			slow.store, slow.keySource = 0, 0
			w.do(task)
			assert.Equal(t, 1, w.posts())
		})
	}
}

// As above, and meanwhile others have given the send up and a person has had it sent again.
func TestSenderThatWakesLateSendsNothingAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := oncetest.NewStore()
		store := &hooked{Store: memory}
		w := newWorld(t, store)
		others := w.runner(w.svc.Client())
		store.put = func(_ context.Context, r once.Record) error {
			store.put = nil
			require.NoError(t, memory.Put(t.Context(), r))
			time.Sleep(3*time.Minute + time.Second)
			step, err := others.Step(t.Context(), key)
			require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
			assert.Equal(t, once.Unknown, step.Record.State)
			_, err = others.SendAgain(t.Context(), key)
			require.NoError(t, err)
			_, err = others.Do(t.Context(), task)
			require.NoError(t, err)
			return nil
		}
		record := w.do(task)
		assert.Equal(t, 1, w.posts())
		assert.Equal(t, once.Done, record.State)
	})
}

func TestSendOfADeadProcessBecomesUnknownAfterItsGrace(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		deadline := time.Now().Add(time.Minute)
		w.put(once.Record{Task: task, State: once.Sending, Sends: 1, Sender: "dead", Deadline: deadline})
		start := time.Now()
		_, err := w.Do(t.Context(), task)
		require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.Equal(t, 3*time.Minute, time.Since(start))
		assert.Equal(t, once.Unknown, w.get(key).State)
		assert.Zero(t, w.posts())
	})
}

func TestRecordOfAClockAYearAheadBlocksForMinutes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ahead := time.Now().AddDate(1, 0, 0)
		deadline := ahead.Add(time.Minute)
		w.put(once.Record{Task: task, State: once.Sending, Sender: "ahead", Deadline: deadline, UpdatedAt: ahead})
		start := time.Now()
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, once.Unknown, w.get(key).State)
		assert.Less(t, time.Since(start), 5*time.Minute)
		assert.Equal(t, 3, w.get(key).Version, "the deadline is rewritten once")

		other := once.Task{Key: "b", Prompt: "x"}
		w.put(once.Record{Task: other, State: once.Running, JobID: "job_9", UpdatedAt: ahead})
		w.svc.AddJob("job_9")
		start = time.Now()
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, once.Done, w.get("b").State)
		assert.Less(t, time.Since(start), time.Minute)
	})
}

// Others change the record during the send: its sender still records the job, unless the record went
// on with another one. Then the id is in the log and in the error. All sends of a follow-up have the
// same job: the response to an older one, after a person has had it sent again, means that it was sent
// twice.
func TestRecordThatChangesWhileItIsSent(t *testing.T) {
	for name, test := range map[string]struct {
		task   once.Task
		change func(r *once.Record)
		isLost bool
	}{
		"rewritten deadline": {task, func(r *once.Record) { r.Deadline = r.Deadline.Add(-time.Hour) }, false},
		"given up":           {task, func(r *once.Record) { r.State, r.Problem = once.Unknown, "given up" }, false},
		"pending again":      {task, func(r *once.Record) { r.State = once.Pending }, false},
		"another send":       {task, func(r *once.Record) { r.Sender = "other" }, true},
		"another job":        {task, func(r *once.Record) { r.State, r.JobID = once.Running, "job_other" }, true},

		"message, recorded already": {comment, func(r *once.Record) { r.State, r.JobID = once.Running, "job_1" }, false},
		"message, another send": {comment, func(r *once.Record) {
			r.Sender = "other"
			r.State = once.Running
			r.JobID = "job_1"
		}, true},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			send := mintlify.OpCreateJob
			if test.task.After != "" {
				w.do(task)
				send = mintlify.OpSendMessage
			}
			w.svc.FailNext(send, 1, mintlifytest.Fault{Delay: 20 * time.Second})
			changed := make(chan once.Record, 1)
			time.AfterFunc(time.Second, func() {
				record := w.get(test.task.Key)
				test.change(&record)
				changed <- w.put(record)
			})

			record, err := w.Do(t.Context(), test.task)
			if test.isLost {
				require.ErrorContains(t, err, test.task.Key)
				require.ErrorContains(t, err, "job_1")
				assert.Contains(t, w.log.String(), "level=ERROR")
				assert.Contains(t, w.log.String(), "job=job_1")
				assert.Equal(t, <-changed, w.get(test.task.Key))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, once.Done, record.State)
			assert.Equal(t, "job_1", record.JobID)
			assert.Empty(t, record.Problem)
			assert.NotContains(t, w.log.String(), "level=ERROR")
		})
	}
}

func TestStoreThatFailsAfterThePost(t *testing.T) {
	down := errors.New("the database is down")
	for name, test := range map[string]struct {
		outage   time.Duration
		err      error
		stores   bool // though it says it failed
		recorded bool
	}{
		"for a while":                {outage: 110 * time.Second, err: down, recorded: true},
		"for a while, but it stores": {outage: 110 * time.Second, err: down, stores: true, recorded: true},
		"for ever":                   {outage: time.Hour * 1000, err: down},
		"with conflicts for ever":    {outage: time.Hour * 1000, err: once.ErrConflict},
	} {
		inBubble(t, name, func(t *testing.T) {
			memory := oncetest.NewStore()
			up := time.Now().Add(test.outage)
			store := &hooked{Store: memory, put: func(ctx context.Context, r once.Record) error {
				if r.State == once.Sending || time.Now().After(up) {
					return memory.Put(ctx, r)
				}
				if test.stores {
					_ = memory.Put(ctx, r)
				}
				return test.err
			}}
			w := newWorld(t, store)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel) // not even then the id is lost
			record, err := w.Do(ctx, task)
			require.Error(t, err)
			assert.Equal(t, "job_1", record.JobID)
			if test.recorded {
				assert.Equal(t, "job_1", w.get(key).JobID)
				assert.NotContains(t, w.log.String(), "level=ERROR")
				return
			}
			assert.ErrorContains(t, err, "job_1")
			assert.ErrorIs(t, err, test.err)
			assert.Contains(t, w.log.String(), "level=ERROR")
			assert.Contains(t, w.log.String(), "job=job_1")
			assert.Equal(t, once.Sending, w.get(key).State)
		})
	}
}

func TestClaimThatCouldNotBeStoredSendsNothing(t *testing.T) {
	for name, test := range map[string]struct {
		put   func(m once.Store, r once.Record)
		state once.State
	}{
		"not stored":       {func(once.Store, once.Record) {}, ""},
		"stored":           {func(m once.Store, r once.Record) { _ = m.Put(context.Background(), r) }, once.Pending},
		"another's stored": {func(m once.Store, r once.Record) { r.Sender = "other"; _ = m.Put(context.Background(), r) }, once.Sending},
	} {
		inBubble(t, name, func(t *testing.T) {
			memory := oncetest.NewStore()
			store := &hooked{Store: memory}
			store.put = func(_ context.Context, r once.Record) error {
				store.put = nil
				test.put(memory, r)
				return errors.New("connection reset")
			}
			w := newWorld(t, store)
			_, err := w.Do(t.Context(), task)
			require.ErrorContains(t, err, "connection reset")
			assert.Zero(t, w.posts())
			assert.Equal(t, test.state, w.get(key).State)
		})
	}
}

// A store's own timeout is a DeadlineExceeded too.
func TestTimeoutOfTheStoreIsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, takingNoJob(fmt.Errorf("pool: %w", context.DeadlineExceeded)))
		w.add(task)
		err := w.Resume(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "job_1")
	})
}

func TestNothingMoreIsSentToAProjectThatRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		for _, k := range []string{"a", "b", "c"} {
			w.add(once.Task{Key: k, Prompt: "x"})
		}
		w.add(once.Task{Key: "other", Prompt: "x", ProjectID: "project-2"})
		w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 401})
		step := w.step("a")
		assert.Equal(t, once.Pending, step.Record.State)
		assertHeld(t, 5*time.Minute, step.Next)
		time.Sleep(time.Minute)
		for _, k := range []string{"a", "b", "c"} {
			step = w.step(k)
			assert.Equal(t, once.Pending, step.Record.State)
			assertHeld(t, 4*time.Minute, step.Next)
		}
		assert.Equal(t, 1, w.posts())
		step = w.step("other")
		assert.Equal(t, once.Running, step.Record.State)

		start := time.Now()
		require.NoError(t, w.Resume(t.Context()))
		assert.GreaterOrEqual(t, time.Since(start), 4*time.Minute)
		assert.Equal(t, 5, w.posts())
		assert.Contains(t, w.log.String(), "level=WARN msg=\"once: pending\"")
	})
}

func TestPollThatCannotGoOnLeavesItRunning(t *testing.T) {
	for _, status := range []int{401, 403, 404} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				const active = 8 // polls: for 30 s after Create a 404 is a failed poll
				steps := make([]mintlifytest.JobStep, active+1)
				w.svc.ScriptJob(append(steps, mintlifytest.JobStep{Status: mintlify.JobCompleted})...)
				w.svc.SucceedNext(mintlify.OpGetJob, 1+active) // the first one asks
				w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: status})
				record, err := w.Do(t.Context(), task)
				var apiErr *mintlify.APIError
				require.ErrorAs(t, err, &apiErr)
				assert.Equal(t, status, apiErr.StatusCode)
				assert.Equal(t, once.Running, record.State)
				assert.NotEmpty(t, record.Problem)

				w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: status, Body: `{"error":"in other words"}`})
				again := w.step(key)
				assert.Equal(t, record, again.Record, "noted once")
				assert.Equal(t, 5*time.Minute, again.Next)
				again = w.step(key)
				assert.Equal(t, once.Running, again.Record.State)
				assert.Empty(t, again.Record.Problem, "mended")
				require.NoError(t, w.Resume(t.Context()))
				assert.Equal(t, once.Done, w.get(key).State)
			})
		})
	}
}

func TestWaitOutlivesTheNetwork(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.SucceedNext(mintlify.OpGetJob, 1) // which asks first
		w.svc.FailNext(mintlify.OpGetJob, 500, mintlifytest.Fault{Status: 503})
		record := w.do(task)
		assert.Equal(t, 4, record.Version, "noted once that it is active for hours, and done")
		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(errors.New("deployment")) })
		record, err := w.Do(ctx, once.Task{Key: "b", Prompt: "x"})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "deployment")
		assert.Equal(t, once.Running, record.State)
		assert.Empty(t, w.get("b").Problem)
	})
}

func TestOnChangeAndLog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var states []string
		r := w.runner(w.svc.Client(), once.WithOnChange(func(r once.Record) { states = append(states, string(r.State)) }))
		_, err := r.Do(t.Context(), task)
		require.NoError(t, err)
		assert.Equal(t, []string{"sending", "running", "done"}, states)
		for _, want := range []string{"once: done", key, "job_1", "pull/1"} {
			assert.Contains(t, w.log.String(), want)
		}
		assert.NotContains(t, w.log.String(), "WARN")
		assert.NotContains(t, w.log.String(), task.Prompt)
		assert.NotContains(t, w.log.String(), mintlifytest.APIKey)
	})
}

func TestManyAtOnceAreOneJob(t *testing.T) {
	for name, open := range stores {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, open(t))
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					r, err := once.New(w.svc.Client(), w.store) // a process of its own
					assert.NoError(t, err)
					record, err := r.Do(t.Context(), task)
					assert.NoError(t, err)
					assert.Equal(t, "job_1", record.JobID)
				})
			}
			all.Wait()
			assert.Equal(t, 1, w.posts())
		})
	}
}

var stores = map[string]func(t *testing.T) once.Store{
	"memory": func(*testing.T) once.Store { return oncetest.NewStore() },
	"directory": func(t *testing.T) once.Store {
		dir, err := once.NewDir(t.TempDir())
		require.NoError(t, err)
		return dir
	},
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("damaged")
		memory := oncetest.NewStore()
		store := &hooked{Store: memory, get: func(ctx context.Context, key string) (once.Record, error) {
			if key == "bad" {
				return once.Record{}, broken
			}
			return memory.Get(ctx, key)
		}}
		w := newWorld(t, store)
		for _, k := range []string{"a", "b", "bad", "c"} {
			_, _, err := w.runnerOn(memory).Add(t.Context(), once.Task{Key: k, Prompt: "x"})
			require.NoError(t, err)
		}
		time.AfterFunc(7*time.Second, func() {
			_, _, err := w.Add(context.Background(), once.Task{Key: "late", Prompt: "x"})
			assert.NoError(t, err)
		})
		w.svc.ScriptJob(stepsOf(mintlifytest.JobStep{}, 3, mintlifytest.JobStep{Status: mintlify.JobCompleted})...)
		err := w.Resume(t.Context())
		require.ErrorIs(t, err, broken)
		assert.ErrorContains(t, err, "once: bad: ")
		assert.Equal(t, 1, strings.Count(err.Error(), "\n")+1)
		for _, k := range []string{"a", "b", "c", "late"} {
			assert.Equal(t, once.Done, w.get(k).State, k)
		}
		store.get = nil
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, 5, w.posts())
	})
}

func (w *world) runnerOn(store once.Store) *once.Runner {
	r, err := once.New(w.svc.Client(), store)
	require.NoError(w.t, err)
	return r
}

// A key that failed for a while, as the database did, goes on beside the others.
func TestResumeTriesAgainWhileThereIsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := oncetest.NewStore()
		up := time.Now().Add(8 * time.Second)
		store := &hooked{Store: memory, get: func(ctx context.Context, key string) (once.Record, error) {
			if key == "bad" && time.Now().Before(up) {
				return once.Record{}, errors.New("down")
			}
			return memory.Get(ctx, key)
		}}
		w := newWorld(t, store)
		for _, k := range []string{"bad", "long"} {
			pending := once.Record{Task: once.Task{Key: k, Prompt: "x"}, Version: 1, State: once.Pending}
			require.NoError(t, memory.Put(t.Context(), pending))
		}
		w.svc.ScriptJob(stepsOf(mintlifytest.JobStep{}, 4, mintlifytest.JobStep{Status: mintlify.JobCompleted})...)
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, once.Done, w.get("bad").State)
	})
}

func TestResumeEndsSoonAfterItsContext(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for i := range 30 {
			w.add(once.Task{Key: fmt.Sprint("k", i), Prompt: "x"})
			w.svc.ScriptJob(mintlifytest.JobStep{})
		}
		w.svc.FailNext(mintlify.OpCreateJob, 30, mintlifytest.Fault{Delay: 3 * time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, w.Resume(ctx), context.DeadlineExceeded)
		assert.Less(t, time.Since(start), 14*time.Second)
		assert.Len(t, w.svc.Jobs(), w.posts())
		running, err := w.store.List(t.Context(), once.Running)
		require.NoError(t, err)
		assert.Len(t, running, w.posts(), "each that was sent is on record")
		sending, err := w.store.List(t.Context(), once.Sending)
		require.NoError(t, err)
		assert.Empty(t, sending)
	})
}

// Five workers of a toy queue, which delivers at least once, and a network with faults.
func TestStepInAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		const keys = 100
		queue := make(chan string, 4*keys)
		for i := range keys {
			k := fmt.Sprint("acme/api@", i)
			w.add(once.Task{Key: k, Prompt: "x"})
			queue <- k
			queue <- k // twice
			if i%10 == 0 {
				w.svc.SucceedNext(mintlify.OpCreateJob, 9)
				w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429})
			}
		}
		var left, workers sync.WaitGroup
		left.Add(2 * keys)
		for range 5 {
			workers.Go(func() {
				for k := range queue {
					step, err := w.Step(t.Context(), k)
					assert.NoError(t, err)
					if step.Next == 0 {
						left.Done()
						continue
					}
					time.AfterFunc(step.Next, func() { queue <- k })
				}
			})
		}
		left.Wait()
		close(queue)
		workers.Wait()
		assert.Len(t, w.svc.Jobs(), keys)
		done, err := w.store.List(t.Context(), once.Done)
		require.NoError(t, err)
		assert.Len(t, done, keys)
	})
}

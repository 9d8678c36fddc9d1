package once_test

import (
	"context"
	"errors"
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

// resending is a store whose client resends each conditional write: the second one fails.
func resending() *hooked {
	store := &hooked{Store: oncetest.NewStore()}
	store.put = func(ctx context.Context, r once.Record) error {
		if err := store.Store.Put(ctx, r); err != nil {
			return err
		}
		return store.Store.Put(ctx, r)
	}
	return store
}

func TestStoreThatResendsItsWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, resending())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.AfterFunc(time.Second, func() { // wakes Run, which lists every 5 s
			_, added, err := w.Add(t.Context(), task)
			assert.NoError(t, err)
			assert.True(t, added, "its own write is not another's")
			time.Sleep(time.Second)
			assert.NotEqual(t, once.Pending, w.get(key).State, "Run is awake")
			_, added, err = w.Add(t.Context(), task)
			assert.NoError(t, err)
			assert.False(t, added)
		})
		require.ErrorIs(t, w.Run(ctx), context.DeadlineExceeded)
		assert.Equal(t, once.Done, w.get(key).State)
		assert.Equal(t, 1, w.get(key).Sends, "the claim was taken for what it is")
		assert.Equal(t, 1, w.posts())
	})
}

// Another process's claim, and a claim that is found too late, are not taken for our own.
func TestClaimThatIsNotOurs(t *testing.T) {
	for name, late := range map[string]time.Duration{"another's": 0, "late": 61 * time.Second} {
		inBubble(t, name, func(t *testing.T) {
			store := &hooked{Store: oncetest.NewStore()}
			store.put = func(ctx context.Context, r once.Record) error {
				if r.State != once.Sending {
					return store.Store.Put(ctx, r)
				}
				if late == 0 {
					r.Sender = "other"
				}
				require.NoError(t, store.Store.Put(ctx, r))
				time.Sleep(late)
				return once.ErrConflict
			}
			w := newWorld(t, store)
			w.add(task)
			step := w.step(key)
			assert.False(t, step.Sent)
			assert.Zero(t, w.posts())
			want := once.Sending
			if late > 0 {
				want = once.Pending
			}
			assert.Equal(t, want, w.get(key).State)
		})
	}
}

func TestPanicInOnChangeGivesTheClaimBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.add(task)
		r := w.runner(w.svc.Client(), once.WithOnChange(func(r once.Record) {
			if r.State == once.Sending {
				panic("boom")
			}
		}))
		assert.PanicsWithValue(t, "boom", func() { _, _ = r.Step(t.Context(), key) })
		assert.Equal(t, once.Pending, w.get(key).State)
		assert.Zero(t, w.posts())

		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, once.Done, w.get(key).State)
	})
}

// What only waits for a quota, an outage or another record is not a warning.
func TestWarningsAreForAPerson(t *testing.T) {
	for name, test := range map[string]struct {
		op    mintlify.Operation
		fault mintlifytest.Fault
		warns bool
	}{
		"quota":            {mintlify.OpCreateJob, mintlifytest.Fault{Status: 429}, false},
		"outage":           {mintlify.OpGetJob, mintlifytest.Fault{Status: 503}, false},
		"no connection":    {mintlify.OpCreateJob, mintlifytest.Fault{Refuse: true}, false},
		"key":              {mintlify.OpCreateJob, mintlifytest.Fault{Status: 401}, true},
		"key, asked first": {mintlify.OpGetJob, mintlifytest.Fault{Status: 403}, true},
		"credits":          {mintlify.OpCreateJob, mintlifytest.Fault{Status: 402}, true},
		"refused":          {mintlify.OpCreateJob, mintlifytest.Fault{Status: 400}, true},
		"unknown":          {mintlify.OpCreateJob, mintlifytest.Fault{Status: 504}, true},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.add(task, comment)
			w.step(commentKey)
			w.svc.FailNext(test.op, 1, test.fault)
			step, _ := w.Step(t.Context(), key)
			require.NotEmpty(t, step.Record.Problem)
			assert.Equal(t, test.warns, strings.Contains(w.log.String(), "level=WARN"), w.log.String())
		})
	}
}

func TestMarkDoneAgain(t *testing.T) {
	w := newWorld(t, oncetest.NewStore())
	w.put(once.Record{Task: task, State: once.Refused, Problem: "400"})
	record := w.must(w.MarkDone(t.Context(), key, foundLink))
	again := w.must(w.MarkDone(t.Context(), key, foundLink))
	assert.Equal(t, record, again, "nothing is stored")
	assert.Equal(t, record, w.get(key))

	_, err := w.MarkDone(t.Context(), key, "https://example.com/pull/8")
	require.ErrorIs(t, err, once.ErrState)
}

// TestMarkDoneOfAPromptThatIsSentAgain: its pull request is found while it waits, and nothing is sent.
func TestMarkDoneOfAPromptThatIsSentAgain(t *testing.T) {
	w := newWorld(t, oncetest.NewStore())
	w.put(once.Record{Task: task, State: once.Unknown, Sends: 1, Deadline: time.Now()})
	w.must(w.SendAgain(t.Context(), key))
	record := w.must(w.MarkDone(t.Context(), key, foundLink))
	assert.Equal(t, once.Done, record.State)
	assert.Equal(t, foundLink, record.PRLink)

	w.put(once.Record{Task: task, State: once.Pending})
	_, err := w.MarkDone(t.Context(), key, foundLink)
	require.ErrorIs(t, err, once.ErrState, "nothing can have come of it")
}

func TestMarkDoneWithoutALinkKeepsTheOneOnRecord(t *testing.T) {
	for _, state := range []once.State{once.Running, once.Failed} {
		w := newWorld(t, oncetest.NewStore())
		w.put(once.Record{Task: task, State: state, JobID: "job_1", PRLink: "https://example.com/pull/8"})
		record := w.must(w.MarkDone(t.Context(), key, ""))
		assert.Equal(t, "https://example.com/pull/8", record.PRLink, state)

		w.put(once.Record{Task: task, State: state, JobID: "job_1", PRLink: "https://example.com/pull/8"})
		record = w.must(w.MarkDone(t.Context(), key, foundLink))
		assert.Equal(t, foundLink, record.PRLink, "a person knows better")
	}
}

func TestAdoptOfADoneRecordWithoutAJob(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.AddJob("job_7", mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: foundLink})
		w.put(once.Record{Task: task, State: once.Done, Deadline: time.Now()})
		w.add(comment)
		require.Error(t, w.Resume(t.Context()))

		record := w.must(w.Adopt(t.Context(), key, "job_7"))
		assert.Equal(t, once.Running, record.State)
		assert.True(t, record.Deadline.IsZero())
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, once.Done, w.get(commentKey).State)

		done := w.get(key)
		again := w.must(w.Adopt(t.Context(), key, "job_7"))
		assert.Equal(t, done, again, "safe to call again")
		assert.Equal(t, done, w.get(key))
		_, err := w.Adopt(t.Context(), key, "job_8")
		require.ErrorIs(t, err, once.ErrState, "it has another job")
	})
}

// Resume's error names a job that could not be recorded, also if ctx has ended meanwhile.
func TestResumeNamesAJobThatCouldNotBeRecorded(t *testing.T) {
	for name, ends := range map[string]bool{"to the end": false, "ctx ends": true} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, takingNoJob(errors.New("the database is down")))
			w.add(task)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if ends {
				time.AfterFunc(10*time.Second, cancel)
			}
			err := w.Resume(ctx)
			require.ErrorContains(t, err, `job "job_1" could not be recorded`)
			require.ErrorContains(t, err, key)
			assert.Equal(t, ends, errors.Is(err, context.Canceled))
		})
	}
}

func TestDoNamesTheStatusThatItWaitedFor(t *testing.T) {
	for _, status := range []mintlify.JobStatus{mintlify.JobActive, "paused"} {
		inWorld(t, func(t *testing.T, w *world) {
			w.svc.ScriptJob(mintlifytest.JobStep{Status: status})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := w.Do(ctx, task)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorContains(t, err, string(status))
		})
	}
}

// A status that nobody knows is noted once, ten minutes after the deadline, and stays until it has
// gone.
func TestOddStatusIsAProblem(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		end := mintlifytest.JobStep{Status: mintlify.JobCompleted}
		w.svc.ScriptJob(stepsOf(mintlifytest.JobStep{Status: "paused"}, 100, end)...)
		var problems []string
		r := w.runner(w.svc.Client(mintlifytest.WithRealSchedule()), once.WithOnChange(func(r once.Record) {
			problems = append(problems, r.Problem)
		}))
		start := time.Now()
		time.AfterFunc(10*time.Minute, func() { assert.Empty(t, w.get(key).Problem) })
		_, err := r.Do(t.Context(), task)
		require.NoError(t, err)
		assert.Greater(t, time.Since(start), 15*time.Minute)
		odd := `the job has the status "paused", which this version does not know`
		assert.Equal(t, []string{"", "", odd, ""}, problems, "sending, running, noted, done")
		assert.Equal(t, 1, strings.Count(w.log.String(), "level=WARN"))
	})
}

func TestOddStatusThatComesAgainIsNotedAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		paused := mintlifytest.JobStep{Status: "paused"}
		active := mintlifytest.JobStep{Status: mintlify.JobActive}
		w.svc.AddJob("job_7", append(stepsOf(paused, 100, active), paused)...)
		w.put(once.Record{Task: task, State: once.Running, JobID: "job_7", Deadline: time.Now()})

		w.runFor(w.Runner, 2*time.Hour)

		assert.Equal(t, 4, w.get(key).Version, "noted, gone, and noted again")
		assert.Equal(t, 2, strings.Count(w.log.String(), "level=WARN"))
	})
}

package once_test

import (
	"context"
	"fmt"
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

const commentKey = key + "#comment-1"

var comment = once.Task{Key: commentKey, Prompt: "Add an example", After: key}

// put stores a record as another process would.
func (w *world) put(record once.Record) once.Record {
	w.t.Helper()
	record.Version = w.get(record.Key).Version + 1
	if record.UpdatedAt.IsZero() {
		record.UpdatedAt = time.Now().UTC().Round(0)
	}
	require.NoError(w.t, w.store.Put(context.Background(), record))
	return record
}

// messages returns how many messages reached the service.
func (w *world) messages() int { return w.count(mintlify.OpSendMessage) }

func TestFollowUpIsAMessageToTheJobBefore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.do(once.Task{Key: key, Prompt: "x", ProjectID: "project-2"})

		record := w.do(comment)
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, first.JobID, record.JobID)
		assert.Equal(t, first.PRLink, record.PRLink)
		assert.Equal(t, "project-2", record.ProjectID)
		assert.Equal(t, 1, record.Sends)
		assert.Equal(t, first, w.get(key))
		assert.Equal(t, "Add an example", w.prompts()[1], "without a marker")
		assert.Len(t, w.svc.Jobs(), 1)

		again := w.do(comment)
		assert.Equal(t, record, again)
		assert.Equal(t, 1, w.messages())

		for _, request := range w.svc.Requests() {
			assert.Equal(t, "project-2", request.ProjectID)
		}
	})
}

// A chain that is added at once, last first in the list: each message comes after the end of
// the one before, whether the runner is stopped or not.
func TestChainIsSentInOrder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.add(
			once.Task{Key: "a", Prompt: "1"},
			once.Task{Key: "b", Prompt: "2", After: "a"},
			once.Task{Key: "c", Prompt: "3", After: "b"},
		)
		for w.get("c").State != once.Done {
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
			err := w.runner(w.svc.Client(mintlifytest.WithRealSchedule())).Resume(ctx)
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			cancel()
		}
		require.Len(t, w.prompts(), 3)
		assert.Contains(t, w.prompts()[0], "1\n")
		assert.Equal(t, []string{"2", "3"}, w.prompts()[1:])
		assert.Len(t, w.svc.Jobs(), 1)
	})
}

func TestDoThatEndsWhileItWaitsSaysWhatFor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.add(task)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()

		_, err := w.Do(ctx, comment)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "once: "+commentKey+" is pending: waits for "+key+", which is pending: context deadline")
	})
}

// After a message the job may still report its end for a while. Polls ignore that for 30 s.
func TestEndOfBeforeTheMessageIsIgnored(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ended := mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://example.com/1"}
		changed := mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://example.com/2"}
		w.svc.ScriptJob(ended, ended, ended, ended, mintlifytest.JobStep{}, changed)
		w.do(task)

		w.add(comment)
		step := w.step(commentKey)
		require.Equal(t, once.Running, step.Record.State)

		sent := time.Now()
		for range 2 {
			again := w.step(commentKey)
			assert.Equal(t, step.Record, again.Record, "nothing is stored")
			assert.Equal(t, 30*time.Second-time.Since(sent), again.Next)

			time.Sleep(10 * time.Second)
		}
		record := w.do(comment)
		assert.GreaterOrEqual(t, time.Since(sent), 30*time.Second)
		assert.Equal(t, "https://example.com/2", record.PRLink)
	})
}

// By a clock that was a year ahead, the 30 s would not end for a year.
func TestFollowUpOfAClockAYearAheadEnds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.do(task)

		wrong := time.Now().AddDate(1, 0, 0)
		w.put(once.Record{Task: comment, Thread: key, State: once.Running, JobID: "job_1", Deadline: wrong})
		start := time.Now()
		record := w.do(comment)
		assert.Equal(t, 3, record.Version, "rewritten once, and done")
		assert.InDelta(t, 30*time.Second, time.Since(start), float64(5*time.Second))
	})
}

// What a step of a pending follow-up does, by the state of its thread's first record.
func TestFollowUpByTheStateOfItsFirstRecord(t *testing.T) {
	tests := map[string]struct {
		before once.Record
		says   string // the problem, after the name and the state of the record before
		waits  time.Duration
		stuck  bool // a person must decide about the record before
	}{
		"pending": {
			before: once.Record{State: once.Pending},
			waits:  time.Minute,
		},
		"unknown": {
			before: once.Record{State: once.Unknown},
			waits:  5 * time.Minute,
			stuck:  true,
		},
		"refused": {
			before: once.Record{State: once.Refused},
			waits:  5 * time.Minute,
			stuck:  true,
		},
		"canceled": {
			before: once.Record{State: once.Canceled},
			waits:  5 * time.Minute,
			stuck:  true,
		},
		"done without an id": {
			before: once.Record{State: once.Done},
			says:   " without the id of a job: what follows it needs Adopt or Cancel",
			waits:  5 * time.Minute,
			stuck:  true,
		},
		"of a newer version": {
			before: once.Record{State: "reviewing"},
			waits:  5 * time.Minute,
			stuck:  true,
		},
		"done":   {before: once.Record{State: once.Done, JobID: "job_7"}},
		"failed": {before: once.Record{State: once.Failed, JobID: "job_7"}},
	}
	for name, test := range tests {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.svc.AddJob("job_7", mintlifytest.JobStep{Status: mintlify.JobCompleted})
			test.before.Key = key
			test.before.Prompt = "x"
			before := w.put(test.before)
			w.add(comment)

			step := w.step(commentKey)
			if test.waits == 0 {
				assert.Equal(t, once.Running, step.Record.State)
				assert.Equal(t, "job_7", step.Record.JobID)
				assert.Equal(t, 1, w.messages())
				return
			}
			assert.Equal(t, test.waits, step.Next)
			assert.Equal(t, once.Pending, step.Record.State)
			problem := "waits for " + key + ", which is " + string(before.State) + test.says
			assert.Equal(t, problem, step.Record.Problem)

			again := w.step(commentKey)
			assert.Equal(t, step.Record, again.Record, "noted once")
			assert.Empty(t, w.svc.Requests())
			assert.Equal(t, before, w.get(key))

			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err := w.Do(ctx, comment)
			require.ErrorContains(t, err, commentKey)
			if !test.stuck {
				require.ErrorIs(t, err, context.DeadlineExceeded, "Do waits")
				return
			}
			require.ErrorContains(t, err, problem)
			assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)

			err = w.Resume(ctx)
			require.ErrorContains(t, err, "once: "+commentKey+": "+problem)
		})
	}
}

// While the record before it is sending or running, a step of the follow-up is one of that.
func TestFollowUpDoesTheStepOfTheRecordBefore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		end := mintlifytest.JobStep{Status: mintlify.JobCompleted}
		w.svc.AddJob("job_7", mintlifytest.JobStep{}, mintlifytest.JobStep{}, end)
		w.put(once.Record{Task: task, State: once.Running, JobID: "job_7"})
		record := w.do(comment)
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, once.Done, w.get(key).State)
		assert.Equal(t, 1, w.messages())
		assert.Equal(t, 4, record.Version, "pending at first")

		w.put(once.Record{
			Task:     once.Task{Key: "dead", Prompt: "x"},
			State:    once.Sending,
			Sender:   "dead",
			Deadline: time.Now().Add(time.Minute),
		})
		start := time.Now()
		_, err := w.Do(t.Context(), once.Task{Key: "after-dead", Prompt: "x", After: "dead"})
		require.ErrorContains(t, err, "waits for dead, which is unknown")
		assert.Equal(t, 3*time.Minute, time.Since(start).Round(time.Second))
		assert.Equal(t, once.Unknown, w.get("dead").State)
		assert.Equal(t, 1, w.messages())
	})
}

func TestFollowUpOfAJobThatCannotBePolledWaits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: task, State: once.Running, JobID: "job_7"})
		_, err := w.Do(t.Context(), comment)
		require.ErrorIs(t, err, mintlify.ErrNotFound, "as Do of the record before it")
		assert.Equal(t, once.Pending, w.get(commentKey).State)
		assert.Equal(t, once.Running, w.get(key).State)
		assert.Contains(t, w.get(key).Problem, "404")
	})
}

// A job that works again, for another message or for a person, is not interrupted.
func TestNoMessageToAJobThatWorksAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.AddJob("job_7", mintlifytest.JobStep{}, mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobFailed})
		w.put(once.Record{Task: task, State: once.Done, JobID: "job_7"})
		w.add(comment)
		for range 2 {
			step := w.step(commentKey)
			assert.Equal(t, once.Pending, step.Record.State)
			assert.Greater(t, step.Next, 4*time.Second)
			assert.Zero(t, w.messages())
		}
		step := w.step(commentKey)
		assert.Equal(t, once.Running, step.Record.State)
		assert.Equal(t, 1, w.messages())
		assert.Zero(t, w.preflights(), "the polls have shown that the service works")
	})
}

func TestServiceIsAskedBeforeAMessageToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.do(task)

		w.add(comment)
		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503})
		step := w.step(commentKey)
		assert.Equal(t, once.Pending, step.Record.State)
		assert.Contains(t, step.Record.Problem, "nothing was sent")
		assertHeld(t, 30*time.Second, step.Next)
		assert.Zero(t, w.messages())
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, once.Done, w.get(commentKey).State)
	})
}

// Every way a message can go that differs from a new job's.
func TestOutcomesOfAMessage(t *testing.T) {
	for name, test := range map[string]struct {
		fault mintlifytest.Fault
		state once.State
		held  time.Duration
	}{
		"404":             {mintlifytest.Fault{Status: 404}, once.Refused, 0},
		"409":             {mintlifytest.Fault{Status: 409}, once.Refused, 0},
		"400":             {mintlifytest.Fault{Status: 400}, once.Refused, 0},
		"401":             {mintlifytest.Fault{Status: 401}, once.Pending, 5 * time.Minute},
		"429":             {mintlifytest.Fault{Status: 429}, once.Pending, 30 * time.Second},
		"connection lost": {mintlifytest.Fault{Drop: true}, once.Sending, 30 * time.Second},
		"HTML":            {mintlifytest.Fault{Body: "<html>OK"}, once.Sending, 30 * time.Second},
		"another's job":   {mintlifytest.Fault{Body: `{"id":"job_77","status":"active"}`}, once.Running, 0},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.do(task)

			w.add(comment)
			w.svc.FailNext(mintlify.OpSendMessage, 1, test.fault)
			step, err := w.Step(t.Context(), commentKey)
			assert.Equal(t, test.state.IsOpen(), err == nil)
			assert.Equal(t, test.state, step.Record.State)
			assert.Equal(t, test.state == once.Running, step.Record.JobID == "job_1")

			w.add(once.Task{Key: "next", Prompt: "x"})
			step = w.step("next")

			if test.held == 0 {
				assert.Equal(t, once.Running, w.get("next").State, "the project is not held")
			} else {
				assertHeld(t, test.held, step.Next)
			}
			if test.state == once.Sending {
				record, err := w.Do(t.Context(), comment)
				require.NoError(t, err, "its job tells")
				assert.Equal(t, once.Done, record.State)
			}
			assert.Equal(t, 1, w.messages())
		})
	}
}

// Between the look at the record before and the message a person has its prompt sent again.
func TestRecordBeforeThatChangesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()}
		w := newWorld(t, store)
		w.svc.AddJob("job_7", mintlifytest.JobStep{Status: mintlify.JobFailed})
		failed := w.put(once.Record{Task: task, State: once.Failed, JobID: "job_7"})
		w.add(comment)
		store.put = func(ctx context.Context, r once.Record) error {
			store.put = nil
			failed.State = once.Pending
			failed.JobID = ""
			w.put(failed)
			return store.Store.Put(ctx, r)
		}
		step := w.step(commentKey)
		require.NoError(t, step.Err, "it tries again by itself")
		assert.Equal(t, once.Pending, step.Record.State)
		assert.Empty(t, step.Record.Problem)
		assert.Less(t, step.Next, 10*time.Second)
		assert.Zero(t, w.messages())
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, "job_2", w.get(commentKey).JobID)
		assert.Equal(t, once.Done, w.get(commentKey).State)
	})
}

func TestArgumentsOfAFollowUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for name, bad := range map[string]once.Task{
			"of itself":    {Key: "a", Prompt: "x", After: "a"},
			"of no record": {Key: "a", Prompt: "x", After: "missing"},
			"of no key":    {Key: "a", Prompt: "x", After: "mis sing"},
		} {
			_, err := w.Do(t.Context(), bad)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument, name)
			require.ErrorContains(t, err, "once: a: ", name)

			_, added, err := w.Add(t.Context(), bad)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument, name)
			assert.False(t, added)
		}
		assert.Empty(t, w.states(), "nothing is stored")

		_, err := w.Do(t.Context(), once.Task{Key: "a", Prompt: "x", After: "a"})
		require.ErrorContains(t, err, "after is the task's own key")

		w.do(task)

		_, err = w.Do(t.Context(), once.Task{Key: key, After: "other"})
		require.ErrorIs(t, err, mintlify.ErrInvalidArgument)

		w.add(comment, once.Task{Key: "other", Prompt: "x"})
		for _, after := range []string{"other", ""} {
			_, err = w.Do(t.Context(), once.Task{Key: commentKey, Prompt: "x", After: after})
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			assert.Equal(t, 1, w.get(commentKey).Version)
		}
		_, err = w.Do(t.Context(), once.Task{Key: commentKey})
		require.NoError(t, err, "it takes up what is on record")

		_, err = w.Do(t.Context(), once.Task{Key: commentKey, Prompt: "x", After: "other"})
		require.ErrorIs(t, err, mintlify.ErrInvalidArgument, "for good")
	})
}

func TestProjectOfAFollowUpIsTheOtherRecords(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.add(once.Task{Key: key, Prompt: "x", ProjectID: "project-2"})
		webhook := w.runner(nil)

		another := once.Task{Key: commentKey, Prompt: "x", After: key, ProjectID: "project-3"}
		record, _, err := webhook.Add(t.Context(), another)
		require.NoError(t, err)
		assert.Equal(t, "project-2", record.ProjectID)

		_, _, err = webhook.Add(t.Context(), once.Task{Key: "unpinned", Prompt: "x"})
		require.NoError(t, err)

		_, _, err = webhook.Add(t.Context(), once.Task{Key: "its-follow-up", Prompt: "x", After: "unpinned"})
		require.NoError(t, err)
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, mintlifytest.ProjectID, w.get("its-follow-up").ProjectID)
		assert.Equal(t, map[once.State]int{once.Done: 4}, w.states())
	})
}

// A public store has no project and no prompt: Do brings them.
func TestFollowUpInAPublicStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, publicStore())
		w.do(once.Task{Key: key, Prompt: "x", ProjectID: "project-2"})

		follow := once.Task{Key: commentKey, Prompt: "x", After: key, ProjectID: "project-2"}
		w.add(follow)
		record := w.do(follow)
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, 1, w.messages())
		assert.Equal(t, 1, w.posts())
	})
}

// Once a person has decided about the record before it, a follow-up goes on.
func TestFollowUpGoesOnAfterADecision(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.add(task, comment)
		w.must(w.Cancel(t.Context(), key))
		require.Error(t, w.Resume(t.Context()))

		w.must(w.SendAgain(t.Context(), key))
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, map[once.State]int{once.Done: 2}, w.states())
		assert.Empty(t, w.get(commentKey).Problem)

		record, err := w.Adopt(t.Context(), key, "job_2")
		require.ErrorIs(t, err, once.ErrState)
		assert.Equal(t, once.Done, record.State)
	})
}

func TestTooLongAChainIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, notListing())
		w.do(task)
		for i := range 3 { // a circle, made by hand
			after := fmt.Sprint((i + 1) % 3)
			task := once.Task{Key: fmt.Sprint(i), Prompt: "x", After: after}
			w.put(once.Record{Task: task, Thread: key, State: once.Canceled})
		}
		w.put(once.Record{Task: once.Task{Key: "k", Prompt: "x", After: "0"}, Thread: key, State: once.Pending})
		_, err := w.Do(t.Context(), once.Task{Key: "k"})
		require.ErrorContains(t, err, "wait for each other")

		w.put(once.Record{Task: once.Task{Key: "lost", Prompt: "x", After: key}, State: once.Pending})
		_, err = w.Do(t.Context(), once.Task{Key: "lost"})
		require.ErrorContains(t, err, "the store must keep both")
	})
}

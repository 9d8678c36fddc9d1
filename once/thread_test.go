package once_test

import (
	"context"
	"errors"
	"fmt"
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

// said returns the nth comment on key's pull request.
func said(n int) once.Task {
	return once.Task{Key: fmt.Sprint(key, "#comment-", n), Prompt: fmt.Sprint("comment ", n), After: key}
}

// Whichever record of the thread a follow-up names, the first one's key is stored with it.
func TestThreadOfAFollowUp(t *testing.T) {
	w := newWorld(t, oncetest.NewStore())
	w.add(task, said(1))
	second := said(2)
	second.After = said(1).Key
	w.add(second)
	for _, task := range []once.Task{said(1), second} {
		assert.Equal(t, key, w.get(task.Key).Thread)
		assert.False(t, w.get(task.Key).AddedAt.IsZero())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	third := said(3)
	third.After = second.Key
	_, err := w.Do(ctx, third)
	require.ErrorIs(t, err, context.Canceled)

	w.add(once.Task{Key: "other", Prompt: "x"})
	third.Key = second.Key
	third.After = "other"
	_, err = w.Do(t.Context(), third)
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument, "another thread")
}

// Four processes add comments that all name the merge, and two work them off: they reach the job one
// after the other, in the order in which they were added, although the job works for long.
func TestMessagesOfAThreadComeInOrder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		steps := stepsOf(mintlifytest.JobStep{}, 120, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		w.svc.ScriptJob(steps...)
		idle := w.idleOnly()
		w.add(task)
		for n := range 4 {
			time.Sleep(time.Second)
			webhook := w.runner(nil)
			_, _, err := webhook.Add(t.Context(), said(n))
			require.NoError(t, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Hour)
		defer cancel()
		go func() { _ = w.runner(idle).Run(ctx) }()
		_ = w.runner(idle).Run(ctx)
		assert.Equal(t, map[once.State]int{once.Done: 5}, w.states())
		assert.Equal(t, []string{"comment 0", "comment 1", "comment 2", "comment 3"}, w.prompts()[1:])
	})
}

// stepsOf returns n times step, and end.
func stepsOf(step mintlifytest.JobStep, n int, end mintlifytest.JobStep) []mintlifytest.JobStep {
	var steps []mintlifytest.JobStep
	for range n {
		steps = append(steps, step)
	}
	return append(steps, end)
}

// idleOnly is a client whose messages must go to a job that has ended.
func (w *world) idleOnly() *mintlify.Client {
	check := func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/message") {
			for _, job := range w.svc.Jobs() {
				assert.True(w.t, job.Status.IsTerminal(), "%s gets a message while it is %s", job.ID, job.Status)
			}
		}
		return 0
	}
	way := mintlify.WithHTTPClient(&http.Client{Transport: &weather{w.svc, check}})
	return w.svc.Client(mintlifytest.WithRealSchedule(), way)
}

// Whoever is to send a message and finds an earlier one that is pending sends that one, however old it is,
// unless its prompt is not on record.
func TestEarlierMessageGoesFirst(t *testing.T) {
	for name, test := range map[string]struct {
		age    time.Duration // of the earlier one
		prompt string
		goes   bool // the earlier one, first
	}{
		"new":              {0, "x", true},
		"a day old":        {24 * time.Hour, "x", true},
		"by a wrong clock": {-2 * time.Hour, "x", true},
		"without prompt":   {0, "", false},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.do(task)
			time.Sleep(time.Hour)
			added := time.Now().Add(-test.age)
			w.put(once.Record{
				Task:    once.Task{Key: "earlier", Prompt: test.prompt, After: key},
				Thread:  key,
				State:   once.Pending,
				AddedAt: added,
			})
			w.put(once.Record{Task: comment, Thread: key, State: once.Pending, AddedAt: added.Add(time.Second)})

			step := w.step(commentKey)
			assert.True(t, step.Sent)
			assert.Equal(t, commentKey, step.Record.Key)
			assert.Positive(t, step.Next)
			if !test.goes {
				assert.Equal(t, once.Running, step.Record.State)
				assert.Zero(t, step.Ahead)
				return
			}
			assert.Equal(t, once.Pending, step.Record.State)
			assert.Empty(t, step.Record.Problem)
			assert.Equal(t, w.get("earlier"), step.Ahead)
			assert.Equal(t, once.Running, step.Ahead.State)

			again := w.step(commentKey)
			assert.False(t, again.Sent)
			assert.Equal(t, "earlier", again.Ahead.Key, "it was polled")
			w.do(comment)
			assert.Equal(t, once.Done, w.get("earlier").State)
			assert.Equal(t, []string{"x", comment.Prompt}, w.prompts()[1:])
		})
	}
}

// A backlog that has waited for long goes out in order, whatever the Runners have seen.
func TestBacklogGoesOutInOrder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.AddJob("job_7", mintlifytest.JobStep{Status: mintlify.JobCompleted})
		w.put(once.Record{Task: task, State: once.Running, JobID: "job_7"})
		w.add(said(1), said(2), said(3))
		time.Sleep(time.Hour)

		for w.get(said(3).Key).State.IsOpen() {
			step, err := w.runner(w.svc.Client(mintlifytest.WithRealSchedule())).Step(t.Context(), said(3).Key)
			require.NoError(t, err)
			time.Sleep(step.Next)
		}
		assert.Equal(t, []string{"comment 1", "comment 2", "comment 3"}, w.prompts())
		assert.Equal(t, map[once.State]int{once.Done: 4}, w.states())
	})
}

// What a step says if the record ahead was not sent, or is over.
func TestStepAboutTheRecordAhead(t *testing.T) {
	for name, test := range map[string]struct {
		op    mintlify.Operation
		fault mintlifytest.Fault
		state once.State // of the record ahead
		sent  bool
		next  time.Duration
	}{
		"asked in vain": {mintlify.OpGetJob, mintlifytest.Fault{Status: 503}, once.Pending, false, 30 * time.Second},
		"429":           {mintlify.OpSendMessage, mintlifytest.Fault{Status: 429}, once.Pending, true, 30 * time.Second},
		"refused":       {mintlify.OpSendMessage, mintlifytest.Fault{Status: 400}, once.Refused, true, 1},
		"lost":          {mintlify.OpSendMessage, mintlifytest.Fault{Status: 504}, once.Sending, true, 5 * time.Second},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.do(task)
			w.add(said(1), said(2))
			w.svc.FailNext(test.op, 1, test.fault)

			step := w.step(said(2).Key)
			assert.Equal(t, once.Pending, step.Record.State)
			assert.Equal(t, said(1).Key, step.Ahead.Key)
			assert.Equal(t, test.state, step.Ahead.State)
			assert.Equal(t, test.sent, step.Sent)
			assertHeld(t, test.next, step.Next)
			require.ErrorContains(t, step.Err, "once: "+said(1).Key+": ")
			assert.ErrorAs(t, step.Err, new(*mintlify.APIError))
		})
	}
}

// Do sends what is before its own record without heeding the hold, but asks first. Its error names the record
// that it is about, and never says that its own prompt may have arrived.
func TestDoSendsWhatIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		w.do(task)
		w.add(said(1), said(2))

		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503})
		_, err := w.Do(t.Context(), said(2))
		require.ErrorContains(t, err, "once: "+said(1).Key+", which "+said(2).Key+" waits for: ")
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assertHeld(t, 30*time.Second, w.step(said(2).Key).Next, "it is held")

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		w.svc.FailNext(mintlify.OpSendMessage, 1, mintlifytest.Fault{Status: 504})
		_, err = w.Do(ctx, said(2))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.Equal(t, once.Sending, w.get(said(1).Key).State)
		assert.Equal(t, once.Pending, w.get(said(2).Key).State)
	})
}

// An error about the record ahead begins with its key.
func TestErrorAboutTheRecordAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()}
		w := newWorld(t, store)
		w.do(task)
		w.add(said(1), said(2))
		store.put = func(ctx context.Context, r once.Record) error {
			if r.State == once.Sending {
				return errors.New("the database is down")
			}
			return store.Store.Put(ctx, r)
		}
		begins := "once: " + said(1).Key + ", which " + said(2).Key + " waits for: the database is down"

		step, err := w.Step(t.Context(), said(2).Key)
		require.EqualError(t, err, begins)
		assert.Equal(t, 5*time.Second, step.Next)
		assert.Equal(t, said(1).Key, step.Ahead.Key)

		_, err = w.Do(t.Context(), said(2))
		require.EqualError(t, err, begins)
	})
}

// Between the look at the thread and the claim, an earlier message is added.
func TestEarlierMessageThatIsAddedBeforeTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()}
		w := newWorld(t, store)
		w.do(task)
		added := time.Now().UTC()
		time.Sleep(time.Minute)
		w.add(said(2))
		store.put = func(ctx context.Context, r once.Record) error {
			store.put = nil
			w.put(once.Record{Task: said(1), Thread: key, State: once.Pending, AddedAt: added})
			return store.Store.Put(ctx, r)
		}
		step := w.step(said(2).Key)
		assert.False(t, step.Sent)
		assert.Equal(t, once.Pending, step.Record.State)

		w.do(said(2))
		assert.Equal(t, []string{"comment 1", "comment 2"}, w.prompts()[1:])
	})
}

// Two processes claim two follow-ups of a thread at the same time: both give way.
func TestClaimThatIsNotAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()}
		w := newWorld(t, store)
		w.do(task)
		w.add(said(1))
		store.put = func(ctx context.Context, r once.Record) error {
			if r.State == once.Sending {
				store.put = nil
				w.put(once.Record{
					Task: said(2), Thread: key, State: once.Sending, Sender: "other",
					Deadline: time.Now().Add(time.Minute),
				})
			}
			return store.Store.Put(ctx, r)
		}
		step := w.step(said(1).Key)
		require.NoError(t, step.Err)
		assert.False(t, step.Sent)
		assert.Equal(t, once.Pending, step.Record.State)
		assert.Empty(t, step.Record.Problem)
		assert.GreaterOrEqual(t, step.Next, time.Second)
		assert.LessOrEqual(t, step.Next, 10*time.Second)
		assert.Zero(t, w.messages())
		assert.NotContains(t, w.log.String(), "level=WARN")
	})
}

// A claim whose List fails is given back; a List with damaged records postpones follow-ups.
func TestThreadThatCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		failing := 2
		store := &hooked{Store: oncetest.NewStore()}
		store.list = func(ctx context.Context, states ...once.State) ([]once.Record, error) {
			lists++
			if lists == failing {
				return nil, errors.New("damaged record x.json")
			}
			return store.Store.List(ctx, states...)
		}
		w := newWorld(t, store)
		w.do(task)
		w.add(said(1))

		step := w.step(said(1).Key)
		require.NoError(t, step.Err)
		assert.Equal(t, once.Pending, step.Record.State)
		assert.Zero(t, w.messages())

		failing = 3
		step = w.step(said(1).Key)
		require.ErrorContains(t, step.Err, "damaged record x.json")
		assert.Contains(t, step.Record.Problem, "damaged record x.json")
		assert.Zero(t, w.messages())

		record := w.do(said(1))
		assert.Empty(t, record.Problem)
	})
}

// notListing is a store that cannot list.
func notListing() once.Store {
	store := &hooked{Store: oncetest.NewStore()}
	store.list = func(context.Context, ...once.State) ([]once.Record, error) { return nil, errors.ErrUnsupported }
	return store
}

// In a store that cannot list, the names of After lead to the earlier messages.
func TestChainInAStoreThatCannotList(t *testing.T) {
	for name, test := range map[string]struct {
		states []once.State // of the messages before the last
		want   int          // whose step it is, from 0: -1 is its own
	}{
		"all pending":             {[]once.State{once.Pending, once.Pending, once.Pending}, 0},
		"one was sent":            {[]once.State{once.Done, once.Pending, once.Pending}, 1},
		"one was sent since":      {[]once.State{once.Pending, once.Unknown, once.Pending}, 2},
		"one is at work":          {[]once.State{once.Running, once.Pending, once.Pending}, 0},
		"one was canceled":        {[]once.State{once.Pending, once.Canceled, once.Canceled}, 0},
		"behind a canceled one":   {[]once.State{once.Running, once.Canceled, once.Pending}, 0},
		"nothing is ahead":        {[]once.State{once.Pending, once.Canceled, once.Refused}, -1},
		"all before are canceled": {[]once.State{once.Canceled, once.Canceled, once.Canceled}, -1},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, notListing())
			w.do(task)
			after := key
			for i, state := range append(test.states, once.Pending) {
				message := said(i)
				message.After = after
				after = message.Key
				record := once.Record{Task: message, Thread: key, State: state}
				if state == once.Running {
					record.JobID = "job_1"
				}
				w.put(record)
			}

			step := w.step(after)
			if test.want < 0 {
				assert.Zero(t, step.Ahead)
				assert.True(t, step.Sent)
				return
			}
			assert.Equal(t, said(test.want).Key, step.Ahead.Key)
			assert.Equal(t, test.states[test.want] == once.Pending, step.Sent)
			w.do(once.Task{Key: after})
		})
	}
}

func TestFirstRecordThatIsGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: comment, Thread: key, State: once.Pending})
		step := w.step(commentKey)
		require.ErrorContains(t, step.Err, "not on record any more")
		assert.Equal(t, 5*time.Minute, step.Next)
		require.ErrorContains(t, w.Resume(t.Context()), commentKey)
		assert.Contains(t, w.log.String(), "level=WARN")
	})
}

// A message whose response is lost: its job tells whether it has arrived.
func TestLostMessage(t *testing.T) {
	for name, test := range map[string]struct {
		acted bool
		want  once.State
		after time.Duration // at least
	}{
		"arrived":     {true, once.Done, 30 * time.Second},
		"not arrived": {false, once.Unknown, 3 * time.Minute},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.do(task)
			w.add(comment)
			w.svc.FailNext(mintlify.OpSendMessage, 1, mintlifytest.Fault{Status: 504, Acted: test.acted})
			start := time.Now()
			step := w.step(commentKey)
			require.ErrorIs(t, step.Err, mintlify.ErrOutcomeUnknown)
			assert.True(t, step.Sent)
			assert.Equal(t, once.Sending, step.Record.State)
			assert.Contains(t, step.Record.Problem, "504")
			assert.Equal(t, 5*time.Second, step.Next)

			other := w.runner(w.svc.Client(mintlifytest.WithRealSchedule())) // or another process
			record, err := other.Do(t.Context(), once.Task{Key: commentKey})
			assert.Equal(t, test.want, record.State)
			assert.GreaterOrEqual(t, time.Since(start), test.after)
			assert.Less(t, time.Since(start), test.after+10*time.Second)
			assert.Equal(t, test.acted, err == nil)
			if !test.acted {
				require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.ErrorContains(t, err, "look whether the pull request of "+key+" has the change")
				assert.NotContains(t, err.Error(), once.Marker(""))
			}
			assert.Equal(t, 1, w.messages())
		})
	}
}

// Only a poll that shows that the job is not at work makes a lost message unknown.
func TestLostMessageOfAJobThatCannotBeSeen(t *testing.T) {
	for name, test := range map[string]struct {
		fails  int // the status of the polls that fail, from the deadline on
		failed int // how many of them fail
		state  once.State
		after  time.Duration // about
	}{
		"an outage of an hour":    {503, 1000, once.Sending, 0},
		"a bad key":               {401, 1000, once.Sending, 0},
		"a short outage":          {503, 30, once.Unknown, 4 * time.Minute},
		"one poll that sees none": {404, 1, once.Unknown, 3 * time.Minute},
		"there is none":           {404, 1000, once.Unknown, 3 * time.Minute},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.do(task)
			w.add(comment)
			w.svc.FailNext(mintlify.OpSendMessage, 1, mintlifytest.Fault{Status: 504})
			start := time.Now()
			w.step(commentKey)
			w.svc.FailNext(mintlify.OpGetJob, test.failed, mintlifytest.Fault{Status: test.fails})

			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err := w.Do(ctx, comment)
			assert.Equal(t, test.state, w.get(commentKey).State)
			assert.Equal(t, test.state == once.Sending, errors.Is(err, context.DeadlineExceeded))
			if test.state == once.Unknown {
				assert.InDelta(t, test.after, time.Since(start), float64(time.Minute))
			}
		})
	}
}

// A 404 that one machine of the service has responded with is not the end of a job that is at work.
func TestLostMessageOfAJobThatIsMissedOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.AddJob("job_7", mintlifytest.JobStep{})
		past := time.Now().Add(-time.Hour).UTC().Round(0)
		w.put(once.Record{Task: task, State: once.Done, JobID: "job_7"})
		w.put(once.Record{Task: comment, Thread: key, State: once.Sending, Sender: "a", Deadline: past})
		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 404})
		assert.Equal(t, once.Running, w.step(commentKey).Record.State)
	})
}

// Ten minutes after its deadline a lost message needs a person, who may decide although it is sending.
func TestLostMessageThatIsUndecided(t *testing.T) {
	decisions := map[once.State]func(*world) (once.Record, error){
		once.Done:    func(w *world) (once.Record, error) { return w.MarkDone(context.Background(), commentKey, "") },
		once.Running: func(w *world) (once.Record, error) { return w.Adopt(context.Background(), commentKey, "job_1") },
		once.Pending: func(w *world) (once.Record, error) { return w.SendAgain(context.Background(), commentKey) },
	}
	for state, decide := range decisions {
		inBubble(t, string(state), func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.do(task)
			w.add(comment)
			w.svc.FailNext(mintlify.OpSendMessage, 1, mintlifytest.Fault{Status: 504})
			w.step(commentKey)
			w.svc.FailNext(mintlify.OpGetJob, 1000, mintlifytest.Fault{Status: 503})

			c := &chat{}
			r := w.reporting(c)
			w.runFor(r, 10*time.Minute)
			assert.Len(t, c.lines, 1, "of the first record")
			_, err := decide(w)
			require.ErrorIs(t, err, once.ErrState)

			w.runFor(r, time.Hour)
			record := w.get(commentKey)
			assert.Equal(t, once.Sending, record.State)
			assert.Contains(t, record.Problem, "does not tell whether the message has arrived")
			assert.Contains(t, record.Problem, "504")
			assert.Equal(t, []string{commentKey + " sending"}, c.lines[1:], "told once")
			assert.Equal(t, 1, strings.Count(w.log.String(), "level=WARN msg=\"once: sending\""))
			assert.Equal(t, time.Minute, w.step(commentKey).Next)

			w.svc.SucceedNext(mintlify.OpGetJob, 1)
			decided, err := decide(w)
			for err != nil && state == once.Running { // Adopt looks the job up
				decided, err = decide(w)
			}
			require.NoError(t, err)
			assert.Equal(t, state, decided.State)
		})
	}
}

// Before a message, a 4xx about the job counts only if it comes twice.
func TestJobThatIsMissedOnceIsNotInterrupted(t *testing.T) {
	for name, test := range map[string]struct {
		missed int
		sent   bool
	}{"once": {1, false}, "twice": {2, true}} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.svc.AddJob("job_7", mintlifytest.JobStep{})
			w.put(once.Record{Task: task, State: once.Done, JobID: "job_7"})
			w.add(comment)
			w.svc.FailNext(mintlify.OpGetJob, test.missed, mintlifytest.Fault{Status: 404})
			assert.Equal(t, test.sent, w.step(commentKey).Sent)
		})
	}
}

// The process that has sent a message dies: from the deadline on, others ask the job.
func TestMessageOfADeadProcess(t *testing.T) {
	for name, status := range map[string]mintlify.JobStatus{"active": mintlify.JobActive, "ended": mintlify.JobCompleted} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.svc.AddJob("job_7", mintlifytest.JobStep{Status: status}, mintlifytest.JobStep{Status: status},
				mintlifytest.JobStep{Status: mintlify.JobCompleted})
			w.put(once.Record{Task: task, State: once.Done, JobID: "job_7"})
			w.put(once.Record{
				Task: comment, Thread: key, State: once.Sending, Sends: 1, Sender: "dead",
				Deadline: time.Now().Add(time.Minute).UTC().Round(0),
			})
			step := w.step(commentKey)
			assert.Empty(t, w.svc.Requests(), "its sender may be alive")
			assert.LessOrEqual(t, step.Next, 5*time.Second)

			err := w.Resume(t.Context())
			require.NoError(t, err)
			want := map[string]once.State{"active": once.Done, "ended": once.Unknown}[name]
			assert.Equal(t, want, w.get(commentKey).State)
			assert.Zero(t, w.messages())
		})
	}
}

// An active job does not tell whose message it has if a person has had the first prompt sent again, whose
// new job is at work for that, or if another follow-up of the thread is at work, too.
func TestLostMessageBesideOtherWork(t *testing.T) {
	for name, others := range map[string][]once.Record{
		"of the first record": {{Task: task, State: once.Running, JobID: "job_7"}},
		"of another follow-up": {
			{Task: task, State: once.Done, JobID: "job_7"},
			{Task: said(2), Thread: key, State: once.Running, Sender: "b", JobID: "job_7"},
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.svc.AddJob("job_7", mintlifytest.JobStep{})
			past := time.Now().Add(-time.Second).UTC().Round(0)
			for _, other := range others {
				other.Deadline = past
				w.put(other)
			}
			w.put(once.Record{Task: said(1), Thread: key, State: once.Sending, Sender: "a", Deadline: past})
			assert.Equal(t, once.Sending, w.step(said(1).Key).Record.State)
		})
	}
}

// What its sender knows wins over what others have seen of the job.
func TestTruthOfTheSenderOfAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		w.do(task)
		w.add(comment)
		w.svc.FailNext(mintlify.OpSendMessage, 1, mintlifytest.Fault{Status: 429, Delay: 20 * time.Second})
		time.AfterFunc(10*time.Second, func() { // somebody has written to this job by the dashboard
			seen := w.get(commentKey)
			seen.State = once.Running
			seen.JobID = "job_1"
			w.put(seen)
		})
		step := w.step(commentKey)
		assert.Equal(t, once.Pending, step.Record.State)
		assert.Empty(t, step.Record.JobID)
		assert.Contains(t, step.Record.Problem, "429")
	})
}

// A Runner that lives for one step has seen nothing: a message has settled five minutes after its
// deadline.
func TestEndOfAMessageByRunnersOfOneStep(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.do(task)
		w.add(comment)
		start := time.Now()
		for w.get(commentKey).State != once.Done {
			step, err := w.runner(w.svc.Client(mintlifytest.WithRealSchedule())).Step(t.Context(), commentKey)
			require.NoError(t, err)
			time.Sleep(step.Next)
		}
		assert.InDelta(t, 6*time.Minute, time.Since(start), float64(time.Minute))
	})
}

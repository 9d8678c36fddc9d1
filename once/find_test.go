package once_test

import (
	"context"
	"errors"
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

// finder is a finder that finds nothing until it is told what.
type finder struct {
	found once.Found
	err   error
	asked []time.Time
	keys  []string
}

func (f *finder) find(_ context.Context, r once.Record) (once.Found, error) {
	f.asked = append(f.asked, time.Now())
	f.keys = append(f.keys, r.Key)
	return f.found, f.err
}

// finding is a Runner on the store of w that asks f.
func (w *world) finding(f *finder, opts ...once.Option) *once.Runner {
	w.t.Helper()
	client := w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithMaxRetries(0))
	return w.runner(client, append(opts, once.WithFinder(f.find))...)
}

const foundLink = "https://example.com/pull/7"

func TestDoAndStepAskTheFinderOnce(t *testing.T) {
	for name, test := range map[string]struct {
		found once.Found
		err   error
		want  once.State
		next  time.Duration
	}{
		"nothing":        {want: once.Unknown},
		"error":          {err: errors.New("the forge is down"), want: once.Unknown},
		"job":            {found: once.Found{JobID: "job_1"}, want: once.Running, next: 1},
		"link":           {found: once.Found{PRLink: foundLink}, want: once.Done},
		"job and link":   {found: once.Found{JobID: "job_1", PRLink: foundLink}, want: once.Running, next: 1},
		"no such job":    {found: once.Found{JobID: "job_9"}, want: once.Unknown},
		"not a job's id": {found: once.Found{JobID: "a/b"}, want: once.Unknown},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			f := &finder{found: test.found, err: test.err}
			r := w.finding(f)
			w.add(task)
			w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 504, Acted: true})
			step, err := r.Step(t.Context(), key)
			require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
			require.True(t, step.Sent)
			assert.Empty(t, f.asked, "it is too early to look")

			step, err = r.Step(t.Context(), key)
			assert.Equal(t, test.want, step.Record.State)
			assert.Equal(t, test.want == once.Unknown, err != nil)
			assert.Equal(t, test.next, step.Next)
			assert.Equal(t, w.get(key), step.Record)
			assert.Len(t, f.asked, 1)
			assert.Equal(t, test.found.PRLink, step.Record.PRLink)

			before := len(f.asked)
			record, err := r.Do(t.Context(), once.Task{Key: key})
			if test.want == once.Unknown {
				require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.Len(t, f.asked, before+1, "once a call")
				assert.Equal(t, test.err != nil || test.found != once.Found{}, strings.Contains(w.log.String(), "looking for"))
			} else {
				require.NoError(t, err)
				assert.Equal(t, once.Done, record.State)
				assert.Empty(t, record.Problem)
			}
			assert.Equal(t, 1, w.posts(), "nothing is sent again")
		})
	}
}

// Run asks at once, then 5, 10, 20 minutes later and so on, at most 6 hours apart, for 7 days.
func TestScheduleOfTheFinder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := &finder{}
		start := time.Now()
		w.put(once.Record{Task: task, State: once.Unknown, Deadline: start})
		ctx, cancel := context.WithTimeout(t.Context(), 8*24*time.Hour)
		defer cancel()

		require.ErrorIs(t, w.finding(f).Run(ctx), context.DeadlineExceeded)

		want := []time.Duration{0, 5, 15, 35, 75, 155, 315, 635, 995}
		for i, minutes := range want {
			assert.Equal(t, minutes*time.Minute, f.asked[i].Sub(start).Round(time.Second))
		}
		last := f.asked[len(f.asked)-1].Sub(start)
		assert.Greater(t, last, 7*24*time.Hour-6*time.Hour)
		assert.Less(t, last, 7*24*time.Hour)
	})
}

// After a look that found nothing, the next one may be six hours away. A person who is sure that there is
// no job has the prompt sent again, and that response is lost, too.
func TestASecondLostResponseIsLookedForAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		start := time.Now()
		w.put(once.Record{Task: task, State: once.Unknown, Sender: "first", Deadline: start})
		w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 504})
		time.AfterFunc(40*time.Minute, func() { w.must(w.SendAgain(t.Context(), key)) })
		f := &finder{}
		c := &chat{}

		w.runFor(w.finding(f, once.WithReport(c.post)), time.Hour)

		var asked []int
		for _, at := range f.asked {
			asked = append(asked, int(at.Sub(start).Round(time.Minute).Minutes()))
		}
		assert.Equal(t, []int{0, 5, 15, 35, 40, 45, 55}, asked)
		assert.Equal(t, []string{key + " unknown", key + " unknown"}, c.lines)
	})
}

// A find goes on beside the other work, and what it finds is taken up at once.
func TestRunTakesUpWhatIsFound(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.AddJob("job_7", mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		w.put(once.Record{Task: task, State: once.Unknown, Deadline: time.Now().UTC().Round(0), Sends: 1})
		slow := func(ctx context.Context, r once.Record) (once.Found, error) {
			_, limited := ctx.Deadline()
			assert.True(t, limited, "a call has a minute")
			time.Sleep(30 * time.Second)
			return once.Found{JobID: "job_7"}, nil
		}
		r := w.runner(w.svc.Client(mintlifytest.WithRealSchedule()), once.WithFinder(slow))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		_, _, err := r.Add(ctx, once.Task{Key: "other", Prompt: "x"})
		require.NoError(t, err)
		time.AfterFunc(20*time.Second, func() {
			assert.Equal(t, once.Done, w.get("other").State, "beside the other work")
		})
		require.ErrorIs(t, r.Run(ctx), context.DeadlineExceeded)
		assert.Equal(t, once.Done, w.get(key).State)
		assert.Equal(t, "job_7", w.get(key).JobID)
	})
}

func TestResumeAsksOnceForEachUnknown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := &finder{}
		for _, key := range []string{"a", "b"} {
			w.put(once.Record{Task: once.Task{Key: key, Prompt: "x"}, State: once.Unknown})
		}
		w.put(once.Record{Task: once.Task{Key: "c", Prompt: "x", After: "a"}, State: once.Unknown, Thread: "a"})
		w.add(task)
		require.NoError(t, w.finding(f).Resume(t.Context()))
		assert.ElementsMatch(t, []string{"a", "b"}, f.keys, "not about a follow-up")

		f.found.PRLink = foundLink
		require.NoError(t, w.finding(f).Resume(t.Context()))
		assert.Equal(t, foundLink, w.get("a").PRLink)
		assert.Equal(t, map[once.State]int{once.Done: 3, once.Unknown: 1}, w.states())
	})
}

// While the finder looks, a person has the prompt sent again.
func TestFindOfARecordThatWentOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: task, State: once.Unknown})
		r := w.runner(w.svc.Client(), once.WithFinder(func(ctx context.Context, _ once.Record) (once.Found, error) {
			_, err := w.SendAgain(ctx, key)
			return once.Found{PRLink: foundLink}, err
		}))

		s, err := r.Step(t.Context(), key)
		require.NoError(t, err)
		assert.Positive(t, s.Next, "the queue that called Step has to call it again")
		assert.Equal(t, once.Pending, s.Record.State)
		assert.Contains(t, w.log.String(), "level=ERROR")
		assert.Contains(t, w.log.String(), foundLink)

		w.put(once.Record{Task: task, State: once.Unknown})
		_, err = r.Do(t.Context(), once.Task{Key: key})
		require.NoError(t, err)
		assert.Equal(t, once.Done, w.get(key).State, "a person has decided that it is sent again")
	})
}

// A public store keeps no Problem, so the record that a step has just made unknown reads otherwise.
func TestFindOfARecordThatTheSameStepMadeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, publicStore())
		w.put(once.Record{Task: task, State: once.Sending, Sends: 1, Sender: "dead", Deadline: time.Now().Add(-time.Hour)})

		record, err := w.finding(&finder{found: once.Found{PRLink: foundLink}}).Do(t.Context(), task)
		require.NoError(t, err)
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, foundLink, record.PRLink)
		assert.NotContains(t, w.log.String(), "went on")
	})
}

// Without the id of a job there is nothing to send a message to: whoever waits behind it is told.
func TestFollowUpBehindAFoundLink(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: task, State: once.Unknown, Deadline: time.Now()})
		w.add(comment)
		reported := map[string][]once.State{}
		f := &finder{found: once.Found{PRLink: foundLink}}
		r := w.finding(f, once.WithReport(func(_ context.Context, r once.Record) error {
			reported[r.Key] = append(reported[r.Key], r.State)
			return nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()

		require.Error(t, r.Run(ctx))
		assert.Equal(t, []once.State{once.Done}, reported[key])
		assert.Equal(t, []once.State{once.Pending}, reported[commentKey])
		assert.Contains(t, w.get(commentKey).Problem, "needs Adopt or Cancel")

		w.svc.AddJob("job_7", mintlifytest.JobStep{Status: mintlify.JobCompleted})
		w.must(w.Adopt(t.Context(), key, "job_7"))
		require.NoError(t, w.Resume(t.Context()))
		assert.Equal(t, once.Done, w.get(commentKey).State)
	})
}

// Without the list Resume does not know which records are unknown.
func TestResumeReturnsThatTheUnknownCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := oncetest.NewStore()
		w := newWorld(t, &hooked{Store: memory, list: func(ctx context.Context, states ...once.State) ([]once.Record, error) {
			if slices.Contains(states, once.Unknown) {
				return nil, errors.New("the database is down")
			}
			return memory.List(ctx, states...)
		}})

		err := w.finding(&finder{}).Resume(t.Context())

		require.EqualError(t, err, "once: the ended records cannot be listed: the database is down")
	})
}

// The job does not show its pull request yet.
func TestAFoundLinkStaysUntilTheJobHasOne(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		active := mintlifytest.JobStep{Status: mintlify.JobActive}
		own := mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://example.com/pull/8"}
		w.svc.AddJob("job_7", active, active, own) // the find looks the job up
		w.put(once.Record{Task: task, State: once.Unknown})
		r := w.finding(&finder{found: once.Found{JobID: "job_7", PRLink: foundLink}})

		for range 2 {
			step, err := r.Step(t.Context(), key)
			require.NoError(t, err)
			assert.Equal(t, once.Running, step.Record.State)
			assert.Equal(t, foundLink, step.Record.PRLink)
		}

		record, err := r.Do(t.Context(), once.Task{Key: key})
		require.NoError(t, err)
		assert.Equal(t, own.PRLink, record.PRLink)
	})
}

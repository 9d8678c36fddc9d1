package once_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// chat takes reports, unless it is down.
type chat struct {
	down  bool
	slow  time.Duration
	lines []string
	tries []time.Time
}

func (c *chat) post(_ context.Context, r once.Record) error {
	c.tries = append(c.tries, time.Now())
	time.Sleep(c.slow)
	if c.down {
		return errors.New("the chat is down")
	}
	c.lines = append(c.lines, r.Key+" "+string(r.State))
	return nil
}

// reporting is a Runner on the store of w that tells c.
func (w *world) reporting(c *chat, opts ...once.Option) *once.Runner {
	w.t.Helper()
	client := w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithMaxRetries(0))
	return w.runner(client, append(opts, once.WithReport(c.post))...)
}

// runFor runs r for d.
func (w *world) runFor(r *once.Runner, d time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	require.ErrorIs(w.t, r.Run(ctx), context.DeadlineExceeded)
}

// Each end is told once: of this process, of another, of Do, and of a process that is gone.
func TestReportOfEachEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for _, state := range []once.State{once.Done, once.Failed, once.Refused, once.Unknown, once.Canceled} {
			w.put(once.Record{Task: once.Task{Key: string(state), Prompt: "x"}, State: state})
		}
		c := &chat{}
		r := w.reporting(c)
		time.AfterFunc(time.Minute, func() {
			_, err := r.Do(t.Context(), once.Task{Key: "do", Prompt: "x"})
			assert.NoError(t, err)
		})
		time.AfterFunc(2*time.Minute, func() {
			_, err := w.Do(t.Context(), once.Task{Key: "other", Prompt: "x"})
			assert.NoError(t, err)
		})
		w.add(task)
		versions := w.get("done").Version
		updated := w.get("done").UpdatedAt
		w.runFor(r, time.Hour)
		want := []string{
			"done done", "failed failed", "refused refused", "unknown unknown", key + " done", "do done", "other done",
		}
		assert.ElementsMatch(t, want, c.lines)
		assert.Equal(t, versions+1, w.get("done").Version)
		assert.Equal(t, once.Done, w.get("done").Reported)
		assert.Equal(t, updated, w.get("done").UpdatedAt, "it is not a change")

		w.runFor(w.reporting(c), time.Hour)
		require.NoError(t, w.reporting(c).Resume(t.Context()))
		assert.Len(t, c.lines, len(want), "nothing is told twice")
	})
}

func TestReportsAreTriedAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: task, State: once.Done})
		c := &chat{down: true}
		w.runFor(w.reporting(c), 3*24*time.Hour)
		for i, seconds := range []float64{30, 60, 120, 240, 480, 960, 1800, 1800} {
			wait := c.tries[i+1].Sub(c.tries[i]).Seconds()
			assert.InDelta(t, seconds, wait, seconds/4, "±25 %%")
		}
		assert.Equal(t, 1, strings.Count(w.log.String(), "a report was not taken"), "logged once")

		c.down = false
		w.runFor(w.reporting(c), time.Minute) // a new process
		assert.Equal(t, []string{key + " done"}, c.lines)
	})
}

// A record that changes while it is reported is reported again right after that.
func TestReportOfAChangeDuringAReport(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobFailed})
		w.svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobFailed})
		c := &chat{slow: 50 * time.Second}
		w.add(task)
		r := w.reporting(c)
		time.AfterFunc(10*time.Second, func() { w.must(r.SendAgain(t.Context(), key)) })
		w.runFor(r, 105*time.Second)
		assert.Equal(t, []string{key + " failed", key + " failed"}, c.lines)
	})
}

// Several processes that start on results that were not told share the work, also after an outage of the chat.
func TestReportsOfSeveralProcesses(t *testing.T) {
	for _, down := range []time.Duration{0, time.Hour} {
		inBubble(t, fmt.Sprint("down for ", down), func(t *testing.T) { testSeveralProcesses(t, down) })
	}
}

func testSeveralProcesses(t *testing.T, down time.Duration) {
	w := newWorld(t, oncetest.NewStore())
	const results = 100
	for i := range results {
		w.put(once.Record{Task: once.Task{Key: fmt.Sprint("acme/api@", i), Prompt: "x"}, State: once.Done})
	}

	told := map[string]int{}
	var lock sync.Mutex
	up := time.Now().Add(down)
	post := func(_ context.Context, r once.Record) error {
		time.Sleep(500*time.Millisecond + rand.N(time.Second)) // else all go on at the same moment
		if time.Now().Before(up) {
			return errors.New("the chat is down")
		}

		lock.Lock()
		defer lock.Unlock()

		told[r.Key]++
		return nil
	}

	ctx, cancel := context.WithTimeout(t.Context(), down+time.Hour)
	defer cancel()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { _ = w.runner(w.svc.Client(), once.WithReport(post)).Run(ctx) })
	}
	all.Wait()

	twice := 0
	for _, n := range told {
		twice += n - 1
	}
	t.Logf("%d of %d results are told twice", twice, results)
	assert.Len(t, told, results, "none is never told")
	assert.Less(t, twice, results/5)
}

// A chat that hangs delays no send and no poll.
func TestReportsAreBesideTheWork(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := &chat{slow: 50 * time.Second}
		for i := range 20 {
			w.add(once.Task{Key: fmt.Sprint(i), Prompt: "x"})
		}
		r := w.reporting(c)
		time.AfterFunc(30*time.Second, func() {
			assert.Equal(t, map[once.State]int{once.Done: 20}, w.states())
		})
		w.runFor(r, 20*time.Minute)
		assert.Len(t, c.lines, 20)
	})
}

// What fails twice is told twice.
func TestReportOfASecondEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		failed := mintlifytest.JobStep{Status: mintlify.JobFailed}
		w.svc.ScriptJob(failed)
		w.svc.ScriptJob(failed)
		c := &chat{}
		w.add(task)
		r := w.reporting(c)
		time.AfterFunc(time.Minute, func() {
			assert.Equal(t, once.Failed, w.get(key).Reported)
			record, err := w.SendAgain(t.Context(), key) // by another process
			assert.NoError(t, err)
			assert.Empty(t, record.Reported)
		})
		w.runFor(r, time.Hour)
		assert.Equal(t, []string{key + " failed", key + " failed"}, c.lines)
	})
}

// An unknown record is told once the finder was asked in vain; what is found is told alone.
func TestReportOfAnUnknownComesAfterTheFinder(t *testing.T) {
	for name, test := range map[string]struct {
		finder finder
		want   []string
	}{
		"found":   {finder{found: once.Found{PRLink: foundLink}}, []string{key + " done"}},
		"nothing": {finder{}, []string{key + " unknown"}},
		"error":   {finder{err: errors.New("down")}, []string{key + " unknown"}},
	} {
		inBubble(t, name, func(t *testing.T) {
			for call, work := range map[string]func(*world, *once.Runner){
				"Run":    func(w *world, r *once.Runner) { w.runFor(r, time.Hour) },
				"Resume": func(w *world, r *once.Runner) { assert.NoError(t, r.Resume(t.Context())) },
			} {
				w := newWorld(t, oncetest.NewStore())
				w.put(once.Record{Task: task, State: once.Unknown, Deadline: time.Now()})
				c := &chat{}
				work(w, w.reporting(c, once.WithFinder(test.finder.find)))
				assert.Equal(t, test.want, c.lines, call)
			}
		})
	}
}

// A record that is running and needs a person is told, too, once.
func TestReportOfAProblem(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.AddJob("job_7", mintlifytest.JobStep{Status: "paused"})
		w.put(once.Record{Task: task, State: once.Running, JobID: "job_7", Deadline: time.Now()})
		c := &chat{}
		w.runFor(w.reporting(c), 2*time.Hour)
		assert.Equal(t, []string{key + " running"}, c.lines)
		assert.Contains(t, w.get(key).Problem, `status "paused"`)
		assert.Equal(t, 3, w.get(key).Version, "the Problem, and that it was told")
		assert.Equal(t, 1, strings.Count(w.log.String(), "level=WARN"))
	})
}

func TestResumeNamesWhatWasNotTaken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := &chat{down: true}
		w.add(task)
		err := w.reporting(c).Resume(t.Context())
		require.ErrorContains(t, err, "once: "+key+": it could not be reported that it is done: the chat is down")
		assert.NotEmpty(t, c.tries)

		c.down = false
		require.NoError(t, w.reporting(c).Resume(t.Context()))
		assert.Equal(t, []string{key + " done"}, c.lines)
	})
}

// The last step of a Resume does not cut off the report that is in progress, and then tell it again.
func TestResumeWaitsForItsLastReport(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.add(task)
		calls := 0
		slow := once.WithReport(func(ctx context.Context, _ once.Record) error {
			calls++ // the chat has taken it
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(20 * time.Second): // and its response is slow
				return nil
			}
		})

		require.NoError(t, w.runner(w.svc.Client(mintlifytest.WithRealSchedule()), slow).Resume(t.Context()))

		assert.Equal(t, 1, calls)
		assert.Equal(t, once.Done, w.get(key).Reported)
	})
}

// Not even at the end of a Resume are there two calls at a time.
func TestResumeLeavesAReportThatHangs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: once.Task{Key: "ended", Prompt: "x"}, State: once.Done})
		w.add(task)
		c := &chat{slow: time.Hour}
		start := time.Now()

		err := w.reporting(c).Resume(t.Context())

		require.ErrorContains(t, err, "has not returned")
		assert.Less(t, time.Since(start), 30*time.Minute)

		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Len(t, c.tries, 1)
	})
}

// The last round of a Resume leaves a call that hangs, too.
func TestResumeLeavesItsLastRoundIfThatHangs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for _, key := range []string{"a", "b"} {
			w.put(once.Record{Task: once.Task{Key: key, Prompt: "x"}, State: once.Done})
		}
		w.add(task)
		calls := map[string]int{}
		hanging := once.WithReport(func(_ context.Context, r once.Record) error {
			calls[r.Key]++
			if calls[r.Key] > 1 {
				time.Sleep(time.Hour)
			}
			return errors.New("the chat is down")
		})
		start := time.Now()

		err := w.runner(w.svc.Client(mintlifytest.WithRealSchedule()), hanging).Resume(t.Context())

		require.ErrorContains(t, err, "has not returned")
		require.ErrorContains(t, err, "once: b: it could not be reported that it is done")
		assert.Less(t, time.Since(start), 5*time.Minute)

		time.Sleep(3 * time.Hour)
		synctest.Wait()
		assert.Equal(t, 2, calls["a"])
		assert.Equal(t, 1, calls["b"], "nobody is called beside it")
	})
}

// At the end of a Resume this Runner may still end records.
func TestResumeTellsWhileARecordEnds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for i := range 10 {
			w.put(once.Record{Task: once.Task{Key: fmt.Sprint(i), Prompt: "x"}, State: once.Done})
		}
		c := &chat{down: true, slow: time.Second}
		r := w.reporting(c)
		for i := range 20 {
			time.AfterFunc(time.Duration(i)*time.Second, func() {
				_, err := r.Do(t.Context(), once.Task{Key: fmt.Sprint("late", i), Prompt: "x"})
				assert.NoError(t, err)
			})
		}

		err := r.Resume(t.Context())

		for i := range 10 {
			require.ErrorContains(t, err, fmt.Sprintf("once: %d: it could not be reported", i))
		}
		time.Sleep(time.Hour)
	})
}

// A store may leave out Reported: then each Run tells everything once.
func TestReportInAStoreThatLeavesOutReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := oncetest.NewStore()
		w := newWorld(t, &hooked{Store: memory, put: func(ctx context.Context, r once.Record) error {
			r.Reported = ""
			return memory.Put(ctx, r)
		}})
		w.put(once.Record{Task: task, State: once.Done})
		c := &chat{}
		w.runFor(w.reporting(c), 3*time.Hour)
		assert.Len(t, c.lines, 1)
		r := w.reporting(c)
		w.runFor(r, 3*time.Hour)
		assert.Len(t, c.lines, 2)

		w.put(once.Record{Task: task, State: once.Unknown})
		time.AfterFunc(time.Minute, func() { w.must(r.MarkDone(t.Context(), key, foundLink)) })
		w.runFor(r, 3*time.Hour)
		assert.Len(t, c.lines, 4)

		ends := w.get(key)
		time.Sleep(time.Second)
		time.AfterFunc(time.Minute, func() {
			w.put(once.Record{Task: task, State: once.Running, JobID: "job_1"})
			ends.PRLink = "https://example.com/pull/9" // of the same send, in the same state
			ends.UpdatedAt = time.Time{}
			w.put(ends)
		})
		w.runFor(r, 3*time.Hour)
		assert.Equal(t, key+" done", c.lines[len(c.lines)-1])
		assert.Len(t, c.lines, 6, "the end before, by the new Run, and the second one")
	})
}

// The chat has taken it, and the store does not take that it has: it is not told again meanwhile.
func TestReportThatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()}
		w := newWorld(t, store)
		w.put(once.Record{Task: task, State: once.Done})
		puts := 0
		store.put = func(ctx context.Context, r once.Record) error {
			puts++
			if puts < 4 {
				return errors.New("the database is down")
			}
			return store.Store.Put(ctx, r)
		}
		c := &chat{}
		w.runFor(w.reporting(c), time.Hour)
		assert.Len(t, c.lines, 1)
		assert.Equal(t, once.Done, w.get(key).Reported)
	})
}

func TestPanicOfAFunctionSurfacesInRun(t *testing.T) {
	for name, opt := range map[string]once.Option{
		"report": once.WithReport(func(context.Context, once.Record) error { panic("boom") }),
		"finder": once.WithFinder(func(context.Context, once.Record) (once.Found, error) { panic("boom") }),
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.put(once.Record{Task: task, State: once.Unknown})
			r := w.runner(w.svc.Client(), opt)
			assert.PanicsWithValue(t, "boom", func() { _ = r.Run(t.Context()) })
		})
	}
}

// Nor does a function that hangs hide the panic of another.
func TestPanicSurfacesBesideAFunctionThatHangs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: task, State: once.Unknown})
		w.put(once.Record{Task: once.Task{Key: "other", Prompt: "x"}, State: once.Done})
		r := w.runner(w.svc.Client(),
			once.WithFinder(func(context.Context, once.Record) (once.Found, error) {
				time.Sleep(time.Hour)
				return once.Found{}, nil
			}),
			once.WithReport(func(context.Context, once.Record) error { panic("boom") }))

		assert.PanicsWithValue(t, "boom", func() { _ = r.Run(t.Context()) })
		time.Sleep(time.Hour)
	})
}

// A function that pays no attention to its context does not keep Run from ending.
func TestRunDoesNotWaitLongForAReport(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(once.Record{Task: task, State: once.Done})
		c := &chat{slow: time.Hour}
		start := time.Now()
		w.runFor(w.reporting(c), time.Minute)
		assert.LessOrEqual(t, time.Since(start), time.Minute+5*time.Second)
		time.Sleep(time.Hour)
	})
}

package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// breakPlace has the record's place fail for a while, beginning while the service has the prompt: for ever if the
// time is 0. It returns a function that mends the place.
func (w *world) breakPlace(t *testing.T, lasts time.Duration, args []string) (mend func()) {
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
	var isDown atomic.Bool // the timer's function may run beside a request
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		if isDown.Load() {
			return &http.Response{StatusCode: 502, Status: "502 Bad Gateway", Body: http.NoBody}, nil
		}
		return w.forge.RoundTrip(r)
	})
	begin := func() { isDown.Store(true) }
	mend = func() { isDown.Store(false) }

	if len(args) > 0 { // a folder or a repository, which goes away
		place := strings.TrimPrefix(args[1], "git:")
		begin = func() {
			assert.NoError(t, os.Rename(place, place+".away"))
			assert.NoError(t, os.WriteFile(place, nil, 0o600)) // or a run would make it again
		}
		mend = func() {
			assert.NoError(t, os.Remove(place))
			assert.NoError(t, os.Rename(place+".away", place))
		}
	}

	time.AfterFunc(10*time.Second, begin)
	if lasts > 0 {
		time.AfterFunc(10*time.Second+lasts, mend)
	}
	return mend
}

// working has the job work for some polls, of which the last ones are a minute apart.
func (w *world) working(polls int) {
	steps := make([]mintlifytest.JobStep, polls)
	steps = append(steps, mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: firstPull})
	w.service.ScriptJob(steps...)
}

func TestARecordThatCannotBeWrittenIsWrittenLater(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		polls int
		lasts time.Duration
	}{
		"while the job works": {polls: 60, lasts: 25 * time.Minute},
		"after the job's end": {polls: 3, lasts: 25 * time.Minute},
		"for a minute":        {polls: 3, lasts: time.Minute},
	} {
		everyPlace(t, func(t *testing.T, w *world, args []string) {
			synctest.Test(t, func(t *testing.T) {
				w.working(tc.polls)
				w.breakPlace(t, tc.lasts, args)
				r := w.run(t.Context(), args...)
				assert.Zero(t, r.Code, "%s: %s", name, r.Log)
				assert.Equal(t, firstPull, r.Outputs["pr-link"], name)
				assert.Contains(t, r.Log, "Job job_1 was made, and its record cannot be written yet (", name)
				assert.Contains(t, r.Log, "Job job_1 is on record.\n", name)

				r = w.run(t.Context(), args...)
				assert.Contains(t, r.Log, "This change has job job_1 already.", name)
				assert.Len(t, w.prompts(), 1)
			})
		})
	}
}

// What a run says that could not record its job is all that is needed to go on with the job.
func TestAJobThatWasNeverRecordedIsNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		// after is when a signal comes. Zero means that none does.
		after         time.Duration
		atLeast, most time.Duration
	}{
		"until -timeout": {args: []string{"-timeout", "40m"}, atLeast: 40 * time.Minute, most: 42 * time.Minute},
		"-no-wait":       {args: []string{"-no-wait"}, atLeast: 2 * time.Minute, most: 4 * time.Minute},
		"a signal":       {after: time.Minute, atLeast: 2 * time.Minute, most: 4 * time.Minute},
		"a late signal":  {after: 20 * time.Minute, atLeast: 20 * time.Minute, most: 22 * time.Minute},
		"a short time":   {args: []string{"-timeout", "30s"}, atLeast: 2 * time.Minute, most: 4 * time.Minute},
	} {
		everyPlace(t, func(t *testing.T, w *world, args []string) {
			synctest.Test(t, func(t *testing.T) {
				w.working(3)
				mend := w.breakPlace(t, 0, args)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.after > 0 {
					time.AfterFunc(tc.after, cancel)
				}

				start := time.Now()
				r := w.run(ctx, append(tc.args, args...)...)
				took := time.Since(start)
				assert.GreaterOrEqual(t, took, tc.atLeast, name)
				assert.LessOrEqual(t, took, tc.most, name)
				w.requireNamed(t, r)

				mend()
				time.Sleep(time.Hour)
				r = w.run(t.Context(), args...)
				assert.Equal(t, 3, r.Code, r.Log)
				assert.Contains(t, r.Log, "If the log of an earlier run, or its output job-id, has the job's id, "+
					"give it as the input job")
				assert.Zero(t, w.run(t.Context(), append(args, "-job", "job_1")...).Code)
				assert.Len(t, w.prompts(), 1)
			})
		})
	}
}

// requireNamed requires that a run has ended with a job that is not on record, and says what to enter.
func (w *world) requireNamed(t *testing.T, r citest.Ran) {
	t.Helper()
	base := w.git("rev-parse", "HEAD^")
	head := w.git("rev-parse", "HEAD")
	assert.Equal(t, 4, r.Code, r.Log)
	assert.Equal(t, "running", r.Outputs["outcome"])
	assert.Equal(t, "job_1", r.Outputs["job-id"])

	lines := strings.Split(strings.TrimSpace(r.Log), "\n")
	assert.Contains(t, lines[len(lines)-1], `To wait for it, use "Run workflow" with base: `+base+" head: "+head+" job: job_1")
	assert.Contains(t, r.Summary, "    base: "+base+"\n    head: "+head+"\n    job: job_1\n")
	assert.NotContains(t, r.Log, "Run again to wait")
}

func TestARecordThatIsRefusedForGoodIsSaidAtOnce(t *testing.T) {
	for name, code := range map[string]int{"too many statuses": 422, "a token that has ended": 401} {
		w := merged(t)
		failing(w, http.MethodPost, 2, 1000, false, response(code))
		took := bubble(t, func(t *testing.T) {
			r := w.run(t.Context(), "-no-wait")
			assert.Contains(t, r.Log, "::warning title=docs-on-merge::Job job_1 cannot be recorded: POST ", name)
			w.requireNamed(t, r)
		})
		assert.Less(t, took, 20*time.Second, name)
	}

	w := merged(t)
	w.working(3)
	failing(w, http.MethodPost, 2, 1000, false, response(422))
	r := w.runOnce()
	w.requireNamed(t, r)
	assert.Equal(t, firstPull, r.Outputs["pr-link"], "the run still waits for the job")
}

// Meanwhile others may have concluded that nobody knows what the prompt has come to, or sent it again.
func TestARecordThatIsWrittenLateFollowsWhatOthersWrote(t *testing.T) {
	for name, tc := range map[string]struct {
		theirs func(r *once.Record)
		code   int
		jobID  string
	}{
		"unknown":    {func(r *once.Record) { r.State = once.Unknown }, 0, "job_1"},
		"found":      {func(r *once.Record) { r.State = once.Done; r.PRLink = docsLink }, 0, "job_1"},
		"sent again": {func(r *once.Record) { r.State = once.Running; r.Sender = "x"; r.JobID = "job_9" }, 4, "job_9"},
	} {
		w := merged(t)
		args := []string{"-state", t.TempDir()}
		synctest.Test(t, func(t *testing.T) {
			w.working(3)
			w.breakPlace(t, 10*time.Minute, args)
			time.AfterFunc(10*time.Minute+10*time.Second+time.Millisecond, func() { // before the next attempt
				store, key := w.storeOf(t, args...)
				r, err := store.Get(t.Context(), key)
				if !assert.NoError(t, err) || r.JobID != "" {
					return
				}
				r.Version++
				tc.theirs(&r)
				assert.NoError(t, store.Put(t.Context(), r))
			})

			r := w.run(t.Context(), args...)
			assert.Equal(t, tc.code, r.Code, "%s: %s", name, r.Log)
			store, key := w.storeOf(t, args...)
			record, err := store.Get(t.Context(), key)
			require.NoError(t, err)
			assert.Equal(t, tc.jobID, record.JobID, name)
			assert.Equal(t, "job_1", r.Outputs["job-id"], name)
		})
	}
}

// The advice of a run whose job is not on record can be followed at once, and later.
func TestTheIDOfAJobThatWasNeverRecordedCanBeGiven(t *testing.T) {
	for _, after := range []time.Duration{0, time.Hour} {
		w := merged(t)
		synctest.Test(t, func(t *testing.T) {
			w.working(3)
			mend := w.breakPlace(t, 0, nil)
			r := w.run(t.Context(), "-timeout", "10m")
			require.Equal(t, 4, r.Code)

			mend()
			time.Sleep(after)
			r = w.run(t.Context(), "-job", "job_1")
			assert.Zero(t, r.Code, "%v: %s", after, r.Log)
			assert.Equal(t, firstPull, r.Outputs["pr-link"])
			assert.Len(t, w.prompts(), 1)
		})
	}
}

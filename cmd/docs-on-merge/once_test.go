package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// stores tests with each place of the record, with a change of its own: with the statuses alone unless
// tests may take long.
func (w *world) stores(t *testing.T, test func(t *testing.T, w *world, args ...string)) {
	for name, args := range w.places() {
		if name == "statuses" || long(t) {
			t.Run(name, func(t *testing.T) { test(t, w.fresh(t), args...) })
		}
	}
}

// newest is the newest status of HEAD on GitHub.
func (w *world) newest() status {
	statuses := w.forge.statuses[w.git("rev-parse", "HEAD")]
	if len(statuses) == 0 {
		return status{}
	}
	return statuses[0]
}

// state is what is on record of HEAD on GitHub.
func (w *world) state() once.State {
	fields := strings.Fields(recorded.FindString(w.newest().Description))
	if len(fields) == 0 {
		return ""
	}
	return once.State(fields[1])
}

// limitFor has the next prompt refused by the quota, for some seconds.
func (w *world) limitFor(seconds string) {
	header := http.Header{"Retry-After": {seconds}}
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429, Header: header})
}

// What the run after a request that failed does. Package once tests each kind of failure.
func TestTheRunAfterAFailedRequest(t *testing.T) {
	t.Parallel()
	w := merged(t)
	for name, tc := range map[string]struct {
		fault         mintlifytest.Fault
		n             int // times: some the SDK retries
		jobs          int // that the service has made
		first, second int // exit codes
		jobsThen      int
	}{
		"lost":               {fault: mintlifytest.Fault{Drop: true}, n: 1, jobs: 1, first: 3, second: 3, jobsThen: 1},
		"lost and not acted": {fault: responding(500), n: 1, first: 3, second: 3},
		"broken, with an id": {fault: mintlifytest.Fault{Body: `{"id":"job_1","stat`}, n: 1, jobs: 1, jobsThen: 1},
		"refused":            {fault: responding(400), n: 1, first: 5, jobsThen: 1},
		"no credits":         {fault: responding(402), n: 1, first: 5, jobsThen: 1},
		"bad key":            {fault: responding(401), n: 1, first: 2, jobsThen: 1},
		"limited":            {fault: responding(429), n: 4, first: 5, jobsThen: 1},
		"no connection":      {fault: mintlifytest.Fault{Refuse: true}, n: 4, first: 5, jobsThen: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w.stores(t, func(t *testing.T, w *world, args ...string) {
				w.service.FailNext(mintlify.OpCreateJob, tc.n, tc.fault)
				r := w.runOnce(append([]string{"-no-wait"}, args...)...)
				assert.Equal(t, tc.first, r.Code, r.Log)
				assert.Len(t, w.service.Jobs(), tc.jobs)
				if r.Code == 3 {
					assert.Contains(t, r.Log, `whose description has the line "docs-job: acme/cli@`)
					assert.NotContains(t, r.Log, "Adopt", "the methods of package once")
					assert.Contains(t, r.Summary, "    base: "+w.git("rev-parse", "HEAD^")+"\n", "what to enter")
					assert.Contains(t, r.Summary, "    head: "+w.git("rev-parse", "HEAD")+"\n")
				}

				r = w.runOnce(args...)
				assert.Equal(t, tc.second, r.Code, r.Log)
				assert.Len(t, w.service.Jobs(), tc.jobsThen)
				assert.NotContains(t, r.Log, "SendAgain", "the methods of package once")
				assert.Equal(t, tc.second != 0, strings.Contains(r.Log, `"Run workflow"`), "the way out: %s", r.Log)
			})
		})
	}
}

// ending is how a run ends, and what makes it end so.
type ending struct {
	// create is the service's response to each prompt. It makes a job unless create is set.
	create mintlifytest.Fault
	// last is the end of the job.
	last mintlifytest.JobStep

	code    int
	outcome string
	// state and words are of the commit's newest status.
	state, words string
}

func (e ending) makesJob() bool { return e.create.Status == 0 && !e.create.Drop }

// prepare has the service respond so.
func (e ending) prepare(w *world) {
	if !e.makesJob() {
		w.service.FailNext(mintlify.OpCreateJob, 100, e.create)
	}
	w.service.ScriptJob(mintlifytest.JobStep{}, e.last)
}

func responding(status int) mintlifytest.Fault { return mintlifytest.Fault{Status: status} }

func pollsEnd(status int) mintlifytest.JobStep {
	return mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: status}}
}

const (
	noJob    = "No job was made"
	fixSetUp = "The set-up needs fixing"
)

var endings = map[string]ending{
	"pull request": {
		last:    mintlifytest.JobStep{Status: mintlify.JobArchived, PRLink: "https://example.com/1"},
		outcome: "pull-request", state: "success", words: "Pull request opened",
	},
	"nothing to change": {
		last:    mintlifytest.JobStep{Status: mintlify.JobCompleted},
		outcome: "no-pull-request", state: "success", words: "No pull request needed",
	},
	"failed": {
		last: mintlifytest.JobStep{Status: mintlify.JobFailed},
		code: 1, outcome: "failed", state: "failure", words: "The agent's job failed",
	},
	"lost": {
		create: mintlifytest.Fault{Drop: true},
		code:   3, outcome: "unknown", state: "error", words: "A job may exist: look for it",
	},
	"for ever":        {code: 4, outcome: "running", state: "pending", words: "The agent is at work"},
	"outage":          {last: pollsEnd(503), code: 4, outcome: "running", state: "pending", words: "The agent is at work"},
	"key expired":     {last: pollsEnd(401), code: 2, outcome: "set-up", state: "error", words: fixSetUp},
	"gone":            {last: pollsEnd(404), code: 2, outcome: "set-up", state: "error", words: fixSetUp},
	"bad key":         {create: responding(401), code: 2, outcome: "set-up", state: "error", words: fixSetUp},
	"wrong scope":     {create: responding(403), code: 2, outcome: "set-up", state: "error", words: fixSetUp},
	"refused":         {create: responding(400), code: 5, outcome: "not-started", state: "error", words: noJob},
	"credits used up": {create: responding(402), code: 5, outcome: "not-started", state: "error", words: noJob},
	"limited":         {create: responding(429), code: 5, outcome: "not-started", state: "error", words: noJob},
}

// Whatever an earlier run with other flags has left, the exit code, the outputs and the commit's
// newest status say what this run says. With -soft none of them is red, but for a set-up error.
func TestHowARunEnds(t *testing.T) {
	t.Parallel()
	one := merged(t)
	for name, tc := range endings {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			tc.prepare(w)
			head := w.git("rev-parse", "HEAD")
			for i, soft := range []bool{true, false, true} {
				code := tc.code
				state := tc.state
				isForgiven := soft && tc.code != 0 && tc.code != 2
				if isForgiven {
					code = 0
					state = "success"
				}

				before := len(w.forge.statuses[head])
				r := w.runOnce("-timeout", "10m", fmt.Sprintf("-soft=%v", soft))
				assert.Equal(t, code, r.Code, r.Log)
				assert.Equal(t, tc.outcome, r.Outputs["outcome"])
				assert.Equal(t, tc.makesJob(), r.Outputs["job-id"] == "job_1")
				assert.Equal(t, isForgiven, strings.Contains(r.Log, "::warning "))
				assert.Equal(t, state, w.newest().State)
				assert.True(t, strings.HasPrefix(w.newest().Description, tc.words), w.newest().Description)

				for _, s := range w.forge.statuses[head] {
					isGreen := s.State == "pending" || s.State == "success"
					assert.True(t, isGreen || i > 0 || tc.code == 2, "a red status: %+v", s)
				}
				isSentAgain := w.state() == once.Pending || w.state() == once.Refused
				if i > 0 && !isSentAgain {
					isOther := tc.code != 0 && tc.code != 2
					assert.Equal(t, isOther, len(w.forge.statuses[head]) == before+1, "no status more than is needed")
				}
			}
		})
	}
}

func TestNoWaitReplacesWhatAnEarlierRunHasLeft(t *testing.T) {
	t.Parallel()
	one := merged(t)
	for name, want := range map[string]struct {
		state string
		code  int
	}{
		"for ever": {"success", 0},
		"failed":   {"failure", 1},
	} {
		w := one.fresh(t)
		endings[name].prepare(w)
		_ = w.runOnce("-timeout", "10m")
		assert.Equal(t, want.code, w.runOnce("-no-wait").Code, name)
		assert.Equal(t, want.state, w.newest().State, name)
	}
}

func TestOnlyALinkOfTheWebIsShown(t *testing.T) {
	w := merged(t)
	w.service.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "javascript:alert(1)"})
	for range 2 {
		r := w.runOnce()
		assert.Zero(t, r.Code, r.Log)
		assert.NotContains(t, r.Log+r.Summary+r.Stdout+w.newest().TargetURL, "javascript:")
	}
}

// A service that responds to nothing has no prompt, and leaves nothing to look for.
func TestATotalOutageMakesNothingUnknown(t *testing.T) {
	t.Parallel()
	one := merged(t)
	portal := mintlifytest.Fault{Status: 200, Body: "<html>Log in"}
	for name, tc := range map[string]struct {
		fault mintlifytest.Fault
		code  int
		words string
	}{
		"dropped":         {fault: mintlifytest.Fault{Drop: true}, code: 5, words: noJob},
		"refused":         {fault: mintlifytest.Fault{Refuse: true}, code: 5, words: noJob},
		"silent":          {fault: mintlifytest.Fault{Delay: time.Hour}, code: 5, words: noJob},
		"503":             {fault: mintlifytest.Fault{Status: 503}, code: 5, words: noJob},
		"504":             {fault: mintlifytest.Fault{Status: 504}, code: 5, words: noJob},
		"limited":         {fault: mintlifytest.Fault{Status: 429}, code: 5, words: noJob},
		"credits used up": {fault: mintlifytest.Fault{Status: 402}, code: 5, words: noJob},
		"captive portal":  {fault: portal, code: 2, words: fixSetUp},
		"bad key":         {fault: mintlifytest.Fault{Status: 401}, code: 2, words: fixSetUp},
	} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			for _, op := range []mintlify.Operation{mintlify.OpGetJob, mintlify.OpCreateJob} {
				w.service.FailNext(op, 1000, tc.fault)
			}
			r := w.runOnce()
			assert.Equal(t, tc.code, r.Code, r.Log)
			assert.Empty(t, r.Outputs["job-id"])
			assert.Contains(t, r.Log, tc.words+": nothing was sent, because asking the service first failed: ")
			assert.Equal(t, once.Pending, w.state())
			assert.Equal(t, tc.code == 5, strings.Contains(r.Log, ". Run again later\n"), r.Log)
			assert.NotContains(t, r.Log+r.Summary, "docs-job:", "nothing to look for")
			assert.NotContains(t, r.Summary, "<details>", "nobody has the prompt")
			assert.Empty(t, w.prompts(), "no POST")

			w.service = mintlifytest.NewService()
			r = w.runOnce()
			assert.Zero(t, r.Code, r.Log)
			assert.Equal(t, "success", w.newest().State)
			assert.Len(t, w.prompts(), 1)
		})
	}
}

func TestTheLogIsForPeople(t *testing.T) {
	w := merged(t)
	steps := make([]mintlifytest.JobStep, 60)
	steps[30].Fault = &mintlifytest.Fault{Status: 502}
	steps[59].Status = mintlify.JobCompleted
	w.service.ScriptJob(steps...)
	reads := 0
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		reads++
		return w.forge.RoundTrip(r)
	})
	r := w.runOnce("-heartbeat", "2m")
	require.Zero(t, r.Code, r.Log)
	assert.Equal(t, 1, strings.Count(r.Log, "a poll failed"))
	assert.Equal(t, 1, strings.Count(r.Log, "the job is completed"))
	beats := strings.Count(r.Log, "the job is active")
	assert.Greater(t, beats, 1)
	assert.Less(t, beats, 10, "not one a poll")
	assert.Less(t, reads, 20, "requests to GitHub: not one a poll")
}

func TestNoWaitAndTheRunAfterIt(t *testing.T) {
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		for range 2 {
			r := w.runOnce(append(args, "-no-wait")...)
			assert.Zero(t, r.Code, r.Log)
			assert.Contains(t, r.Log, "::notice ")
			assert.Equal(t, "running", r.Outputs["outcome"])
			assert.Equal(t, "job_1", r.Outputs["job-id"])
			if len(args) == 0 {
				assert.Equal(t, once.Running, w.state())
				assert.Equal(t, "success", w.newest().State, "nothing pending is left behind")
			}
		}
		r := w.runOnce(args...)
		assert.Equal(t, "pull-request", r.Outputs["outcome"], r.Log)
		assert.Len(t, w.service.Jobs(), 1)
	})
}

func TestAdoptAndSendAgain(t *testing.T) {
	t.Parallel()
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		run := func(more ...string) citest.Ran { return w.runOnce(append(args, more...)...) }
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
		require.Equal(t, 3, run().Code)
		r := run("-job", "nowhere")
		assert.Equal(t, 2, r.Code, "it is looked up first")
		assert.Contains(t, r.Log, "fixing: mintlify: get job: 404", "without the key, which is for programs that have several")
		assert.Equal(t, 3, run().Code)
		for range 2 {
			r := run("-job", "job_1")
			require.Zero(t, r.Code, r.Log)
		}
		assert.Equal(t, "job_1", run().Outputs["job-id"], "for good")
		r = run("-again")
		assert.Zero(t, r.Code)
		assert.Contains(t, r.Log, "again does nothing")
		assert.Len(t, w.service.Jobs(), 1)
	})
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		run := func(more ...string) citest.Ran { return w.runOnce(append(args, more...)...) }
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
		require.Equal(t, 3, run().Code)
		w.service.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobFailed})
		r := run("-again", "-template", w.template("Look again."))
		assert.Equal(t, 1, r.Code, r.Log)
		assert.Equal(t, "job_2", r.Outputs["job-id"])
		assert.True(t, strings.HasPrefix(w.prompts()[1], "Look again."), "the prompt of this run")
		assert.Equal(t, 1, run().Code)
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 422})
		assert.Equal(t, 5, run("-again").Code, "after failed")
		r = run()
		assert.Zero(t, r.Code, "after refused: %s", r.Log)
		assert.Contains(t, r.Log, "The service has refused the prompt before: sending it again.")
		assert.Len(t, w.prompts(), 4)
	})
	t.Run("a job for a refused prompt", func(t *testing.T) {
		w := merged(t)
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 422})
		require.Equal(t, 5, w.runOnce().Code)
		r := w.runOnce("-job", "job_1")
		assert.Equal(t, 2, r.Code)
		assert.Contains(t, r.Log, "the job is not taken, since the prompt of this change is refused")
		assert.NotContains(t, r.Log, "Adopt", "the methods of package once")
	})
	t.Run("without a record", func(t *testing.T) {
		w := merged(t)
		w.service.AddJob("mine", mintlifytest.JobStep{Status: mintlify.JobCompleted})
		for _, args := range [][]string{{"-job", "mine"}, nil} {
			assert.Equal(t, "mine", w.runOnce(args...).Outputs["job-id"])
		}
		assert.Empty(t, w.prompts())
		assert.Zero(t, merged(t).runOnce("-again").Code)
	})
}

func TestEachProjectCommitAndTagHasItsOwnJob(t *testing.T) {
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		require.Zero(t, w.runOnce(args...).Code)
		before := w.git("rev-parse", "HEAD")
		w.commit("another", "c.go", "// "+t.Name())
		w.onGitHub("push", w.push(before))
		require.Zero(t, w.runOnce(args...).Code)
		assert.Len(t, w.service.Jobs(), 2)
		w.project = "another-project"
		require.Zero(t, w.runOnce(args...).Code)
		assert.Len(t, w.service.Jobs(), 3, "two projects on one commit are two tasks")
		assert.Zero(t, w.runOnce(args...).Code)
		w.git("tag", "--force", "v0", "HEAD^")
		w.git("tag", "--force", "v1")
		w.onGitHub("release", publishedRelease("v1"))
		require.Zero(t, w.runOnce(args...).Code)
		assert.Len(t, w.service.Jobs(), 4, "a merge and a tag on one commit are two tasks")
		w.onGitHub("push", map[string]any{"ref": "refs/tags/v1", "before": noCommit, "after": w.git("rev-parse", "v1")})
		require.Zero(t, w.runOnce(args...).Code)
		require.Zero(t, w.runOnce(append(args, "-base", "HEAD^", "-head", "v1")...).Code)
		assert.Len(t, w.service.Jobs(), 4, "the tag's push is its release")
	})
}

// sentElsewhere has another run send the prompt, which makes the job "theirs" ten seconds later. It
// returns the store that a run with args uses, and the key of the record.
func (w *world) sentElsewhere(t *testing.T, args ...string) (once.Store, string) {
	t.Helper()
	store, key := w.storeOf(t, args...)
	record := once.Record{
		Task:      once.Task{Key: key},
		Version:   1,
		State:     once.Sending,
		Sends:     1,
		Sender:    "another",
		Deadline:  time.Now().Add(time.Minute).UTC(),
		UpdatedAt: time.Now().UTC(),
	}
	require.NoError(t, store.Put(t.Context(), record))

	time.AfterFunc(10*time.Second, func() {
		w.service.AddJob("theirs", mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: firstPull})
		record.Version++
		record.State = once.Running
		record.JobID = "theirs"
		assert.NoError(t, store.Put(t.Context(), record))
	})
	return store, key
}

// With -no-wait, a run that waits for another's send ends once the job is on record.
func TestNoWaitBehindAnothersSend(t *testing.T) {
	w := merged(t)
	synctest.Test(t, func(t *testing.T) {
		_, _ = w.sentElsewhere(t)
		start := time.Now()
		r := w.run(t.Context(), "-no-wait")
		assert.Zero(t, r.Code, r.Log)
		assert.Equal(t, "running", r.Outputs["outcome"])
		assert.Equal(t, "theirs", r.Outputs["job-id"])
		assert.Less(t, time.Since(start), 30*time.Second)
		assert.Empty(t, w.service.Requests(), "the job is not polled")
	})
}

// overtaken is a store in which another run is a little faster, once.
type overtaken struct {
	once.Store
	faster func()
}

func (s *overtaken) Put(ctx context.Context, r once.Record) error {
	if s.faster != nil {
		s.faster()
		s.faster = nil
	}
	return s.Store.Put(ctx, r)
}

func TestAgainOfTwoRunsIsOneSend(t *testing.T) {
	const key = "acme/cli@1"
	for _, isSentBefore := range []bool{false, true} {
		memory := oncetest.NewStore()
		unknown := once.Record{Task: once.Task{Key: key}, Version: 1, State: once.Unknown}
		require.NoError(t, memory.Put(t.Context(), unknown))
		other, err := once.New(nil, memory)
		require.NoError(t, err)
		faster := func() {
			_, err := other.SendAgain(t.Context(), key)
			require.NoError(t, err)
		}
		store := &overtaken{Store: memory, faster: faster}
		if isSentBefore {
			store.faster()
			store.faster = nil
		}

		runner, err := once.New(nil, store)
		require.NoError(t, err)
		run := worker{runner: runner, store: &late{Store: store}, task: unknown.Task, result: result{record: unknown}}
		require.NoError(t, run.again(t.Context()))
		assert.Equal(t, once.Pending, run.record.State)
		assert.Equal(t, 2, run.record.Version, "one decision is on record")
	}
}

// atOnce has n runs at once, and returns their ids and exit codes.
func (w *world) atOnce(t *testing.T, n int, args ...string) (ids map[string]int, codes map[int]int) {
	ids = map[string]int{}
	codes = map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			r := w.run(t.Context(), args...)
			mu.Lock()
			defer mu.Unlock()
			codes[r.Code]++
			ids[r.Outputs["job-id"]]++
		})
	}
	all.Wait()
	return ids, codes
}

func TestTwentyRunsAtOnce(t *testing.T) {
	t.Parallel()
	n := 5
	if long(t) {
		n = 20
	}
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(200 * time.Millisecond) // so that all claim at once, having seen no claim
			return w.forge.RoundTrip(r)
		})
		synctest.Test(t, func(t *testing.T) {
			// The winner takes nearly its minute: the others outwait it.
			w.limitFor("15")
			w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 30 * time.Second})
			ids, codes := w.atOnce(t, n, args...)
			assert.Equal(t, map[string]int{"job_1": n}, ids)
			assert.Equal(t, map[int]int{0: n}, codes)
			assert.Len(t, w.service.Jobs(), 1)
		})
	})
}

// storeOf opens the store that a run with args uses, and returns the key of HEAD's task.
func (w *world) storeOf(t *testing.T, args ...string) (once.Store, string) {
	t.Helper()
	p := w.program(w.env, new(citest.Buffer), new(citest.Buffer))
	require.NoError(t, p.parse(args))
	require.NoError(t, p.connectGitHub())
	what, err := p.findOccasion()
	require.NoError(t, err)
	change, err := p.findChange(t.Context(), what)
	require.NoError(t, err)
	store, _, err := p.openStore(t.Context(), change)
	require.NoError(t, err)
	return store, change.key(w.project)
}

// The run that sends dies once it has recorded the job, which ends before anybody polls it.
func TestRunsThatWaitForAnothersSendRecordTheEnd(t *testing.T) {
	t.Parallel()
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		synctest.Test(t, func(t *testing.T) {
			store, key := w.sentElsewhere(t, args...)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					r := w.run(t.Context(), args...)
					assert.Zero(t, r.Code, r.Log)
					assert.Contains(t, r.Log, "waiting for the job's id, at most until 00:03:0")
					assert.NotContains(t, r.Log, "canceled")
					assert.Equal(t, firstPull, r.Outputs["pr-link"])
				})
			}
			all.Wait()

			record, err := store.Get(t.Context(), key)
			require.NoError(t, err)
			assert.Equal(t, once.Done, record.State, "the job's end is on record")
			if len(args) == 0 {
				assert.Equal(t, "success", w.newest().State)
			}
		})
		assert.Empty(t, w.prompts())
	})
}

func TestAClaimWithoutAJobIsWaitedForAndThenUnknown(t *testing.T) {
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		synctest.Test(t, func(t *testing.T) {
			// The run "dies" with its request: it is cut off from the record right after.
			w.limitFor("600")
			r := w.run(t.Context(), append(args, "-no-wait")...)
			require.Equal(t, 5, r.Code, r.Log)
			store, key := w.storeOf(t, args...)
			dead, err := store.Get(t.Context(), key)
			require.NoError(t, err)
			dead.Version++
			dead.State = once.Sending
			dead.Sender = "dead"
			dead.Deadline = time.Now().Add(time.Minute).UTC()
			require.NoError(t, store.Put(t.Context(), dead))

			before := len(w.prompts())
			start := time.Now()
			r = w.run(t.Context(), args...)
			assert.Equal(t, 3, r.Code, r.Log)
			assert.Equal(t, 1, strings.Count(r.Log, "Another run is sending"))
			assert.InDelta(t, 3*time.Minute, time.Since(start), float64(10*time.Second), "three minutes in all")
			start = time.Now()
			assert.Equal(t, 3, w.run(t.Context(), args...).Code)
			assert.Less(t, time.Since(start), time.Second, "no further wait")
			assert.Len(t, w.prompts(), before)
		})
	})
}

func TestAnInterruptLosesNoJob(t *testing.T) {
	t.Parallel()
	one := merged(t)
	step := 9 * time.Second
	if long(t) {
		step = 2300 * time.Millisecond
	}
	for at := time.Duration(0); at < 60*time.Second; at += step {
		w := one.fresh(t)
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
		w.service.ScriptJob(mintlifytest.JobStep{}, mintlifytest.JobStep{}, mintlifytest.JobStep{}, mintlifytest.JobStep{}, mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(at, cancel)
			r := w.run(ctx)
			jobs := len(w.service.Jobs())
			switch {
			case jobs == 0:
				assert.Equal(t, 5, r.Code, r.Log)
				assert.Contains(t, []once.State{"", once.Pending}, w.state())
			case r.Code != 0:
				assert.Equal(t, 4, r.Code, r.Log)
				assert.Contains(t, r.Log, "Job job_1 is on record.")
				assert.Equal(t, "job_1", r.Outputs["job-id"])
				// The interrupt may come between the record of the job's end and the look at it.
				assert.Contains(t, []once.State{once.Running, once.Done}, w.state(), "on record")
			}
			if at > 3*time.Second && at < 20*time.Second {
				assert.Contains(t, r.Log, "Stopping as soon as the record is up to date.")
			}
			r = w.run(t.Context())
			assert.Zero(t, r.Code, r.Log)
			assert.Len(t, w.service.Jobs(), 1)
		})
	}
}

func TestTimeoutEndsTheRunAndNotTheJob(t *testing.T) {
	w := merged(t)
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
	r := w.runOnce("-timeout", "10s")
	assert.Equal(t, 4, r.Code)
	assert.Contains(t, r.Log, "Run again to wait for it")
	assert.Contains(t, r.Log, "Stopping as soon as the record is up to date.\n")
	assert.NotContains(t, r.Log, "nterrupt", "nobody did")
}

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// stores are both places of the record, each for a change of its own.
func (w *world) stores(t *testing.T, test func(t *testing.T, w *world, args ...string)) {
	t.Run("statuses", func(t *testing.T) { test(t, w.fresh(t)) })
	t.Run("directory", func(t *testing.T) {
		w := w.fresh(t)
		test(t, w, "-state", t.TempDir())
		assert.Empty(t, w.forge.statuses)
	})
}

// state is what is on record of HEAD on GitHub.
func (w *world) state() outcome {
	statuses := w.forge.statuses[w.git("rev-parse", "HEAD")]
	if len(statuses) == 0 {
		return ""
	}
	return outcome(ours.FindStringSubmatch(statuses[0].Description)[2])
}

func TestWhatBecomesOfAFailedCreate(t *testing.T) {
	w := merged(t)
	for name, tc := range map[string]struct {
		fault         mintlifytest.Fault
		jobs          int // that the service has made
		first, second int // exit codes
		jobsThen      int
	}{
		"lost":                    {fault: mintlifytest.Fault{Drop: true}, jobs: 1, first: 3, second: 3, jobsThen: 1},
		"504 after acting":        {fault: mintlifytest.Fault{Status: 504, Acted: true}, jobs: 1, first: 3, second: 3, jobsThen: 1},
		"500":                     {fault: mintlifytest.Fault{Status: 500}, first: 3, second: 3},
		"HTML 201":                {fault: mintlifytest.Fault{Body: "<html>Welcome</html>"}, jobs: 1, first: 3, second: 3, jobsThen: 1},
		"redirect":                {fault: mintlifytest.Fault{Status: 302, Header: http.Header{"Location": {"/login"}}}, first: 3, second: 3},
		"broken 201 with the id":  {fault: mintlifytest.Fault{Body: `{"id":"job_1","status":"acti`}, jobs: 1, jobsThen: 1},
		"201 without a status":    {fault: mintlifytest.Fault{Body: `{"id":"job_1"}`}, jobs: 1, jobsThen: 1},
		"401":                     {fault: mintlifytest.Fault{Status: 401}, first: 2, jobsThen: 1},
		"403":                     {fault: mintlifytest.Fault{Status: 403}, first: 2, jobsThen: 1},
		"400":                     {fault: mintlifytest.Fault{Status: 400}, first: 2, jobsThen: 1},
		"429":                     {fault: mintlifytest.Fault{Status: 429}, first: 5, jobsThen: 1},
		"429 for an hour":         {fault: mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"3600"}}}, first: 5, jobsThen: 1},
		"refused":                 {fault: mintlifytest.Fault{Refuse: true}, first: 5, jobsThen: 1},
		"429, then a 201 in time": {fault: mintlifytest.Fault{Delay: 30 * time.Second}, jobs: 1, jobsThen: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w.stores(t, func(t *testing.T, w *world, args ...string) {
				n := 1
				if tc.fault.Status == 429 && tc.fault.Header == nil || tc.fault.Refuse {
					n = 4 // these the SDK retries
				}
				if tc.fault.Delay > 0 {
					w.service.FailNext(mintlify.OpCreateJob, 2, mintlifytest.Fault{Status: 429})
				}
				w.service.FailNext(mintlify.OpCreateJob, n, tc.fault)
				r := w.runOnce(args...)
				assert.Equal(t, tc.first, r.code, r.log)
				assert.Len(t, w.service.Jobs(), tc.jobs)
				if r.code == 3 {
					assert.Contains(t, r.log, "Settings, Organization, Usage")
					assert.Contains(t, r.log, "-job and its id or, if there is none, with -new")
				}
				all := w.runs(args, args)
				for _, r := range all {
					assert.Equal(t, tc.second, r.code, r.log)
				}
				assert.Len(t, w.service.Jobs(), tc.jobsThen)
			})
		})
	}
}

func TestJobsThatEnd(t *testing.T) {
	one := merged(t)
	for name, tc := range map[string]struct {
		last    mintlifytest.Step
		outcome string
		code    int
		state   string
	}{
		"nothing to change": {mintlifytest.Step{Status: mintlify.JobCompleted}, "no-pull-request", 0, "success"},
		"archived":          {mintlifytest.Step{Status: mintlify.JobArchived, PRLink: "https://example.com/1"}, "pull-request", 0, "success"},
		"failed":            {mintlifytest.Step{Status: mintlify.JobFailed}, "failed", 1, "failure"},
		"key expired":       {mintlifytest.Step{Fault: &mintlifytest.Fault{Status: 401}}, "set-up", 2, "pending"},
		"gone":              {mintlifytest.Step{Fault: &mintlifytest.Fault{Status: 404}}, "set-up", 2, "pending"},
		"for ever":          {mintlifytest.Step{Status: mintlify.JobActive}, "running", 4, "pending"},
		"no link":           {mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "javascript:alert(1)"}, "pull-request", 0, "success"},
	} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			w.service.ScriptJob(mintlifytest.Step{}, tc.last)
			for _, r := range w.runs(nil, nil) {
				assert.Equal(t, tc.code, r.code, r.log)
				assert.Equal(t, tc.outcome, r.outputs["outcome"])
				assert.Equal(t, "job_1", r.outputs["job-id"])
				assert.NotContains(t, r.log+r.summary+r.stdout, "javascript:")
			}
			assert.Equal(t, tc.state, w.forge.statuses[w.git("rev-parse", "HEAD")][0].State)
			assert.Len(t, w.service.Jobs(), 1)
		})
	}
}

func TestTheLogIsForPeople(t *testing.T) {
	w := merged(t)
	steps := make([]mintlifytest.Step, 60)
	steps[30].Fault = &mintlifytest.Fault{Status: 502}
	steps[59].Status = mintlify.JobCompleted
	w.service.ScriptJob(steps...)
	r := w.runOnce("-heartbeat", "2m")
	require.Zero(t, r.code, r.log)
	assert.Equal(t, 1, strings.Count(r.log, "a poll failed"))
	assert.Equal(t, 1, strings.Count(r.log, "the job is completed"))
	beats := strings.Count(r.log, "the job is active")
	assert.Greater(t, beats, 1)
	assert.Less(t, beats, 10, "not one a poll")
}

func TestNoWaitAndTheRunAfterIt(t *testing.T) {
	w := merged(t)
	r := w.runOnce("-no-wait")
	assert.Zero(t, r.code)
	assert.Equal(t, "running", r.outputs["outcome"])
	assert.Equal(t, "job_1", r.outputs["job-id"])
	assert.Equal(t, running, w.state())
	r = w.runOnce()
	assert.Equal(t, "pull-request", r.outputs["outcome"])
	assert.Len(t, w.service.Jobs(), 1)
}

func TestAdoptAndMakeAnother(t *testing.T) {
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
		require.Equal(t, 3, w.runOnce(args...).code)
		r := w.runOnce(append(args, "-job", "job_1")...)
		require.Zero(t, r.code, r.log)
		r = w.runOnce(args...)
		assert.Equal(t, "job_1", r.outputs["job-id"], "for good")
		assert.Len(t, w.service.Jobs(), 1)

		r = w.runOnce(append(args, "-new")...)
		require.Zero(t, r.code, r.log)
		assert.Equal(t, "job_2", r.outputs["job-id"])
		assert.Equal(t, "job_2", w.runOnce(args...).outputs["job-id"])
		assert.Equal(t, "job_1", w.runOnce(append(args, "-job", "job_1")...).outputs["job-id"])
		assert.Len(t, w.service.Jobs(), 2)
	})
	t.Run("without a claim", func(t *testing.T) {
		w := merged(t)
		w.service.AddJob("mine", mintlifytest.Step{Status: mintlify.JobCompleted})
		for _, args := range [][]string{{"-job", "mine"}, nil} {
			assert.Equal(t, "mine", w.runOnce(args...).outputs["job-id"])
		}
		assert.Empty(t, w.prompts())
	})
}

func TestEachProjectAndCommitHasItsOwnJob(t *testing.T) {
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		require.Zero(t, w.runOnce(args...).code)
		before := w.git("rev-parse", "HEAD")
		w.commit("another", "c.go", "// "+t.Name())
		w.onGitHub("push", w.push(before))
		require.Zero(t, w.runOnce(args...).code)
		assert.Len(t, w.service.Jobs(), 2)
		synctest.Test(t, func(t *testing.T) {
			p := &program{getenv: func(name string) string { return w.env[name] }, dir: w.dir, stdout: io.Discard, stderr: io.Discard, forge: w.forge, pace: defaultPace,
				connect: func() (*mintlify.Client, error) {
					client, err := w.client()
					require.NoError(t, err)
					return client.ForProject("another-project")
				}}
			require.Zero(t, p.run(t.Context(), args))
		})
		assert.Len(t, w.service.Jobs(), 3)
	})
}

// barrier has all claims of n runs come at once, each run having seen that nobody had
// claimed.
type barrier struct {
	store
	all *sync.WaitGroup
}

func (b barrier) claim(ctx context.Context, generation int) (bool, error) {
	b.all.Done()
	b.all.Wait()
	return b.store.claim(ctx, generation)
}

// atOnce has 20 runs at once, on stores of one place, and returns what each came to.
func atOnce(t *testing.T, w *world, another bool, open func() store) (ids map[string]int, outcomes map[outcome]int) {
	const runs = 20
	client, err := w.client()
	require.NoError(t, err)
	ids, outcomes = map[string]int{}, map[outcome]int{}
	var all, done sync.WaitGroup
	var mu sync.Mutex
	all.Add(runs)
	for range runs {
		o := once{client: client, store: barrier{open(), &all}, log: (&program{getenv: os.Getenv}).newLog(io.Discard, false), pace: defaultPace, another: another}
		done.Go(func() {
			id, err := o.job(t.Context(), "x")
			mu.Lock()
			defer mu.Unlock()
			ids[id]++
			if err != nil {
				outcomes[outcomeOf(err)]++
			}
		})
	}
	done.Wait()
	return ids, outcomes
}

func TestTwentyRunsAtOnce(t *testing.T) {
	for name, open := range map[string]func(w *world, commit string) store{
		"statuses": func(w *world, commit string) store {
			g := &gitHub{url: "https://api.github.com/repos/acme/cli", token: gitHubToken, client: http.Client{Transport: w.forge}}
			return &statuses{gitHub: g, commit: commit, label: "x", token: rand.Text(), settle: defaultPace.settle}
		},
		"directory": func(w *world, _ string) store { return &directory{w.dir, "x"} },
	} {
		for _, another := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, -new=%v", name, another), func(t *testing.T) {
				w := newWorld(t)
				commit := w.git("rev-parse", "HEAD")
				synctest.Test(t, func(t *testing.T) {
					// The winner takes nearly two minutes: the others outwait it.
					w.service.FailNext(mintlify.OpCreateJob, 3, mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"25"}}})
					w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 40 * time.Second})
					ids, outcomes := atOnce(t, w, another, func() store { return open(w, commit) })
					assert.Equal(t, map[string]int{"job_1": 20}, ids)
					assert.Empty(t, outcomes)
					assert.Len(t, w.service.Jobs(), 1)
				})
			})
			t.Run(fmt.Sprintf("%s, refused, -new=%v", name, another), func(t *testing.T) {
				w := newWorld(t)
				commit := w.git("rev-parse", "HEAD")
				synctest.Test(t, func(t *testing.T) {
					w.service.FailNext(mintlify.OpCreateJob, 4, mintlifytest.Fault{Status: 429})
					ids, outcomes := atOnce(t, w, another, func() store { return open(w, commit) })
					assert.Equal(t, map[string]int{"": 20}, ids)
					assert.Equal(t, map[outcome]int{notStarted: 20}, outcomes)
					ids, _ = atOnce(t, w, false, func() store { return open(w, commit) })
					assert.Equal(t, map[string]int{"job_1": 20}, ids, "the next runs make it")
				})
			})
		}
	}
}

func TestAClaimWithoutAJobIsWaitedForAndThenUnknown(t *testing.T) {
	merged(t).stores(t, func(t *testing.T, w *world, args ...string) {
		dead := func(t *testing.T) { // a run that claims and dies
			client, err := w.client()
			require.NoError(t, err)
			p := &program{getenv: func(name string) string { return w.env[name] }, dir: w.dir, forge: w.forge, pace: defaultPace, log: (&program{getenv: os.Getenv}).newLog(io.Discard, false)}
			p.options, err = parse(args, io.Discard)
			require.NoError(t, err)
			c, err := p.findChange(t.Context())
			require.NoError(t, err)
			s, err := p.openStore(c, client.ProjectID())
			require.NoError(t, err)
			won, err := s.claim(t.Context(), 1)
			require.NoError(t, err)
			require.True(t, won)
		}
		synctest.Test(t, func(t *testing.T) {
			dead(t)
			if len(args) > 0 { // a file's time is not the bubble's
				files, err := filepath.Glob(filepath.Join(args[1], "*"))
				require.NoError(t, err)
				require.Len(t, files, 1)
				require.NoError(t, os.Chtimes(files[0], time.Now(), time.Now()))
			}
			time.Sleep(time.Minute)
			start := time.Now()
			r := w.run(t.Context(), args...)
			assert.Equal(t, 3, r.code, r.log)
			assert.Equal(t, 1, strings.Count(r.log, "waiting for its id"))
			assert.InDelta(t, 2*time.Minute, time.Since(start), float64(10*time.Second), "three minutes in all")
			start = time.Now()
			assert.Equal(t, 3, w.run(t.Context(), args...).code)
			assert.Less(t, time.Since(start), time.Second, "no further wait")
		})
		assert.Empty(t, w.service.Jobs())
	})
}

func TestAnInterruptLosesNoJob(t *testing.T) {
	one := merged(t)
	for at := time.Duration(0); at < 60*time.Second; at += 2300 * time.Millisecond {
		w := one.fresh(t)
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
		w.service.ScriptJob(mintlifytest.Step{}, mintlifytest.Step{}, mintlifytest.Step{}, mintlifytest.Step{}, mintlifytest.Step{}, mintlifytest.Step{Status: mintlify.JobCompleted})
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(at, cancel)
			r := w.run(ctx)
			jobs := len(w.service.Jobs())
			switch {
			case jobs == 0:
				assert.Equal(t, 5, r.code, r.log)
				assert.Contains(t, []outcome{"", notStarted}, w.state())
			case r.code != 0:
				assert.Equal(t, 4, r.code, r.log)
				assert.Contains(t, r.log, "Made job job_1.")
				assert.Equal(t, "job_1", r.outputs["job-id"])
				assert.Equal(t, running, w.state(), "on record")
			}
			if at > 3*time.Second && at < 20*time.Second {
				assert.Contains(t, r.log, "Interrupted: waiting for the job's id first.")
			}
			r = w.run(t.Context())
			assert.Zero(t, r.code, r.log)
			assert.Len(t, w.service.Jobs(), 1)
		})
	}
}

func TestTimeoutEndsTheRunAndNotTheJob(t *testing.T) {
	w := merged(t)
	w.service.ScriptJob(mintlifytest.Step{})
	r := w.runOnce("-timeout", "10m")
	assert.Equal(t, 4, r.code)
	assert.Equal(t, "running", r.outputs["outcome"])
	assert.Contains(t, r.log, "run again to wait for it")
}

func TestARunThatIsInterruptedBeforeItsClaimMakesNoJob(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client, err := w.client()
	require.NoError(t, err)
	o := once{client: client, store: &directory{w.dir, "x"}, log: (&program{getenv: os.Getenv}).newLog(io.Discard, false), pace: defaultPace}
	_, err = o.job(ctx, "x")
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, notStarted, outcomeOf(err))
	assert.Empty(t, w.prompts())
	files, err := filepath.Glob(filepath.Join(w.dir, "x*"))
	require.NoError(t, err)
	assert.Empty(t, files, "and no claim")
}

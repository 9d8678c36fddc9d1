package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
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

// leave pushes a commit, whose run ends so that something is left behind. It returns the commit.
func (w *world) leave(t *testing.T, what string, args ...string) string {
	t.Helper()
	before := w.git("rev-parse", "HEAD")
	commit := w.commit(what, strings.ReplaceAll(what, " ", "-")+".go", "package x\n")
	w.onGitHub("push", w.push(before))

	job := mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: firstPull}
	codes := map[string]int{"pending": 5, "unknown": 3, "failed": 1, "refused": 5}
	switch what, _, _ = strings.Cut(what, " "); what {
	case "pending":
		w.service.FailNext(mintlify.OpCreateJob, 1, responding(402))
	case "unknown":
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	case "refused":
		w.service.FailNext(mintlify.OpCreateJob, 1, responding(422))
	case "failed":
		job.Status = mintlify.JobFailed
	case "running":
		args = append(args, "-no-wait")
	case "skip":
		args = append(args, "-path", "docs")
	case "nothing":
		return commit
	}

	if codes[what] != 5 && what != "skip" {
		w.service.ScriptJob(mintlifytest.JobStep{}, job)
	}
	r := w.run(t.Context(), args...)
	require.Equal(t, codes[what], r.Code, "%s: %s", what, r.Log)
	return commit
}

// everyPlace tests with each place of the record, in a repository of its own: with refs only if tests may take long.
func everyPlace(t *testing.T, test func(t *testing.T, w *world, args []string)) {
	t.Helper()
	for name := range merged(t).places() {
		if name == "refs" && !long(t) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := merged(t)
			test(t, w, w.places()[name])
		})
	}
}

// stateOf returns the state that a place has on record of a commit.
func (w *world) stateOf(t *testing.T, commit string, args []string) once.State {
	t.Helper()
	p := w.program(w.env, new(citest.Buffer), new(citest.Buffer))
	require.NoError(t, p.parse(args))
	require.NoError(t, p.connectGitHub())
	c := change{head: commit, repository: "acme/cli"}
	store, _, err := p.openStore(t.Context(), c)
	require.NoError(t, err)
	record, err := store.Get(t.Context(), c.key(w.project))
	require.NoError(t, err)
	return record.State
}

func TestCatchUpFinishesWhatRunsLeftBehind(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, w *world, args []string) {
		synctest.Test(t, func(t *testing.T) {
			w.leave(t, "done", args...)
			pending := w.leave(t, "pending", args...)
			running := w.leave(t, "running", args...)
			unknown := w.leave(t, "unknown", args...)
			failed := w.leave(t, "failed", args...)
			refused := w.leave(t, "refused", args...)
			again := w.leave(t, "pending again", args...)

			w.onGitHub("schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}})
			prompts := len(w.prompts())
			r := w.run(t.Context(), append(args, "-catch-up")...)
			assert.Equal(t, 3, r.Code, r.Log)
			assert.Equal(t, map[string]string{"outcome": "caught-up", "job-id": "", "pr-link": ""}, r.Outputs)
			assert.Contains(t, r.Log, "Caught up: 4 merges sent, waited for or looked for, 2 only listed, ")

			for commit, state := range map[string]once.State{
				pending: once.Done, running: once.Done, again: once.Done,
				unknown: once.Unknown, failed: once.Failed, refused: once.Refused,
			} {
				assert.Equal(t, state, w.stateOf(t, commit, args), r.Log)
				assert.Contains(t, r.Summary, "| "+commit+" | ")
			}
			require.Len(t, w.prompts(), prompts+2)
			assert.Contains(t, w.prompts()[prompts], "as commit "+pending, "the oldest first")
			assert.Contains(t, w.prompts()[prompts], "> +1 -0 pending.go\n")
			assert.NotContains(t, w.prompts()[prompts], "done.go", "since the record before")
			assert.Contains(t, r.Log, "::warning title=docs-on-merge::Only listed: "+failed+": failed, "+refused+": refused\n")

			r = w.run(t.Context(), append(args, "-catch-up")...)
			assert.Equal(t, 3, r.Code, "the unknown one is still there")
			assert.Len(t, w.prompts(), prompts+2, "nothing is sent twice")

			time.Sleep(8 * 24 * time.Hour)
			r = w.run(t.Context(), append(args, "-catch-up")...)
			assert.NotContains(t, r.Summary, failed, "a week ago")
		})
	})
}

// The agent may open the pull request long after the run that lost the response has stopped looking.
func TestCatchUpFindsAPullRequestOfTwentyFiveMinutesLater(t *testing.T) {
	w := losing(t)
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, 3, w.run(t.Context(), "-docs-repository", "acme/docs").Code)
		time.Sleep(5 * time.Minute)
		w.open()
		w.onGitHub("schedule", map[string]any{})
		start := time.Now()
		r := w.run(t.Context(), "-docs-repository", "acme/docs", "-catch-up", "-soft=false")
		assert.Zero(t, r.Code, r.Log)
		assert.Less(t, time.Since(start), time.Minute, "it looks once")
		assert.Equal(t, once.Done, w.state())
		assert.Contains(t, r.Summary, docsLink)
		assert.Len(t, w.prompts(), 1)
	})
}

func TestCatchUpMakesAtMostSoManyJobs(t *testing.T) {
	w := merged(t)
	synctest.Test(t, func(t *testing.T) {
		w.leave(t, "done")
		for i := range 4 {
			w.leave(t, fmt.Sprint("pending ", i))
		}
		w.onGitHub("schedule", map[string]any{})
		prompts := len(w.prompts())
		r := w.run(t.Context(), "-catch-up", "-max-jobs", "3")
		assert.Zero(t, r.Code, r.Log)
		assert.Len(t, w.prompts(), prompts+3)
		assert.Contains(t, r.Log, ": not sent because of max-jobs\n")
		assert.Contains(t, r.Log, "Caught up: 3 merges sent, waited for or looked for, 1 only listed, 0 without a record")
	})
}

// How a run that catches up ends, by what it has got itself.
func TestHowCatchingUpEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		left    []string
		prepare func(w *world)
		args    []string
		code    int
		outcome string
	}{
		"nothing to do": {left: []string{"done", "skip"}},
		"failed":        {left: []string{"done", "pending"}, prepare: endings["failed"].prepare, code: 1},
		"still limited": {
			left: []string{"done", "pending"}, prepare: endings["limited"].prepare, code: 5,
			args: []string{"-timeout", "5m"},
		},
		"at work": {
			left: []string{"done", "pending"}, prepare: endings["for ever"].prepare, code: 4,
			args: []string{"-timeout", "5m"},
		},
		"no-wait":           {left: []string{"done", "pending"}, args: []string{"-no-wait"}},
		"soft":              {left: []string{"done", "pending"}, prepare: endings["failed"].prepare, args: []string{"-soft"}},
		"unknown and other": {left: []string{"done", "unknown", "pending"}, prepare: endings["failed"].prepare, code: 3},
		"the key": {
			left: []string{"done", "pending"}, prepare: endings["bad key"].prepare, code: 2, args: []string{"-soft"},
			outcome: "set-up",
		},
		"the first of all":   {left: []string{"pending"}},
		"skipped by now":     {left: []string{"done", "pending"}, args: []string{"-path", "docs"}},
		"the last one fails": {left: []string{"done", "failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := merged(t)
			synctest.Test(t, func(t *testing.T) {
				for _, what := range tc.left {
					w.leave(t, what)
				}
				if tc.prepare != nil {
					tc.prepare(w)
				}

				w.onGitHub("schedule", map[string]any{})
				r := w.run(t.Context(), append(tc.args, "-catch-up")...)
				assert.Equal(t, tc.code, r.Code, r.Log)
				outcome := "caught-up"
				if tc.outcome != "" {
					outcome = tc.outcome
				}
				assert.Equal(t, outcome, r.Outputs["outcome"])
				switch name {
				case "the first of all":
					assert.Contains(t, r.Log, ": enter base and head\n")
				case "skipped by now":
					assert.Contains(t, r.Log, ": skipped: nothing relevant changed\n")
				}
			})
		})
	}

	for _, flag := range []string{"-check", "-dry-run", "-again", "-job=x", "-base=HEAD^", "-head=HEAD"} {
		r := merged(t).run(t.Context(), "-catch-up", flag)
		assert.Equal(t, 2, r.Code, flag)
		assert.Contains(t, r.Log, "-catch-up excludes ")
	}
}

// A pull request knows where it begins. Records of tags are a person's work, and other branches are named by flag.
func TestWhichMergesCatchUpSends(t *testing.T) {
	w := merged(t)
	synctest.Test(t, func(t *testing.T) {
		base := w.git("rev-parse", "HEAD")
		pending := w.leave(t, "pending")
		pull := mergedPull(7, pending, 1)
		pull.Title = "By a pull request"
		w.forge.pulls = map[string][]pullRequest{pending: {pull}}

		w.git("tag", "v1.0.0", base)
		w.git("tag", "v1.1.0")
		w.onGitHub("release", publishedRelease("v1.1.0"))
		w.service.FailNext(mintlify.OpCreateJob, 1, responding(402))
		require.Equal(t, 5, w.run(t.Context()).Code)

		w.git("checkout", "--quiet", "-b", "next")
		w.git("update-ref", "refs/remotes/origin/main", "HEAD")
		w.leave(t, "done")
		elsewhere := w.leave(t, "pending elsewhere")
		w.git("update-ref", "refs/remotes/origin/next", "HEAD")
		w.git("checkout", "--quiet", "main")

		w.onGitHub("schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}})
		prompts := len(w.prompts())
		r := w.run(t.Context(), "-catch-up")
		require.Zero(t, r.Code, r.Log)
		require.Len(t, w.prompts(), prompts+1)
		assert.Contains(t, w.prompts()[prompts], "By a pull request")
		assert.Contains(t, r.Log, pending+" (refs/tags/v1.1.0): a tag, so enter base and head\n")

		r = w.run(t.Context(), "-catch-up", "-branch", "next")
		require.Zero(t, r.Code, r.Log)
		require.Len(t, w.prompts(), prompts+2)
		assert.Contains(t, w.prompts()[prompts+1], "as commit "+elsewhere)
	})
}

// A person and a schedule may do the same at once.
func TestTwoRunsThatCatchUpSendOnce(t *testing.T) {
	everyPlace(t, func(t *testing.T, w *world, args []string) {
		synctest.Test(t, func(t *testing.T) {
			w.leave(t, "done", args...)
			w.leave(t, "pending", args...)
			w.onGitHub("schedule", map[string]any{})
			inner := w.toForge
			w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
				time.Sleep(200 * time.Millisecond) // so that all claim at once, having seen no claim
				return inner.RoundTrip(r)
			})
			prompts := len(w.prompts())
			_, codes := w.atOnce(t, 4, append(args, "-catch-up")...)
			assert.Equal(t, map[int]int{0: 4}, codes)
			assert.Len(t, w.prompts(), prompts+1)
		})
	})
}

// A status that says that nothing was sent is no skip.
func TestWhatSaysThatNothingWasSentIsNoSkip(t *testing.T) {
	for _, says := range []string{
		"No job was made: the program cannot be downloaded. Run again later",
		"Dry run: a job would be made",
	} {
		w := merged(t)
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))) // the commits are old
			w.leave(t, "done")
			lost := w.leave(t, "nothing lost")
			s := statuses{of: change{repository: "acme/cli", head: lost}}
			w.forge.statuses[lost] = []status{{
				ID: 1, State: "success", Context: s.context(s.of.key(w.project)), Description: says,
			}}

			w.onGitHub("schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}})
			r := w.run(t.Context(), "-check")
			assert.Equal(t, 1, r.Code, says)
			assert.Contains(t, r.Stdout, lost[:7])
		})
	}
}

// Each attempt makes a record young again, and the merge none the less old.
func TestCheckNamesAMergeThatIsTriedAgainAndAgain(t *testing.T) {
	w := merged(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
		w.leave(t, "done")
		w.leave(t, "pending")
		w.onGitHub("schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}})
		w.service.FailNext(mintlify.OpCreateJob, 1, responding(402))
		w.run(t.Context(), "-catch-up", "-soft")

		time.Sleep(30 * time.Minute)
		r := w.run(t.Context(), "-check")
		assert.Equal(t, 1, r.Code)
		assert.Contains(t, r.Stdout, "not-started")
	})
}

// Nobody else knows the job's id, so the run tries as long as one that waits for the job.
func TestCatchUpRecordsAJobLater(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, w *world, args []string) {
		synctest.Test(t, func(t *testing.T) {
			w.leave(t, "done", args...)
			pending := w.leave(t, "pending", args...)
			w.working(3)
			w.breakPlace(t, 25*time.Minute, args)
			w.onGitHub("schedule", map[string]any{})
			r := w.run(t.Context(), append(args, "-catch-up")...)
			assert.Zero(t, r.Code, r.Log)
			assert.Contains(t, r.Log, "Job job_2 is on record.\n")
			assert.Equal(t, once.Done, w.stateOf(t, pending, args))
		})
	})
}

// What another run sends is its own, also if the service does not take it: a schedule counts its jobs.
func TestCatchUpLeavesWhatAnotherRunTriesToSend(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, w *world, args []string) {
		synctest.Test(t, func(t *testing.T) {
			w.leave(t, "done", args...)
			pending := w.leave(t, "pending", args...)
			w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 30 * time.Second, Status: 402})
			var other sync.WaitGroup
			other.Go(func() { assert.Equal(t, 5, w.run(t.Context(), args...).Code) })
			time.Sleep(10 * time.Second)
			require.Equal(t, once.Sending, w.stateOf(t, pending, args))
			prompts := len(w.prompts())

			w.onGitHub("schedule", map[string]any{})
			r := w.run(t.Context(), append(args, "-catch-up")...)
			assert.Len(t, w.prompts(), prompts)
			assert.Equal(t, once.Pending, w.stateOf(t, pending, args))
			assert.Equal(t, 5, r.Code, r.Log)
			assert.Contains(t, r.Log, "another run has tried to send")
			other.Wait()
		})
	})
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/once"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestOnGitLab(t *testing.T) {
	w := newWorld(t)
	w.commit("second", "b.go", "package b\n")
	w.env["GITLAB_CI"], w.env["CI"], w.env["CI_PROJECT_PATH"] = "true", "true", "group/name"
	r := w.runOnce("-base", "HEAD^", "-state", t.TempDir())
	require.Zero(t, r.Code, r.Log)
	assert.Equal(t, "DOCS_ON_MERGE_OUTCOME=pull-request\nDOCS_ON_MERGE_JOB_ID=job_1\nDOCS_ON_MERGE_PR_LINK=https://github.com/example/docs/pull/1\n", citest.Read(t, filepath.Join(w.dir, "docs-on-merge.env")))
	assert.Contains(t, r.Log, "if it goes away with this runner, the next run for this change makes another job")
	assert.NotContains(t, r.Log, "::", "GitHub's annotations")
}

func TestAtADeskThereIsNoWarning(t *testing.T) {
	w := newWorld(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(t.TempDir(), "config"))
	for range 2 {
		r := w.runOnce()
		require.Zero(t, r.Code, r.Log)
		assert.NotContains(t, r.Log, "runner")
		assert.Equal(t, "https://github.com/example/docs/pull/1\n", r.Stdout)
	}
	assert.Len(t, w.prompts(), 1)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	r := w.runOnce()
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "HOME")
	assert.NoDirExists(t, "docs-on-merge", "nothing is made where the program happens to run")
}

// The secrets are not there, and nobody can set them.
func TestAForkWithoutSecretsSaysSo(t *testing.T) {
	w := merged(t)
	delete(w.env, "MINTLIFY_API_KEY")
	for name, tc := range map[string]struct {
		event  map[string]any
		isFork bool
	}{
		"a fork's own push": {map[string]any{"repository": map[string]any{"full_name": "eve/cli", "fork": true}}, true},
		"a pull request of a fork": {map[string]any{
			"repository":   map[string]any{"full_name": "acme/cli"},
			"pull_request": map[string]any{"head": map[string]any{"repo": map[string]any{"full_name": "eve/cli"}}},
		}, true},
		"a deleted fork": {map[string]any{
			"repository":   map[string]any{"full_name": "acme/cli"},
			"pull_request": map[string]any{"head": map[string]any{"repo": nil}},
		}, true},
		"a branch of its own": {map[string]any{
			"repository":   map[string]any{"full_name": "acme/cli"},
			"pull_request": map[string]any{"head": map[string]any{"repo": map[string]any{"full_name": "acme/cli"}}},
		}, false},
		"a push": {map[string]any{"repository": map[string]any{"full_name": "acme/cli"}}, false},
	} {
		w.onGitHub("pull_request", tc.event)
		r := w.runOnce("-base", "HEAD^", "-head", "HEAD")
		assert.Equal(t, 2, r.Code, name)
		assert.Equal(t, tc.isFork, strings.Contains(r.Log, "This is an event of a fork, whose runs get no secrets"), name)
	}
}

func TestTheSummaryOfADryRunIsCut(t *testing.T) {
	w := merged(t)
	before := w.git("rev-parse", "HEAD")
	w.commit("large", "large.go", strings.Repeat("// a line of a large file\n", 20_000))
	w.onGitHub("push", w.push(before))
	r := w.runOnce("-dry-run", "-max-prompt", "300000")
	require.Zero(t, r.Code, r.Log)
	assert.Less(t, len(r.Summary), 70<<10)
	assert.Contains(t, r.Summary, "<details><summary>The prompt</summary>")

	r = w.runOnce("-dry-run", "-max-prompt", "100")
	assert.Equal(t, 2, r.Code)
	assert.NotContains(t, r.Summary, "The prompt</summary>")

	r = w.runOnce("-dry-run", "-path", ":(nope)x")
	assert.Contains(t, r.Summary, "    base: ")
	assert.NotContains(t, r.Summary, "files:", "nobody has counted")
}

func TestWithoutAKey(t *testing.T) {
	w := merged(t)
	delete(w.env, "MINTLIFY_API_KEY")
	r := w.runOnce()
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "::error title=docs-on-merge::The set-up needs fixing: MINTLIFY_API_KEY is not set: "+
		"make an admin key at https://app.mintlify.com/settings/organization/api-keys\n")
	assert.Empty(t, w.forge.statuses, "nothing is claimed")
	assert.Zero(t, w.run(t.Context(), "-dry-run").Code)

	state := filepath.Join(t.TempDir(), "state")
	r = w.runOnce("-state", state)
	assert.Equal(t, 2, r.Code)
	assert.NoDirExists(t, state, "nothing is made")
	assert.NotContains(t, r.Log, "record", "the key is what is missing")
}

// Records that no run of the other tests ends with.
func TestOutcomesOfRecords(t *testing.T) {
	for name, tc := range map[string]struct {
		state   once.State
		err     error
		outcome ci.Outcome
	}{
		"nothing sent yet":    {state: once.Pending, outcome: ci.NotStarted},
		"set-up of a send":    {state: once.Pending, err: os.ErrPermission, outcome: ci.SetUp},
		"sending":             {state: once.Sending, outcome: ci.Running},
		"interrupted sending": {state: once.Sending, err: context.Canceled, outcome: ci.Running},
		"canceled":            {state: once.Canceled, outcome: ci.NotStarted},
	} {
		assert.Equal(t, tc.outcome, outcomeOf(once.Record{State: tc.state}, tc.err), name)
	}
}

// A person on GitHub has the inputs of "Run workflow", elsewhere the flags.
func TestAdviceNamesWhatAPersonHas(t *testing.T) {
	t.Parallel()
	one := merged(t)
	const again = `To send the prompt again, use "Run workflow" with the base and head of the summary, ` +
		"and set the input again"
	for name, says := range map[string]struct {
		onGitHub, byHand string
		// later is what a further run on GitHub says.
		later string
	}{
		"lost": {
			onGitHub: `". If there is one, review it. If there is none, use "Run workflow" with the base and head ` +
				"of the summary, and set the input again",
			byHand: "If there is one, review it. If there is none, run with -again",
			later:  "an earlier run's response was lost, and its log says why",
		},
		"refused": {
			onGitHub: "create job: 400 Bad Request [POST /v2/agent/test-project/job]. Once that is mended, run again",
			byHand:   "Once that is mended, run again",
			later:    "The service has refused the prompt before: sending it again.",
		},
		"failed": {
			onGitHub: again,
			byHand:   "To send the prompt again, run with -again",
			later:    "The agent's job failed: the log of the run that sent the prompt says why",
		},
	} {
		w := one.fresh(t)
		endings[name].prepare(w)
		r := w.runOnce()
		assert.Contains(t, r.Log, says.onGitHub, name)
		assert.NotRegexp(t, ` -(again|job|base|head)\b`, r.Log+r.Summary, name)
		assert.Contains(t, r.Summary, "base: "+w.git("rev-parse", "HEAD^"), "what to enter")

		r = w.runOnce()
		assert.Contains(t, r.Log, says.later, "the record keeps no reason, since others can read it")
		assert.Contains(t, r.Log, says.onGitHub, name)

		w = one.fresh(t)
		w.env = keys()
		endings[name].prepare(w)
		r = w.runOnce("-state", t.TempDir())
		assert.Contains(t, r.Log, says.byHand, name)
		assert.NotContains(t, r.Log+r.Summary, "Run workflow", name)
	}

	w := released(t)
	w.git("tag", "--delete", "v1.0.0")
	w.onGitHub("release", publishedRelease("v1.1.0"))
	assert.Contains(t, w.runOnce().Log, "enter as base where the change begins (on a command line: -base)")
	w.onGitHub("schedule", map[string]any{})
	assert.Contains(t, w.runOnce().Log, "give the action base and head (on a command line: -base and -head)")
}

// What a user can set is the same in -h, action.yml and README.
func TestFlagsAndInputsAreTheSameEverywhere(t *testing.T) {
	places := citest.Interface{
		Help:     newWorld(t).runOnce("-h").Stdout,
		Action:   citest.Read(t, "action.yml"),
		README:   citest.Read(t, "README.md"),
		Inputs:   map[string]string{"path": "paths", "branch": "branches", "skip-author": "skip-authors", "demo": "", "version": ""},
		NotFlags: []string{"api-key", "project-id", "github-token", "docs-token", "build"},
	}
	places.AssertSame(t)
}

// The run that sends the prompt keeps it in its summary, for whoever reviews what came of it.
func TestWhatWasSentIsKept(t *testing.T) {
	w := merged(t)
	first, second := w.runOnce(), w.runOnce()
	assert.Contains(t, first.Summary, "<details><summary>The prompt that was sent</summary>\n\n    A change was merged into acme/cli")
	assert.Contains(t, first.Summary, "\n    > +package b\n")
	marker := regexp.MustCompile(`(?m)^docs-job: .*$`).FindString(w.prompts()[0])
	require.NotEmpty(t, marker)
	assert.Contains(t, first.Summary, "\n    "+marker+"\n\n</details>\n")
	assert.NotContains(t, second.Summary, "<details>", "it has sent nothing")

	for _, fault := range []mintlifytest.Fault{{Drop: true}, {Status: 400}} {
		w = w.fresh(t)
		w.service.FailNext(mintlify.OpCreateJob, 1, fault)
		assert.Contains(t, w.runOnce().Summary, "> +package b", "%+v", fault)
	}
	w = w.fresh(t)
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 402})
	assert.NotContains(t, w.runOnce().Summary, "<details>", "nobody has it")
}

func TestTheDemo(t *testing.T) {
	for _, key := range []string{"", mintlifytest.APIKey} {
		w := newWorld(t)
		w.env = map[string]string{"MINTLIFY_API_KEY": key}
		r := w.runOnce("-demo")
		require.Zero(t, r.Code, r.Log)
		assert.Contains(t, r.Log, "Job job_1 is on record.")
		assert.Contains(t, r.Log, "This change has job job_1 already.")
		assert.Contains(t, r.Log, "\n== docs-on-merge -dry-run\n")
		assert.Contains(t, r.Log, "\n== docs-on-merge\n")
		assert.Contains(t, r.Log, "== Jobs made in all: 1")
		assert.Equal(t, 2, strings.Count(r.Stdout, "https://github.com/example/docs/pull/1\n"))
		assert.Contains(t, r.Stdout, "> +4 -0 json.go")
		assert.Equal(t, 2, strings.Count(r.Log, "\noutcome = pull-request\njob-id = job_1\npr-link = https://github.com/example/docs/pull/1\n"), r.Log)
		for _, args := range [][]string{{"-demo", "-no-wait"}, {"-base", "HEAD^", "-demo"}} {
			r := w.runOnce(args...)
			assert.Equal(t, 2, r.Code)
			assert.Contains(t, r.Log, "-demo takes no other flag")
		}
		assert.Empty(t, w.service.Requests())
	}
}

// Not every CI sets the variable CI.
func TestEachCIIsWarnedOfARecordThatGoesAway(t *testing.T) {
	for _, name := range []string{"CI", "JENKINS_URL", "TF_BUILD", "BUILDKITE", "BITBUCKET_BUILD_NUMBER"} {
		w := newWorld(t)
		w.env[name] = "1"
		r := w.runOnce("-state", t.TempDir())
		assert.Contains(t, r.Log, "if it goes away with this runner", name)
	}
}

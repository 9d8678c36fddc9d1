package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// scheduled is a world on GitHub, whose event names no merge.
func scheduled(t *testing.T) *world {
	w := merged(t)
	w.onGitHub("schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}})
	w.forge.docs = map[string][]docspulls.Pull{"acme/docs": {}}
	w.forge.docsToken = docsToken
	w.env["GITHUB_DOCS_TOKEN"] = docsToken
	return w
}

func TestCheckSaysOfEachPartWhetherItWorks(t *testing.T) {
	all := []string{"-check", "-docs-repository", "acme/docs", "-path", "*.go"}
	const keysPage = "make an admin key at https://app.mintlify.com/settings/organization/api-keys"
	for name, tc := range map[string]struct {
		prepare func(w *world)
		args    []string
		code    int
		says    string
	}{
		"all is well":   {says: "key and project: ok: "},
		"template":      {says: "template: ok: "},
		"paths":         {says: "paths: ok: "},
		"pull requests": {says: "pull requests: ok: "},
		"docs":          {says: "docs-repository: ok: the token may read the pull requests of acme/docs"},
		"record":        {says: "record in statuses: ok: "},
		"commits":       {says: "commits: ok: of the last 2 of HEAD, 0 have a record or a skip. Is this the first day"},
		"no key": {
			prepare: func(w *world) { delete(w.env, "MINTLIFY_API_KEY") },
			code:    2, says: "key and project: wrong: MINTLIFY_API_KEY is not set: " + keysPage,
		},
		"no project": {
			prepare: func(w *world) { delete(w.env, "MINTLIFY_PROJECT_ID") },
			code:    2, says: "commits: not checked: MINTLIFY_PROJECT_ID is not set",
		},
		"key refused": {
			prepare: func(w *world) { w.service.FailNext(mintlify.OpGetJob, 9, responding(401)) },
			code:    2, says: "key and project: wrong: mintlify: get job: 401",
		},
		"another project": {
			prepare: func(w *world) { w.service.FailNext(mintlify.OpGetJob, 9, responding(403)) },
			code:    2, says: "a new key ends after 90 days",
		},
		"service down": {
			prepare: func(w *world) { w.service.FailNext(mintlify.OpGetJob, 9, responding(503)) },
			code:    5, says: "key and project: no response: ",
		},
		"a proxy's page": {
			prepare: func(w *world) {
				w.service.FailNext(mintlify.OpGetJob, 9, mintlifytest.Fault{Body: "<html>", Status: 200})
			},
			code: 2, says: "key and project: wrong: ",
		},
		"statuses": {
			prepare: func(w *world) { failing(w, "GET", 1, 1000, false, response(403)) },
			code:    2, says: "record in statuses: wrong: GET /repos/acme/cli/commits/",
		},
		"statuses are down": {
			prepare: func(w *world) { failing(w, "GET", 1, 1000, false, response(502)) },
			code:    5, says: "record in statuses: no response: ",
		},
		"pulls": {
			prepare: func(w *world) { w.blind(response(403), "{}") },
			code:    2, says: "pull requests: wrong: ",
		},
		"the token": {
			prepare: func(w *world) { w.blind(response(401), "{}") },
			code:    2, says: "pull requests: wrong: ",
		},
		"docs token": {
			prepare: func(w *world) { delete(w.env, "GITHUB_DOCS_TOKEN") },
			code:    2, says: "docs-repository: wrong: ",
		},
		"a path": {args: []string{"-path", "old"}, code: 2, says: `paths: wrong: ["old"] match no file`},
		"a template": {
			args: []string{"-template-text", "{{.Titel}}"},
			code: 2, says: "template: wrong: the template cannot be filled in",
		},
		"with soft": {
			prepare: func(w *world) { w.service.FailNext(mintlify.OpGetJob, 9, responding(503)) },
			args:    []string{"-soft"},
			says:    "key and project: no response: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := scheduled(t)
			if tc.prepare != nil {
				tc.prepare(w)
			}
			r := w.runOnce(append(tc.args, all...)...)
			assert.Equal(t, tc.code, r.Code, r.Log)
			assert.Contains(t, r.Stdout, tc.says)
			assert.Contains(t, r.Summary, tc.says[:11])
			assert.Empty(t, w.prompts())
			assert.Empty(t, w.forge.statuses)
			if tc.code == 0 && tc.args == nil {
				assert.Equal(t, "checked", r.Outputs["outcome"])
				assert.Equal(t, 7, strings.Count(r.Stdout, ": ok: "), r.Stdout)
			}
		})
	}
}

func TestCheckTakesNoDecision(t *testing.T) {
	for _, args := range [][]string{{"-dry-run"}, {"-job", "x"}, {"-again"}} {
		r := scheduled(t).runOnce(append(args, "-check")...)
		assert.Equal(t, 2, r.Code)
		assert.Contains(t, r.Log, "-check excludes")
	}
}

func TestCheckSaysWhatItDoesNotAsk(t *testing.T) {
	r := scheduled(t).runOnce("-check")
	assert.Contains(t, r.Stdout, "docs-repository: not checked: it is not given\n")
	assert.Contains(t, r.Stdout, "paths: not checked: none are given\n")

	w := newWorld(t)
	state := filepath.Join(t.TempDir(), "state")
	r = w.runOnce("-check", "-state", state)
	assert.Zero(t, r.Code, r.Log)
	assert.Contains(t, r.Stdout, "pull requests: not checked: ")
	assert.Contains(t, r.Stdout, "record in "+state+": ok: the first run makes the folder\n")
	assert.Contains(t, r.Stdout, "commits: not checked: there is no record to read\n")
	assert.NoDirExists(t, state)

	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, ".git")))
	w.repo.changed()
	r = w.runOnce("-check")
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Stdout, "clone: wrong: ")
}

// Wherever the record is, the newest commits are counted, and those are named that a person should see.
func TestCheckNamesWhatAPersonShouldSee(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, w *world, args []string) {
		synctest.Test(t, func(t *testing.T) {
			w.leave(t, "done", args...)
			pending := w.leave(t, "pending", args...)
			running := w.leave(t, "running", args...)
			unknown := w.leave(t, "unknown", args...)
			failed := w.leave(t, "failed", args...)
			refused := w.leave(t, "refused", args...)
			check := func() citest.Ran {
				w.onGitHub("schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}})
				return w.run(t.Context(), append(args, "-check")...)
			}

			r := check()
			assert.Equal(t, 1, r.Code, r.Log)
			assert.Equal(t, "checked", r.Outputs["outcome"])
			assert.Contains(t, r.Stdout, "commits: ok: of the last 8 of HEAD, 6 have a record or a skip\n")
			assert.Contains(t, r.Stdout, "at work: ok: "+running+", "+pending+"\n", "younger ones")
			for about, commit := range map[string]string{
				"unknown": unknown, "failed within 7 days": failed, "refused within 7 days": refused,
			} {
				assert.Contains(t, r.Stdout, about+": look: "+commit+": ")
				assert.Contains(t, r.Log, "::warning title=docs-on-merge::"+about+": "+commit+": ")
			}

			time.Sleep(2 * time.Hour)
			r = check()
			assert.Contains(t, r.Stdout, "not-started for more than an hour: look: "+pending+": ")
			assert.Contains(t, r.Stdout, "at work: ok: "+running+"\n")

			time.Sleep(24 * time.Hour)
			assert.Contains(t, check().Stdout, "running for more than a day: look: "+running+": ")

			time.Sleep(7 * 24 * time.Hour)
			r = check()
			assert.NotContains(t, r.Stdout, "failed within")
			assert.NotContains(t, r.Stdout, "refused within")
			assert.Contains(t, r.Stdout, "unknown: look: ")
			assert.Zero(t, w.run(t.Context(), append(args, "-check", "-soft")...).Code)
		})
	})
}

// A claim without a response, of a run that died, is nobody's work but a person's.
func TestCheckTakesADeadClaimForUnknown(t *testing.T) {
	w := merged(t)
	synctest.Test(t, func(t *testing.T) {
		store, key := w.storeOf(t)
		claim := once.Record{
			Task:      once.Task{Key: key},
			Version:   1,
			State:     once.Sending,
			Sender:    "dead",
			Deadline:  time.Now().Add(time.Minute).UTC(),
			UpdatedAt: time.Now().UTC(),
		}
		require.NoError(t, store.Put(t.Context(), claim))
		w.onGitHub("schedule", map[string]any{})
		assert.Zero(t, w.run(t.Context(), "-check").Code)
		time.Sleep(2 * time.Minute)
		r := w.run(t.Context(), "-check")
		assert.Equal(t, 1, r.Code)
		assert.Contains(t, r.Stdout, "unknown: look: ")
	})
}

// The clock of a bubble is years before git's. So that commits are old, the bubble sleeps first.
func TestCheckNamesMergesWithoutARecord(t *testing.T) {
	w := merged(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
		w.leave(t, "nothing before the first record")
		first := w.leave(t, "done")
		lost := w.leave(t, "nothing of a run that did not begin")
		w.leave(t, "nothing for CI [skip ci]")
		w.leave(t, "nothing to document\n\ndocs-job: none")
		w.leave(t, "nothing beside the paths")
		w.leave(t, "skip")
		inPush := w.leave(t, "nothing in the middle of a push")
		last := w.leave(t, "done last")
		w.leave(t, "nothing after it, of a run that did not begin")

		skip := w.git("rev-parse", inPush+"^")
		pull := mergedPull(7, last, 2)
		w.forge.pulls = map[string][]pullRequest{
			first: {mergedPull(5, first, 1)}, skip: {mergedPull(6, skip, 1)}, inPush: {pull}, last: {pull},
		}

		w.onGitHub("schedule", map[string]any{})
		r := w.run(t.Context(), "-check", "-path", "*.go", "-path", ":(exclude)nothing-beside*")
		assert.Equal(t, 1, r.Code, r.Log)
		after := w.git("rev-parse", "HEAD")
		assert.Contains(t, r.Stdout, "no record: look: "+after+", "+lost+": ")
		assert.Contains(t, r.Log, "::warning title=docs-on-merge::no record: ")
	})
}

// It is the first day, or the step does not run on this branch.
func TestCheckWarnsIfNoMergeHasARecord(t *testing.T) {
	r := scheduled(t).runOnce("-check")
	assert.Zero(t, r.Code, r.Log)
	assert.Contains(t, r.Log, "::warning title=docs-on-merge::No merge has a record: of the last 2 of HEAD, 0 have a record")
	assert.NotContains(t, r.Stdout, "no record")

	r = scheduled(t).runOnce("-check", "-branch", "nowhere")
	assert.Equal(t, 2, r.Code, r.Log)
	assert.Contains(t, r.Stdout, `commits: wrong: "refs/remotes/origin/nowhere" is not a commit of this clone`)
}

func TestADryRunChecksTooAndNeedsNoKey(t *testing.T) {
	w := merged(t)
	delete(w.env, "MINTLIFY_API_KEY")
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, http.MethodGet, r.Method)
		return w.forge.RoundTrip(r)
	})
	delete(w.env, "MINTLIFY_PROJECT_ID") // or the run leaves a status
	r := w.runOnce("-dry-run", "-path", "*.go")
	require.Zero(t, r.Code, r.Log)
	assert.Contains(t, r.Stdout, "package b")
	assert.Contains(t, r.Log, "key and project: not checked: no key\n")
	assert.Contains(t, r.Log, "record in statuses: ok: ")
	assert.Contains(t, r.Log, "commits: not checked: MINTLIFY_PROJECT_ID is not set\n")

	w = merged(t)
	r = w.runOnce("-dry-run")
	assert.Contains(t, r.Log, "commits: ok: of the last 2 of HEAD, 0 have a record or a skip")
	assert.NotContains(t, r.Log, "::warning", "the first days are dry runs")
}

func TestADryRunEndsAsTheRunWouldWithoutItsRecordOrWithAWrongKey(t *testing.T) {
	w := newWorld(t)
	w.git("config", "remote.origin.url", "https://github.com/acme/cli")
	delete(w.env, "GITHUB_TOKEN")
	for _, args := range [][]string{nil, {"-dry-run"}} {
		r := w.runOnce(args...)
		assert.Equal(t, 2, r.Code, r.Log)
		assert.Contains(t, r.Log, "GITHUB_TOKEN is not set: GitHub's record of jobs needs GITHUB_TOKEN and -repository")
		assert.NotContains(t, r.Log, "a job would be made")
	}
	assert.Empty(t, w.prompts())

	delete(w.env, "MINTLIFY_API_KEY")
	state := filepath.Join(t.TempDir(), "state")
	assert.Zero(t, w.runOnce("-dry-run", "-state", state).Code)

	w.env["MINTLIFY_API_KEY"] = mintlifytest.APIKey
	w.service.FailNext(mintlify.OpGetJob, 1, responding(401))
	assert.Equal(t, 2, w.runOnce("-dry-run", "-state", state).Code)
}

// A clone of GitHub Actions has no origin/HEAD. The event says which branch is the default one.
func TestCheckCountsTheDefaultBranch(t *testing.T) {
	w := scheduled(t)
	w.git("update-ref", "refs/remotes/origin/main", "HEAD^")
	assert.Contains(t, w.runOnce("-check").Stdout, "of the last 1 of refs/remotes/origin/main, ")
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/once"
)

const noCommit = "0000000000000000000000000000000000000000"

const firstPull = "https://github.com/example/docs/pull/1"

// told is a world whose commit was merged by a pull request.
func told(t *testing.T) *world {
	w := merged(t)
	w.forge.pulls = map[string][]pullRequest{"": {
		{Title: "Not this one"},
		{Title: "JSON at last", Body: "Every command.\r\nPrints JSON.", MergedAt: "2026-01-01T00:00:00Z"},
	}}
	return w
}

func TestAMergeBecomesOnePullRequest(t *testing.T) {
	w := told(t)
	all := w.runs(nil, nil)
	r := all[0]
	require.Zero(t, r.Code, r.Log)

	outputs := map[string]string{"outcome": "pull-request", "job-id": "job_1", "pr-link": firstPull}
	assert.Equal(t, outputs, r.Outputs)
	assert.Equal(t, firstPull+"\n", r.Stdout)
	assert.Contains(t, r.Summary, "<"+firstPull+">")
	assert.Contains(t, r.Log, "Job job_1 is on record.")
	assert.Contains(t, r.Log, "::notice title=docs-on-merge::Pull request opened: "+firstPull+" [job job_1]\n")

	second := all[1]
	assert.Zero(t, second.Code)
	assert.Equal(t, outputs, second.Outputs)
	assert.Equal(t, r.Stdout, second.Stdout)
	assert.Contains(t, second.Log, "This change has job job_1 already.")
	assert.Len(t, w.service.Jobs(), 1)
}

func TestThePromptTellsTheChangeAndEndsWithTheMarker(t *testing.T) {
	w := told(t)
	require.Zero(t, w.runOnce().Code)

	prompt := w.prompts()[0]
	assert.Contains(t, prompt, "\n> JSON at last\n")
	assert.Contains(t, prompt, "\n> Every command.\n> Prints JSON.\n")
	assert.Contains(t, prompt, "\n> Add the flag --json\n")
	assert.Contains(t, prompt, "\n> +1 -0 b.go\n")
	assert.Contains(t, prompt, "\n> +package b\n", "the diff")
	assert.NotContains(t, prompt, "a.go")
	assert.NotContains(t, prompt, "Not this one")

	assert.Regexp(t, `\ndocs-job: acme/cli@`+w.git("rev-parse", "HEAD")+`:[0-9a-f]{8}$`, prompt)
	key, ok := once.FindMarker(prompt)
	assert.True(t, ok)
	assert.NotContains(t, key, "test-project", "markers may be public")
}

func TestTheStatusesOfAJob(t *testing.T) {
	w := told(t)
	require.Zero(t, w.runOnce().Code)

	statuses := w.forge.statuses[w.git("rev-parse", "HEAD")]
	require.Len(t, statuses, 3)
	assert.Equal(t, firstPull, statuses[0].TargetURL, "in the end")
	assert.Equal(t, "success", statuses[0].State)
	assert.Equal(t, "https://github.com/acme/cli/actions/runs/77", statuses[2].TargetURL)
	assert.Equal(t, "pending", statuses[2].State)
	for _, s := range statuses {
		assert.NotContains(t, s.Context+s.Description, "test-project")
	}
}

// mergedBy makes a branch of two commits, with one on main beside them, and merges it in a way.
func mergedBy(t *testing.T, way string) (w *world, event map[string]any) {
	w = newWorld(t)
	w.copied(way, func() {
		w.git("checkout", "--quiet", "-b", "topic")
		w.commit("topic 1", "one.go", "package one\n")
		w.commit("topic 2", "two.go", "package two\n")
		w.git("checkout", "--quiet", "main")
		base := w.git("rev-parse", "HEAD")
		w.commit("beside", "beside.go", "package beside\n")
		switch way {
		case "merge":
			w.git("merge", "--quiet", "--no-ff", "topic")
		case "squash":
			w.git("merge", "--quiet", "--squash", "topic")
			w.git("commit", "--quiet", "--message=squashed")
		case "rebase":
			w.git("cherry-pick", base+"..topic")
		}
	})
	pull := map[string]any{
		"merged":           true,
		"title":            "A title",
		"body":             nil,
		"merge_commit_sha": w.git("rev-parse", "HEAD"),
		"commits":          2,
		"additions":        2,
		"deletions":        0,
		"changed_files":    2,
	}
	return w, map[string]any{"action": "closed", "pull_request": pull}
}

func TestAPullRequestIsAllOfItsFilesHoweverItWasMerged(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	for _, way := range []string{"merge", "squash", "rebase"} {
		w, event := mergedBy(t, way)
		for _, name := range []string{"pull_request", "pull_request_target"} {
			t.Run(way+" "+name, func(t *testing.T) {
				w.t = t
				w.onGitHub(name, event)
				prompt := w.prompt()
				assert.Contains(t, prompt, "> +1 -0 one.go\n> +1 -0 two.go\n")
				assert.NotContains(t, prompt, "beside.go")
				assert.Contains(t, prompt, "> A title\n")
				assert.Contains(t, prompt, "as commit "+w.git("rev-parse", "HEAD"))
			})
		}
	}
}

func TestWhatIsSkippedNeedsNoKeyAndMakesNoJob(t *testing.T) {
	w := merged(t)
	delete(w.env, "MINTLIFY_API_KEY")
	unmerged := map[string]any{"pull_request": map[string]any{"merged": false, "merge_commit_sha": nil}}
	deleted := map[string]any{"before": strings.Repeat("a", 40), "after": noCommit, "deleted": true}
	pushed := w.push(w.git("rev-parse", "HEAD^"))
	reset := w.push(w.git("rev-parse", "HEAD^"))
	reset["commits"] = []any{}
	pull := mergedPull(7, w.git("rev-parse", "HEAD"), 1)
	pull.Base.Ref = "feature-1"
	elsewhere := map[string]any{"pull_request": pull, "repository": map[string]any{"default_branch": "main"}}
	for name, tc := range map[string]struct {
		event string
		data  map[string]any
		args  []string
		says  string
	}{
		"not merged":     {event: "pull_request", data: unmerged, says: "not merged"},
		"another branch": {event: "pull_request", data: elsewhere, says: "not merged into main\n"},
		"yet another branch": {
			"pull_request", elsewhere, []string{"-branch", "release-1.x"}, "not merged into main\n",
		},
		"no commits":          {event: "push", data: reset, says: "no commits were pushed"},
		"a new repository":    {event: "push", data: w.push(noCommit), says: "the default branch is new"},
		"deleted branch":      {event: "push", data: deleted, says: "deleted"},
		"nothing of the path": {"push", pushed, []string{"-path", "docs", "-path", "*.md"}, "nothing relevant"},
		"no change":           {event: "push", data: w.push(w.git("rev-parse", "HEAD")), says: "nothing relevant"},
	} {
		w.onGitHub(tc.event, tc.data)
		r := w.runOnce(tc.args...)
		require.Zero(t, r.Code, r.Log)
		assert.Equal(t, "skipped", r.Outputs["outcome"], name)
		assert.Contains(t, r.Log, tc.says, name)
		assert.Contains(t, r.Summary, "Skipped", name)
		assert.Empty(t, w.service.Requests(), name)
	}
}

func TestMergesIntoABranchOfTheFlagCount(t *testing.T) {
	w := merged(t)
	pull := mergedPull(7, w.git("rev-parse", "HEAD"), 1)
	pull.Base.Ref = "feature-1"
	w.onGitHub("pull_request", map[string]any{"pull_request": pull, "repository": map[string]any{"default_branch": "main"}})
	for _, name := range []string{"feature-1", "refs/heads/feature-1"} {
		r := w.runOnce("-branch", "release-1.x", "-branch", name+" \r", "-dry-run")
		assert.Equal(t, "dry-run", r.Outputs["outcome"], r.Log)
	}
}

func TestADryRunIsAnOutcomeOfItsOwn(t *testing.T) {
	w := merged(t)
	delete(w.env, "MINTLIFY_API_KEY")
	r := w.runOnce("-dry-run")
	assert.Zero(t, r.Code, r.Log)
	assert.Equal(t, map[string]string{"outcome": "dry-run", "job-id": "", "pr-link": ""}, r.Outputs)
	assert.Contains(t, r.Log, "::notice title=docs-on-merge::Dry run: a job would be made\n")
	assert.Contains(t, r.Stdout, "merged into acme/cli as")
	assert.Equal(t, "skipped", w.runOnce("-dry-run", "-path", "docs").Outputs["outcome"], "no job would be made")
}

func TestPathsAreGitsPathspecs(t *testing.T) {
	w := newWorld(t)
	w.commit("c", "cmd/x.go", "package x\n")
	w.commit("d", "internal/y.go", "package y\n")
	prompt := w.prompt("-base", "HEAD~2", "-path", "*.go", "-path", ":(exclude)internal")
	assert.Contains(t, prompt, "cmd/x.go")
	assert.NotContains(t, prompt, "y.go")
}

func TestByHand(t *testing.T) {
	w := newWorld(t)
	w.git("mv", "a.go", "renamed.go")
	w.commit("rename", "image.png", "\x00\x01")
	prompt := w.prompt()
	assert.Contains(t, prompt, "> +0 -0 a.go => renamed.go\n", "HEAD against its parent")
	assert.Contains(t, prompt, "> +0 -0 image.png\n", "binary")
	assert.Contains(t, prompt, "merged into acme/desk as")
	assert.Contains(t, w.prompt("-head", "HEAD^"), "> +1 -0 a.go\n", "a root commit against nothing")
	assert.Contains(t, w.prompt("-head", "HEAD^"), "> first\n")

	w.onGitHub("workflow_dispatch", map[string]any{})
	assert.Contains(t, w.prompt("-base", "HEAD^"), "renamed.go", "whatever the event")
}

func TestNewBranches(t *testing.T) {
	w := newWorld(t)
	w.git("update-ref", "refs/remotes/origin/main", "HEAD")
	w.git("checkout", "--quiet", "-b", "topic")
	w.commit("topic", "topic.go", "package topic\n")
	event := w.push(noCommit)
	event["ref"] = "refs/heads/topic"
	w.onGitHub("push", event)
	prompt := w.prompt()
	assert.Contains(t, prompt, "topic.go", "since it left the default branch")
	assert.NotContains(t, prompt, "a.go")

	w.git("update-ref", "-d", "refs/remotes/origin/main")
	r := w.runOnce()
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, `"refs/remotes/origin/main" is not a commit of this clone (left out by a force push`)
	assert.Contains(t, r.Log, "fetch-depth: 0")
}

func TestAForcePushIsWhatDiffers(t *testing.T) {
	w := newWorld(t)
	before := w.commit("one way", "b.go", "package b\n")
	w.git("reset", "--quiet", "--hard", "HEAD^")
	w.commit("another way", "c.go", "package c\n")
	w.onGitHub("push", w.push(before))
	assert.Contains(t, w.prompt(), "> +0 -1 b.go\n> +1 -0 c.go\n")

	w.onGitHub("push", w.push(strings.Repeat("a", 40)))
	r := w.runOnce()
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "is not a commit of this clone (left out by a force push, misspelled, or not fetched)")
}

func TestAShallowCloneIsToldSo(t *testing.T) {
	w := newWorld(t)
	w.commit("second", "b.go", "package b\n")
	before := w.git("rev-parse", "HEAD^")
	event := w.push(before)
	clone := filepath.Join(t.TempDir(), "clone")
	w.git("clone", "--quiet", "--depth=1", "file://"+w.dir, clone)
	w.dir = clone
	pull := map[string]any{"pull_request": map[string]any{"merged": true, "merge_commit_sha": event["after"]}}
	for name, event := range map[string]any{"push": event, "pull_request": pull, "": nil} {
		w.onGitHub(name, event)
		r := w.runOnce()
		assert.Equal(t, 2, r.Code)
		assert.Contains(t, r.Log, "shallow: fetch all of it (fetch-depth: 0 of actions/checkout")
		assert.Equal(t, "set-up", r.Outputs["outcome"])
	}
	assert.Empty(t, w.service.Requests())
}

func TestWhatNamesNoChangeIsASetUpError(t *testing.T) {
	w := merged(t)
	good := w.push(w.git("rev-parse", "HEAD^"))
	pull := map[string]any{"pull_request": map[string]any{"merged": true, "merge_commit_sha": nil}}
	options := map[string]any{"before": "--output=x", "after": good["after"]}
	for name, tc := range map[string]struct {
		event string
		data  any
		args  []string
		says  string
	}{
		"other event":      {"schedule", map[string]any{}, nil, `the event "schedule" names no merge`},
		"push of nothing":  {"push", map[string]any{}, nil, "names no merge"},
		"push of options":  {"push", options, nil, "is not a commit of this clone"},
		"pull of nothing":  {"pull_request", pull, nil, "names no merge"},
		"no object":        {"push", "text", nil, "the event cannot be read (GITHUB_EVENT_PATH)"},
		"zeros by hand":    {"push", good, []string{"-base", noCommit}, "-base is all zeros"},
		"an option":        {"push", good, []string{"-head", "--all"}, "is not a commit of this clone"},
		"no such ref":      {"push", good, []string{"-head", "nowhere"}, "is not a commit of this clone"},
		"no room":          {"push", good, []string{"-max-prompt", "0"}, "-max-prompt"},
		"job and again":    {"push", good, []string{"-job", "x", "-again"}, "exclude each other"},
		"docs repository":  {"push", good, []string{"-docs-repository", "acme/docs/"}, "is not the owner/name of a repository"},
		"no repository":    {"push", good, []string{"-repository", "../x"}, `"../x" is not the owner/name of a repository`},
		"no template":      {"push", good, []string{"-template", "/nowhere/t"}, "-template"},
		"pathspec":         {"push", good, []string{"-path", ":(nope)x"}, "pathspec magic"},
		"state not usable": {"push", good, []string{"-state", "/dev/null/x"}, "/dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.onGitHub(tc.event, tc.data)
			r := w.runOnce(tc.args...)
			assert.Equal(t, 2, r.Code)
			assert.Contains(t, r.Log, tc.says)
			assert.Equal(t, "set-up", r.Outputs["outcome"])
			assert.Empty(t, w.service.Requests())
		})
	}
	w.t = t
	w.env["GITHUB_EVENT_PATH"] = "/nowhere"
	assert.Contains(t, w.runOnce().Log, "GITHUB_EVENT_PATH")
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, ".git")))
	w.repo.changed()
	w.onGitHub("push", good)
	r := w.runOnce()
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "not a git repository")
}

func TestAPushGoesOnWithoutThePullRequestItMayNotRead(t *testing.T) {
	w := merged(t)
	delete(w.env, "GITHUB_TOKEN")
	prompt := w.prompt("-state", t.TempDir())
	assert.Contains(t, prompt, "b.go")
	assert.NotContains(t, prompt, "Title of the pull request")
	assert.NotContains(t, prompt, "Description of the pull request")
}

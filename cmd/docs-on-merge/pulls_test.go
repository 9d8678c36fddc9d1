package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
)

// blind has GitHub respond to each question about pull requests with resp. nil drops the connection.
func (w *world) blind(resp *http.Response, body string) {
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/pulls") {
			return w.forge.RoundTrip(r)
		}
		if resp == nil {
			return nil, io.ErrUnexpectedEOF
		}
		again := *resp
		again.Body = io.NopCloser(strings.NewReader(body))
		return &again, nil
	})
}

// The pull request may say that nothing is to be sent, and may be the agent's own.
func TestWithoutThePullRequestsNothingIsSent(t *testing.T) {
	one := merged(t)
	for name, tc := range map[string]struct {
		resp *http.Response
		body string
		code int
		says string
	}{
		"500":            {response(500), "", 5, "500 Internal Server Error"},
		"503":            {response(503), "", 5, "503 Service Unavailable"},
		"429":            {response(429), "", 5, "(the rate limit of GitHub)"},
		"rate limit":     {response(403, "X-RateLimit-Remaining", "0"), "", 5, "(the rate limit of GitHub)"},
		"secondary":      {response(403), `{"message":"You have exceeded a secondary rate limit."}`, 5, "secondary rate limit"},
		"no response":    {nil, "", 5, "unexpected EOF"},
		"401":            {response(401), "", 2, "is GITHUB_TOKEN right?"},
		"moved":          {response(301), "", 2, "301 Moved Permanently"},
		"not JSON":       {response(200), "<html>", 2, "invalid character"},
		"no permission":  {response(403), "{}", 0, "Going on without pull requests"},
		"not found":      {response(404), "{}", 0, "Going on without pull requests"},
		"unknown commit": {response(422), `{"message":"No commit found for SHA"}`, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			w.blind(tc.resp, tc.body)
			r := w.runOnce("-no-wait")
			require.Equal(t, tc.code, r.Code, r.Log)
			assert.Contains(t, r.Log, tc.says)
			assert.NotContains(t, r.Log, ": .", "nothing is quoted of an empty body")
			if tc.code != 0 {
				assert.Empty(t, w.service.Requests())
				assert.Contains(t, r.Log, "nothing is sent before the pull requests of the change are read")
				return
			}

			assert.Len(t, w.prompts(), 1)
			isWarned := strings.Contains(r.Log, "::warning title=docs-on-merge::Going on without pull requests")
			assert.Equal(t, name != "unknown commit", isWarned, r.Log)
			assert.Equal(t, isWarned, strings.Contains(r.Summary, "    Warning: Going on without pull requests"))
		})
	}
}

// Running again later would not help.
func TestAWrongTokenIsSetUpAlsoWithSoft(t *testing.T) {
	w := merged(t)
	w.blind(response(401), "")
	r := w.runOnce("-soft")
	assert.Equal(t, 2, r.Code, r.Log)
	assert.Equal(t, "set-up", r.Outputs["outcome"])
	assert.NotContains(t, r.Log, "Run again later")

	w = merged(t)
	failing(w, http.MethodGet, 1, 1000, false, response(401))
	assert.Equal(t, 2, w.runOnce("-soft").Code, "statuses, too")
}

// A dry run sends nothing, so it has nothing to wait for.
func TestADryRunGoesOnWithoutThePullRequests(t *testing.T) {
	one := merged(t)
	for name, resp := range map[string]*http.Response{
		"503":         response(503),
		"401":         response(401),
		"no response": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			w.blind(resp, "")
			r := w.runOnce("-dry-run", "-timeout=10m")
			require.Zero(t, r.Code, r.Log)
			assert.Contains(t, r.Summary, "Add the flag --json")
			assert.Contains(t, r.Log, "::warning title=docs-on-merge::Going on without pull requests")
			assert.Empty(t, w.prompts())
		})
	}
}

func TestANearMissOfTheLineSkipsAndIsQuoted(t *testing.T) {
	for line, isNear := range map[string]bool{
		"docs-job: none":                       false,
		"Docs-Job: None":                       false,
		"docs-job:none":                        true,
		"docs-job: none (an embargo)":          true,
		"<!-- docs-job: none, an embargo -->":  true,
		"docs-job: none, ##[error]::warning::": true,
	} {
		w := merged(t)
		w.forge.pulls = map[string][]pullRequest{"": {{MergedAt: "x", Body: "A fix.\n\n" + line + "\n"}}}
		r := w.runOnce()
		require.Zero(t, r.Code, r.Log)
		assert.Equal(t, "skipped", r.Outputs["outcome"], line)
		assert.Contains(t, r.Log, "Skipped: docs-job: none\n")
		assert.Empty(t, w.service.Requests(), line)

		isQuoted := strings.Contains(r.Log, "::warning title=docs-on-merge::Commit "+w.git("rev-parse", "HEAD")+
			" is skipped because of the line ")
		assert.Equal(t, isNear, isQuoted, r.Log)
	}
}

// A folder that is renamed turns the step off, and nobody sees it.
func TestAPathThatMatchesNoFileIsWarnedOf(t *testing.T) {
	for path, isWarned := range map[string]bool{
		"b.go":                     false,
		"*.go":                     false,
		":(exclude)vendor":         false,
		":!vendor":                 false,
		":(top,exclude)vendor":     false,
		"old":                      true,
		":(top)old":                true,
		":(glob)**/excluded/*.txt": true,
	} {
		w := merged(t)
		r := w.runOnce("-path", "*.go", "-path", path, "-no-wait")
		require.Zero(t, r.Code, r.Log)
		isSaid := strings.Contains(r.Log, "::warning title=docs-on-merge::The path ")
		assert.Equal(t, isWarned, isSaid, "%s: %s", path, r.Log)
		assert.Equal(t, isWarned, strings.Contains(r.Summary, "Warning: The path "), path)
	}
}

// mergedPull is a pull request of that many commits that was merged into main as a commit.
func mergedPull(number int, commit string, commits int) pullRequest {
	pull := pullRequest{Number: number, Merged: true, MergedAt: "x", MergeCommitSHA: commit, Commits: commits}
	pull.Base.Ref = "main"
	return pull
}

func TestWhichPullRequestOfACommitCounts(t *testing.T) {
	t.Parallel()
	w := merged(t)
	head := w.git("rev-parse", "HEAD")
	backMerge := pullRequest{Number: 12, Title: "Sync main into release-1.x", Body: "docs-job: none", MergedAt: "x"}
	backMerge.Base.Ref = "release-1.x"
	backMerge.MergeCommitSHA = strings.Repeat("a", 40)
	own := mergedPull(2, head, 1)
	own.Title = "Add a flag"
	rebased := mergedPull(3, strings.Repeat("b", 40), 2)
	rebased.Title = "Rebased"
	open := pullRequest{Number: 4, Title: "Not merged", MergeCommitSHA: head}
	open.Base.Ref = "main"

	for name, tc := range map[string]struct {
		named []pullRequest
		title string
	}{
		"the one that it merged": {[]pullRequest{backMerge, rebased, own}, "Add a flag"},
		"the one of the branch":  {[]pullRequest{backMerge, open, rebased}, "Rebased"},
		"neither":                {[]pullRequest{backMerge, open}, ""},
		"none":                   {nil, ""},
	} {
		w := w.fresh(t)
		w.forge.pulls = map[string][]pullRequest{"": tc.named}
		prompt := w.prompt()
		assert.Equal(t, tc.title != "", strings.Contains(prompt, "Title of the pull request"), name)
		assert.Contains(t, prompt, tc.title, name)
		assert.NotContains(t, prompt, "Sync", name)
	}

	w.forge.pulls = map[string][]pullRequest{"": {backMerge, rebased}}
	w.onGitHub("release", publishedRelease("v2"))
	w.git("tag", "v1", "HEAD^")
	w.git("tag", "v2")
	assert.NotContains(t, w.prompt(), "Rebased", "nobody knows the branch")
	w.git("update-ref", "refs/remotes/origin/main", "HEAD")
	w.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	assert.Contains(t, w.prompt(), "Rebased", "the default branch")
}

// squashed is a world in which another merge has brought one of a squash's two files before. Its event says that the
// pull request has three commits and two files.
func squashed(t *testing.T) (*world, pullRequest) {
	w := newWorld(t)
	w.commit("Another merge", "0.go", "package x\n")
	w.commit("Squashed (#7)", "1.go", "package x\n")
	pull := mergedPull(7, w.git("rev-parse", "HEAD"), 3)
	pull.ChangedFiles = 2
	pull.Additions = 2
	w.onGitHub("pull_request", map[string]any{"pull_request": pull})
	w.forge.pulls = map[string][]pullRequest{
		pull.MergeCommitSHA:          {pull},
		w.git("rev-parse", "HEAD^"):  {{Number: 6, MergedAt: "x"}},
		w.git("rev-parse", "HEAD~2"): {{Number: 5, MergedAt: "x"}},
	}
	return w, pull
}

func TestTheBaseOfAPullRequestIsWhereItsCommitsEnd(t *testing.T) {
	t.Parallel()
	w, _ := squashed(t)
	r := w.run(t.Context(), "-dry-run")
	requireTold(t, r, "1")
	assert.NotContains(t, r.Log, "counts")

	w = newWorld(t)
	for i := range 4 {
		w.commit(fmt.Sprint("commit ", i), fmt.Sprint(i, ".go"), "package x\n")
	}
	head := w.git("rev-parse", "HEAD")
	for name, tc := range map[string]struct {
		commits, other int
		kept           string
	}{
		"all are there":     {commits: 3, other: 3, kept: "123"},
		"one was dropped":   {commits: 3, other: 2, kept: "23"},
		"more than it has":  {commits: 2, other: 4, kept: "23"},
		"all but the merge": {commits: 4, other: 1, kept: "3"},
	} {
		pull := mergedPull(7, head, tc.commits)
		w.forge.pulls = map[string][]pullRequest{
			"": {pull},
			w.git("rev-parse", fmt.Sprint("HEAD~", tc.other)): {{Number: 6, MergedAt: "x"}},
		}
		w.onGitHub("pull_request", map[string]any{"pull_request": pull})
		r := w.run(t.Context(), "-dry-run")
		t.Log(name)
		requireTold(t, r, tc.kept)
	}
}

// Right after a merge GitHub may not know yet which commits belong to the pull request.
func TestABaseThatGitHubDoesNotTell(t *testing.T) {
	t.Parallel()
	const warning = "::warning title=docs-on-merge::GitHub does not say which commits pull request #7 has"
	for name, tc := range map[string]struct {
		prepare  func(w *world, parent string)
		kept     string
		isWarned bool
		took     time.Duration
	}{
		"a little later": {
			prepare: func(w *world, parent string) {
				named := w.forge.pulls[parent]
				w.forge.pulls[parent] = nil
				time.AfterFunc(namesAfter-time.Second, func() {
					w.forge.mu.Lock()
					defer w.forge.mu.Unlock()
					w.forge.pulls[parent] = named
				})
			},
			kept: "1", took: namesAfter,
		},
		"a commit without one": {
			prepare: func(w *world, parent string) { w.forge.pulls[parent] = nil },
			kept:    "1", took: namesAfter,
		},
		"none at all": {
			prepare: func(w *world, _ string) { w.forge.pulls = nil },
			kept:    "01", isWarned: true, took: namesAfter,
		},
		"no permission": {
			prepare: func(w *world, _ string) { w.blind(response(403), "{}") },
			kept:    "01", isWarned: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, pull := squashed(t)
			pull.Commits = 2 // by the counts
			w.onGitHub("pull_request", map[string]any{"pull_request": pull})
			var r citest.Ran
			took := bubble(t, func(t *testing.T) {
				tc.prepare(w, w.git("rev-parse", "HEAD^"))
				r = w.run(t.Context(), "-dry-run")
			})
			requireTold(t, r, tc.kept)
			assert.Equal(t, tc.isWarned, strings.Contains(r.Log, warning), r.Log)
			assert.InDelta(t, tc.took, took, float64(2*time.Second))
		})
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// month.sh and commands of the README list the merges or the jobs of a month.

func TestAMonthOfStatuses(t *testing.T) {
	needJQ(t)
	w := newWorld(t)
	w.env["GITHUB_REPOSITORY"] = "acme/cli"

	one := w.merged("Add --json", "one.go")
	middle := w.commit("Fix a \x1b[31mtypo\t", "two.go", "package two\n")
	two := w.pushed(2, "Add --yaml", "three.go")
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	lost := w.merged("Add --toml", "four.go")
	skipped := w.merged("Explain it", "README.md", "-path", "*.go")

	w.git("checkout", "--quiet", "-b", "side")
	w.commit("On a side", "six.go", "package six\n")
	w.git("checkout", "--quiet", "main")
	w.git("merge", "--quiet", "--no-ff", "--message=Add --xml", "side")
	missed := w.git("rev-parse", "HEAD")

	w.page(1, "HEAD", "HEAD~3")
	w.page(2, "HEAD~3", "HEAD~6")
	script, err := filepath.Abs("month.sh")
	require.NoError(t, err)
	listed := w.shell(t, "bash "+script+" acme/cli 2000-01-01 9999")

	day := w.git("show", "--no-patch", "--date=format:%Y-%m-%d", "--format=%cd")
	run := "https://github.com/acme/cli/actions/runs/77"
	want := [][]string{
		{day, missed[:7], "no run", "", "", "Add --xml"},
		{day, skipped[:7], "success", "Skipped: nothing relevant changed", run, "Explain it"},
		{day, lost[:7], "error", "A job may exist: look for it", run, "Add --toml"},
		{day, two[:7], "success", "Pull request opened", "https://github.com/example/docs/pull/2", "Add --yaml"},
		{day, middle[:7], "no run", "unless it was pushed with " + two[:7],
			"https://github.com/example/docs/pull/2", `Fix a  [31mtypo`},
		{day, one[:7], "success", "Pull request opened", firstPull, "Add --json"},
		{"6 merges, 2 jobs, 1 unknown: 224 to 336 credits"},
	}
	for i, line := range strings.Split(strings.TrimSpace(listed), "\n") {
		require.Less(t, i, len(want), listed)
		assert.Equal(t, want[i], strings.Split(line, "\t"))
	}
	assert.Equal(t, len(want), strings.Count(listed, "\n"), listed)

	listed = w.shell(t, "bash "+script+" acme/cli 2000-01-01 2000-01-02")
	assert.Equal(t, "0 merges, 0 jobs, 0 unknown: 0 to 0 credits\n", listed, "what came later is another month's")
}

func TestAMonthOfACloneIsCounted(t *testing.T) {
	w := newWorld(t)
	w.git("update-ref", "refs/remotes/origin/HEAD", "HEAD")
	line := lineOfREADME(t, "git log --first-parent ")
	assert.Equal(t, "0 merges, 0 credits\n", w.shell(t, line))

	w.commit("x", "cmd/x.go", "package x\n")
	w.commit("y", "docs/y.md", "y\n")
	w.commit("z", "api/openapi.yaml", "z\n")
	w.git("update-ref", "refs/remotes/origin/HEAD", "HEAD")
	assert.Equal(t, "2 merges, 224 credits\n", w.shell(t, line))
}

// merged makes a commit, and has a run for its push.
func (w *world) merged(title, path string, args ...string) string {
	w.t.Helper()
	return w.pushed(1, title, path, args...)
}

// pushed makes a commit, and has a run for a push of the newest n.
func (w *world) pushed(n int, title, path string, args ...string) string {
	w.t.Helper()
	name := w.commit(title, path, "// "+title+"\n")
	w.onGitHub("push", w.push(w.git("rev-parse", fmt.Sprint("HEAD~", n))))
	_ = w.runOnce(args...)
	return name
}

// page writes what GitHub responds to the query of month.sh about the commits after base.
func (w *world) page(number int, head, base string) {
	w.t.Helper()
	var nodes []map[string]any
	for _, oid := range strings.Fields(w.git("rev-list", head, "^"+base)) {
		newest := map[string]map[string]string{}
		for _, s := range slices.Backward(w.forge.statuses[oid]) {
			newest[s.Context] = map[string]string{
				"context": s.Context, "state": strings.ToUpper(s.State), "description": s.Description, "targetUrl": s.TargetURL,
			}
		}
		node := map[string]any{
			"oid":             oid,
			"committedDate":   w.git("show", "-s", "--format=%cI", oid),
			"messageHeadline": w.git("show", "-s", "--format=%s", oid),
			"parents":         map[string]any{"nodes": []map[string]string{{"oid": w.git("rev-parse", oid+"^")}}},
			"status":          nil,
		}
		if len(newest) > 0 {
			node["status"] = map[string]any{"contexts": slices.Collect(maps.Values(newest))}
		}
		nodes = append(nodes, node)
	}

	history := map[string]any{"history": map[string]any{"nodes": nodes}}
	branch := map[string]any{"defaultBranchRef": map[string]any{"target": history}}
	text, err := json.Marshal(map[string]any{"data": map[string]any{"repository": branch}})
	require.NoError(w.t, err)
	path := filepath.Join(w.dir, fmt.Sprintf("page-%d.json", number))
	require.NoError(w.t, os.WriteFile(path, text, 0o600))
}

func needJQ(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed")
	}
}

// shell runs a line of the README in the repository, with testdata's gh, and returns what it prints.
func (w *world) shell(t *testing.T, line string) string {
	t.Helper()
	testdata, err := filepath.Abs("testdata")
	require.NoError(t, err)

	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", line)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PATH="+testdata+":"+os.Getenv("PATH"))
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	return string(printed)
}

func TestJobsOfAMonthInRefs(t *testing.T) {
	w := newWorld(t)
	before := w.git("rev-parse", "HEAD")
	head := w.commit("second", "b.go", "package b\n")
	w.env["GITLAB_CI"], w.env["CI"], w.env["CI_PROJECT_PATH"] = "true", "true", "group/name"
	remote := w.bare()
	clone := w.clone(t)
	w.git("-C", clone.dir, "remote", "set-url", "origin", remote)
	w.service.FailNext("create job", 1, mintlifytest.Fault{Drop: true})
	require.Equal(t, 3, clone.runOnce("-base", before, "-state", "git:origin").Code)
	require.Zero(t, clone.runOnce("-base", before, "-state", "git:origin", "-again").Code)
	require.Len(t, w.service.Jobs(), 2, "one of them without a known id")

	listed := clone.shell(t, lineOfREADME(t, "git fetch "))
	assert.Regexp(t, `^job_2 group/name@`+head+`:\w+\n$`, listed)
}

// lineOfREADME returns the shell line that begins so.
func lineOfREADME(t *testing.T, begin string) string {
	t.Helper()
	text := strings.ReplaceAll(citest.Read(t, "README.md"), "\\\n", " ")
	_, rest, found := strings.Cut(text, "\n"+begin)
	require.True(t, found, begin)
	line, _, _ := strings.Cut(rest, "\n")
	return begin + line
}

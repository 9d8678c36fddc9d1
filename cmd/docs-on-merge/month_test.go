package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The README has a line for each forge that lists the jobs that a repository had made this
// month.

func TestJobsOfAMonthInStatuses(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed: it stands in for the one in gh")
	}
	w := merged(t)
	require.Zero(t, w.runOnce().code)
	w.project = "other-project"
	w.env["MINTLIFY_PROJECT_ID"] = w.project
	require.Zero(t, w.runOnce().code)
	require.Len(t, w.service.Jobs(), 2)

	head := w.git("rev-parse", "HEAD")
	without := w.git("rev-parse", "HEAD^")
	answers := t.TempDir()
	for file, content := range map[string]any{
		"runs":  []map[string]string{{"headSha": head}, {"headSha": without}, {"headSha": head}},
		head:    w.forge.statuses[head],
		without: []status{{Context: "ci/build", Description: `passed ["job_9"]`}, {Context: "docs-on-merge/1", Description: `not started [1 pending 0 "" 0 0 ""]`}},
	} {
		text, err := json.Marshal(content)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(answers, file+".json"), text, 0o600))
	}
	gh := `#!/bin/sh
for filter; do :; done # the last argument
file=runs
[ "$1" = run ] || file=$(echo "$3" | cut -d/ -f5)
jq -r "$filter" "$file.json"
`
	require.NoError(t, os.WriteFile(filepath.Join(answers, "gh"), []byte(gh), 0o700))

	line := exec.CommandContext(t.Context(), "sh", "-c", lineOfREADME(t, "gh run list "))
	line.Dir = answers
	line.Env = append(os.Environ(), "PATH="+answers+":"+os.Getenv("PATH"))
	listed, err := line.CombinedOutput()
	require.NoError(t, err, "%s", listed)
	assert.Equal(t, "job_1 "+head+"\njob_2 "+head+"\n", string(listed))
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
	require.Equal(t, 3, clone.runOnce("-base", before, "-state", "git:origin").code)
	require.Zero(t, clone.runOnce("-base", before, "-state", "git:origin", "-again").code)
	require.Len(t, w.service.Jobs(), 2, "one of them without a known id")

	line := exec.CommandContext(t.Context(), "sh", "-c", lineOfREADME(t, "git fetch "))
	line.Dir = clone.dir
	listed, err := line.CombinedOutput()
	require.NoError(t, err, "%s", listed)
	assert.Regexp(t, `^job_2 group/name@`+head+`:\w+\n$`, string(listed))
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

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
)

// fakeGH prints what GitHub's CLI would: what its option -q selects of a response.
const fakeGH = `#!/bin/sh
while [ "$1" != -q ]; do shift; done
exec jq -r "$2" "$RESPONSE"
`

// runLine runs the line of the README that begins so, with a gh that gets a response.
func runLine(t *testing.T, begin, response string) string {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed")
	}
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(begin) + `.*$`).FindString(citest.Read(t, "README.md"))
	require.NotEmpty(t, line, "the README has the line")

	dir := t.TempDir()
	file := filepath.Join(dir, "response.json")
	require.NoError(t, os.WriteFile(file, []byte(response), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gh"), []byte(fakeGH), 0o700))
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "RESPONSE=" + file}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestTheReadmesLineListsTheCommitsWithoutSuccess(t *testing.T) {
	listed := runLine(t, "gh api graphql", `{"data":{"repository":{"defaultBranchRef":{"target":{"history":{"nodes":[
		{"oid":"aaa","status":{"contexts":[{"context":"docs-on-merge/1","state":"SUCCESS","description":"done"}]}},
		{"oid":"bbb","status":{"contexts":[{"context":"docs-on-merge/1","state":"ERROR","description":"look for it"},
			{"context":"ci","state":"FAILURE","description":"red"}]}},
		{"oid":"ccc","status":{"contexts":[{"context":"docs-on-merge/1","state":"PENDING","description":"at work"}]}},
		{"oid":"ddd","status":null}]}}}}}}`)
	assert.Equal(t, "bbb ERROR look for it\nccc PENDING at work\n", listed)
}

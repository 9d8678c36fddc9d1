package main

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func output(t *testing.T) (lines []string, err error) {
	t.Helper()
	out, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer out.Close()
	synctest.Test(t, func(t *testing.T) { err = run(t.Context(), out, "Fix it", "And that") })
	text, readErr := os.ReadFile(out.Name())
	require.NoError(t, readErr)
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

func TestWithoutAKeyItUsesTheFakeAndSaysSo(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", "")
	lines, err := output(t)
	require.NoError(t, err)
	assert.Contains(t, lines[0], "using a fake")
	assert.Contains(t, lines[1], "Created job job_1")
	assert.Regexp(t, `active +waited 0s, next poll in \d+ms`, lines[2])
	assert.Equal(t, "Done. Pull request: https://github.com/example/docs/pull/1", lines[len(lines)-1])
}

func TestWithAKeyItTalksToTheService(t *testing.T) {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	svc := mintlifytest.NewService()
	http.DefaultTransport = svc
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)
	t.Setenv("MINTLIFY_BASE_URL", "")
	svc.ScriptJob(mintlifytest.Step{}, mintlifytest.Step{Status: mintlify.JobCompleted}, mintlifytest.Step{Status: mintlify.JobCompleted},
		mintlifytest.Step{}, mintlifytest.Step{Status: mintlify.JobCompleted})
	lines, err := output(t)
	require.NoError(t, err)
	assert.Contains(t, lines[0], "Created job job_1")
	assert.Contains(t, lines[len(lines)-1], "no file was changed")
	assert.Len(t, svc.Requests(), 7)

	svc.ScriptJob(mintlifytest.Step{Status: mintlify.JobFailed})
	_, err = output(t)
	require.ErrorIs(t, err, mintlify.ErrJobFailed)

	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err = output(t)
	require.ErrorContains(t, err, "MINTLIFY_PROJECT_ID is not set")
}

func TestProgressLineIsRewrittenOnATerminal(t *testing.T) {
	var out bytes.Buffer
	line := &progressLine{out: &out, isTerminal: true}
	line.show("a long line")
	line.show("short")
	line.show(strings.Repeat("x", 200))
	line.end()
	assert.Equal(t, "\ra long line\rshort      \r"+strings.Repeat("x", 78)+"…\n", out.String())
}

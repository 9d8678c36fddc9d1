package main

import (
	"fmt"
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
	assert.Contains(t, lines, "Done. Pull request: https://github.com/example/docs/pull/1")

	table := lines[len(lines)-12:]
	assert.Equal(t, []string{"human", "AI", "total", "page"}, strings.Fields(table[0]))
	assert.Contains(t, table[1], "all 600 pages")
	last := 1 << 30
	for _, line := range table[2:] {
		assert.Equal(t, strings.Index(table[0], "page"), strings.Index(line, "/guides/"), "aligned")
		var human, ai, total int
		var path string
		_, err := fmt.Sscan(line, &human, &ai, &total, &path)
		require.NoError(t, err)
		assert.Equal(t, human+ai, total)
		assert.LessOrEqual(t, total, last, "sorted")
		last = total
	}
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
	assert.Contains(t, lines, "Done: no file was changed, so there is no pull request.")
	assert.Contains(t, lines[len(lines)-1], "all 0 pages")
	requests := svc.Requests()
	require.Len(t, requests, 8)
	// The bubble's clock begins at midnight of 2000-01-01.
	assert.Equal(t, "1999-12-02", requests[7].Query.Get("dateFrom"))
	assert.Equal(t, "2000-01-01", requests[7].Query.Get("dateTo"))

	svc.ScriptJob(mintlifytest.Step{Status: mintlify.JobFailed})
	_, err = output(t)
	require.ErrorIs(t, err, mintlify.ErrJobFailed)

	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err = output(t)
	require.ErrorContains(t, err, "MINTLIFY_PROJECT_ID is not set")
}

package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestMain(m *testing.M) {
	if os.Getenv("RUN_EXPORT") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestAWrongCommandLineMakesNoFile(t *testing.T) {
	t.Setenv("RUN_EXPORT", "1")
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)
	t.Setenv("MINTLIFY_BASE_URL", "http://127.0.0.1:1")
	for want, args := range map[string][]string{
		"-from must be before -to":         {"-from", "2026-02-01", "-to", "2026-01-01"},
		"-from and -to are required":       {"-from", "2026-02-01"},
		"-o is given and empty":            {"-o", "", "-from", "2026-01-01", "-to", "2026-02-01"},
		`unexpected argument "2026-02-02"`: {"-from", "2026-01-01", "-to", "2026-02-01", "2026-02-02"},
	} {
		command := exec.Command(os.Args[0], args...)
		command.Dir = t.TempDir()
		output, err := command.CombinedOutput()
		assert.EqualError(t, err, "exit status 2", "%q", args)
		assert.Contains(t, string(output), want)

		files, err := os.ReadDir(command.Dir)
		require.NoError(t, err)
		assert.Empty(t, files, "%q", args)
	}
}

func TestAMissingKeyIsWrongUsage(t *testing.T) {
	command := exec.Command(os.Args[0], "-from", "2026-01-01", "-to", "2026-02-01")
	command.Env = []string{"RUN_EXPORT=1"}
	command.Dir = t.TempDir()
	output, err := command.CombinedOutput()
	assert.EqualError(t, err, "exit status 2")
	assert.Contains(t, string(output), "MINTLIFY_API_KEY")
	assert.Contains(t, string(output), "https://app.mintlify.com/settings/organization/api-keys")
}

func pages(n int) []mintlify.Visitor {
	visitors := make([]mintlify.Visitor, n)
	for i := range visitors {
		visitors[i].Path = fmt.Sprintf("/page-%d", i)
	}
	return visitors
}

// A finished export requests nothing more, and counts the rows of its file.
func TestAFinishedExportStaysAsItIs(t *testing.T) {
	fake := mintlifytest.NewService()
	fake.SetVisitors(pages(600))
	path := filepath.Join(t.TempDir(), "visitors.jsonl")
	day := mintlify.Day(2026, time.January, 1)
	january := mintlify.VisitorsParams{DateFrom: day, DateTo: day.AddDays(31)}

	var said strings.Builder
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	for range 3 {
		require.NoError(t, export(t.Context(), fake.Client(), january, path))
	}
	assert.Len(t, fake.Requests(), 3)
	assert.Equal(t, 3, strings.Count(said.String(), " has all 600 rows"), said.String())

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 600, strings.Count(string(text), "\n"))
}

// The export is interrupted after each page, and a crash leaves half a page without a checkpoint.
func TestAnInterruptedExportHasEachRowOnce(t *testing.T) {
	visitors := pages(1001)
	fake := mintlifytest.NewService()
	fake.SetVisitors(visitors)

	path := filepath.Join(t.TempDir(), "visitors.jsonl")
	day := mintlify.Day(2026, time.January, 1)
	january := mintlify.VisitorsParams{DateFrom: day, DateTo: day.AddDays(31)}
	for range 5 {
		fake.SucceedNext(mintlify.OpGetVisitors, 1)
		fake.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 403})
		err := export(t.Context(), fake.Client(), january, path)
		if err == nil {
			break // the last page
		}
		require.ErrorIs(t, err, mintlify.ErrForbidden)

		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(whole, `{"path":"/half-a-pa`...), 0o600))
	}

	fake = mintlifytest.NewService()
	fake.SetVisitors(visitors)
	require.NoError(t, export(t.Context(), fake.Client(), january, path), "once more, though it is complete")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, len(visitors))
	for i, line := range lines {
		require.True(t, strings.HasPrefix(line, fmt.Sprintf(`{"path":"/page-%d",`, i)), line)
	}

	january.DateTo = day
	assert.ErrorContains(t, export(t.Context(), fake.Client(), january, path), "or remove it and "+path+".checkpoint")
}

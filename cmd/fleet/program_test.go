//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terminal is a person at the program.
type terminal struct {
	t   *testing.T
	url string
}

func (c terminal) run(stdin string, arguments ...string) (stdout string, err error) {
	var out bytes.Buffer
	environment := map[string]string{"DATABASE_URL": c.url}
	p := program{getenv: func(name string) string { return environment[name] }, stdin: strings.NewReader(stdin), stdout: &out, stderr: &bytes.Buffer{}, settings: production}
	err = p.run(c.t.Context(), arguments)
	return out.String(), err
}

func TestEnqueueStatusRetry(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		c := terminal{t, url}
		out, err := c.run("", "enqueue", "-key", "acme/repo@1", "-project", testProject, "-prompt", "Do it.")
		require.NoError(t, err)
		assert.Equal(t, "1 enqueued, 0 known already\n", out)
		lines := `{"key":"acme/repo@1","project":"p","prompt":"x"}` + "\n\n" + `{"key":"acme/repo@2","project":"p","prompt":"<é>"}`
		for _, want := range []string{"1 enqueued, 1 known already\n", "0 enqueued, 2 known already\n"} {
			out, err = c.run(lines, "enqueue", "-stdin")
			require.NoError(t, err)
			assert.Equal(t, want, out)
		}

		s := openStore(t, url)
		r, err := rowOf(t.Context(), s, "acme/repo@1")
		require.NoError(t, err)
		intent := intended(t, s, r, time.Hour)
		intent.Problem = "lost\x1b[2J"
		require.NoError(t, s.settle(t.Context(), intent.in(unknown, ""), sending))
		out, err = c.run("", "status")
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(out, "unknown  acme/repo@1"), "what needs a person comes first: %s", out)
		assert.Contains(t, out, `"fleet: acme/repo@1"`)
		assert.Contains(t, out, "queued   1\n")
		assert.NotContains(t, out, "\x1b")
		out, err = c.run("", "status", "-json")
		require.NoError(t, err)
		var status struct {
			NeedsPerson []row
			Counts      map[string]int
		}
		require.NoError(t, json.Unmarshal([]byte(out), &status))
		require.Len(t, status.NeedsPerson, 1)
		assert.Equal(t, "acme/repo@1", status.NeedsPerson[0].Key)
		assert.Equal(t, map[string]int{"queued": 1, "sending": 0, "waiting": 0, "done": 0, "failed": 0, "unknown": 1}, status.Counts)

		_, err = c.run("", "retry", "-key", "acme/repo@1", "-job", "job_3")
		require.NoError(t, err)
		r, err = rowOf(t.Context(), s, "acme/repo@1")
		require.NoError(t, err)
		assert.Equal(t, waiting, r.State)
	})
}

// TestBadLineLosesNothing: what stands before it is there, and the same input, mended,
// adds the rest.
func TestBadLineLosesNothing(t *testing.T) {
	c := terminal{t, sqliteFile(t)}
	var lines []string
	for i := range 250 {
		lines = append(lines, fmt.Sprintf(`{"key":"acme/repo@%d","project":"p","prompt":"x"}`, i))
	}
	for _, bad := range []string{"{", `{"key":"a b","project":"p","prompt":"x"}`, `{"key":"k","project":"p","prompt":"x","priority":1}`, `[]`} {
		out, err := c.run(strings.Join(lines[:249], "\n")+"\n"+bad+"\n"+lines[249], "enqueue", "-stdin")
		require.ErrorContains(t, err, "line 250: ")
		assert.Contains(t, out, " known already\n")
	}
	out, err := c.run(strings.Join(lines, "\n"), "enqueue", "-stdin")
	require.NoError(t, err)
	assert.Equal(t, "1 enqueued, 249 known already\n", out)
	_, err = c.run(strings.Repeat("x", 9*maxPrompt), "enqueue", "-stdin")
	require.Error(t, err)
	long := strings.Repeat(`\u00fc`, maxPrompt/2)
	_, err = c.run(`{"key":"long","project":"p","prompt":"`+long+`"}`, "enqueue", "-stdin")
	require.NoError(t, err)
}

func TestBadCommandLines(t *testing.T) {
	c := terminal{t, sqliteFile(t)}
	for _, arguments := range [][]string{
		{}, {"no-such"}, {"enqueue"}, {"enqueue", "-stdin", "-key", "k"}, {"enqueue", "stray"}, {"status", "-no-such"},
		{"retry"}, {"retry", "-key", "unheard-of"}, {"work"}, {"work", "-n", "0"}, {"work", "-send-time", "1ms"}, {"serve"},
	} {
		_, err := c.run("", arguments...)
		assert.Error(t, err, "%q", arguments)
	}
	_, err := terminal{t, "mysql://localhost/x"}.run("", "status")
	assert.ErrorContains(t, err, "postgres://")
	_, err = terminal{t, filepath.Join(t.TempDir(), "missing", "fleet.db")}.run("", "status")
	assert.Error(t, err)
	_, err = terminal{t, "postgres://user:hunter2@127.0.0.1:1/x?connect_timeout=1"}.run("", "status")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
	_, err = terminal{t, "postgres://user:hunter2@127.0.0.1:port/x"}.run("", "status")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}

func TestAnyFileNameWorks(t *testing.T) {
	for _, name := range []string{"a b.db", "what?.db", "100%.db", "ü#1.db"} {
		file := filepath.Join(t.TempDir(), name)
		_, err := terminal{t, file}.run("", "status")
		require.NoError(t, err, name)
		assert.FileExists(t, file)
	}
}

func TestAdvice(t *testing.T) {
	assert.NotContains(t, row{Key: "k", State: failed}.advice(), "-job")
	assert.Contains(t, row{Key: "k", State: failed, JobID: "job_1"}.advice(), "fleet retry -key k -job job_1")
	assert.Contains(t, row{Key: "k", State: waiting, Problem: "401"}.advice(), "API key")
}

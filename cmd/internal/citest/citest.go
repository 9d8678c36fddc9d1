// Package citest runs commands in tests as a CI job does, and reads what they left.
package citest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Read returns the text of a file.
func Read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// NeedGit skips a test if there is no git.
func NeedGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("git is needed: %v", err)
	}
}

// Outputs reads $GITHUB_OUTPUT as a runner does.
func Outputs(t *testing.T, path string) map[string]string {
	t.Helper()
	outputs := map[string]string{}
	delimiters := map[string]bool{}
	lines := strings.Split(strings.TrimSuffix(Read(t, path), "\n"), "\n")

	for i := 0; i < len(lines); i++ {
		name, delimiter, ok := strings.Cut(lines[i], "<<")
		require.True(t, ok, lines[i])
		require.False(t, delimiters[delimiter], "nobody can guess a delimiter")
		delimiters[delimiter] = true

		var value []string
		for i++; lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		outputs[name] = strings.Join(value, "\n")
	}
	return outputs
}

// Ran is what a run of a command left.
type Ran struct {
	Code                 int
	Stdout, Log, Summary string
	Outputs              map[string]string
}

// Run runs a command with an environment. On GitHub the run has files of its own for its outputs and
// its summary. It must leave no command for a runner and none of the secrets.
func Run(t *testing.T, env map[string]string, secrets []string,
	run func(env map[string]string, stdout, stderr io.Writer) int) Ran {
	t.Helper()
	env = maps.Clone(env)
	if env["GITHUB_ACTIONS"] != "" {
		files := t.TempDir()
		env["GITHUB_OUTPUT"] = filepath.Join(files, "output")
		env["GITHUB_STEP_SUMMARY"] = filepath.Join(files, "summary")
	}

	var stdout, stderr Buffer
	r := Ran{Code: run(env, &stdout, &stderr)}
	r.Stdout = stdout.String()
	r.Log = stderr.String()
	if _, err := os.Stat(env["GITHUB_OUTPUT"]); err == nil {
		r.Outputs = Outputs(t, env["GITHUB_OUTPUT"])
		r.Summary = Read(t, env["GITHUB_STEP_SUMMARY"])
	}

	RequireInert(t, r.Log+r.Stdout)
	for _, secret := range secrets {
		require.NotContains(t, fmt.Sprint(r), secret)
	}
	return r
}

var (
	ownCommand  = regexp.MustCompile(`^::(notice|warning|error) title=[a-z-]+::`)
	oldCommand  = regexp.MustCompile(`##\[.*\]`)
	fullCommand = regexp.MustCompile(`^\s*::[^:]*::`)
	escape      = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`)

	// LineOfALog ends where a runner ends a line.
	LineOfALog = regexp.MustCompile(`\r\n|\r|\n`)
)

// RequireInert requires that a runner finds no commands in a log but the program's own,
// and a terminal no escapes.
func RequireInert(t *testing.T, log string) {
	t.Helper()
	for _, line := range LineOfALog.Split(log, -1) {
		require.False(t, oldCommand.MatchString(line), "an old command: %q", line)
		require.False(t, escape.MatchString(line), "an escape: %q", line)
		require.True(t, !fullCommand.MatchString(line) || ownCommand.MatchString(line), "a command: %q", line)
	}
}

// Buffer is a buffer that goroutines may share.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Script returns the script of an action's only step, as a file.
func Script(t *testing.T, action string) string {
	t.Helper()
	_, block, ok := strings.Cut(Read(t, action), "      run: |\n")
	require.True(t, ok)
	require.NotContains(t, block, "${{", "a runner expands it into the script, unquoted")

	var script strings.Builder
	for line := range strings.Lines(block) {
		require.True(t, strings.HasPrefix(line, "        ") || line == "\n", "%q", line)
		script.WriteString(strings.TrimPrefix(line, "        "))
	}

	path := filepath.Join(t.TempDir(), "step.sh")
	require.NoError(t, os.WriteFile(path, []byte(script.String()), 0o600))
	return path
}

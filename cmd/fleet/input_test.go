//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// TestCaseIsIgnored in keys and repositories: acme/api@SHA and ACME/API@SHA are one job.
func TestCaseIsIgnored(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	c.wants(0, "enqueue", "-key", "ACME/API@5907854", "-project", "p", "-prompt", "x", "-pull", "Acme/API#7")
	c.run(`{"key":"Acme/Api@5907854","project":"p","prompt":"x","pull":"ACME/api#7"}`, "enqueue", "-stdin")
	assert.Equal(t, 1, c.counts()["queued"])

	out := c.wants(0, "show", "Acme/api@5907854")
	assert.Contains(t, out, "acme/api@5907854\n")
	assert.Contains(t, out, "acme/api#7\n")

	c.wants(0, "cancel", "-key", "ACME/API@5907854")
}

// TestWebhooksIgnoreCase: the owner was renamed between a push and its pull request.
func TestWebhooksIgnoreCase(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "sqlite:"+sqliteFile(t))
	r.post("push", event(t, push(nil)), nil)
	renamed := pullRequest(nil)
	renamed["repository"] = fields{"full_name": "ACME/Repo", "default_branch": "main"}
	status, response := r.post("pull_request", event(t, renamed), nil)
	assert.Equal(t, 202, status)
	assert.Contains(t, response, "known already: acme/repo@"+testSHA)
	require.Len(t, r.rows(), 1)
	assert.Equal(t, "acme/repo#7", r.rows()[0].Pulls)
}

func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	out, code := c.run("\ufeff"+`{"key":"k","project":"p","prompt":"x"}`+"\r\n", "enqueue", "-stdin")
	assert.Zero(t, code)
	assert.Equal(t, "1 enqueued, 0 known already\n", out)
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullDisk: what stdout does not take is exit 1, and said.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	c.wants(0, "enqueue", "-key", "k", "-project", "p", "-prompt", "x")
	for _, arguments := range [][]string{
		{"list"}, {"show", "k"}, {"status"}, {"status", "-json"}, {"-h"}, {"list", "-h"}, {"--version"},
	} {
		var stderr strings.Builder
		getenv := environment{"DATABASE_URL": c.url}.get
		p := program{getenv: getenv, stdout: fullDisk{}, stderr: &stderr, Settings: queue.Production}
		assert.Equal(t, 1, p.exit(p.run(t.Context(), arguments)), "%q", arguments)
		assert.Contains(t, stderr.String(), "no space left on device", "%q", arguments)
	}
}

// TestHelpGoesToStdout for each command, with no environment set.
func TestHelpGoesToStdout(t *testing.T) {
	for _, command := range commands() {
		out, text, code := terminal{t, ""}.runAll("", nil, command.name, "-h")
		assert.Zero(t, code, command.name)
		assert.Contains(t, out, "Usage of "+command.name)
		assert.Empty(t, text, command.name)
	}
}

// TestStatusWithoutPrompts prints no header over nothing, and counts that have every state.
func TestStatusWithoutPrompts(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	assert.True(t, strings.HasPrefix(c.wants(0, "status"), "queued "))

	zeros := map[string]int{
		"queued": 0, "sending": 0, "running": 0, "done": 0, "failed": 0, "refused": 0, "unknown": 0, "canceled": 0,
	}
	assert.Equal(t, zeros, c.counts())

	c.wants(0, "pause", "-project", "p")
	assert.Contains(t, c.wants(0, "status"), "PROJECT ")
	var status status
	require.NoError(t, json.Unmarshal([]byte(c.wants(0, "status", "-json")), &status))
	assert.Equal(t, zeros, status.Projects[0].Counts)
}

// TestTheImageIsNamed as the workflow that publishes it names it.
func TestTheImageIsNamed(t *testing.T) {
	for _, name := range []string{"README.md", "deploy/kubernetes.yaml"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Contains(t, string(text), "ghcr.io/mintlify-community/fleet:", name)
	}
	workflow, err := os.ReadFile("../../.github/workflows/image.yml")
	require.NoError(t, err)
	assert.Contains(t, string(workflow), "ghcr.io/$GITHUB_REPOSITORY_OWNER/fleet")
}

// TestHistorySaysWho has decided: a person's command, or the machine that worked.
func TestHistorySaysWho(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	require.NoError(t, err)
	svc := newCountingService()
	f := newFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"), quick, svc)
	f.person("jane", "enqueue", "-key", "k", "-project", testProject, "-prompt", "x")
	f.person("joe", "cancel", "-key", "k")
	f.person("jane", "retry", "-key", "k", "-again")
	f.start()
	f.until(timeToDo, "the prompt to be done", func() bool { return f.counts()["done"] == 1 })

	out := f.person("jane", "show", "k")
	assert.Regexp(
		t,
		`queued by jane@`+host+`\n.* canceled by joe@`+host+`\n.* queued by jane@`+host+`\n.* sending by `+host+`\n`,
		out,
	)
	assert.Contains(t, f.person("joe", "pause", "-all")+f.person("joe", "status"), "by joe@"+host)
}

// person runs a command as a person, and returns what it printed.
func (f *fleet) person(name string, arguments ...string) string {
	f.t.Helper()
	output, err := f.command([]string{"USER=" + name}, arguments...).Output()
	require.NoError(f.t, err, "%q: %s", arguments, output)
	return string(output)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const gitHubToken = "ghs_a_token_of_the_tests"

// world is what a run needs: a repository, an environment, and fakes of the service and
// of GitHub. Time is a bubble's.
type world struct {
	t                *testing.T
	dir              string
	env              map[string]string
	service          *mintlifytest.Service
	broken           *mintlifytest.Service // instead of service, until brokenUntil
	brokenUntil      time.Time
	forge            *forge
	toForge          http.RoundTripper
	sendTime, settle time.Duration
	project          string
	repo             *repo
}

func newWorld(t *testing.T) *world {
	t.Helper()
	citest.NeedGit(t)
	w := &world{
		t:        t,
		dir:      t.TempDir(),
		env:      keys(),
		service:  mintlifytest.NewService(),
		forge:    newForge(),
		sendTime: time.Minute,
		settle:   time.Second,
		project:  mintlifytest.ProjectID,
	}
	w.env["GITHUB_TOKEN"] = gitHubToken
	w.toForge = w.forge

	w.copied("first", func() {
		w.git("init", "--quiet", "--template=", "--initial-branch=main")
		w.git("remote", "add", "origin", "https://forge.example.com/acme/desk.git")
		w.commit("first", "a.go", "package a\n")
	})
	return w
}

// keys is the environment of a desk.
func keys() map[string]string {
	return map[string]string{
		"MINTLIFY_API_KEY":    mintlifytest.APIKey,
		"MINTLIFY_PROJECT_ID": mintlifytest.ProjectID,
	}
}

// gitEnv is an environment for git that has nothing of the user's.
func (w *world) gitEnv() []string { return append(isolatedEnv(w.dir), gitTestEnv...) }

// gitTestEnv keeps git from what takes time.
var gitTestEnv = []string{
	"GIT_CONFIG_COUNT=2",
	"GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
	"GIT_CONFIG_KEY_1=core.fsync", "GIT_CONFIG_VALUE_1=none",
	"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
	"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com",
}

// git runs git in the repository, which may change it.
func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	cmd.Env = w.gitEnv()

	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(w.t, w.repo.exec(cmd), "git %q: %s", args, &out)
	return strings.TrimSpace(out.String())
}

// commit commits a file, and returns the commit's name.
func (w *world) commit(message, path, content string) string {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(content), 0o644))

	w.git("add", "--all")
	w.git("commit", "--quiet", "--message="+message)
	return w.git("rev-parse", "HEAD")
}

// onGitHub has the runs be steps of GitHub Actions.
func (w *world) onGitHub(eventName string, event any) {
	w.t.Helper()
	data, err := json.Marshal(event)
	require.NoError(w.t, err)
	path := filepath.Join(w.t.TempDir(), "event.json")
	require.NoError(w.t, os.WriteFile(path, data, 0o600))

	maps.Copy(w.env, map[string]string{
		"CI":                "true",
		"GITHUB_ACTIONS":    "true",
		"GITHUB_REPOSITORY": "acme/cli",
		"GITHUB_EVENT_NAME": eventName,
		"GITHUB_EVENT_PATH": path,
		"GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_RUN_ID":     "77",
	})
}

// push is the event of a push of all commits since before.
func (w *world) push(before string) map[string]any {
	return map[string]any{
		"before":     before,
		"after":      w.git("rev-parse", "HEAD"),
		"ref":        "refs/heads/main",
		"repository": map[string]any{"default_branch": "main"},
	}
}

// merged is a world in which a commit was pushed to GitHub.
func merged(t *testing.T) *world {
	w := newWorld(t)
	w.copied("merged", func() { w.commit("Add the flag --json", "b.go", "package b\n") })
	w.onGitHub("push", w.push(w.git("rev-parse", "HEAD^")))
	return w
}

// fresh is the same repository and environment with fakes that know of nothing.
func (w *world) fresh(t *testing.T) *world {
	again := *w
	again.t = t
	again.env = maps.Clone(w.env)
	again.service = mintlifytest.NewService()
	again.forge = newForge()
	again.toForge = again.forge
	return &again
}

func (w *world) connect(opts ...mintlify.Option) (*mintlify.Client, error) {
	if err := usage.Keys(func(name string) string { return w.env[name] }); err != nil {
		return nil, err
	}
	service := w.service
	if time.Now().Before(w.brokenUntil) {
		service = w.broken
	}
	return service.Client(append(opts, mintlifytest.WithRealSchedule())...).ForProject(w.project)
}

// program is the program in this world, which writes to stdout and stderr.
func (w *world) program(env map[string]string, stdout, stderr io.Writer) *program {
	return &program{
		step: &ci.Step{
			Name:    "docs-on-merge",
			Dir:     w.dir,
			Getenv:  func(name string) string { return env[name] },
			Stdout:  stdout,
			Stderr:  stderr,
			Connect: w.connect,
		},
		git:      git{dir: w.dir, env: w.gitEnv(), exec: w.repo.exec},
		forge:    w.toForge,
		sendTime: w.sendTime,
		settle:   w.settle,
	}
}

// run runs the program outside a bubble or within one.
func (w *world) run(ctx context.Context, args ...string) citest.Ran {
	w.t.Helper()
	secrets := []string{mintlifytest.APIKey, gitHubToken}
	return citest.Run(w.t, w.env, secrets, func(env map[string]string, stdout, stderr io.Writer) int {
		return w.program(env, stdout, stderr).run(ctx, args)
	})
}

// runs runs the program in a bubble of its own, once for each of args.
func (w *world) runs(args ...[]string) (all []citest.Ran) {
	w.t.Helper()
	synctest.Test(w.t, func(t *testing.T) {
		for _, a := range args {
			all = append(all, w.run(t.Context(), a...))
		}
	})
	return all
}

func (w *world) runOnce(args ...string) citest.Ran { w.t.Helper(); return w.runs(args)[0] }

func (w *world) prompts() (prompts []string) {
	for _, r := range w.service.Requests() {
		if r.Operation == mintlify.OpCreateJob {
			prompts = append(prompts, r.Prompt)
		}
	}
	return prompts
}

// prompt returns the prompt that a dry run prints.
func (w *world) prompt(args ...string) string {
	w.t.Helper()
	r := w.run(w.t.Context(), append(args, "-dry-run")...)
	require.Zero(w.t, r.Code, r.Log)
	return r.Stdout
}

// roundTripper is a function that stands before a fake.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

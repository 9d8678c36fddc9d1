package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// A workflow's run ends as unknown. A person goes on in a clone that has another folder,
// another kind of URL, and nothing of the workflow's environment.
func TestByHandInAnotherCloneTheRecordIsTheWorkflows(t *testing.T) {
	t.Parallel()
	w := merged(t)
	w.env["GITHUB_REPOSITORY"] = "Acme/CLI"
	state := []string{"-state", "git:" + w.bare()}
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	require.Equal(t, 3, w.runOnce(state...).Code)

	desk := w.clone(t)
	desk.env = keys()
	desk.git("config", "remote.origin.url", "git@forge.example.com:acme/cli.git")
	r := desk.runOnce(state...)
	assert.Equal(t, 3, r.Code, r.Log)
	assert.Contains(t, r.Log, "docs-job: acme/cli@", "the marker to look for")
	r = desk.runOnce(append(state, "-job", "job_1")...)
	assert.Zero(t, r.Code, r.Log)
	assert.Len(t, w.prompts(), 1)
	r = w.runOnce(state...)
	assert.Zero(t, r.Code, r.Log)
	assert.Equal(t, "pull-request", r.Outputs["outcome"])
}

func TestWithoutARepositoryNothingIsSent(t *testing.T) {
	w := newWorld(t)
	w.commit("second", "b.go", "package b\n")
	for _, origin := range []string{"", "/srv/git/cli.git", "../cli", "file:///srv/git/cli.git"} {
		if origin == "" {
			w.git("remote", "remove", "origin")
		} else {
			w.git("config", "remote.origin.url", origin)
		}
		state := filepath.Join(t.TempDir(), "state")
		r := w.runOnce("-state", state)
		assert.Equal(t, 2, r.Code, origin)
		assert.Contains(t, r.Log, "-repository owner/name")
		assert.NoDirExists(t, state)
		assert.Contains(t, w.prompt(), "merged into owner/name as", "a dry run shows the rest")
		assert.Zero(t, w.runOnce("-state", state, "-repository", "acme/cli").Code)
	}
	assert.Len(t, w.prompts(), 4)
	assert.Zero(t, w.runOnce("-path", "docs").Code, "nothing would be sent")
}

func TestTheRepositoryOfAClone(t *testing.T) {
	for remote, path := range map[string]string{
		"https://forge.example.com/acme/cli.git":           "acme/cli",
		"https://forge.example.com/group/sub/name/":        "group/sub/name",
		"https://me:to%ken@forge.example.com:8443/a/b":     "a/b",
		"ssh://git@forge.example.com:7999/acme/cli.git":    "acme/cli",
		"git://forge.example.com/acme/cli.git/":            "acme/cli",
		"git@forge.example.com:acme/cli.git":               "acme/cli",
		"git@forge.example.com:/acme/cli.git":              "acme/cli",
		"forge:acme/cli":                                   "acme/cli",
		"git@forge.example.com:cli.git":                    "cli",
		"https://forge.example.com/acme/my%20docs.git":     "acme/my%20docs",
		"git@forge.example.com:acme/my docs":               "acme/my%20docs",
		"https://forge.example.com/":                       "",
		"https://forge.example.com":                        "",
		"file:///srv/git/cli.git":                          "",
		"/srv/git/cli.git":                                 "",
		"./cli:2":                                          "",
		"../cli":                                           "",
		"cli":                                              "",
		`C:\src\cli`:                                       "",
		"C:/src/cli":                                       "",
		"":                                                 "",
		"https://forge.example.com/.git":                   "",
		"https://forge.example.com/a/" + "\x1b[31mb\u202e": "a/%1B%5B31mb%E2%80%AE",
	} {
		assert.Equal(t, path, pathOfRemote(remote), remote)
	}
}

// What names the repository first wins.
func TestTheOrderOfRepositories(t *testing.T) {
	w := newWorld(t)
	w.git("config", "remote.origin.url", "https://forge.example.com/from/origin.git")
	says := func(name string, args ...string) {
		t.Helper()
		assert.Contains(t, w.prompt(args...), "merged into "+name+" as")
	}
	says("from/origin")
	w.env["CI_PROJECT_PATH"] = "from/gitlab"
	says("from/gitlab")
	w.env["GITHUB_REPOSITORY"] = "from/github"
	says("from/github")
	says("from/flag", "-repository", "from/flag")
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

// Three attempts, with their waits, take less than a send may.
const (
	gitHubAttempts = 3
	gitHubTimeout  = 12 * time.Second
)

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+$`)

// gitHub is GitHub's API, for one repository.
type gitHub struct {
	url, token string
	client     http.Client
}

func (p *program) openGitHub(repository string) (*gitHub, error) {
	token := p.step.Getenv("GITHUB_TOKEN")
	if token == "" || !repositoryName.MatchString(repository) {
		return nil, fmt.Errorf("GitHub's API needs GITHUB_TOKEN and a repository owner/name, not %q", repository)
	}
	api := cmp.Or(p.step.Getenv("GITHUB_API_URL"), "https://api.github.com") + "/repos/" + repository
	return &gitHub{api, token, http.Client{Transport: p.forge, Timeout: gitHubTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// do makes a call, again if that may help: none of ours does harm when it comes twice.
func (g *gitHub) do(ctx context.Context, method, path string, body []byte, into any) (err error) {
	for attempt := 1; ; attempt++ {
		err = g.attempt(ctx, method, path, body, into)
		if err == nil || ci.OutcomeOf(err) != ci.NotStarted || attempt == gitHubAttempts || !sleep(ctx, time.Duration(attempt)*time.Second) {
			return err
		}
	}
}

func (g *gitHub) attempt(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = http.Header{"Authorization": {"Bearer " + g.token}, "Accept": {"application/vnd.github+json"}, "Content-Type": {"application/json"}}
	resp, err := g.client.Do(req)
	if err != nil {
		return &ci.Error{Outcome: ci.NotStarted, Err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 10<<20))
	code, limited := resp.StatusCode, resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != ""
	if code < 300 && err == nil {
		return json.Unmarshal(data, into)
	}
	err = fmt.Errorf("%s %s: %s: %s", method, req.URL.Path, resp.Status, ci.OneLine(string(data[:min(len(data), 300)])))
	if code == http.StatusForbidden || code == http.StatusNotFound {
		err = fmt.Errorf("%w (the job needs permissions: statuses: write, and pull-requests: read; one of a fork's pull request gets neither)", err)
	}
	if code < 300 || code >= 500 || code == http.StatusTooManyRequests || code == http.StatusForbidden && limited {
		err = &ci.Error{Outcome: ci.NotStarted, Err: err}
	}
	return err
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// pullRequest is what is read of a pull request of GitHub.
type pullRequest struct {
	Number                        int
	Title, Body                   string
	User                          struct{ Login string }
	Merged                        bool   // in an event
	MergedAt                      string `json:"merged_at"` // in a list
	MergeCommitSHA                string `json:"merge_commit_sha"`
	Commits, Additions, Deletions int
	ChangedFiles                  int `json:"changed_files"`
}

// pullRequests returns a function that finds the pull request that a commit has merged. It
// finds none if this is not GitHub, and none any more once GitHub does not respond.
func (p *program) pullRequests(c change) func(ctx context.Context, commit string) *pullRequest {
	var g *gitHub
	var err error
	if p.step.OnGitHub() || p.options.repository != "" && p.step.Getenv("GITHUB_TOKEN") != "" {
		g, err = p.openGitHub(c.repository)
	}
	return func(ctx context.Context, commit string) *pullRequest {
		var found []pullRequest
		if g != nil {
			err = g.do(ctx, http.MethodGet, "/commits/"+commit+"/pulls", nil, &found)
		}
		if err != nil {
			p.step.Printf("Going on without the pull requests: the agent's own are known by their commits alone: %v", err)
			g, err = nil, nil
		}
		for _, pull := range found {
			if pull.MergedAt != "" {
				return &pull
			}
		}
		return nil
	}
}

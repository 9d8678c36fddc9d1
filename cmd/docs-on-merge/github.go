package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+$`)

// gitHub is GitHub's API, for one repository.
type gitHub struct {
	url, token string
	client     http.Client
}

func (p *program) openGitHub(repository string) (*gitHub, error) {
	token := p.step.Getenv("GITHUB_TOKEN")
	switch {
	case token == "":
		return nil, errors.New("GITHUB_TOKEN is not set")
	case !repositoryName.MatchString(repository):
		return nil, fmt.Errorf("%q is not the owner/name of a repository", repository)
	}
	api := cmp.Or(p.step.Getenv("GITHUB_API_URL"), "https://api.github.com") + "/repos/" + repository
	return &gitHub{api, token, http.Client{Transport: p.forge, Timeout: 12 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// do makes a call, again if that may help: none of ours does harm when it comes twice.
func (g *gitHub) do(ctx context.Context, method, path string, body []byte, into any) (err error) {
	for attempt := range 3 { // which take less time than a send may
		time.Sleep(time.Duration(attempt) * time.Second)
		if err = g.attempt(ctx, method, path, body, into); err == nil || ctx.Err() != nil || ci.OutcomeOf(err) != ci.NotStarted {
			break
		}
	}
	return err
}

func (g *gitHub) attempt(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = http.Header{"Authorization": {"Bearer " + g.token}, "Accept": {"application/vnd.github+json"}, "Content-Type": {"application/json"}}
	resp, err := g.client.Do(req)
	if err != nil {
		return ci.NotStarted.Of(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 10<<20))
	code, limited := resp.StatusCode, resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != ""
	if code < 300 && err == nil {
		return json.Unmarshal(data, into)
	}
	err = fmt.Errorf("%s %s: %s: %s", method, req.URL.Path, resp.Status, data[:min(len(data), 300)])
	switch {
	case code < 300 || code >= 500 || code == http.StatusTooManyRequests || code == http.StatusForbidden && limited:
		return ci.NotStarted.Of(err)
	case code == http.StatusForbidden || code == http.StatusNotFound:
		return fmt.Errorf("%w (the job needs permissions: statuses: write, and pull-requests: read; one of a fork's pull request gets neither)", err)
	}
	return err
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

// pullRequest returns the pull request that a commit has merged, if this is GitHub.
func (p *program) pullRequest(ctx context.Context, repository, commit string) (pull pullRequest) {
	if p.isBlind || !p.onGitHub() {
		return pull
	}
	var found []pullRequest
	g, err := p.openGitHub(repository)
	if err == nil {
		err = g.do(ctx, http.MethodGet, "/commits/"+commit+"/pulls", nil, &found)
	}
	if p.isBlind = err != nil; p.isBlind {
		p.step.Printf("Going on without pull requests: the agent's own are known by their commits alone: %v", err)
	}
	if i := slices.IndexFunc(found, func(pull pullRequest) bool { return pull.MergedAt != "" }); i >= 0 {
		pull = found[i]
	}
	return pull
}

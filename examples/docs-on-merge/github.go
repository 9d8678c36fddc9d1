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
)

// Three attempts, with their waits, take less than a save may.
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
	token := p.getenv("GITHUB_TOKEN")
	if token == "" || !repositoryName.MatchString(repository) {
		return nil, fmt.Errorf("GitHub's API needs GITHUB_TOKEN and a repository owner/name, not %q", repository)
	}
	url := cmp.Or(p.getenv("GITHUB_API_URL"), "https://api.github.com") + "/repos/" + repository
	return &gitHub{url, token, http.Client{Transport: p.forge, Timeout: gitHubTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// do makes a call, again where that may help: none of ours does harm when it comes
// twice. An error that may pass is notStarted.
func (g *gitHub) do(ctx context.Context, method, path string, body []byte, into any) (header http.Header, err error) {
	for attempt := 1; ; attempt++ {
		header, err = g.attempt(ctx, method, path, body, into)
		if err == nil || outcomeOf(err) != notStarted || attempt == gitHubAttempts || !sleep(ctx, time.Duration(attempt)*time.Second) {
			return header, err
		}
	}
}

func (g *gitHub) attempt(ctx context.Context, method, path string, body []byte, into any) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Authorization": {"Bearer " + g.token}, "Accept": {"application/vnd.github+json"}, "Content-Type": {"application/json"}}
	resp, err := g.client.Do(req)
	if err != nil {
		return nil, &outcomeError{notStarted, err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 10<<20))
	code, limited := resp.StatusCode, resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != ""
	if code < 300 && err == nil {
		return resp.Header, json.Unmarshal(data, into)
	}
	err = fmt.Errorf("%s %s: %s: %s", method, req.URL.Path, resp.Status, oneLine(string(data[:min(len(data), 300)])))
	if code == http.StatusForbidden || code == http.StatusNotFound {
		err = fmt.Errorf("%w (the job needs permissions: statuses: write, and pull-requests: read for titles; one of a fork's pull request gets neither)", err)
	}
	if code < 300 || code >= 500 || code == http.StatusTooManyRequests || code == http.StatusForbidden && limited {
		err = &outcomeError{notStarted, err}
	}
	return nil, err
}

// mergedPullRequest returns the title and the description of the pull request that a
// push has merged, where the token may read them.
func (p *program) mergedPullRequest(ctx context.Context, c change) (title, body string) {
	g, err := p.openGitHub(c.repository)
	var found []pullRequest
	if err == nil {
		_, err = g.do(ctx, http.MethodGet, "/commits/"+c.head+"/pulls", nil, &found)
	}
	if err != nil {
		p.log.printf("Going on without the pull request's title and description: %v", err)
	}
	for _, pull := range found {
		if pull.MergedAt != "" {
			return pull.Title, pull.Body
		}
	}
	return "", ""
}

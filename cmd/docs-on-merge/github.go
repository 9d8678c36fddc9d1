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
	"strconv"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

const (
	gitHubTime  = 12 * time.Second // for a call: three calls take less time than a send may
	maxResponse = 10 << 20         // bytes
	maxQuoted   = 300              // bytes of a response in an error
)

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+$`)

// gitHub is GitHub's API, for one repository.
type gitHub struct {
	url, token string
	client     http.Client
	// needs says what a token needs that is denied.
	needs string
}

const needsOfJob = "the job needs permissions: statuses: write, and pull-requests: read; " +
	"a job of a fork's pull request gets neither"

var errNoToken = errors.New("GITHUB_TOKEN is not set")

func (p *program) openGitHub(repository string) (*gitHub, error) {
	token := p.step.Getenv("GITHUB_TOKEN")
	if token == "" {
		return nil, errNoToken
	}
	return p.newGitHub(repository, token)
}

func (p *program) newGitHub(repository, token string) (*gitHub, error) {
	if !repositoryName.MatchString(repository) {
		return nil, fmt.Errorf("%q is not the owner/name of a repository", repository)
	}

	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &gitHub{
		url:    cmp.Or(p.step.Getenv("GITHUB_API_URL"), "https://api.github.com") + "/repos/" + repository,
		token:  token,
		client: http.Client{Transport: p.forge, Timeout: gitHubTime, CheckRedirect: noRedirect},
		needs:  needsOfJob,
	}, nil
}

// do makes a call, and retries it if that may help: all our calls are safe to repeat.
func (g *gitHub) do(ctx context.Context, method, path string, body []byte, into any) error {
	return retried(ctx, func() error { return g.attempt(ctx, method, path, body, into) })
}

func (g *gitHub) attempt(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+g.token)
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("Content-Type", "application/json")

	resp, err := g.client.Do(req)
	if err != nil {
		return ci.NotStarted.Of(err)
	}
	defer resp.Body.Close()

	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if resp.StatusCode >= 300 || err != nil {
		return g.responseError(req, resp, data)
	}
	return json.Unmarshal(data, into)
}

// refusal is a response of GitHub that no later attempt would change.
type refusal struct {
	error
	code int
	// isDenied says that the token lacks a permission.
	isDenied bool
}

// responseError returns the error of a response that failed, or whose body was interrupted.
func (g *gitHub) responseError(req *http.Request, resp *http.Response, body []byte) error {
	quoted := bytes.TrimSpace(body[:min(len(body), maxQuoted)])
	err := fmt.Errorf("%s %s: %s", req.Method, req.URL.Path, resp.Status)
	if len(quoted) > 0 {
		err = fmt.Errorf("%w: %s", err, quoted)
	}

	code := resp.StatusCode
	isDenied := code == http.StatusForbidden || code == http.StatusNotFound
	switch {
	case code == http.StatusForbidden && isLimited(resp, body), code == http.StatusTooManyRequests:
		err = fmt.Errorf("%w (the rate limit of GitHub)", err)
		return ci.NotStarted.Of(&rateLimit{error: err, wait: limitWait(resp)})
	case code >= 500, code < 300:
		return ci.NotStarted.Of(err)
	case isDenied:
		err = fmt.Errorf("%w (%s)", err, g.needs)
	}
	return &refusal{error: err, code: code, isDenied: isDenied}
}

// rateLimit is a response of GitHub that a later attempt would change.
type rateLimit struct {
	error
	// wait is how long to wait, or 0 if GitHub does not say.
	wait time.Duration
}

// limitWait returns how long GitHub asks to wait, or 0.
func limitWait(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}

	reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || resp.Header.Get("X-RateLimit-Remaining") != "0" {
		return 0
	}
	return max(0, time.Until(time.Unix(reset, 0)))
}

// isLimited reports whether a 403 is a rate limit. Of a secondary rate limit only the body may say so.
func isLimited(resp *http.Response, body []byte) bool {
	return resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != "" ||
		bytes.Contains(bytes.ToLower(body), []byte("rate limit"))
}

// pullRequest has the fields that we read from a pull request of GitHub.
type pullRequest struct {
	Number      int
	Title, Body string
	User        struct{ Login string }
	// Merged is known in an event, MergedAt in a list.
	Merged         bool
	MergedAt       string `json:"merged_at"`
	MergeCommitSHA string `json:"merge_commit_sha"`

	Commits, Additions, Deletions int
	ChangedFiles                  int `json:"changed_files"`
}

// pulls looks up which pull requests were merged as which commits.
type pulls struct {
	p          *program
	repository string
	// isBlind says that there is nobody to ask, or that GitHub has refused to tell.
	isBlind bool
}

func (p *program) newPulls(repository string) *pulls {
	return &pulls{p: p, repository: repository, isBlind: !p.onGitHub()}
}

// of returns the pull request that a commit has merged, or the zero value. It fails if nobody can tell
// whether there is one: the pull request may say that nothing is to be sent. A dry run sends nothing
// anyway, so it goes on.
func (l *pulls) of(ctx context.Context, commit string) (pullRequest, error) {
	if l.isBlind {
		return pullRequest{}, nil
	}

	found, err := l.ask(ctx, commit)
	switch {
	case mayNotRead(err), err != nil && l.p.options.dryRun:
		l.isBlind = true
		l.p.step.Warnf("Going on without pull requests, so only the commits tell "+
			"which merges are to be skipped: %v", err)
	case err != nil:
		return pullRequest{}, fmt.Errorf("nothing is sent before the pull requests of the change are read: %w", err)
	}

	for _, pull := range found {
		if pull.MergedAt != "" {
			return pull, nil
		}
	}
	return pullRequest{}, nil
}

// mayNotRead reports whether an error says that there is no token, or that the token lacks a permission.
func mayNotRead(err error) bool {
	if errors.Is(err, errNoToken) {
		return true
	}
	var refused *refusal
	return errors.As(err, &refused) && refused.isDenied
}

func (l *pulls) ask(ctx context.Context, commit string) ([]pullRequest, error) {
	g, err := l.p.openGitHub(l.repository)
	if err != nil {
		return nil, err
	}

	var found []pullRequest
	err = g.do(ctx, http.MethodGet, "/commits/"+commit+"/pulls", nil, &found)

	var refused *refusal
	if !errors.As(err, &refused) {
		return found, err
	}
	switch refused.code {
	case http.StatusUnprocessableEntity: // GitHub does not have the commit, and so no pull request of it
		return nil, nil
	case http.StatusUnauthorized:
		return nil, ci.NotStarted.Of(fmt.Errorf("%w (is GITHUB_TOKEN right?)", err))
	}
	return nil, err
}

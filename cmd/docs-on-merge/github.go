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

// gitHub is GitHub's API with a token. A run makes one for each of its tokens.
type gitHub struct {
	url, token string
	client     http.Client
	// repository is owner/name. [gitHub.of] sets it.
	repository string
	// needs says what a token needs that is denied.
	needs string
}

const needsOfJob = "the job needs permissions: statuses: write, and pull-requests: read; " +
	"a job of a fork's pull request gets neither"

var errNoToken = &responseError{error: errors.New("GITHUB_TOKEN is not set"), isDenied: true}

func (p *program) newGitHub(token string) gitHub {
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return gitHub{
		url:    cmp.Or(p.step.Getenv("GITHUB_API_URL"), "https://api.github.com") + "/",
		token:  token,
		client: http.Client{Transport: p.forge, Timeout: gitHubTime, CheckRedirect: noRedirect},
		needs:  needsOfJob,
	}
}

// of returns the API for a repository.
func (g gitHub) of(repository string) (*gitHub, error) {
	if g.token == "" {
		return nil, errNoToken
	}
	if !repositoryName.MatchString(repository) {
		return nil, fmt.Errorf("%q is not the owner/name of a repository", repository)
	}

	g.repository = repository
	return &g, nil
}

// get is a [docspulls.Get].
func (g *gitHub) get(ctx context.Context, path string, into any) error {
	return g.do(ctx, http.MethodGet, path, nil, into)
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

// responseError is a response of GitHub that failed, or whose body was interrupted.
type responseError struct {
	error
	code int
	// isDenied says that the token lacks a permission.
	isDenied bool
	// mayPass says that a later attempt may succeed, after wait. If wait is 0, GitHub does not say when.
	mayPass bool
	wait    time.Duration
}

func (g *gitHub) responseError(req *http.Request, resp *http.Response, body []byte) error {
	text := fmt.Sprintf("%s %s: %s", req.Method, req.URL.Path, resp.Status)
	quoted := bytes.TrimSpace(body[:min(len(body), maxQuoted)])
	if len(quoted) > 0 {
		text += ": " + string(quoted)
	}

	code := resp.StatusCode
	limited := isLimited(resp, body)
	mayPass := limited || code >= 500 || code < 300
	isDenied := !mayPass && (code == http.StatusForbidden || code == http.StatusNotFound)
	switch {
	case limited:
		text += " (the rate limit of GitHub)"
	case isDenied:
		text += " (" + g.needs + ")"
	}

	failed := &responseError{
		error:    errors.New(text),
		code:     code,
		isDenied: isDenied,
		mayPass:  mayPass,
		wait:     limitWait(resp),
	}
	if mayPass {
		return ci.NotStarted.Of(failed)
	}
	return failed
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

// isLimited reports whether a response is a rate limit. Of a secondary rate limit only the body may say so.
func isLimited(resp *http.Response, body []byte) bool {
	isSaid := resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != "" ||
		bytes.Contains(bytes.ToLower(body), []byte("rate limit"))
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden && isSaid
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
	api := cmp.Or(p.getenv("GITHUB_API_URL"), "https://api.github.com") + "/repos/" + repository
	return &gitHub{api, token, http.Client{Transport: p.forge, Timeout: gitHubTimeout,
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

const (
	statusesPerPage = 100
	maxStatusPages  = 50
	maxDescription  = 140 // characters
)

// statuses is a store on a commit of GitHub: its statuses of one context, which are only
// ever added to. Of several claims of a generation the oldest wins.
type statuses struct {
	gitHub        *gitHub
	commit, label string
	token         string // of this run
	runURL        string
	settle        time.Duration
}

func (p *program) openStatuses(c change, label string) (store, error) {
	g, err := p.openGitHub(c.repository)
	run := ""
	if id := p.getenv("GITHUB_RUN_ID"); id != "" {
		run = fmt.Sprintf("%s/%s/actions/runs/%s", p.getenv("GITHUB_SERVER_URL"), p.getenv("GITHUB_REPOSITORY"), id)
	}
	return &statuses{gitHub: g, commit: c.head, label: label, token: rand.Text(), runURL: run, settle: p.pace.settle}, err
}

// status is a status of a commit.
type status struct {
	ID          int64     `json:"id,omitempty"`
	State       string    `json:"state"`
	Description string    `json:"description"`
	Context     string    `json:"context"`
	TargetURL   string    `json:"target_url,omitempty"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
}

// ours is the end of a description: generation, state, token, the job's id. The words
// before it are for people.
var ours = regexp.MustCompile(`\[([0-9]{1,9}) ([a-z-]+) ([A-Z2-7]{26}) ([^ ]*)\]$`)

func (s *statuses) load(ctx context.Context) (r record, err error) {
	all, now, err := s.list(ctx)
	for _, status := range all {
		part := ours.FindStringSubmatch(status.Description)
		if part == nil || status.Context != s.label {
			continue
		}
		generation, _ := strconv.Atoi(part[1])
		switch state := outcome(part[2]); {
		case state == claimed && generation > r.Generation:
			r = record{Generation: generation, State: claimed, token: part[3], age: now.Sub(status.CreatedAt)}
		case state != claimed && generation == r.Generation && part[3] == r.token:
			r.State = state
			r.JobID, _ = url.QueryUnescape(part[4])
		}
	}
	return r, err
}

// list returns the statuses of the commit, the oldest first, and GitHub's time.
func (s *statuses) list(ctx context.Context) (all []status, now time.Time, err error) {
	for page := 1; len(all) == (page-1)*statusesPerPage; page++ {
		var found []status
		header, err := s.gitHub.do(ctx, http.MethodGet, fmt.Sprintf("/commits/%s/statuses?per_page=%d&page=%d", s.commit, statusesPerPage, page), nil, &found)
		if err == nil {
			now, err = http.ParseTime(header.Get("Date"))
		}
		if err == nil && page > maxStatusPages {
			err = errors.New("the commit has too many statuses")
		}
		if err != nil {
			return nil, now, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b status) int { return cmp.Compare(a.ID, b.ID) })
	return all, now, nil
}

func (s *statuses) claim(ctx context.Context, generation int) (bool, error) {
	claim := record{Generation: generation, State: claimed}
	err := s.save(ctx, claim)
	if err == nil {
		sleep(ctx, s.settle) // claims that came at once become visible
		var r record
		if r, err = s.load(ctx); err == nil && r.Generation >= generation {
			return r.Generation == generation && r.token == s.token, nil
		}
		err = &outcomeError{notStarted, cmp.Or(err, errors.New("GitHub does not show the claim that it has taken"))}
	}
	if outcomeOf(err) == notStarted { // but the claim may be there
		claim.State = notStarted
		err = errors.Join(err, s.save(ctx, claim))
	}
	return false, err
}

func (s *statuses) save(ctx context.Context, r record) error {
	description := fmt.Sprintf("[%d %s %s %s]", r.Generation, r.State, cmp.Or(r.token, s.token), url.QueryEscape(r.JobID))
	if whole := outcomes[r.State].words + " " + description; len(whole) <= maxDescription {
		description = whole
	}
	if len(description) > maxDescription {
		return errors.New("the job's id is too long for a commit status: give a directory with -state")
	}
	body, err := json.Marshal(status{State: outcomes[r.State].state, Description: description, Context: s.label, TargetURL: cmp.Or(r.PRLink, s.runURL)})
	if err == nil {
		_, err = s.gitHub.do(ctx, http.MethodPost, "/statuses/"+s.commit, body, new(status))
	}
	return err
}

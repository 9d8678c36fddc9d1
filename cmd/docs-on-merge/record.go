package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

var gitHubRemote = regexp.MustCompile(`(^|[/@.])(github\.com|ghe\.com)[:/]`)

// onGitHub reports whether GitHub has the repository and may be asked about it.
func (p *program) onGitHub() bool {
	return p.step.OnGitHub() || p.options.repository != "" && p.step.Getenv("GITHUB_TOKEN") != "" && !p.step.OnGitLab()
}

// openStore returns the store of the record. A run that cannot see the record on GitHub
// could make the job that a run on GitHub has made: it has to say where its record is.
func (p *program) openStore(ctx context.Context) (once.Store, error) {
	dir, g := p.options.state, p.git
	onGitHub := p.onGitHub() || !p.step.OnGitLab() && gitHubRemote.MatchString(g.run(ctx, "remote", "get-url", "origin"))
	remote, isRemote := strings.CutPrefix(dir, "git:")
	switch {
	case isRemote && (remote == "" || remote[0] == '-'):
		return nil, fmt.Errorf("-state git:%s names no remote", remote)
	case isRemote:
		return shared{refs{p.git, remote}, p.step.Link}, nil
	case onGitHub && dir != "":
		p.step.Printf("The record of jobs is in %s: the record on GitHub is not looked at.", dir)
	case onGitHub:
		api, err := p.openGitHub(p.change.repository)
		if err != nil {
			return nil, fmt.Errorf("%w: GitHub's record of jobs needs GITHUB_TOKEN and -repository (in GitHub Actions GITHUB_TOKEN alone), and -state names another place for the record", err)
		}
		p.statuses = &statuses{gitHub: api, p: p, commit: p.change.head, prefix: p.change.repository + "@" + p.change.head + ":"}
		return shared{p.statuses, p.step.Link}, nil
	case p.step.Getenv("CI") != "":
		p.step.Printf("The record of jobs is in a directory: if it goes with this runner, a further run for this change makes a further job.")
	}
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(config, "docs-on-merge")
	}
	return once.NewDir(dir)
}

// journal is a place that others can read and that versions of a record are added to. Of
// several of a version one counts for all.
type journal interface {
	// read returns the versions of key's record that count, from the first, and where the
	// journal ends.
	read(ctx context.Context, key string) (versions []once.Record, end string, err error)
	// add adds a version at the end that read has returned. It may fail and still have
	// added it.
	add(ctx context.Context, r once.Record, end string) error
}

// shared is a [once.Store] in a journal. It leaves out what others must not read.
type shared struct {
	journal
	link func(string) string // cleans one
}

func (s shared) Get(ctx context.Context, key string) (r once.Record, err error) {
	versions, _, err := s.read(ctx, key)
	if len(versions) > 0 {
		r = versions[len(versions)-1]
	}
	return r, err
}

// Put adds a version, and reads back whether it counts.
func (s shared) Put(ctx context.Context, r once.Record) error {
	versions, end, err := s.read(ctx, r.Key)
	if err != nil {
		return err
	}
	if len(versions) != r.Version-1 {
		return once.ErrConflict
	}
	r.Prompt, r.Project, r.Problem, r.PRLink = "", "", "", s.link(r.PRLink)
	r.Deadline, r.Updated = r.Deadline.Truncate(time.Microsecond), r.Updated.Truncate(time.Microsecond)
	failed := s.add(ctx, r, end)
	switch versions, _, err = s.read(ctx, r.Key); {
	case err != nil:
		return cmp.Or(failed, err)
	case len(versions) < r.Version:
		return cmp.Or(failed, ci.NotStarted.Of(errors.New("what was recorded does not show")))
	case versions[r.Version-1] != r:
		return once.ErrConflict
	}
	return nil
}

func (s shared) List(context.Context, ...once.State) ([]once.Record, error) {
	return nil, errors.ErrUnsupported
}

// refs is a journal in the refs of a git remote, one a record. Each version is a commit,
// whose parent is the version before. The remote takes one of several.
type refs struct {
	git    git
	remote string
}

func refOf(key string) string {
	return fmt.Sprintf("refs/docs-on-merge/%.20x", sha256.Sum256([]byte(key)))
}

func (s refs) read(ctx context.Context, key string) (versions []once.Record, end string, err error) {
	g, ref := s.git, refOf(key)
	for line := range strings.Lines(g.run(ctx, "ls-remote", s.remote, ref)) {
		if name, found, _ := strings.Cut(strings.TrimSpace(line), "\t"); found == ref {
			end = name
		}
	}
	if end == "" {
		return nil, "", g.err
	}
	if g.find(ctx, end) == "" {
		g.run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", s.remote, ref)
	}
	messages := strings.Split(strings.Trim(g.run(ctx, "log", "-z", "--reverse", "--no-show-signature", "--format=%B", end), "\x00"), "\x00")
	for _, message := range messages {
		var r once.Record
		if err := json.Unmarshal([]byte(message), &r); g.err == nil && (err != nil || r.Key != key || r.Version != len(versions)+1) {
			return nil, "", fmt.Errorf("%s of %s is not the record of %s: %q", ref, s.remote, key, message)
		}
		versions = append(versions, r)
	}
	return versions, end, g.err
}

func (s refs) add(ctx context.Context, r once.Record, end string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	g, ref := s.git, refOf(r.Key)
	args := []string{"commit-tree", g.emptyTree(ctx), "-m", string(text)}
	if end != "" {
		args = append(args, "-p", end)
	}
	g.run(ctx, "push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+end, s.remote, g.run(ctx, args...)+":"+ref)
	return g.err
}

const (
	perPage, maxPages = 100, 50          // of a list
	maxDescription    = 140              // characters
	runPath           = "/actions/runs/" // tells the link of a run from that of a pull request
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

// statuses is a journal in the statuses of a commit of GitHub, one context a record. They
// are only ever added. Of several of a version the oldest counts.
type statuses struct {
	*gitHub
	p      *program
	commit string
	prefix string // of keys, which a context leaves out
}

// status is a status of a commit.
type status struct {
	ID          int64  `json:"id,omitempty"`
	State       string `json:"state"`
	Description string `json:"description"`
	Context     string `json:"context"`
	TargetURL   string `json:"target_url,omitempty"`
}

// recorded is the end of a description: a record, after words for people.
var recorded = regexp.MustCompile(`\[([0-9]+ .*)\]$`)

const recordFormat = "%d %s %d %q %x %x %q"

func (s *statuses) context(key string) string {
	return "docs-on-merge/" + strings.TrimPrefix(key, s.prefix)
}

// read's end is the state of the newest status.
func (s *statuses) read(ctx context.Context, key string) (versions []once.Record, end string, err error) {
	all, err := s.list(ctx)
	for _, status := range all {
		if status.Context != s.context(key) {
			continue
		}
		end = status.State
		text := recorded.FindStringSubmatch(status.Description)
		if text == nil {
			continue
		}
		r := once.Record{Task: once.Task{Key: key}}
		var deadline, updated int64
		if _, err := fmt.Sscanf(text[1], recordFormat, &r.Version, &r.State, &r.Sends, &r.Sender, &deadline, &updated, &r.JobID); err != nil {
			return nil, "", fmt.Errorf("the status %s of %s is not a record that this version can read: %q", status.Context, s.commit, status.Description)
		}
		r.Deadline, r.Updated = time.UnixMicro(deadline).UTC(), time.UnixMicro(updated).UTC()
		if !strings.Contains(status.TargetURL, runPath) {
			r.PRLink = status.TargetURL
		}
		if r.Version == len(versions)+1 {
			versions = append(versions, r)
		}
	}
	return versions, end, err
}

// list returns the commit's statuses, the oldest first.
func (s *statuses) list(ctx context.Context) (all []status, err error) {
	for page := 1; page <= maxPages && len(all) == (page-1)*perPage; page++ {
		var found []status
		if err := s.do(ctx, http.MethodGet, fmt.Sprintf("/commits/%s/statuses?per_page=%d&page=%d", s.commit, perPage, page), nil, &found); err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == maxPages*perPage {
		return nil, errors.New("the commit has too many statuses")
	}
	slices.SortFunc(all, func(a, b status) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// state is the state of a status with r, to this run.
func (s *statuses) state(r once.Record) string {
	if s.p.step.Soft && r.State != once.Sending || s.p.options.noWait && r.State == once.Running {
		return "success"
	}
	return outcomes[outcomeOf(r, nil)].state
}

// show has the newest status say what this run says of key's record: if an earlier run with
// other flags has left another state there, it adds the last version again, which counts for
// nothing.
func (s *statuses) show(ctx context.Context, key string) {
	versions, newest, err := s.read(ctx, key)
	if n := len(versions); n > 0 && newest != s.state(versions[n-1]) {
		err = s.add(ctx, versions[n-1], newest)
	}
	if err != nil {
		s.p.step.Printf("The commit's status may still be that of an earlier run: %v", err)
	}
}

// add posts a status, and waits until those that came at once are visible. GitHub cannot
// do better: of two that do not see each other both would count.
func (s *statuses) add(ctx context.Context, r once.Record, _ string) error {
	words, getenv, run := outcomes[outcomeOf(r, nil)].words, s.p.step.Getenv, ""
	if id := getenv("GITHUB_RUN_ID"); id != "" {
		run = getenv("GITHUB_SERVER_URL") + "/" + getenv("GITHUB_REPOSITORY") + runPath + id
	}
	description := fmt.Sprintf("["+recordFormat+"]", r.Version, r.State, r.Sends, r.Sender, r.Deadline.UnixMicro(), r.Updated.UnixMicro(), r.JobID)
	if whole := words + " " + description; len(whole) <= maxDescription {
		description = whole
	}
	if len(description) > maxDescription {
		return errors.New("the job's id is too long for a commit status: give a directory with -state")
	}
	body, err := json.Marshal(status{State: s.state(r), Description: description, Context: s.context(r.Key), TargetURL: cmp.Or(r.PRLink, run)})
	if err == nil {
		err = s.do(ctx, http.MethodPost, "/statuses/"+s.commit, body, new(status))
		time.Sleep(s.p.settle)
	}
	return err
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

const (
	statusesPerPage = 100
	maxStatusPages  = 50
	maxDescription  = 140 // characters
)

// statuses is a journal in the statuses of a commit of GitHub, one context a record. They
// are only ever added. Of several of a version the oldest counts.
type statuses struct {
	p              *program
	gitHub         *gitHub
	commit, runURL string
	prefix         string // of keys, which a context leaves out
}

func (p *program) openStatuses(c change) (*statuses, error) {
	g, err := p.openGitHub(c.repository)
	run := ""
	if id := p.step.Getenv("GITHUB_RUN_ID"); id != "" {
		run = fmt.Sprintf("%s/%s%s%s", p.step.Getenv("GITHUB_SERVER_URL"), p.step.Getenv("GITHUB_REPOSITORY"), runPath, id)
	}
	return &statuses{p: p, gitHub: g, commit: c.head, runURL: run, prefix: c.repository + "@" + c.head + ":"}, err
}

const runPath = "/actions/runs/" // tells the link of a run from that of a pull request

// status is a status of a commit.
type status struct {
	ID          int64     `json:"id,omitempty"`
	State       string    `json:"state"`
	Description string    `json:"description"`
	Context     string    `json:"context"`
	TargetURL   string    `json:"target_url,omitempty"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
}

// recorded is the end of a description: a record, after words for people.
var recorded = regexp.MustCompile(`\[([0-9]+ .*)\]$`)

const recordFormat = "%d %s %d %q %x %x %q"

func (s *statuses) context(key string) string {
	return s.p.step.Name + "/" + strings.TrimPrefix(key, s.prefix)
}

func (s *statuses) read(ctx context.Context, key string) (versions []once.Record, err error) {
	all, err := s.list(ctx, key)
	for _, status := range all {
		text := recorded.FindStringSubmatch(status.Description)
		if text == nil {
			continue
		}
		r := once.Record{Task: once.Task{Key: key}}
		var deadline, updated int64
		if _, err := fmt.Sscanf(text[1], recordFormat, &r.Version, &r.State, &r.Sends, &r.Sender, &deadline, &updated, &r.JobID); err != nil {
			return nil, fmt.Errorf("the status %s of %s is not a record that this version can read: %q", status.Context, s.commit, status.Description)
		}
		r.Deadline, r.Updated = time.UnixMicro(deadline).UTC(), time.UnixMicro(updated).UTC()
		if !strings.Contains(status.TargetURL, runPath) {
			r.PRLink = status.TargetURL
		}
		if r.Version == len(versions)+1 {
			versions = append(versions, r)
		}
	}
	return versions, err
}

// list returns the statuses of key's context, the oldest first.
func (s *statuses) list(ctx context.Context, key string) (all []status, err error) {
	more := true
	for page := 1; more; page++ {
		var found []status
		err := s.gitHub.do(ctx, http.MethodGet, fmt.Sprintf("/commits/%s/statuses?per_page=%d&page=%d", s.commit, statusesPerPage, page), nil, &found)
		if more = len(found) == statusesPerPage; more && page == maxStatusPages {
			err = cmp.Or(err, errors.New("the commit has too many statuses"))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(found, func(status status) bool { return status.Context != s.context(key) })...)
	}
	slices.SortFunc(all, func(a, b status) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// add posts a status, and waits until those that came at once are visible. GitHub cannot
// do better: of two that do not see each other both would count.
func (s *statuses) add(ctx context.Context, r once.Record) error {
	state := outcomes[outcomeOf(r, nil)].state
	if s.p.options.noWait && r.State == once.Running || s.p.options.soft && !r.State.IsOpen() {
		state = "success"
	}
	err := s.post(ctx, r, state)
	sleep(ctx, s.p.settle)
	return err
}

func (s *statuses) post(ctx context.Context, r once.Record, state string) error {
	description := fmt.Sprintf("["+recordFormat+"]", r.Version, r.State, r.Sends, r.Sender, r.Deadline.UnixMicro(), r.Updated.UnixMicro(), r.JobID)
	if whole := outcomes[outcomeOf(r, nil)].words + " " + description; len(whole) <= maxDescription {
		description = whole
	}
	if len(description) > maxDescription {
		return errors.New("the job's id is too long for a commit status: give a directory with -state")
	}
	body, err := json.Marshal(status{State: state, Description: description, Context: s.context(r.Key), TargetURL: cmp.Or(r.PRLink, s.runURL)})
	if err == nil {
		err = s.gitHub.do(ctx, http.MethodPost, "/statuses/"+s.commit, body, new(status))
	}
	return err
}

// conclude has the newest status be a success if the run must not leave another.
func (s *statuses) conclude(ctx context.Context, r once.Record) error {
	if r.Version == 0 || !s.p.options.soft && !(s.p.options.noWait && r.State == once.Running) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitHubAttempts*gitHubTimeout)
	defer cancel()
	all, err := s.list(ctx, r.Key)
	if len(all) > 0 && all[len(all)-1].State != "success" {
		r.PRLink = s.p.step.Link(r.PRLink)
		err = s.post(ctx, r, "success")
	}
	return err
}

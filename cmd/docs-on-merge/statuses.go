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

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	perPage, maxPages = 100, 50          // of a list
	maxDescription    = 140              // characters
	runPath           = "/actions/runs/" // tells the link of a run from that of a pull request
)

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

// read implements journal, which has no end: versions are only ever added.
func (s *statuses) read(ctx context.Context, key string) (versions []once.Record, end string, err error) {
	versions, _, err = s.readAll(ctx, key)
	return versions, "", err
}

// readAll returns the versions of key's record that count, and the newest status of all.
func (s *statuses) readAll(ctx context.Context, key string) (versions []once.Record, newest status, err error) {
	all, err := s.list(ctx)
	for _, status := range all {
		if status.Context != s.context(key) {
			continue
		}
		newest = status
		text := recorded.FindStringSubmatch(status.Description)
		if text == nil {
			continue
		}
		r := once.Record{Task: once.Task{Key: key}}
		var deadline, updated int64
		if _, err := fmt.Sscanf(text[1], recordFormat, &r.Version, &r.State, &r.Sends, &r.Sender, &deadline, &updated, &r.JobID); err != nil {
			return nil, newest, fmt.Errorf("the status %s of %s is not a record that this version can read: %q", status.Context, s.commit, status.Description)
		}
		r.Deadline, r.Updated = time.UnixMicro(deadline).UTC(), time.UnixMicro(updated).UTC()
		if !strings.Contains(status.TargetURL, runPath) {
			r.PRLink = status.TargetURL
		}
		if r.Version == len(versions)+1 {
			versions = append(versions, r)
		}
	}
	return versions, newest, err
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

// state is the state of a status of a run that ended with outcome.
func (s *statuses) state(outcome ci.Outcome) string {
	if s.p.step.Soft && outcome != ci.SetUp || s.p.options.noWait && outcome == ci.Running {
		return "success"
	}
	return meaningOf(outcome).state
}

// show has the newest status say what this run says, which ended with r and outcome: an
// earlier run with other flags may have left another state there. The last version is then
// added again, which counts for nothing.
func (s *statuses) show(ctx context.Context, r once.Record, outcome ci.Outcome) {
	versions, newest, err := s.readAll(ctx, r.Key)
	if n := len(versions); n > 0 {
		last := versions[n-1]
		if last.Version != r.Version { // another run has gone on with it
			outcome = outcomeOf(last, nil)
		}
		state := s.state(outcome)
		description := describe(last, meaningOf(outcome).words)
		if newest.State != state || newest.Description != description {
			err = s.post(ctx, last, state, description)
		}
	}
	if err != nil {
		s.p.step.Printf("The commit's status may still be that of an earlier run: %v", err)
	}
}

// add posts a version. While a prompt is being sent, its status is pending with any flag.
func (s *statuses) add(ctx context.Context, r once.Record, _ string) error {
	outcome := outcomeOf(r, nil)
	state := s.state(outcome)
	if r.State == once.Sending {
		state = meaningOf(outcome).state
	}
	return s.post(ctx, r, state, describe(r, meaningOf(outcome).words))
}

// describe returns a record as a description: with words before it, if they fit.
func describe(r once.Record, words string) string {
	record := fmt.Sprintf("["+recordFormat+"]", r.Version, r.State, r.Sends, r.Sender, r.Deadline.UnixMicro(), r.Updated.UnixMicro(), r.JobID)
	if whole := words + " " + record; len(whole) <= maxDescription {
		return whole
	}
	return record
}

// post posts a status, and waits until those that came at once are visible. GitHub cannot
// do better: of two that do not see each other both would count.
func (s *statuses) post(ctx context.Context, r once.Record, state, description string) error {
	getenv, run := s.p.step.Getenv, ""
	if id := getenv("GITHUB_RUN_ID"); id != "" {
		run = getenv("GITHUB_SERVER_URL") + "/" + getenv("GITHUB_REPOSITORY") + runPath + id
	}
	if len(description) > maxDescription {
		return errors.New("the job's id is too long for a commit status: give a directory with -state")
	}
	body, err := json.Marshal(status{State: state, Description: description, Context: s.context(r.Key), TargetURL: cmp.Or(r.PRLink, run)})
	if err == nil {
		err = s.do(ctx, http.MethodPost, "/statuses/"+s.commit, body, new(status))
		time.Sleep(s.p.settle)
	}
	return err
}

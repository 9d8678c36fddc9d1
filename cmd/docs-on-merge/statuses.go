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

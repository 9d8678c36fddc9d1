package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

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
	_, state, words := r.State.describe()
	description := fmt.Sprintf("[%d %s %s %s]", r.Generation, r.State, cmp.Or(r.token, s.token), url.QueryEscape(r.JobID))
	if whole := words + " " + description; len(whole) <= maxDescription {
		description = whole
	}
	if len(description) > maxDescription {
		return errors.New("the job's id is too long for a commit status: give a directory with -state")
	}
	body, err := json.Marshal(status{State: state, Description: description, Context: s.label, TargetURL: cmp.Or(r.PRLink, s.runURL)})
	if err == nil {
		_, err = s.gitHub.do(ctx, http.MethodPost, "/statuses/"+s.commit, body, new(status))
	}
	return err
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	perPage        = 100 // statuses of a list
	maxPages       = 50
	maxDescription = 140              // characters, as GitHub has it
	runPath        = "/actions/runs/" // tells the link of a run from the link of a pull request
)

// statuses is a journal in the statuses of a commit on GitHub, with a context for each record.
// Nobody can change or delete a status. Of several statuses of a version the oldest counts.
type statuses struct {
	*gitHub
	p *program
	// of is the change whose commit has the statuses.
	of change
}

type status struct {
	ID          int64  `json:"id,omitempty"`
	State       string `json:"state"`
	Description string `json:"description"`
	Context     string `json:"context"`
	TargetURL   string `json:"target_url,omitempty"`
}

// context leaves out of a key what the commit tells.
func (s *statuses) context(key string) string {
	return "docs-on-merge/" + strings.TrimPrefix(key, merges.Key(s.of.repository, s.of.head)+":")
}

// read implements journal. Since versions are only ever added, it needs no end.
func (s *statuses) read(ctx context.Context, key string) (versions []once.Record, end string, err error) {
	versions, _, err = s.readAll(ctx, key)
	return versions, "", err
}

// readAll returns the versions of key's record that count, and the newest status of all.
func (s *statuses) readAll(ctx context.Context, key string) ([]once.Record, status, error) {
	all, err := s.list(ctx)
	if err != nil {
		return nil, status{}, err
	}

	var versions []once.Record
	var newest status

	for _, status := range all {
		if status.Context != s.context(key) {
			continue
		}
		newest = status

		r, err := status.record(key)
		if err != nil {
			return nil, newest, fmt.Errorf("the status %s of %s: %w", status.Context, s.of.head, err)
		}
		if r.Version == len(versions)+1 {
			versions = append(versions, r)
		}
	}
	return versions, newest, nil
}

// list returns the commit's statuses, the oldest first.
func (s *statuses) list(ctx context.Context) ([]status, error) {
	var all []status
	for page := 1; page <= maxPages && len(all) == (page-1)*perPage; page++ {
		var found []status
		path := fmt.Sprintf("repos/%s/commits/%s/statuses?per_page=%d&page=%d", s.repository, s.of.head, perPage, page)
		if err := s.get(ctx, path, &found); err != nil {
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

// recorded matches the end of a description: a record, after words for people.
var recorded = regexp.MustCompile(`\[([0-9]+ .*)\]$`)

const recordFormat = "%d %s %d %q %x %x %q"

// record returns the record in a status, of version 0 if there is none.
func (s status) record(key string) (once.Record, error) {
	var r once.Record
	text := recorded.FindStringSubmatch(s.Description)
	if text == nil {
		return r, nil
	}

	var deadline, updated int64
	_, err := fmt.Sscanf(text[1], recordFormat,
		&r.Version, &r.State, &r.Sends, &r.Sender, &deadline, &updated, &r.JobID)
	if err != nil {
		return r, fmt.Errorf("it is not a record that this version can read: %q", s.Description)
	}

	r.Key = key
	r.Deadline = time.UnixMicro(deadline).UTC()
	r.UpdatedAt = time.UnixMicro(updated).UTC()
	if !strings.Contains(s.TargetURL, runPath) {
		r.PRLink = s.TargetURL
	}
	return r, nil
}

// describe returns a record as a description: with words before it, if they fit.
func describe(r once.Record, words string) string {
	record := fmt.Sprintf("["+recordFormat+"]",
		r.Version, r.State, r.Sends, r.Sender, r.Deadline.UnixMicro(), r.UpdatedAt.UnixMicro(), r.JobID)
	whole := strings.TrimSpace(words + " " + record)
	if len(whole) <= maxDescription {
		return whole
	}
	return record
}

// state is the state of a status of a run that ended with outcome.
func (s *statuses) state(outcome ci.Outcome) string {
	isForgiven := s.p.step.Soft && outcome != ci.SetUp
	isAsked := s.p.options.noWait && outcome == ci.Running
	if isForgiven || isAsked {
		return "success"
	}
	return meanings[outcome].state
}

// show makes the newest status say how this run ended and, in a few words, what it got instead of a lost
// response. An earlier run with other flags may have left another state there. If so, show adds the last
// version again, which does not change the record.
func (s *statuses) show(ctx context.Context, r result) error {
	versions, newest, err := s.readAll(ctx, r.record.Key)
	if err != nil || len(versions) == 0 {
		return err
	}

	last := versions[len(versions)-1]
	outcome := outcomeOf(r.record, r.err)
	if last.Version != r.record.Version { // another run has changed the record
		outcome = outcomeOf(last, nil)
	}

	words := meanings[outcome].words
	why := briefOf(r.lost)
	isSaid := strings.HasPrefix(newest.Description, words) && strings.HasSuffix(newest.Description, describe(last, ""))
	if why != "" && outcome == ci.Unknown { // only this run knows why
		words += " (" + why + ")"
		isSaid = false
	}

	state := s.state(outcome)
	description := describe(last, words)
	if newest.State == state && (isSaid || newest.Description == description) {
		return nil
	}
	return s.post(ctx, last, state, description)
}

// briefOf returns what came instead of a response, such as "502 Bad Gateway", or "".
func briefOf(err error) string {
	var response *mintlify.APIError
	var network net.Error
	isLate := errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
	switch {
	case errors.As(err, &response):
		return fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	case isLate:
		return "time-out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	case errors.As(err, &network):
		return "connection lost"
	}
	return ""
}

// note has the commit's status say why the change has no job. It never covers a record.
func (s *statuses) note(ctx context.Context, key, words string) error {
	versions, newest, err := s.readAll(ctx, key)
	if err != nil || len(versions) > 0 {
		return err
	}

	words = strings.ToValidUTF8(words[:min(len(words), maxDescription)], "")
	if recorded.MatchString(words) { // it would be taken for a record
		words = strings.TrimRight(words, "]")
	}
	if newest.Description == words {
		return nil
	}
	return s.post(ctx, once.Record{Task: once.Task{Key: key}}, meanings[skipped].state, words)
}

// add posts a version, and waits until those that other runs post at the same time are visible: of two runs that
// do not see each other's, each would think that its own counts. GitHub has no other means against it.
func (s *statuses) add(ctx context.Context, r once.Record, _ string) error {
	if r.After != "" {
		return fmt.Errorf("a commit status has no room for a follow-up: %w", errors.ErrUnsupported)
	}

	outcome := outcomeOf(r, nil)
	state := s.state(outcome)
	if r.State == once.Sending { // it is pending with any flag
		state = meanings[outcome].state
	}

	err := s.post(ctx, r, state, describe(r, meanings[outcome].words))
	time.Sleep(s.p.settle)
	return err
}

// errTooLong is for good, as a refusal of GitHub's is.
var errTooLong = &responseError{
	error: errors.New("the job's id is too long for a commit status: give a directory with -state"),
}

func (s *statuses) post(ctx context.Context, r once.Record, state, description string) error {
	if len(description) > maxDescription {
		return errTooLong
	}

	posted := status{
		State:       state,
		Description: description,
		Context:     s.context(r.Key),
		TargetURL:   cmp.Or(r.PRLink, s.p.runLink()),
	}
	body, err := json.Marshal(posted)
	if err != nil {
		return err
	}
	return s.do(ctx, http.MethodPost, fmt.Sprintf("repos/%s/statuses/%s", s.repository, s.of.head), body, &posted)
}

// runLink returns the link of this run's page on GitHub, or "".
func (p *program) runLink() string {
	id := p.step.Getenv("GITHUB_RUN_ID")
	if id == "" {
		return ""
	}
	return p.step.Getenv("GITHUB_SERVER_URL") + "/" + p.step.Getenv("GITHUB_REPOSITORY") + runPath + id
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// choice chooses the prompts for a command. The zero value chooses all.
type choice struct {
	state      once.State
	project    string
	repository string        // owner/repo, of the key or of a pull request
	since      time.Duration // since their last change; 0: any
}

// choose returns the rows of a choice.
func (s store) choose(ctx context.Context, c choice) ([]row, error) {
	var changed int64
	if c.since > 0 {
		changed = time.Now().Add(-c.since).UnixMicro()
	}
	return s.rows(ctx, `(o.state = $1 OR $1 = '') AND (p.project = $2 OR $2 = '') AND o.updated >= $3
AND ($4 = '' OR substr(p.key, 1, length($4) + 1) = $4 || '@'
	OR replace(' ' || p.pulls, ' ' || $4 || '#', '') <> ' ' || p.pulls)
ORDER BY p.project, p.priority, p.queued, p.key`, string(c.state), c.project, changed, c.repository)
}

func (p *program) checkList() error {
	if p.given["since"] && p.since <= 0 {
		return usageError("-since is %v, want more than 0, such as 24h", p.since)
	}
	if p.given["repo"] && !repository.MatchString(p.repository) {
		return usageError("-repo is %q, want owner/repo", redact.OneLine(p.repository, 150))
	}
	return nil
}

// list prints the prompts that its flags choose.
func (p *program) list(ctx context.Context, s store) error {
	state, err := stateOf(p.state)
	if err != nil {
		return err
	}

	rows, err := s.choose(ctx, choice{
		state:      state,
		project:    p.prompt.Project,
		repository: foldCase(p.repository),
		since:      p.since,
	})
	if err != nil {
		return err
	}

	if p.asJSON {
		return p.listJSON(rows)
	}
	for _, r := range rows {
		fmt.Fprintf(p.stdout, "%s\t%s\t%s\t%s\t%s\n", nameOf(r.State), r.Key, r.Project,
			r.Updated.Format(time.RFC3339), redact.OneLine(r.PRLink, 300))
	}
	return nil
}

// listed is a prompt in the array that `fleet list -json` prints.
type listed struct {
	Key      string    `json:"key"`
	State    string    `json:"state"`
	Project  string    `json:"project"`
	Priority int       `json:"priority"`
	Pulls    []string  `json:"pulls"`
	After    string    `json:"after,omitempty"`
	JobID    string    `json:"jobId,omitempty"`
	PRLink   string    `json:"prLink,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Added    time.Time `json:"added"`
	Updated  time.Time `json:"updated"`
}

func (p *program) listJSON(rows []row) error {
	all := make([]listed, len(rows))
	for i, r := range rows {
		all[i] = listed{
			Key:      r.Key,
			State:    nameOf(r.State),
			Project:  r.Project,
			Priority: r.Priority,
			Pulls:    strings.Fields(r.Pulls),
			After:    r.After,
			JobID:    redact.OneLine(r.JobID, 200),
			PRLink:   redact.OneLine(r.PRLink, 500),
			Problem:  redact.OneLine(r.Problem, 1000),
			Added:    r.Added,
			Updated:  r.Updated,
		}
	}

	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}

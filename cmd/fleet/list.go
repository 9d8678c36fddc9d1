package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// listCommand prints the prompts that its flags choose.
type listCommand struct {
	*program
	state, project, repository string
	since                      time.Duration
	asJSON                     bool
}

func (c *listCommand) define(f *flag.FlagSet) {
	f.StringVar(&c.state, "state", "", "those in this state")
	f.StringVar(&c.project, "project", "", "those of a project")
	f.StringVar(&c.repository, "repo", "", "those of a repository: "+ofRepository)
	f.DurationVar(&c.since, "since", 0, "those that changed within this time, such as 24h")
	f.BoolVar(&c.asJSON, "json", false, "as JSON")
}

func (c *listCommand) check(line commandLine) error {
	if err := checkSince(line, c.since); err != nil {
		return err
	}
	return checkRepository(line, &c.repository)
}

// checkSince refuses a -since that chooses nothing.
func checkSince(line commandLine, since time.Duration) error {
	if line.given["since"] && since <= 0 {
		return usage.Errorf("-since is %v, want more than 0, such as 24h", since)
	}
	return nil
}

func (c *listCommand) run(ctx context.Context, s queue.Queue) error {
	state, err := database.StateOf(c.state)
	if err != nil {
		return err
	}

	rows, err := s.Choose(ctx, database.Choice{
		State:      state,
		Project:    c.project,
		Repository: c.repository,
		Since:      c.since,
	})
	if err != nil {
		return err
	}

	if c.asJSON {
		return c.listJSON(rows)
	}
	for _, r := range rows {
		fmt.Fprintf(c.stdout, "%s\t%s\t%s\t%s\t%s\n", database.NameOf(r.State), r.Key, r.ProjectID,
			r.UpdatedAt.Format(time.RFC3339), redact.OneLine(r.PRLink, 300))
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

func (c *listCommand) listJSON(rows []database.Row) error {
	all := make([]listed, len(rows))
	for i, r := range rows {
		all[i] = listed{
			Key:      r.Key,
			State:    database.NameOf(r.State),
			Project:  r.ProjectID,
			Priority: r.Priority,
			Pulls:    strings.Fields(r.Pulls),
			After:    r.After,
			JobID:    redact.OneLine(r.JobID, 200),
			PRLink:   redact.OneLine(r.PRLink, 500),
			Problem:  redact.OneLine(r.Problem, 1000),
			Added:    r.AddedAt,
			Updated:  r.UpdatedAt,
		}
	}

	return writeJSON(c.stdout, all)
}

// writeJSON writes what -json prints.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

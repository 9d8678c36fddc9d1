package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
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
	f.Func("since", "those that changed within this time, such as 24h or 30d", setSince(&c.since))
	f.BoolVar(&c.asJSON, "json", false, "as JSON")
}

func (c *listCommand) check(line commandLine) error { return checkRepository(line, &c.repository) }

// setSince takes a time that is more than 0: a number of days, or what package time parses.
func setSince(since *time.Duration) func(text string) error {
	return func(text string) error {
		var err error
		if days, isDays := strings.CutSuffix(text, "d"); isDays {
			n, daysErr := strconv.Atoi(days)
			*since = time.Duration(n) * database.Day
			err = daysErr
		} else {
			*since, err = time.ParseDuration(text)
		}

		if err != nil || *since <= 0 || *since > 100*365*database.Day {
			return errors.New("want a time such as 24h or 30d")
		}
		return nil
	}
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

	if len(rows) == 0 && c.repository != "" {
		if err := s.CheckRepository(ctx, c.repository); err != nil {
			return err
		}
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

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

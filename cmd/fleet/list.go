package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// list prints the prompts that the flags choose.
func (p *program) list(ctx context.Context, s queue.Queue) error {
	rows, err := s.Choose(ctx, p.choice())
	if err != nil {
		return err
	}

	if len(rows) == 0 && p.repository != "" {
		if err := s.CheckRepository(ctx, p.repository); err != nil {
			return err
		}
	}

	if p.asJSON {
		return p.listJSON(rows)
	}
	for _, r := range rows {
		fmt.Fprintf(p.stdout, "%s\t%s\t%s\t%s\t%s\n", database.NameOf(r.State), r.Key, r.ProjectID,
			r.UpdatedAt.Format(time.RFC3339), safetext.OneLine(r.PRLink, 300))
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

func (p *program) listJSON(rows []database.Row) error {
	all := make([]listed, len(rows))
	for i, r := range rows {
		all[i] = listed{
			Key:      r.Key,
			State:    database.NameOf(r.State),
			Project:  r.ProjectID,
			Priority: r.Priority,
			Pulls:    strings.Fields(r.Pulls),
			After:    r.After,
			JobID:    safetext.OneLine(r.JobID, 200),
			PRLink:   safetext.OneLine(r.PRLink, 500),
			Problem:  safetext.OneLine(r.Problem, 1000),
			Added:    r.AddedAt,
			Updated:  r.UpdatedAt,
		}
	}

	return writeJSON(p.stdout, all)
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

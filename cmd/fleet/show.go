package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// list prints a line for each prompt in a state and of a project.
func (p *program) list(ctx context.Context, s store) error {
	state, err := stateOf(p.state)
	if err != nil {
		return err
	}
	rows, err := s.choose(ctx, state, p.prompt.Project)
	if err != nil {
		return err
	}

	for _, r := range rows {
		fmt.Fprintf(p.stdout, "%s\t%s\t%s\t%s\t%s\n", nameOf(r.State), r.Key, r.Project,
			r.Updated.Format(time.RFC3339), redact.OneLine(r.PRLink, 300))
	}
	return nil
}

// show prints all that is known of a prompt.
func (p *program) show(ctx context.Context, s store) error {
	r, err := s.row(ctx, p.operand)
	if err != nil {
		return err
	}

	p.showFields(r)
	fmt.Fprintln(p.stdout, "\nprompt")
	for line := range strings.Lines(r.Prompt) {
		fmt.Fprintf(p.stdout, "  %s\n", redact.OneLine(line, maxPrompt))
	}
	fmt.Fprintln(p.stdout, "\nhistory")
	return p.showHistory(ctx, s, r.Key)
}

func (p *program) showFields(r row) {
	fields := []struct{ name, value string }{
		{"key", r.Key},
		{"state", nameOf(r.State)},
		{"project", r.Project},
		{"priority", fmt.Sprint(r.Priority)},
		{"pulls", r.Pulls},
		{"added", r.Added.Format(time.RFC3339)},
		{"job", r.JobID},
		{"pr", r.PRLink},
		{"problem", r.Problem},
		{"advice", advise(r)},
	}
	for _, f := range fields {
		if f.value != "" {
			fmt.Fprintf(p.stdout, "%-9s %s\n", f.name, redact.OneLine(f.value, 2000))
		}
	}
}

func (p *program) showHistory(ctx context.Context, s store, key string) error {
	return scan(ctx, s.DB, func(rows *sql.Rows) error {
		var at int64
		var state, job, problem, who string
		if err := rows.Scan(&at, &state, &job, &problem, &who); err != nil {
			return err
		}

		change := strings.Join(strings.Fields(nameOf(once.State(state))+" by "+who+" "+job+" "+problem), " ")
		fmt.Fprintf(p.stdout, "  %s  %s\n", time.UnixMilli(at).UTC().Format(time.RFC3339), redact.OneLine(change, 500))
		return nil
	}, "SELECT at, state, job, problem, who FROM fleet_history WHERE key = $1 ORDER BY version", key)
}

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

// show prints everything about a prompt and the prompts that follow it.
func (p *program) show(ctx context.Context, s store) error {
	keys, err := s.find(ctx, p.operand)
	if err != nil {
		return err
	}

	shown := map[string]bool{}
	for _, key := range keys {
		chain, err := s.chainOf(ctx, key)
		if err != nil {
			return err
		}
		for _, r := range chain {
			if shown[r.Key] {
				continue
			}

			if len(shown) > 0 {
				fmt.Fprintln(p.stdout)
			}
			shown[r.Key] = true
			if err := p.showOne(ctx, s, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *program) showOne(ctx context.Context, s store, r row) error {
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
		{"follows", r.After},
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

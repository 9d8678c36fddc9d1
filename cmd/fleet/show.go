package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

// show prints everything about a prompt, and about those of its thread.
func (p *program) show(ctx context.Context, s queue.Queue) error {
	keys, err := s.Find(ctx, p.operand)
	if err != nil {
		return err
	}
	leftOut, err := s.FindLeftOut(ctx, p.operand)
	if err != nil {
		return err
	}

	for _, l := range leftOut {
		fmt.Fprintf(p.stdout, "left out  %s  %s\n", l.At.Format(time.RFC3339), safetext.OneLine(l.String(), 1000))
	}
	switch {
	case len(keys) == 0 && len(leftOut) == 0:
		return database.NotFound(p.operand)
	case len(keys) == 0:
		return nil
	}

	thread, err := s.ThreadOf(ctx, keys[0])
	if err != nil {
		return err
	}

	isOther := func(key string) bool {
		return !slices.ContainsFunc(thread, func(r database.Row) bool { return r.Key == key })
	}
	if slices.ContainsFunc(keys, isOther) {
		return database.SeveralFit(p.operand, keys)
	}

	for i, r := range thread {
		if i > 0 || len(leftOut) > 0 {
			fmt.Fprintln(p.stdout)
		}
		if err := p.showOne(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) showOne(ctx context.Context, s queue.Queue, r database.Row) error {
	waits := ""
	if r.State == once.Pending && !r.IsStranded { // advise says what a stranded one waits for
		why, until, err := s.WhyQueued(ctx, r)
		if err != nil {
			return err
		}

		waits = why
		if !until.IsZero() {
			waits += "; waits until " + utc(until)
		}
	}

	p.showFields(r, waits)
	if !r.Forgotten.IsZero() {
		return nil
	}

	fmt.Fprintln(p.stdout, "\nprompt")
	for line := range strings.Lines(r.Prompt) {
		fmt.Fprintf(p.stdout, "  %s\n", safetext.OneLine(line, database.MaxPrompt))
	}
	fmt.Fprintln(p.stdout, "\nhistory")
	return p.showHistory(ctx, s, r.Key)
}

func (p *program) showFields(r database.Row, waits string) {
	forgotten := ""
	if !r.Forgotten.IsZero() {
		forgotten = "its texts, at " + r.Forgotten.Format(time.RFC3339)
	}

	fields := []struct{ name, value string }{
		{"key", r.Key},
		{"state", database.NameOf(r.State)},
		{"project", r.ProjectID},
		{"priority", fmt.Sprint(r.Priority)},
		{"pulls", r.Pulls},
		{"follows", r.After},
		{"added", r.AddedAt.Format(time.RFC3339)},
		{"job", r.JobID},
		{"pr", r.PRLink},
		{"problem", r.Problem},
		{"forgotten", forgotten},
		{"waits", waits},
		{"advice", advise(r)},
	}

	for _, f := range fields {
		if f.value != "" {
			fmt.Fprintf(p.stdout, "%-9s %s\n", f.name, safetext.OneLine(f.value, 2000))
		}
	}
}

func (p *program) showHistory(ctx context.Context, s queue.Queue, key string) error {
	return sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var at time.Time
		var state, job, problem, who string
		if err := rows.Scan(database.Millis(&at), &state, &job, &problem, &who); err != nil {
			return err
		}

		change := strings.Join(strings.Fields(database.NameOf(once.State(state))+" by "+who+" "+job+" "+problem), " ")
		fmt.Fprintf(p.stdout, "  %s  %s\n", at.Format(time.RFC3339), safetext.OneLine(change, 500))
		return nil
	}, "SELECT at, state, job, problem, who FROM fleet_history WHERE key = $1 ORDER BY at, version", key)
}

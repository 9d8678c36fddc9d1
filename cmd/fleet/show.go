package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
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
	kept, err := p.showKept(ctx, s, append(keys, database.FoldCase(p.operand)))
	switch {
	case err != nil:
		return err
	case len(keys) == 0 && len(leftOut)+kept == 0:
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
		if i > 0 || len(leftOut)+kept > 0 {
			fmt.Fprintln(p.stdout)
		}
		if err := p.showOne(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

// showKept prints the comments for prompts, or on a pull request, that are not decided about, and why. It returns how
// many there are.
func (p *program) showKept(ctx context.Context, s queue.Queue, names []string) (int, error) {
	kept, err := github.Docs{Queue: s}.KeptReviews(ctx, "", "")
	shown := 0
	for _, r := range kept {
		if !slices.Contains(names, r.Key) && !slices.Contains(names, r.Pull) {
			continue
		}

		shown++
		waits := "the pull request of its job is known"
		if !r.MayAsk {
			waits += ", and GitHub says whether its author may write (FLEET_GITHUB_TOKEN)"
		}
		fmt.Fprintf(p.stdout, "comment %d by %s on %s waits until %s\n", r.ID, safetext.OneLine(r.Author, 80),
			safetext.OneLine(r.Pull, 200), waits)
	}
	return shown, err
}

func (p *program) showOne(ctx context.Context, s queue.Queue, r database.Row) error {
	waits := ""
	if r.State == once.Sending {
		waits = "its sender hears from the service by " + utc(r.Deadline) + ", or it is in doubt from then on"
	}
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
		{"untold", r.Refusal},
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

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
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// showCommand prints everything about a prompt, and about those of its thread.
type showCommand struct {
	*program
	noFlags
	name string
}

func (c *showCommand) check(line commandLine) error {
	c.name = line.operand
	return nil
}

func (c *showCommand) run(ctx context.Context, s queue.Queue) error {
	keys, err := s.Find(ctx, c.name)
	if err != nil {
		return err
	}
	leftOut, err := s.FindLeftOut(ctx, c.name)
	if err != nil {
		return err
	}

	for _, l := range leftOut {
		fmt.Fprintf(c.stdout, "left out  %s  %s\n", l.At.Format(time.RFC3339), redact.OneLine(l.String(), 1000))
	}
	if len(keys) == 0 && len(leftOut) == 0 {
		return database.NotFound(c.name)
	}

	if len(keys) == 0 {
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
		return database.SeveralFit(c.name, keys)
	}

	for i, r := range thread {
		if i > 0 || len(leftOut) > 0 {
			fmt.Fprintln(c.stdout)
		}
		if err := c.showOne(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

func (c *showCommand) showOne(ctx context.Context, s queue.Queue, r database.Row) error {
	waits, err := c.whyQueued(ctx, s, r)
	if err != nil {
		return err
	}
	c.showFields(r, waits)
	if !r.Forgotten.IsZero() {
		return nil
	}

	fmt.Fprintln(c.stdout, "\nprompt")
	for line := range strings.Lines(r.Prompt) {
		fmt.Fprintf(c.stdout, "  %s\n", redact.OneLine(line, database.MaxPrompt))
	}
	fmt.Fprintln(c.stdout, "\nhistory")
	return c.showHistory(ctx, s, r.Key)
}

// whyQueued says why a prompt is queued, and until when. It returns "" for one that is not, and for one that waits for
// a person: advise says that.
func (c *showCommand) whyQueued(ctx context.Context, s queue.Queue, r database.Row) (string, error) {
	if r.State != once.Pending || r.IsStranded {
		return "", nil
	}

	why, until, err := s.WhyQueued(ctx, r)
	if !until.IsZero() {
		why += "; waits until " + utc(until)
	}
	return why, err
}

func (c *showCommand) showFields(r database.Row, waits string) {
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
		{"forgotten", forgottenAt(r)},
		{"waits", waits},
		{"advice", advise(r)},
	}

	for _, f := range fields {
		if f.value != "" {
			fmt.Fprintf(c.stdout, "%-9s %s\n", f.name, redact.OneLine(f.value, 2000))
		}
	}
}

func (c *showCommand) showHistory(ctx context.Context, s queue.Queue, key string) error {
	return sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var at time.Time
		var state, job, problem, who string
		if err := rows.Scan(database.Millis(&at), &state, &job, &problem, &who); err != nil {
			return err
		}

		change := strings.Join(strings.Fields(database.NameOf(once.State(state))+" by "+who+" "+job+" "+problem), " ")
		fmt.Fprintf(c.stdout, "  %s  %s\n", at.Format(time.RFC3339), redact.OneLine(change, 500))
		return nil
	}, "SELECT at, state, job, problem, who FROM fleet_history WHERE key = $1 ORDER BY at, version", key)
}

// forgottenAt says when the texts of a prompt were forgotten, "" if they were not.
func forgottenAt(r database.Row) string {
	if r.Forgotten.IsZero() {
		return ""
	}
	return "its texts, at " + r.Forgotten.Format(time.RFC3339)
}

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/once"
)

const decideBatch = 100 // prompts in a transaction: workers wait until it ends

// errNothing is that a bulk command finds no prompt.
var errNothing = errors.New("there is nothing")

// bulk is a decision about all prompts of a choice.
type bulk struct {
	what      string // the command
	choice    database.Choice
	decision  decision
	done      string // what they are afterwards
	meanwhile string // what became of prompts that are no longer in the state
}

// run does, with yes, what a person has decided about the prompts.
func (b bulk) run(ctx context.Context, s queue.Queue, out io.Writer, yes bool) error {
	rows, err := s.Choose(ctx, b.choice)
	if err != nil {
		return err
	}

	if len(rows) == 0 {
		return usage.Errorf("%w to %s", errNothing, b.what)
	}
	if !yes {
		return plan(out, rows, b.what)
	}

	decided, err := b.decideBatches(ctx, s, rows)
	fmt.Fprintf(out, "%d %s, %d %s\n", decided.done, b.done, decided.meanwhile, b.meanwhile)
	if err != nil {
		return fmt.Errorf("%d are left as they were: %w", len(rows)-decided.done-decided.meanwhile, err)
	}
	if decided.done == 0 {
		return usage.Errorf("nothing is changed")
	}

	projects := projectsOf(rows)
	s.InsertSends(ctx, projects...)
	for _, project := range projects {
		if err := s.WakeQueues(ctx, s.DB, project); err != nil {
			return err
		}
	}
	return nil
}

// plan prints what a bulk command would do.
func plan(out io.Writer, rows []database.Row, what string) error {
	for _, r := range rows[:min(len(rows), 20)] {
		fmt.Fprintf(out, "would %s %s of project %s\n", what, r.Key, r.ProjectID)
	}
	noun := "prompts"
	if len(rows) == 1 {
		noun = "prompt"
	}
	return usage.Errorf("%d %s to %s; nothing is changed without -yes", len(rows), noun, what)
}

// decided counts what became of the prompts of a bulk command.
type decided struct{ done, meanwhile int }

// decideBatches decides about rows, some in a transaction, until one fails.
func (b bulk) decideBatches(ctx context.Context, s queue.Queue, rows []database.Row) (decided, error) {
	var total decided
	for batch := range slices.Chunk(rows, decideBatch) {
		n, err := b.decideTogether(ctx, s, batch)
		if err != nil {
			return total, err
		}

		total.done += n
		total.meanwhile += len(batch) - n
	}
	return total, nil
}

// decideTogether decides about rows in one transaction, and returns about how many it has.
func (b bulk) decideTogether(ctx context.Context, s queue.Queue, batch []database.Row) (int, error) {
	n := 0
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		for _, r := range batch {
			isDone, err := b.decideInTx(ctx, s, tx, r)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Key, err)
			}
			if isDone {
				n++
			}
		}

		return nil
	})
	return n, err
}

// decideInTx reports false if a worker or another person has changed the record meanwhile.
func (b bulk) decideInTx(ctx context.Context, s queue.Queue, tx *sql.Tx, r database.Row) (bool, error) {
	record, err := database.RecordsOf(tx).Get(ctx, r.Key)
	if err != nil || record.State != b.choice.State {
		return false, err
	}
	if record.State != once.Pending {
		if err := database.NoteRetry(ctx, tx, r.Key); err != nil {
			return false, err
		}
	}

	_, err = b.decision(s.Runner(nil, tx), ctx, r.Key)
	if errors.Is(err, once.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// projectsOf returns the projects of rows, each once.
func projectsOf(rows []database.Row) []string {
	var projects []string
	for _, r := range rows {
		if !slices.Contains(projects, r.ProjectID) {
			projects = append(projects, r.ProjectID)
		}
	}
	return projects
}

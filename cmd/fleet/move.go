package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// move moves a prompt to another project, as long as no job can exist, and queues it.
func (p *program) move(ctx context.Context, s store) error {
	r, err := s.row(ctx, p.prompt.Key)
	if err != nil {
		return err
	}

	err = s.transact(ctx, func(tx *sql.Tx) error { return s.moveInTx(ctx, tx, r.Key, p.prompt.Project) })
	if errors.Is(err, once.ErrConflict) {
		return usageError("nothing is changed: a worker is sending %s", r.Key)
	}
	if err != nil {
		return err
	}

	fmt.Fprintf(p.stdout, "%s is queued for project %s\n", r.Key, p.prompt.Project)
	s.insertJobs(ctx, prompt{Key: r.Key, Priority: r.Priority})
	return s.wakePrompt(ctx, r.Key)
}

func (s store) moveInTx(ctx context.Context, tx *sql.Tx, key, project string) error {
	record, err := once.NewSQL(tx).Get(ctx, key)
	if err != nil {
		return err
	}

	switch record.State {
	case once.Pending, once.Refused, once.Canceled:
	default:
		return usageError("nothing is changed: %s is %s, so a job may exist in project %s",
			key, nameOf(record.State), redact.OneLine(record.Project, 100))
	}

	if record.After != "" {
		return usageError("nothing is changed: %s follows %s, and goes to the project of its job", key, record.After)
	}
	if record.State == once.Pending && record.Project == project {
		return usageError("nothing is changed: %s is queued for project %s already", key, project)
	}

	moved := "moved from project " + record.Project
	record.Project = project
	record.State = once.Pending
	record.Problem = ""
	if err := s.putNext(ctx, tx, record, moved); err != nil {
		return err
	}

	return s.moveRows(ctx, tx, key, project)
}

// moveRows moves the row of a prompt, and those that follow it.
func (s store) moveRows(ctx context.Context, tx *sql.Tx, key, project string) error {
	for key != "" {
		_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET project = $2 WHERE key = $1", key, project)
		if err != nil {
			return err
		}
		key, err = followerOf(ctx, tx, key)
		if err != nil {
			return err
		}
	}
	return nil
}

// putNext stores the next version of a record that package once has no call to make. The history
// says what has changed.
func (s store) putNext(ctx context.Context, db once.DB, record once.Record, change string) error {
	record.Version++
	record.Updated = time.Now().UTC().Round(0)
	if err := once.NewSQL(db).Put(ctx, record); err != nil {
		return err
	}

	record.Problem = change
	s.remember(db, record)
	return nil
}

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// moveOne moves a prompt to another project, as long as no job can exist, and queues it.
func (c *retryCommand) moveOne(ctx context.Context, s queue.Queue) error {
	r, err := s.Row(ctx, c.key)
	if err != nil {
		return err
	}

	err = s.Transact(ctx, func(tx *sql.Tx) error { return moveInTx(ctx, s, tx, r.Key, c.project) })
	if errors.Is(err, once.ErrConflict) {
		return usage.Errorf("nothing is changed: a worker is sending %s", r.Key)
	}
	if err != nil {
		return err
	}

	fmt.Fprintf(c.stdout, "%s is queued for project %s\n", r.Key, c.project)
	s.InsertSends(ctx, c.project)
	return s.WakeQueues(ctx, s.DB, c.project)
}

// moveRepository moves, with -yes, what is queued, refused and canceled of a repository.
func (c *retryCommand) moveRepository(ctx context.Context, s queue.Queue) error {
	rows, err := s.Rows(ctx, `state IN ('pending', 'refused', 'canceled') AND repository = $1 AND thread = ''
	AND forgotten = 0 AND NOT (state = 'pending' AND project = $2) ORDER BY added, key`, c.repository, c.project)
	if err != nil {
		return err
	}

	if len(rows) == 0 {
		return usage.Errorf("%w to move to project %s", errNothing, c.project)
	}
	if !c.yes {
		return plan(c.stdout, rows, "move")
	}

	moved := 0
	for _, r := range rows {
		err := s.Transact(ctx, func(tx *sql.Tx) error { return moveInTx(ctx, s, tx, r.Key, c.project) })
		switch {
		case errors.Is(err, once.ErrConflict), usage.Is(err) && !errors.Is(err, database.ErrNewer):
			// it is sent meanwhile
		case err != nil:
			return fmt.Errorf("%d are queued for project %s, then %s: %w", moved, c.project, r.Key, err)
		default:
			moved++
		}
	}

	fmt.Fprintf(c.stdout, "%d queued for project %s, %d sent meanwhile\n", moved, c.project, len(rows)-moved)
	s.InsertSends(ctx, c.project)
	return s.WakeQueues(ctx, s.DB, c.project)
}

func moveInTx(ctx context.Context, s queue.Queue, tx *sql.Tx, key, project string) error {
	record, err := database.RecordsOf(tx).Get(ctx, key)
	if err != nil {
		return err
	}

	switch record.State {
	case once.Pending, once.Refused, once.Canceled:
	default:
		return usage.Errorf("nothing is changed: %s is %s, so a job may exist in project %s",
			key, database.NameOf(record.State), redact.OneLine(record.ProjectID, 100))
	}

	if record.Prompt == "" {
		return usage.Errorf("nothing is changed: the texts of %s were forgotten, so it cannot be sent", key)
	}

	if record.After != "" {
		return usage.Errorf("nothing is changed: %s follows %s, and goes to the project of its job",
			key, record.After)
	}
	if record.State == once.Pending && record.ProjectID == project {
		return usage.Errorf("nothing is changed: %s is queued for project %s already", key, project)
	}

	moved := "moved from project " + record.ProjectID
	record.ProjectID = project
	record.State = once.Pending
	record.Problem = ""
	record.Reported = ""
	if err := database.NoteRetry(ctx, tx, key); err != nil {
		return err
	}
	if err := s.PutNext(ctx, tx, record, moved); err != nil {
		return err
	}

	_, err = tx.ExecContext(ctx, `UPDATE fleet_prompts SET project = $2, version = version + 1
WHERE thread = $1 AND thread <> ''`, key, project) // the messages to its job
	return err
}

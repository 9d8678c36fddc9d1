package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	storeTime = 5 * time.Second // the most that storing may take after a POST
	day       = 24 * time.Hour  // after it a person should look at a job that still runs
)

// store is the database with what the commands and the workers do to it.
type store struct {
	*database
	settings
	logger *slog.Logger
	calm   *slog.Logger // says once a minute that the database fails
	who    string       // makes the changes: a machine, or NAME@HOST of a person's command
}

func (s store) records() *once.SQL { return once.NewSQL(s.DB) }

// runner returns a runner on the records. It keeps a history, of which a crash may lose a line.
func (s store) runner(client *mintlify.Client, db once.DB) *once.Runner {
	runner, err := once.New(client, once.NewSQL(db), once.WithSendTime(s.SendTime), once.WithLogger(s.logger),
		once.WithOnChange(func(r once.Record) { s.remember(db, r) }))
	if err != nil {
		panic(err) // the flags allow no such send time
	}
	return runner
}

// remember adds a line to the history.
func (s store) remember(db once.DB, r once.Record) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()

	_, err := db.ExecContext(ctx, `INSERT INTO fleet_history (key, version, at, state, job, problem, who)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (key, version) DO NOTHING`,
		r.Key, r.Version, r.Updated.UnixMilli(), string(r.State), r.JobID, r.Problem, s.who)
	if err != nil {
		s.calm.Warn("the history lacks a line", "key", r.Key, "version", r.Version, "error", err)
	}
}

// add stores prompts that have been checked, gives each a River job, and returns the records of those
// that were known already. Such a one adds nothing but a pull request that was not known before.
func (s store) add(ctx context.Context, prompts ...prompt) ([]once.Record, error) {
	var fresh []prompt
	var known []once.Record
	err := s.transact(ctx, func(tx *sql.Tx) error {
		runner := s.runner(nil, tx)
		for _, p := range prompts {
			record, isNew, err := s.addOne(ctx, tx, runner, p)
			if err != nil {
				return fmt.Errorf("store %s: %w", p.Key, err)
			}

			if isNew {
				fresh = append(fresh, p)
			} else {
				known = append(known, record)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	s.insertJobs(ctx, fresh...)
	return known, nil
}

// addOne returns the record of p, and whether it is new.
func (s store) addOne(ctx context.Context, tx *sql.Tx, runner *once.Runner, p prompt) (once.Record, bool, error) {
	known, err := once.NewSQL(tx).Get(ctx, p.Key)
	if err != nil {
		return once.Record{}, false, err
	}
	if err := addCommits(ctx, tx, p); err != nil {
		return once.Record{}, false, err
	}
	if known.Version > 0 {
		return known, false, addPulls(ctx, tx, p)
	}

	if p.After != "" {
		if err := s.place(ctx, tx, &p); err != nil {
			return once.Record{}, false, err
		}
	}
	if err := addRow(ctx, tx, p); err != nil {
		return once.Record{}, false, err
	}
	task := once.Task{Key: p.Key, Prompt: p.Prompt, Project: p.Project, After: p.After}
	record, _, err := runner.Add(ctx, task)
	return record, true, err
}

func addRow(ctx context.Context, tx *sql.Tx, p prompt) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO fleet_prompts (key, project, pulls, priority, added, queued, follows)
VALUES ($1, $2, $3, $4, $5, $5, $6)`,
		p.Key, p.Project, p.Pull, p.Priority, time.Now().UnixMilli(), p.After)
	return err
}

// addPulls adds the pull requests of p that its row lacks.
func addPulls(ctx context.Context, tx *sql.Tx, p prompt) error {
	for _, pull := range strings.Fields(p.Pull) {
		_, err := tx.ExecContext(ctx, `UPDATE fleet_prompts SET pulls = trim(pulls || ' ' || $2)
WHERE key = $1 AND replace(' ' || pulls || ' ', ' ' || $2 || ' ', '') = ' ' || pulls || ' '`, p.Key, pull)
		if err != nil {
			return err
		}
	}
	return nil
}

// addCommits makes p known by the other commits of its push.
func addCommits(ctx context.Context, tx *sql.Tx, p prompt) error {
	for _, commit := range p.commits {
		_, err := tx.ExecContext(ctx, `INSERT INTO fleet_commits (commit_key, key) VALUES ($1, $2)
ON CONFLICT (commit_key) DO NOTHING`, commit, p.Key)
		if err != nil {
			return err
		}
	}
	return nil
}

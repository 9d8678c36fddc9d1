package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// The sources of pauses.
const (
	byPerson  = "person"
	byService = "service" // a 429, or an error that a person has to fix
	byBreaker = "breaker"
)

// forever is the end of a person's pause.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// pauseRow keeps a project from being sent to.
type pauseRow struct {
	Project string // "" is all
	Source  string
	Since   time.Time
	Until   time.Time
	Strikes int // pauses of the breaker in a row
	Reason  string
}

// concerns reports whether p pauses a project, by itself or with all others.
func (p pauseRow) concerns(project string) bool { return p.Project == "" || p.Project == project }

// store stores a pause in place of an earlier one of its project and source.
func (p pauseRow) store(ctx context.Context, db once.DB) error {
	_, err := db.ExecContext(ctx, `INSERT INTO fleet_pauses (project, source, since, until, strikes, reason)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (project, source) DO UPDATE SET since = $3, until = $4, strikes = $5, reason = $6`,
		p.Project, p.Source, p.Since.UnixMilli(), p.Until.UnixMilli(), p.Strikes, p.Reason)
	return err
}

// pausesOf returns all pauses. A pause of all projects at once comes first.
func pausesOf(ctx context.Context, db once.DB) ([]pauseRow, error) {
	var pauses []pauseRow
	err := scan(ctx, db, func(rows *sql.Rows) error {
		var p pauseRow
		var since, until int64
		if err := rows.Scan(&p.Project, &p.Source, &since, &until, &p.Strikes, &p.Reason); err != nil {
			return err
		}

		p.Since = time.UnixMilli(since)
		p.Until = time.UnixMilli(until)
		pauses = append(pauses, p)
		return nil
	}, "SELECT project, source, since, until, strikes, reason FROM fleet_pauses ORDER BY project, source")
	return pauses, err
}

// pause is the command.
func (p *program) pause(ctx context.Context, s store) error {
	project := p.prompt.Project
	known, err := number(ctx, s.DB, "SELECT count(*) FROM fleet_prompts WHERE project = $1 OR $1 = ''", project)
	if err != nil {
		return err
	}
	if known == 0 && project != "" {
		fmt.Fprintf(p.stderr, "fleet: no prompt of project %s is known; its next ones will wait\n",
			redact.OneLine(project, 100))
	}

	now := time.Now()
	row := pauseRow{Project: project, Source: byPerson, Since: now, Until: forever}
	row.Reason = "paused at " + now.UTC().Format(time.DateTime) + " by " + s.who
	if err := row.store(ctx, s.DB); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "paused")
	return nil
}

// resume lifts all pauses of a project. For all projects it leaves those that a person has paused.
func (p *program) resume(ctx context.Context, s store) error {
	project := p.prompt.Project

	result, err := s.ExecContext(ctx,
		"DELETE FROM fleet_pauses WHERE project = $1 OR $1 = '' AND source <> 'person'", project)
	if err != nil {
		return err
	}
	lifted, err := result.RowsAffected()
	if err != nil {
		return err
	}

	if lifted == 0 {
		return usageError("there is nothing to resume")
	}

	if err := s.wakeSince(ctx, project, time.Now()); err != nil {
		return fmt.Errorf("the pause is lifted, but the next prompt may take minutes: %w", err)
	}
	fmt.Fprintln(p.stdout, "resumed")
	return nil
}

package queue

import (
	"context"
	"database/sql"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// The sources of pauses.
const (
	ByPerson  = "person"
	byService = "service" // a 429, or an error that a person has to fix
	ByBreaker = "breaker"
)

// The causes of pauses.
const (
	CausePerson  = "person"
	CauseKey     = "key" // it is refused, or may not do this
	CauseProject = "project"
	CauseCredits = "credits"
	CauseQuota   = "quota"
	CauseOutage  = "outage"
)

// NeedsPerson reports whether a person has to mend what has caused a pause.
func (p Pause) NeedsPerson() bool {
	return p.Cause == CauseKey || p.Cause == CauseProject || p.Cause == CauseCredits
}

// Forever is the end of a person's pause.
var Forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Pause keeps a project from being sent to.
type Pause struct {
	Project string // "" is all
	Source  string
	Cause   string
	Since   time.Time
	Until   time.Time
	Strikes int // pauses of the breaker in a row
	Reason  string
}

// concerns reports whether p pauses a project, by itself or with all others.
func (p Pause) concerns(project string) bool { return p.Project == "" || p.Project == project }

// Store stores a pause in place of an earlier one of its project and source.
func (p Pause) Store(ctx context.Context, db once.DB) error {
	_, err := db.ExecContext(ctx, `INSERT INTO fleet_pauses (project, source, since, until, strikes, reason, cause)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (project, source) DO UPDATE SET since = $3, until = $4, strikes = $5, reason = $6, cause = $7`,
		p.Project, p.Source, p.Since.UnixMilli(), p.Until.UnixMilli(), p.Strikes, p.Reason, p.Cause)
	return err
}

// Pauses returns all pauses. A pause of all projects at once comes first.
func Pauses(ctx context.Context, db once.DB) ([]Pause, error) {
	return sqldb.All(ctx, db, func(rows *sql.Rows) (Pause, error) {
		var p Pause
		var since, until int64
		err := rows.Scan(&p.Project, &p.Source, &since, &until, &p.Strikes, &p.Reason, &p.Cause)
		p.Since = time.UnixMilli(since)
		p.Until = time.UnixMilli(until)
		return p, err
	}, "SELECT project, source, since, until, strikes, reason, cause FROM fleet_pauses ORDER BY project, source")
}

// PauseRepository sends nothing of a repository until somebody resumes it.
func PauseRepository(ctx context.Context, db once.DB, repository, reason string) error {
	_, err := db.ExecContext(ctx, `INSERT INTO fleet_paused_repositories (repository, since, reason) VALUES ($1, $2, $3)
ON CONFLICT (repository) DO UPDATE SET since = $2, reason = $3`, repository, time.Now().UnixMilli(), reason)
	return err
}

package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// Records is the [once.Store] of the prompts. It stores nothing once a newer fleet has changed the tables: this one
// would drop what it does not know.
type Records struct {
	db    once.DB
	turn  string // in which it sends; "" if it sends nothing
	clock string
}

// RecordsOf returns the records of a database, or of a transaction.
func RecordsOf(db once.DB) Records { return Records{db: db} }

// Records returns the records of package once.
func (s Store) Records() Records { return RecordsOf(s.DB) }

// RecordsIn returns the records that a turn sends. They store what came of a send even if a newer fleet has changed the
// tables.
func (s Store) RecordsIn(turn string) Records { return Records{db: s.DB, turn: turn, clock: s.Clock} }

const (
	recordColumns = `key, version, state, project, prompt, after_key, thread, sends, sender, deadline, job, pr_link,
	problem, updated, added, told`
	recordValues = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16"
)

// fieldsOf returns what recordColumns are read into, and written from.
func fieldsOf(r *once.Record) []any {
	return []any{
		&r.Key, &r.Version, &r.State, &r.ProjectID, &r.Prompt, &r.After, &r.Thread, &r.Sends, &r.Sender,
		Nanos(&r.Deadline), &r.JobID, &r.PRLink, &r.Problem, Nanos(&r.UpdatedAt), Nanos(&r.AddedAt), &r.Reported,
	}
}

var (
	isNotNewer = fmt.Sprintf("NOT EXISTS (SELECT 1 FROM fleet_schema WHERE version > %d)", schemaVersion)

	insertRecord = "INSERT INTO fleet_prompts (" + recordColumns + ") SELECT " + recordValues +
		" WHERE " + isNotNewer + " ON CONFLICT (key) DO NOTHING"

	setRecord = "UPDATE fleet_prompts SET (" + recordColumns + ") = (" + recordValues + ")"
	isNext    = " WHERE key = $1 AND version = $2 - 1"
)

// ErrNoTurn is that a prompt is not claimed, since the turn to send it has passed, or a person has stopped it.
var ErrNoTurn = errors.New("it is not the prompt's turn any more")

// claimRecord stores a claim of a prompt only in the turn of its project, and only if a person has stopped neither the
// project, nor its repository, nor all.
func claimRecord(clock string) string {
	return setRecord + ", turn = $17" + isNext + " AND " + isNotNewer + `
	AND (state <> 'pending' OR EXISTS (SELECT 1 FROM fleet_projects q WHERE q.project = fleet_prompts.project
			AND q.turn = $17 AND q.turn_until > ` + clock + ` AND q.stopped = 0)
		AND NOT EXISTS (SELECT 1 FROM fleet_projects a WHERE a.project = '' AND a.stopped > 0)
		AND NOT EXISTS (SELECT 1 FROM fleet_repositories f
			WHERE f.repository = fleet_prompts.repository AND f.stopped > 0))`
}

// Put implements [once.Store].
func (s Records) Put(ctx context.Context, r once.Record) error {
	if _, isInTx := s.db.(*sql.Tx); isInTx && r.State == once.Sending {
		return errors.New("a claim cannot be stored in a transaction, which could be rolled back after the send")
	}

	r.Prompt = Clean(r.Prompt)
	r.JobID = Clean(r.JobID)
	r.PRLink = Clean(r.PRLink)
	r.Problem = Clean(r.Problem)
	args := fieldsOf(&r)

	statement := setRecord + isNext + " AND " + isNotNewer
	isClaim := s.turn != "" && r.State == once.Sending
	isOutcome := s.turn != "" && r.State != once.Sending
	switch {
	case r.Version == 1:
		statement = insertRecord
	case isOutcome:
		statement = setRecord + isNext
	case isClaim:
		statement = claimRecord(s.clock)
		args = append(args, s.turn)
	}

	err := Change(ctx, s.db, once.ErrConflict, statement, args...)
	if !errors.Is(err, once.ErrConflict) {
		return err
	}
	if newer := checkVersion(ctx, s.db); newer != nil && !isOutcome {
		return newer
	}

	if isClaim {
		current, readErr := s.Get(ctx, r.Key)
		if readErr == nil && current.Version == r.Version-1 {
			return ErrNoTurn
		}
	}
	return err
}

// Clean returns text from outside as a database can store it: with U+FFFD in place of a NUL byte and of what is not
// UTF-8.
func Clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// TimeColumn is a time as a column has it: 0 is the zero time.
type TimeColumn struct {
	to   *time.Time
	unit time.Duration
}

// Nanos is a time in fleet_prompts.
func Nanos(to *time.Time) TimeColumn { return TimeColumn{to, time.Nanosecond} }

// Millis is a time in any table but fleet_prompts.
func Millis(to *time.Time) TimeColumn { return TimeColumn{to, time.Millisecond} }

// Scan implements [sql.Scanner]. NULL is the zero time, too.
func (c TimeColumn) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	*c.to = time.Time{}
	if n.Int64 != 0 {
		*c.to = time.Unix(0, n.Int64*int64(c.unit)).UTC()
	}
	return err
}

// Value implements [driver.Valuer].
func (c TimeColumn) Value() (driver.Value, error) {
	if c.to.IsZero() {
		return int64(0), nil
	}
	return c.to.UnixNano() / int64(c.unit), nil
}

// Get implements [once.Store].
func (s Records) Get(ctx context.Context, key string) (once.Record, error) {
	return First(s.query(ctx, "key = $1", key))
}

// List implements [once.Store].
func (s Records) List(ctx context.Context, states ...once.State) ([]once.Record, error) {
	var filter Filter
	var places []string
	for _, state := range states {
		places = append(places, filter.Arg(string(state)))
	}

	if len(states) > 0 {
		filter.parts = []string{"state IN (" + strings.Join(places, ", ") + ")"}
	}
	return s.query(ctx, filter.Where()+" ORDER BY updated, key", filter.Args...)
}

// ListThread returns the first record of a thread and its messages.
func (s Records) ListThread(ctx context.Context, thread string) ([]once.Record, error) {
	return s.query(ctx, inThread, thread)
}

// inThread is the condition that a prompt is in the thread $1.
const inThread = "(key = $1 OR thread = $1 AND thread <> '')"

// ListUnreported returns the records that have ended or have a problem, and whose state was not told.
func (s Records) ListUnreported(ctx context.Context) ([]once.Record, error) {
	return s.query(ctx, IsUntold+" AND (state NOT IN ('sending', 'running') OR problem <> '')")
}

// IsUntold is the condition of the index of prompts whose state was not told.
const IsUntold = `told <> state AND forgotten = 0
	AND state IN ('done', 'failed', 'refused', 'unknown', 'sending', 'running')`

func (s Records) query(ctx context.Context, where string, args ...any) ([]once.Record, error) {
	return All(ctx, s.db, fieldsOf, "SELECT "+recordColumns+" FROM fleet_prompts WHERE "+where, args...)
}

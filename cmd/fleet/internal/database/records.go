package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
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

const recordColumns = `key, version, state, project, prompt, after_key, thread, sends, sender, deadline, job, pr_link,
	problem, updated, added, told`

var (
	isNotNewer = fmt.Sprintf("NOT EXISTS (SELECT 1 FROM fleet_schema WHERE version > %d)", schemaVersion)

	insertRecord = `INSERT INTO fleet_prompts (` + recordColumns + `)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 WHERE ` + isNotNewer + `
ON CONFLICT (key) DO NOTHING`

	setRecord = `UPDATE fleet_prompts SET version = $2, state = $3, project = $4, prompt = $5, after_key = $6,
	thread = $7, sends = $8, sender = $9, deadline = $10, job = $11, pr_link = $12, problem = $13, updated = $14,
	added = $15, told = $16`
	isNext = " WHERE key = $1 AND version = $2 - 1"
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

	args := []any{
		r.Key, r.Version, string(r.State), r.ProjectID, Clean(r.Prompt), r.After, r.Thread, r.Sends, r.Sender,
		NanoOf(r.Deadline), Clean(r.JobID), Clean(r.PRLink), Clean(r.Problem), NanoOf(r.UpdatedAt), NanoOf(r.AddedAt),
		string(r.Reported),
	}

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

	changed, err := sqldb.Changed(s.db.ExecContext(ctx, statement, args...))
	if err != nil || changed == 1 {
		return err
	}
	if err := checkVersion(ctx, s.db); err != nil && !isOutcome {
		return err
	}

	if isClaim {
		current, err := s.Get(ctx, r.Key)
		if err == nil && current.Version == r.Version-1 {
			return ErrNoTurn
		}
	}
	return once.ErrConflict
}

// Clean returns text from outside as a database can store it: with U+FFFD in place of a NUL byte and of what is not
// UTF-8.
func Clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// NanoOf returns a time as fleet_prompts has it.
func NanoOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Nanos scans a time of fleet_prompts.
func Nanos(to *time.Time) sql.Scanner { return timeColumn{to, time.Nanosecond} }

// Millis scans a time of any table but fleet_prompts.
func Millis(to *time.Time) sql.Scanner { return timeColumn{to, time.Millisecond} }

type timeColumn struct {
	to   *time.Time
	unit time.Duration
}

// Scan implements [sql.Scanner].
func (c timeColumn) Scan(value any) error {
	n, isNumber := value.(int64)
	if !isNumber {
		return fmt.Errorf("a time is %T, want int64", value)
	}

	*c.to = time.Time{}
	if n != 0 {
		*c.to = time.Unix(0, n*int64(c.unit)).UTC()
	}
	return nil
}

// Get implements [once.Store].
func (s Records) Get(ctx context.Context, key string) (once.Record, error) {
	records, err := s.query(ctx, "key = $1", key)
	if err != nil || len(records) == 0 {
		return once.Record{}, err
	}
	return records[0], nil
}

// List implements [once.Store].
func (s Records) List(ctx context.Context, states ...once.State) ([]once.Record, error) {
	where := "1 = 1"
	var args []any
	if len(states) > 0 {
		var places []string
		for i, state := range states {
			places = append(places, fmt.Sprintf("$%d", i+1))
			args = append(args, string(state))
		}
		where = "state IN (" + strings.Join(places, ", ") + ")"
	}
	return s.query(ctx, where+" ORDER BY updated, key", args...)
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
	return sqldb.All(ctx, s.db, func(rows *sql.Rows) (once.Record, error) { return scanRecord(rows) },
		"SELECT "+recordColumns+" FROM fleet_prompts WHERE "+where, args...)
}

func scanRecord(rows *sql.Rows, more ...any) (once.Record, error) {
	var r once.Record
	columns := []any{
		&r.Key, &r.Version, &r.State, &r.ProjectID, &r.Prompt, &r.After, &r.Thread, &r.Sends, &r.Sender,
		Nanos(&r.Deadline), &r.JobID, &r.PRLink, &r.Problem, Nanos(&r.UpdatedAt), Nanos(&r.AddedAt), &r.Reported,
	}
	err := rows.Scan(append(columns, more...)...)
	return r, err
}

package once

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// DB is what [*sql.DB] and [*sql.Tx] have in common.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// SQL is a [Store] in the table mintlify_once of Postgres or SQLite. SQLite needs a busy
// timeout, so that processes wait for each other, and synchronous=FULL to survive a power
// failure.
type SQL struct{ db DB }

// NewSQL returns the SQL store on db, whose table [SQL.CreateTable] makes.
//
// db may be a transaction: then [Runner.Add] takes effect if the caller commits. Nothing can be
// sent in a transaction, because a rollback would remove the record of what was sent. So the
// store refuses to store a record that is [Sending], with an [*mintlify.ArgumentError], if db
// has the methods Commit() error and Rollback() error, as [*sql.Tx] and the transactions of
// sqlx and bun have. Do not pass a db that hides these methods of its transaction.
func NewSQL(db DB) *SQL { return &SQL{db} }

// transaction is what [*sql.Tx] and types that wrap it have in common.
type transaction interface {
	Commit() error
	Rollback() error
}

// check returns an error if r is the claim of a send, which must be committed before the request, and the caller
// may still roll it back.
func (s *SQL) check(r Record) error {
	_, inTransaction := s.db.(transaction)
	if inTransaction && r.State == Sending {
		return invalid("db", "is a transaction, which is for Add alone: "+
			"call Do, Step, Resume and Run with a store of NewSQL on the database itself")
	}
	return nil
}

func (s *SQL) hasNoDatabase() bool {
	db, isDB := s.db.(*sql.DB)
	return s.db == nil || isDB && db == nil
}

const schema = `CREATE TABLE IF NOT EXISTS mintlify_once (
	key TEXT PRIMARY KEY, version BIGINT NOT NULL, state TEXT NOT NULL,
	updated BIGINT NOT NULL,    -- Unix microseconds
	thread TEXT NOT NULL,       -- the key of its first record
	unreported BIGINT NOT NULL, -- 1 or 0
	record TEXT NOT NULL        -- all of it, in JSON
);
CREATE INDEX IF NOT EXISTS mintlify_once_state ON mintlify_once (state, updated);
CREATE INDEX IF NOT EXISTS mintlify_once_thread ON mintlify_once (thread);
CREATE INDEX IF NOT EXISTS mintlify_once_unreported ON mintlify_once (updated, key) WHERE unreported = 1`

// CreateTable makes the table unless it exists. The database's role needs the right to make
// tables only if the table is missing. CreateTable is safe to call again, and by several
// processes at once.
func (s *SQL) CreateTable(ctx context.Context) error {
	if s.hasNoDatabase() {
		return errors.New("once: the store has no database: call NewSQL with one")
	}
	if s.hasTable(ctx) {
		return nil
	}

	var err error
	for range 3 { // on Postgres it fails if another process does the same meanwhile
		_, err = s.db.ExecContext(ctx, schema)
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("once: create table: %w", err)
}

// hasTable reports whether Postgres has the table: even if it has, CREATE TABLE IF NOT EXISTS
// is refused to a role that may not create one. SQLite has no such roles, nor this function.
func (s *SQL) hasTable(ctx context.Context) bool {
	rows, err := s.db.QueryContext(ctx, "SELECT to_regclass('mintlify_once') IS NOT NULL")
	if err != nil {
		return false
	}

	defer rows.Close() //nolint:errcheck // then CREATE TABLE tells

	var exists bool
	return rows.Next() && rows.Scan(&exists) == nil && exists
}

// Get implements [Store].
func (s *SQL) Get(ctx context.Context, key string) (Record, error) {
	records, err := s.query(ctx, "WHERE key = $1", key)
	if len(records) == 0 {
		return Record{}, err
	}
	return records[0], err
}

const (
	insertRecord = `INSERT INTO mintlify_once (version, state, updated, thread, unreported, record, key)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (key) DO NOTHING`
	updateRecord = `UPDATE mintlify_once
SET version = $1, state = $2, updated = $3, thread = $4, unreported = $5, record = $6
WHERE key = $7 AND version = $1 - 1`
)

// Put implements [Store].
func (s *SQL) Put(ctx context.Context, r Record) error {
	if err := s.check(r); err != nil {
		return err
	}

	data, err := json.Marshal(r)
	if err != nil {
		return err
	}

	statement := updateRecord
	if r.Version == 1 {
		statement = insertRecord
	}

	unreported := 0
	if r.isUnreported() {
		unreported = 1
	}

	values := []any{r.Version, string(r.State), r.UpdatedAt.UnixMicro(), r.thread(), unreported, string(data), r.Key}
	result, err := again(s, func() (sql.Result, error) { return s.db.ExecContext(ctx, statement, values...) })
	if err != nil {
		return err
	}

	changed, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if changed != 1 {
		return ErrConflict
	}
	return nil
}

// again executes a statement again that a change of another has ended, as Postgres does under an isolation level
// above the default. A transaction cannot go on: there its error is returned.
func again[T any](s *SQL, execute func() (T, error)) (T, error) {
	for range 5 {
		result, err := execute()
		_, inTransaction := s.db.(transaction)
		if inTransaction || !isSerializationFailure(err) {
			return result, err
		}
	}
	return execute()
}

// isSerializationFailure reports whether err, a driver's, is Postgres's for a change that came first.
func isSerializationFailure(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && state.SQLState() == "40001"
}

// List implements [Store].
func (s *SQL) List(ctx context.Context, states ...State) ([]Record, error) {
	var places []string
	var args []any
	for i, state := range states {
		places = append(places, fmt.Sprintf("$%d", i+1))
		args = append(args, string(state))
	}

	where := ""
	if len(states) > 0 {
		where = "WHERE state IN (" + strings.Join(places, ", ") + ") "
	}
	return s.query(ctx, where+"ORDER BY updated, key", args...)
}

// ListThread implements [ThreadLister].
func (s *SQL) ListThread(ctx context.Context, thread string) ([]Record, error) {
	return s.query(ctx, "WHERE thread = $1", thread)
}

// ListUnreported implements [UnreportedLister].
func (s *SQL) ListUnreported(ctx context.Context) ([]Record, error) {
	return s.query(ctx, "WHERE unreported = 1 ORDER BY updated, key")
}

// query returns the records that can be read, and an error for the others.
func (s *SQL) query(ctx context.Context, where string, args ...any) ([]Record, error) {
	statement := "SELECT key, version, record FROM mintlify_once " + where
	rows, err := again(s, func() (*sql.Rows, error) { return s.db.QueryContext(ctx, statement, args...) })
	if err != nil {
		return nil, err
	}

	defer rows.Close() //nolint:errcheck // Err tells

	var records []Record
	var errs []error
	for rows.Next() {
		r, err := scanRecord(rows)
		errs = append(errs, err)
		if err == nil {
			records = append(records, r)
		}
	}
	return records, errors.Join(append(errs, rows.Err())...)
}

// scanRecord reads the record of a row, and checks that it belongs there.
func scanRecord(rows *sql.Rows) (Record, error) {
	var key, data string
	var version int
	if err := rows.Scan(&key, &version, &data); err != nil {
		return Record{}, err
	}

	return decode([]byte(data), key, func(r Record) bool { return r.Key == key && r.Version == version })
}

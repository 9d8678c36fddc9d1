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
// timeout, so that processes wait for each other, and synchronous=FULL to outlive a loss of
// power.
//
// Over a transaction it is for [Runner.Add] alone, which then takes effect with the caller's
// own changes. A send needs a database: its claim must be committed before the request.
type SQL struct{ db DB }

// NewSQL returns the SQL store on db, whose table [SQL.CreateTable] makes.
func NewSQL(db DB) *SQL { return &SQL{db} }

// CreateTable makes the table unless it exists. It is safe to call again, and by several
// processes at once.
func (s *SQL) CreateTable(ctx context.Context) error {
	const table = `CREATE TABLE IF NOT EXISTS mintlify_once (
	key     TEXT PRIMARY KEY,
	version BIGINT NOT NULL,
	state   TEXT NOT NULL,
	updated BIGINT NOT NULL, -- Unix microseconds
	record  TEXT NOT NULL    -- all of it, in JSON
)`
	const index = "CREATE INDEX IF NOT EXISTS mintlify_once_state ON mintlify_once (state, updated)"
	var err error
	for _, statement := range []string{table, index} {
		for range 3 { // on Postgres it fails if another process does the same at the same time
			if _, err = s.db.ExecContext(ctx, statement); err == nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("once: make the table: %w", err)
	}
	return nil
}

// Get implements [Store].
func (s *SQL) Get(ctx context.Context, key string) (Record, error) {
	records, err := s.query(ctx, "SELECT key, version, record FROM mintlify_once WHERE key = $1", key)
	if err != nil || len(records) == 0 {
		return Record{}, err
	}
	return records[0], nil
}

// Put implements [Store].
func (s *SQL) Put(ctx context.Context, r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("once: %w", err)
	}
	statement := `UPDATE mintlify_once SET version = $1, state = $2, updated = $3, record = $4 WHERE key = $5 AND version = $1 - 1`
	if r.Version == 1 {
		statement = `INSERT INTO mintlify_once (version, state, updated, record, key) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key) DO NOTHING`
	}
	result, err := s.db.ExecContext(ctx, statement, r.Version, string(r.State), r.Updated.UnixMicro(), string(data), r.Key)
	if err != nil {
		return fmt.Errorf("once: %w", err)
	}
	changed, err := result.RowsAffected()
	switch {
	case err != nil:
		return fmt.Errorf("once: %w", err)
	case changed == 0:
		return ErrConflict
	}
	return nil
}

// List implements [Store].
func (s *SQL) List(ctx context.Context, states ...State) ([]Record, error) {
	where, args := "", make([]any, len(states))
	for i, state := range states {
		where += fmt.Sprintf(", $%d", i+1)
		args[i] = string(state)
	}
	if where != "" {
		where = "WHERE state IN (" + strings.TrimPrefix(where, ", ") + ")"
	}
	return s.query(ctx, "SELECT key, version, record FROM mintlify_once "+where+" ORDER BY updated, key", args...)
}

// query returns the records that can be read, and an error for the others.
func (s *SQL) query(ctx context.Context, query string, args ...any) (records []Record, err error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var damaged []error
	for rows.Next() {
		var key, data string
		var version int
		if err := rows.Scan(&key, &version, &data); err != nil {
			return nil, fmt.Errorf("once: %w", err)
		}
		var r Record
		if err := json.Unmarshal([]byte(data), &r); err != nil || r.Key != key || r.Version != version {
			damaged = append(damaged, fmt.Errorf("once: the record of %s is damaged: %w", key, errors.Join(err, errors.New("it does not match its row"))))
			continue
		}
		records = append(records, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}
	return records, errors.Join(damaged...)
}

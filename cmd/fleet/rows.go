package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// row is a record with what fleet knows of it.
type row struct {
	once.Record
	Pulls    string
	Priority int
	Added    time.Time

	// IsStranded is whether it follows a prompt that has no job, and gets none unless a person decides.
	IsStranded bool
}

// isOverdue reports whether a person should look at a job that does not end. Package once
// stores a running record only if something changes.
func (r row) isOverdue() bool { return r.State == once.Running && time.Since(r.Updated) > day }

// rows returns the rows that a condition chooses. CROSS keeps SQLite from a scan of all prompts.
func (s store) rows(ctx context.Context, where string, args ...any) ([]row, error) {
	var rows []row
	err := scan(ctx, s.DB, func(found *sql.Rows) error {
		r, err := readRow(found)
		if err != nil {
			return err
		}
		rows = append(rows, r)
		return nil
	}, `SELECT o.record, p.project, p.pulls, p.priority, p.added,
	o.state = 'pending' AND `+isStranded+`
FROM mintlify_once o CROSS JOIN fleet_prompts p WHERE p.key = o.key AND `+where, args...)
	return rows, err
}

func readRow(found *sql.Rows) (row, error) {
	var r row
	var project string
	var added int64
	var record []byte
	if err := found.Scan(&record, &project, &r.Pulls, &r.Priority, &added, &r.IsStranded); err != nil {
		return row{}, err
	}

	if err := json.Unmarshal(record, &r.Record); err != nil {
		return row{}, err
	}
	r.Project = project // a follow-up's may have moved with the prompt before it
	r.Added = time.UnixMilli(added).UTC()
	return r, nil
}

// row returns the row of a key, and an error if there is none.
func (s store) row(ctx context.Context, key string) (row, error) {
	rows, err := s.rows(ctx, "o.key = $1", key)
	if err != nil {
		return row{}, err
	}
	if len(rows) == 0 {
		return row{}, usageError("no prompt has the key %s", redact.OneLine(key, 300))
	}
	return rows[0], nil
}

package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// Row is a record with what fleet knows of it.
type Row struct {
	once.Record
	Pulls      string // owner/repo#7, with a space between several
	Repository string
	Priority   int
	Added      time.Time
	Looked     time.Time // when somebody last looked for what became of it; 1970 if nobody did
	Forgotten  time.Time // when its texts were forgotten; zero if they were not

	// IsStranded is whether it follows a prompt that has no job, and gets none unless a person decides.
	IsStranded bool
}

// IsOverdue reports whether a person should look at a job that does not end. Package once
// stores a running record only if something changes.
func (r Row) IsOverdue() bool { return r.State == once.Running && time.Since(r.UpdatedAt) > Day }

// Rows returns the rows that a condition chooses. CROSS keeps SQLite from a scan of all prompts.
func (s Store) Rows(ctx context.Context, where string, args ...any) ([]Row, error) {
	return sqldb.All(ctx, s.DB, readRow, `
SELECT o.record, p.project, p.repository, p.priority, p.added, p.looked, p.forgotten,
	coalesce((SELECT string_agg(l.pull, ' ' ORDER BY l.place) FROM fleet_pulls l WHERE l.key = p.key), ''),
	o.state = 'pending' AND `+IsStranded+`
FROM mintlify_once o CROSS JOIN fleet_prompts p WHERE p.key = o.key AND `+where, args...)
}

func readRow(found *sql.Rows) (Row, error) {
	var r Row
	var project string
	var added, looked, forgotten int64
	var record []byte
	err := found.Scan(
		&record, &project, &r.Repository, &r.Priority, &added, &looked, &forgotten, &r.Pulls, &r.IsStranded,
	)
	if err != nil {
		return Row{}, err
	}

	if err := json.Unmarshal(record, &r.Record); err != nil {
		return Row{}, err
	}

	r.ProjectID = project // a follow-up's may have moved with the prompt before it
	r.Added = time.UnixMilli(added).UTC()
	r.Looked = time.UnixMilli(looked).UTC()
	if forgotten > 0 {
		r.Forgotten = time.UnixMilli(forgotten).UTC()
	}
	return r, nil
}

// Row returns the row of a key, and an error if there is none.
func (s Store) Row(ctx context.Context, key string) (Row, error) {
	rows, err := s.Rows(ctx, "o.key = $1", key)
	if err != nil {
		return Row{}, err
	}
	if len(rows) == 0 {
		return Row{}, usage.Errorf("no prompt has the key %s", redact.OneLine(key, 300))
	}
	return rows[0], nil
}

package database

import (
	"context"
	"database/sql"
	"strings"
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
	Looked     time.Time // when somebody last looked for what became of it; zero if nobody did
	Tried      time.Time // when somebody last tried to tell its result; zero if nobody did
	Forgotten  time.Time // when its texts were forgotten; zero if they were not

	// IsStranded is whether it follows a prompt that has no job, and gets none unless a person decides.
	IsStranded bool
}

// IsOverdue reports whether a person should look at a job that does not end. Package once
// stores a running record only if something changes.
func (r Row) IsOverdue() bool { return r.State == once.Running && time.Since(r.UpdatedAt) > Day }

// IsToldInVain reports whether somebody has tried to tell its result, and failed.
func (r Row) IsToldInVain() bool { return r.Reported != r.State && r.Tried.After(r.UpdatedAt) }

// Rows returns the rows that a condition on the prompt p chooses.
func (s Store) Rows(ctx context.Context, where string, args ...any) ([]Row, error) {
	return ReadRows(ctx, s.DB, where, args...)
}

// ReadRows returns the rows that a condition chooses, also in a transaction.
func ReadRows(ctx context.Context, db once.DB, where string, args ...any) ([]Row, error) {
	return sqldb.All(ctx, db, readRow, `SELECT `+recordColumns+`, repository, priority, looked, tried, forgotten,
	coalesce((SELECT string_agg(l.pull, ' ' ORDER BY l.place) FROM fleet_pulls l WHERE l.key = p.key), ''),
	state = 'pending' AND `+IsStranded+`
FROM fleet_prompts p WHERE `+where, args...)
}

func readRow(found *sql.Rows) (Row, error) {
	var r Row
	var err error
	r.Record, err = scanRecord(found, &r.Repository, &r.Priority, Nanos(&r.Looked), Nanos(&r.Tried),
		Nanos(&r.Forgotten), &r.Pulls, &r.IsStranded)
	return r, err
}

// Row returns the row of the prompt that a person names: a key, or what [Store.Find] knows. It returns an error unless
// exactly one fits.
func (s Store) Row(ctx context.Context, name string) (Row, error) {
	keys, err := s.Find(ctx, name)
	switch {
	case err != nil:
		return Row{}, err
	case len(keys) == 0:
		return Row{}, NotFound(name)
	case len(keys) > 1:
		return Row{}, SeveralFit(name, keys)
	}

	rows, err := s.Rows(ctx, "key = $1", keys[0])
	if err != nil || len(rows) == 0 {
		return Row{}, err
	}
	return rows[0], nil
}

// SeveralFit is the error for a name that several prompts have.
func SeveralFit(name string, keys []string) error {
	return usage.Errorf("nothing is changed: %s names several prompts: %s",
		redact.OneLine(name, 300), redact.OneLine(strings.Join(keys, ", "), 2000))
}

// NotFound is the error for a name that no prompt has.
func NotFound(name string) error {
	return usage.Errorf("no prompt has the key, the commit or the pull request %s: want a key, 7 digits or more of "+
		"a SHA, also behind owner/repo@, or owner/repo#7", redact.OneLine(name, 300))
}

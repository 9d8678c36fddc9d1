package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"fmt"
	"regexp"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

var (
	//go:embed schema/*.sql
	schemaFiles embed.FS
	schema      = sqldb.Schema{FS: schemaFiles}
	version     = schema.Version()
)

// prepare makes the tables if they are missing, and checks that the data are from the source.
func (s *Store) prepare(ctx context.Context, source string) error {
	again := func(err error) bool { return isConflict(err) || isAway(err) }
	err := s.retry(ctx, again, func() error {
		return s.transact(ctx, func(tx *sql.Tx) error { return s.prepareTables(ctx, tx, source) })
	})
	if err != nil {
		return err
	}

	if s.Source != source && source != AnySource {
		return fmt.Errorf("%w: its data are from %s, and this run's are from %s; name another database by -db",
			ErrSetup, s.Source, source)
	}
	return nil
}

func (s *Store) prepareTables(ctx context.Context, tx *sql.Tx, source string) error {
	found, err := s.look(ctx, tx)
	switch {
	case err != nil:
		return err
	case found == 0 && source == AnySource:
		return errNoData
	case found == 0:
		s.Source = source
	}

	for next := found + 1; next <= version; next++ {
		if _, err := tx.ExecContext(ctx, s.statements(next)); err != nil {
			return err
		}
	}
	if found > 0 {
		_, err = tx.ExecContext(ctx, `UPDATE docs_service SET version = $1`, version)
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO docs_service (version, source, salt) VALUES ($1, $2, $3)`,
		version, source, rand.Text())
	return err
}

func (s *Store) requireTables(ctx context.Context) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		found, err := s.look(ctx, tx)
		if err == nil && found < version {
			return errNoData
		}
		return err
	}
}

var errNoData = fmt.Errorf("%w: it has no data of this docs-report; docs-report sync loads them", ErrSetup)

// look returns the schema's version, or 0 for a new database, and notes its source.
func (s *Store) look(ctx context.Context, tx *sql.Tx) (int64, error) {
	if _, err := tx.ExecContext(ctx, `SAVEPOINT look`); err != nil {
		return 0, err
	}

	found := int64(0)
	err := tx.QueryRowContext(ctx, `SELECT version, source FROM docs_service`).Scan(&found, &s.Source)
	if sqldb.IsNoTable(err) {
		_, err = tx.ExecContext(ctx, `ROLLBACK TO SAVEPOINT look`)
	}
	if err != nil {
		return 0, err
	}

	if found > version {
		return 0, fmt.Errorf("%w: its schema has version %d, and this program knows %d; update docs-report",
			ErrSetup, found, version)
	}
	return found, nil
}

var castOf = regexp.MustCompile(`(DATE|TIME)_OF\(([^)]*)\)`)

// statements returns what makes a version on this database. SQLite has no types for times.
func (s *Store) statements(version int64) string {
	return castOf.ReplaceAllStringFunc(schema.Statements(version), func(cast string) string {
		parts := castOf.FindStringSubmatch(cast)
		switch {
		case s.isSQLite:
			return parts[2]
		case parts[1] == "DATE":
			return "CAST(" + parts[2] + " AS DATE)"
		}
		return "CAST(" + parts[2] + " AS TIMESTAMPTZ)"
	})
}

// mendClock moves times in the future to now. A clock that was ahead has written them: they would
// keep a window fresh, a budget spent or the lease held for too long.
func mendClock(ctx context.Context, tx *sql.Tx, now time.Time) error {
	const hour = "3600000" // is quotaWindow, in milliseconds
	return sqldb.Exec(ctx, tx, []string{
		"UPDATE docs_service SET held_until = $1 WHERE held_until - " + hour + " > $1",
		"UPDATE docs_service SET blocked_until = $1 WHERE blocked_until - " + hour + " > $1",
		"UPDATE docs_exports SET fetched_at = $1 WHERE fetched_at > $1",
		"UPDATE docs_requests SET sent_at = $1 WHERE sent_at > $1",
		"UPDATE docs_syncs SET ended_at = $1 WHERE ended_at > $1",
	}, milliseconds(now))
}

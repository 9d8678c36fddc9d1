package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

var (
	//go:embed schema/*.sql
	schemaFiles embed.FS
	schema      = sqldb.Schema{FS: schemaFiles}
	version     = schema.Version()

	//go:embed views.sql
	views string
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

	if s.Source != source && source != anySource {
		return fmt.Errorf("%w: its data are from %s, and this run's are from %s; name another database by -db",
			ErrSetup, s.Source, source)
	}
	return nil
}

func (s *Store) prepareTables(ctx context.Context, tx *sql.Tx, source string) error {
	found, err := s.look(ctx, tx)
	if err != nil {
		return err
	}

	if found == 0 {
		if source == anySource {
			return errNoData
		}
		s.Source = source
	}
	if found < version {
		if err := s.upgrade(ctx, tx, found); err != nil {
			return err
		}
	}
	return mendClock(ctx, tx, time.Now())
}

func (s *Store) requireTables(ctx context.Context) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		found, err := s.look(ctx, tx)
		switch {
		case err != nil:
			return err
		case found == 0:
			return errNoData
		case found < version:
			return fmt.Errorf("%w: an older docs-report made it; docs-report sync upgrades it", ErrSetup)
		}
		return nil
	}
}

var errNoData = fmt.Errorf("%w: it has no data of docs-report; docs-report sync loads them", ErrSetup)

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

// upgrade makes the newest tables of those of an older version, or of none. It drops the views first:
// Postgres changes no column that a view reads, nor the types of a view's columns.
func (s *Store) upgrade(ctx context.Context, tx *sql.Tx, from int64) error {
	for _, view := range viewNames.FindAllStringSubmatch(views, -1) {
		if _, err := tx.ExecContext(ctx, "DROP VIEW IF EXISTS "+view[1]); err != nil {
			return explainDependents(err)
		}
	}

	for next := from + 1; next <= version; next++ {
		if _, err := tx.ExecContext(ctx, schema.Statements(next)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, s.viewStatements()); err != nil {
		return err
	}

	if from == 0 {
		const insert = `INSERT INTO docs_service (version, source, blocked_until) VALUES (0, $1, 0)`
		if _, err := tx.ExecContext(ctx, insert, s.Source); err != nil {
			return err
		}
	}
	const update = `UPDATE docs_service SET version = $1, salt = CASE salt WHEN '' THEN $2 ELSE salt END`
	_, err := tx.ExecContext(ctx, update, version, rand.Text())
	return err
}

// explainDependents says what to do if the database has views of somebody else that read the old views.
func explainDependents(err error) error {
	const dependentObjectsStillExist = "2BP01"
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pgErr.Code != dependentObjectsStillExist {
		return err
	}
	return fmt.Errorf("%w: docs-report must make its views anew, and others depend on them (%s): "+
		"drop those, run sync, and make them again", ErrSetup, strings.ReplaceAll(pgErr.Detail, "\n", ", "))
}

var viewNames = regexp.MustCompile(`CREATE VIEW (\w+)`)

var castOf = regexp.MustCompile(`(DATE|TIME)_OF\(([^)]*)\)`)

// viewStatements returns what makes the views on this database. SQLite has no types for times.
func (s *Store) viewStatements() string {
	return castOf.ReplaceAllStringFunc(views, func(cast string) string {
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
// keep a window fresh, a budget spent or a lease alive for too long.
func mendClock(ctx context.Context, tx *sql.Tx, now time.Time) error {
	const hour = "3600000" // is maxLease and quotaWindow, in milliseconds
	return sqldb.Exec(ctx, tx, []string{
		"UPDATE docs_exports SET fetched_at = $1 WHERE fetched_at > $1",
		"UPDATE docs_exports SET held_until = $1 WHERE held_until - " + hour + " > $1",
		"UPDATE docs_requests SET sent_at = $1 WHERE sent_at > $1",
		"UPDATE docs_service SET blocked_until = $1 WHERE blocked_until - " + hour + " > $1",
		"UPDATE docs_syncs SET ended_at = $1 WHERE ended_at > $1",
	}, milliseconds(now))
}

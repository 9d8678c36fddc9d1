package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed" // the statements
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

const version = 3 // of the schema

var (
	//go:embed schema.sql
	schema string
	//go:embed views.sql
	views string
	//go:embed upgrade2.sql
	upgrade2 string
	//go:embed upgrade3.sql
	upgrade3 string

	upgrades = []string{upgrade2, upgrade3} // from version 1 on
)

// prepare makes the tables if they are missing, and checks that the data are from the source.
func (s *Store) prepare(ctx context.Context, source string) error {
	err := s.retry(ctx, isConflict, func() error {
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

	switch {
	case found == 0 && source == anySource:
		return errNoData
	case found == 0:
		s.Source = source
		err = s.createTables(ctx, tx, source)
	case found < version:
		err = s.upgrade(ctx, tx, found)
	}
	if err != nil {
		return err
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
func (s *Store) look(ctx context.Context, tx *sql.Tx) (int, error) {
	if _, err := tx.ExecContext(ctx, `SAVEPOINT look`); err != nil {
		return 0, err
	}

	found := 0
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

func (s *Store) createTables(ctx context.Context, tx *sql.Tx, source string) error {
	if err := execute(ctx, tx, schema); err != nil {
		return err
	}
	if err := s.createViews(ctx, tx); err != nil {
		return err
	}

	const insert = `INSERT INTO docs_service (version, source, blocked_until, salt) VALUES ($1, $2, 0, $3)`
	_, err := tx.ExecContext(ctx, insert, version, source, rand.Text())
	return err
}

// upgrade brings the tables of an older version up to date.
func (s *Store) upgrade(ctx context.Context, tx *sql.Tx, from int) error {
	for i, statements := range upgrades {
		if i+1 < from {
			continue
		}
		if err := execute(ctx, tx, statements); err != nil {
			return explainDependents(err)
		}
	}

	if err := s.createViews(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE docs_service SET salt = $1`, rand.Text())
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

var castOf = regexp.MustCompile(`(DATE|TIME)_OF\(([^)]*)\)`)

func (s *Store) createViews(ctx context.Context, tx *sql.Tx) error {
	statements := castOf.ReplaceAllStringFunc(views, func(cast string) string {
		parts := castOf.FindStringSubmatch(cast)
		switch {
		case s.isSQLite:
			return parts[2]
		case parts[1] == "DATE":
			return "CAST(" + parts[2] + " AS DATE)"
		}
		return "CAST(" + parts[2] + " AS TIMESTAMPTZ)"
	})
	return execute(ctx, tx, statements)
}

// execute runs statements one by one.
func execute(ctx context.Context, tx *sql.Tx, statements string) error {
	for statement := range strings.SplitSeq(statements, ";\n") {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
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

package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed" // the schema
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

//go:embed schema/1.sql
var schema string

// version is the version of the tables that schema makes.
const version = 1

// prepare makes the tables if they are missing, and checks that the data are from the source.
func (s *Store) prepare(ctx context.Context, source string) error {
	found, err := s.look(ctx)
	if err != nil {
		return err
	}

	if found == 0 && source != AnySource {
		failed := s.makeTables(ctx, source)
		found, err = s.look(ctx) // another program may have made them at the same time
		if err != nil {
			return err
		}
		if found == 0 {
			return failed
		}
	}

	switch {
	case found == 0:
		return fmt.Errorf("%w: it has no data of this docs-report; docs-report sync loads them", ErrSetup)
	case found > version:
		return fmt.Errorf("%w: its schema has version %d, and this program knows %d; update docs-report",
			ErrSetup, found, version)
	case s.Source != source && source != AnySource:
		return fmt.Errorf("%w: its data are from %s, and this run's are from %s; name another database by -db",
			ErrSetup, s.Source, source)
	}
	return nil
}

// look returns the schema's version, or 0 for a new database, and notes its source.
func (s *Store) look(ctx context.Context) (int64, error) {
	found := int64(0)
	err := s.db.QueryRowContext(ctx, `SELECT version, source FROM docs_service`).Scan(&found, &s.Source)
	if sqldb.IsNoTable(err) {
		return 0, nil
	}
	return found, err
}

func (s *Store) makeTables(ctx context.Context, source string) error {
	statements := schema
	if s.isSQLite {
		statements = strings.ReplaceAll(statements, "TIMESTAMPTZ(", "(") // it has no such type: the text stays
	}

	return sqldb.Transact(ctx, s.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statements); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO docs_service (version, source, salt) VALUES ($1, $2, $3)`,
			version, source, rand.Text())
		return err
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
	}, now.UnixMilli())
}

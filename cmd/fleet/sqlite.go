package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite" // the driver
)

var sqliteSQL = strings.NewReplacer(
	"{now}", "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)",
	"{attempted}", "CAST(unixepoch(j.attempted_at, 'subsec') * 1000 AS INTEGER)")

// sqliteOptions: transactions that lock from their start, since one that reads first
// cannot wait for its turn to write; commits that outlive a loss of power.
var sqliteOptions = url.Values{
	"_txlock": {"immediate"},
	"_pragma": {"busy_timeout(30000)", "journal_mode(WAL)", "synchronous(FULL)"},
}

type sqlite struct {
	sqlQuerier
	queue[*sql.Tx]
	db *sql.DB
}

func openSQLite(ctx context.Context, file string, logger *slog.Logger) (database, error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: sqliteOptions.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer; more connections would only wait for each other
	s := &sqlite{sqlQuerier: sqlQuerier{db}, db: db}
	if s.queue, err = newQueue(riversqlite.New(db), logger); err == nil {
		err = s.migrate(ctx, logger)
	}
	if err != nil {
		_ = db.Close() // of no use any more
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// migrate brings the tables up to date, in one transaction: it is the lock, too.
func (s *sqlite) migrate(ctx context.Context, logger *slog.Logger) error {
	sqlTx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer sqlTx.Rollback() //nolint:errcheck // it is committed, or of no use
	migrator, err := rivermigrate.New(s.driver, &rivermigrate.Config{Logger: logger})
	if err != nil {
		return err
	}
	//lint:ignore SA1019 what cannot share a transaction are migrations of Postgres
	if _, err := migrator.MigrateTx(ctx, sqlTx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	if err := createTables(ctx, sqlQuerier{sqlTx}); err != nil {
		return err
	}
	return sqlTx.Commit()
}

// transact needs no lock but the database's own: a transaction is alone from its
// start, as sqliteOptions has it.
func (s *sqlite) transact(ctx context.Context, _ string, f func(*tx) error) error {
	sqlTx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer sqlTx.Rollback() //nolint:errcheck // it is committed, or of no use
	t := &tx{querier: sqlQuerier{sqlTx}}
	t.insert = func(ctx context.Context, keys []string) ([]int64, error) { return s.insert(ctx, sqlTx, keys) }
	if err := f(t); err != nil {
		return err
	}
	return sqlTx.Commit()
}

func (s *sqlite) close() { _ = s.db.Close() } // what is committed is on disk

// sqlQuerier is a connection or a transaction.
type sqlQuerier struct {
	db interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (q sqlQuerier) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := q.db.ExecContext(ctx, sqliteSQL.Replace(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (q sqlQuerier) query(ctx context.Context, each func(scanner) error, query string, args ...any) error {
	rows, err := q.db.QueryContext(ctx, sqliteSQL.Replace(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Package store is the database of both commands: what was exported, how far an
// export has come, and which requests were made. It is a SQLite file or a Postgres
// server, by one SQL text.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Times are milliseconds since 1970, dates are YYYY-MM-DD. Rows are kept as
// received, by their position: the service may tell a path twice.
const schema = `
CREATE TABLE IF NOT EXISTS mintlify_service (
	id            BIGINT PRIMARY KEY,
	source        TEXT NOT NULL,
	blocked_until BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS mintlify_requests (
	sent_at BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS mintlify_windows (
	project TEXT, date_from TEXT, date_to TEXT,
	fetched_at BIGINT NOT NULL,
	pages      BIGINT NOT NULL,
	human      BIGINT NOT NULL,
	ai         BIGINT NOT NULL,
	total      BIGINT NOT NULL,
	PRIMARY KEY (project, date_from, date_to)
);
CREATE TABLE IF NOT EXISTS mintlify_visitors (
	project TEXT, date_from TEXT, date_to TEXT, position BIGINT,
	path  TEXT NOT NULL,
	human BIGINT NOT NULL,
	ai    BIGINT NOT NULL,
	total BIGINT NOT NULL,
	PRIMARY KEY (project, date_from, date_to, position)
);
CREATE TABLE IF NOT EXISTS mintlify_exports (
	project TEXT, date_from TEXT, date_to TEXT,
	token       BIGINT NOT NULL,
	begun_at    BIGINT NOT NULL,
	next_offset BIGINT NOT NULL,
	human       BIGINT NOT NULL,
	ai          BIGINT NOT NULL,
	total       BIGINT NOT NULL,
	PRIMARY KEY (project, date_from, date_to)
);
CREATE TABLE IF NOT EXISTS mintlify_staging (
	project TEXT, date_from TEXT, date_to TEXT, position BIGINT,
	path  TEXT NOT NULL,
	human BIGINT NOT NULL,
	ai    BIGINT NOT NULL,
	total BIGINT NOT NULL,
	PRIMARY KEY (project, date_from, date_to, position)
)`

// ErrOtherSource matches the refusal of a database that holds another service's data.
var ErrOtherSource = errors.New("the database holds other data")

// Store is an open database.
type Store struct {
	db *sql.DB
}

// Open opens the database at where, postgres://… or the path of a SQLite file, and
// makes its tables where they are missing. A database belongs to the source that it
// was made for: demo data never mix with real ones.
func Open(ctx context.Context, where, source string) (*Store, error) {
	db, err := open(where)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db}
	if err := s.prepare(ctx, source); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func open(where string) (*sql.DB, error) {
	if strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") {
		return sql.Open("pgx", where)
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: where}).EscapedPath()+
		"?_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err == nil {
		db.SetMaxOpenConns(1) // there is one writer anyway
	}
	return db, err
}

// prepare makes the tables. Of two programs that do so at once in Postgres, one fails,
// and then finds them made.
func (s *Store) prepare(ctx context.Context, source string) error {
	const attempts = 10
	err := s.createTables(ctx, source)
	for i := 1; i < attempts && isConflict(err); i++ {
		err = s.createTables(ctx, source)
	}
	if err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	var found string
	if err := s.db.QueryRowContext(ctx, `SELECT source FROM mintlify_service WHERE id = 1`).Scan(&found); err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	if found != source {
		return fmt.Errorf("%w: it was made with %s, and this run is with %s; give this run another one by -db", ErrOtherSource, found, source)
	}
	return nil
}

func (s *Store) createTables(ctx context.Context, source string) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		for statement := range strings.SplitSeq(schema, ";") {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO mintlify_service (id, source, blocked_until) VALUES (1, $1, 0) ON CONFLICT (id) DO NOTHING`, source)
		return err
	})
}

func isConflict(err error) bool {
	var pgErr *pgconn.PgError
	// unique_violation, duplicate_table, duplicate_object
	return errors.As(err, &pgErr) && slices.Contains([]string{"23505", "42P07", "42710"}, pgErr.Code)
}

// Close closes the database. All that was to be kept is: nothing depends on it.
func (s *Store) Close() { _ = s.db.Close() }

func (s *Store) transact(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}

func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) { // ended with its context
		return err
	}
	return nil
}

func milliseconds(t time.Time) int64 { return t.UnixMilli() }
func instant(ms int64) time.Time     { return time.UnixMilli(ms).UTC() }

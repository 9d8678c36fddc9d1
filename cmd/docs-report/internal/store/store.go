// Package store is the database of docs-report: what was exported, how far an export has
// come, and which requests were made. It is a SQLite file or a Postgres server, by one SQL
// text.
package store

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

const (
	// Demo is the source of made-up data.
	Demo = "the demo"

	version     = 1               // of the schema
	patience    = 2 * time.Minute // for a database that has gone away
	quotaWindow = time.Hour
)

//go:embed schema.sql
var schema string

// ErrSetup matches the refusal of a database: its address, or what it holds.
var ErrSetup = errors.New("the database cannot be used")

// Store is an open database.
type Store struct {
	Source string                           // where its data come from: a base URL, or [Demo]
	Log    func(format string, args ...any) // told when the database is away

	db     *sql.DB
	holder string // names this run in leases
}

// Open opens the database for a run that writes, and makes its tables if they are
// missing. A database belongs to the source that it was made for: demo data never mix
// with real ones.
func Open(ctx context.Context, where, source string) (*Store, error) {
	return open(where, "rwc&_pragma=journal_mode(WAL)&_txlock=immediate", func(s *Store) error {
		err := s.retry(ctx, isConflict, func() error {
			return s.transact(ctx, func(tx *sql.Tx) error {
				found, err := s.look(ctx, tx)
				if err == nil && found == 0 {
					s.Source = source
					err = createTables(ctx, tx, source)
				}
				return errors.Join(err, mendClock(ctx, tx, time.Now()))
			})
		})
		if err == nil && s.Source != source {
			err = fmt.Errorf("%w: its data are from %s, and this run's are from %s; name another database by -db", ErrSetup, s.Source, source)
		}
		return err
	})
}

// Read opens the database for a run that only reads.
func Read(ctx context.Context, where string) (*Store, error) {
	return open(where, "ro", func(s *Store) error {
		return s.transact(ctx, func(tx *sql.Tx) error {
			found, err := s.look(ctx, tx)
			if err == nil && found == 0 {
				err = fmt.Errorf("%w: it has no data of docs-report; docs-report sync loads them", ErrSetup)
			}
			return err
		})
	})
}

var keyValue = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|password|passfile|service|servicefile|ssl\w+|connect_timeout|application_name|options|target_session_attrs)\s*=`)

// open never puts where into an error: it may hold a password.
func open(where, mode string, prepare func(*Store) error) (*Store, error) {
	s := &Store{holder: fmt.Sprintf("%s %d %x", hostname(), os.Getpid(), rand.Uint64()), Log: func(string, ...any) {}}
	path, isSQLite := strings.CutPrefix(where, "sqlite:")
	name := "the database"
	var err error
	switch {
	case isSQLite && path != "":
		place, missing := filepath.Dir(path), "no folder %s"
		if mode == "ro" {
			place, missing = path, "no database at %s; run docs-report sync first"
		}
		if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) { // SQLite would say "unable to open database file"
			return nil, fmt.Errorf("%w: "+missing, ErrSetup, place)
		}
		s.db, err = sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(30000)&mode="+mode)
		s.db.SetMaxOpenConns(1) // there is one writer anyway
		name = path
	case strings.HasPrefix(where, "postgres://"), strings.HasPrefix(where, "postgresql://"), keyValue.MatchString(where):
		if _, err := pgx.ParseConfig(where); err != nil {
			return nil, fmt.Errorf("%w: its address looks like one of Postgres and cannot be parsed", ErrSetup)
		}
		s.db, err = sql.Open("pgx", where)
	default:
		return nil, fmt.Errorf("%w: give -db or DATABASE_URL as sqlite:PATH, postgres://… or host=… dbname=…", ErrSetup)
	}
	if err == nil {
		err = prepare(s)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Close closes the database. Everything is kept already: nothing depends on it.
func (s *Store) Close() { _ = s.db.Close() }

// look returns the schema's version, 0 if the database is new, and notes its source.
func (s *Store) look(ctx context.Context, tx *sql.Tx) (found int, err error) {
	if _, err := tx.ExecContext(ctx, `SAVEPOINT look`); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, `SELECT version, source FROM docs_service`).Scan(&found, &s.Source)
	if err != nil && (strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "42P01")) {
		_, err = tx.ExecContext(ctx, `ROLLBACK TO SAVEPOINT look`)
	}
	if found > version {
		err = fmt.Errorf("%w: its schema has version %d, and this program knows %d; update docs-report", ErrSetup, found, version)
	}
	return found, err
}

func createTables(ctx context.Context, tx *sql.Tx, source string) error {
	for statement := range strings.SplitSeq(schema, ";\n") {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO docs_service (version, source, blocked_until) VALUES ($1, $2, 0)`, version, source)
	return err
}

// mendClock rewrites what a clock that was ahead has left behind: it would keep a window
// fresh, a budget spent or a lease alive for as long as the clock was ahead.
func mendClock(ctx context.Context, tx *sql.Tx, now time.Time) error {
	for _, c := range []struct {
		table, column string
		latest        time.Time
	}{
		{"docs_exports", "fetched_at", now}, {"docs_exports", "held_until", now.Add(maxLease)},
		{"docs_requests", "sent_at", now}, {"docs_service", "blocked_until", now.Add(quotaWindow)},
	} {
		_, err := tx.ExecContext(ctx, `UPDATE `+c.table+` SET `+c.column+` = $1 WHERE `+c.column+` > $2`, milliseconds(now), milliseconds(c.latest))
		if err != nil {
			return err
		}
	}
	return nil
}

func milliseconds(t time.Time) int64 { return t.UnixMilli() }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

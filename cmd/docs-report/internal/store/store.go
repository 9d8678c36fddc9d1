// Package store is the database of docs-report: what was exported, how far an export has
// come, and which requests were made. It is a SQLite file or a Postgres server: the SQL is the
// same.
package store

import (
	"context"
	"database/sql"
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

	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

// Demo is the source of made-up data.
const Demo = "the demo"

// ErrSetup matches the refusal of a database: its address, or what it holds.
var ErrSetup = usage.Errorf("the database cannot be used")

// Store is an open database.
type Store struct {
	Source string                           // is where the data come from: a base URL, or [Demo]
	Log    func(format string, args ...any) // is called when the database cannot be reached

	db       *sql.DB
	isSQLite bool
	holder   string // names this run in leases

	snapshot *snapshot // nil: SQLite's locks and Postgres keep what is read from changing
}

// Open opens the database for a run that writes, and makes its tables if they are
// missing. A database belongs to the source that it was made for: demo data never mix
// with real ones.
func Open(ctx context.Context, where, source string) (*Store, error) {
	a, err := parseAddress(where)
	if err != nil {
		return nil, err
	}
	if a.isSQLite() {
		if err := a.requireFolder(); err != nil {
			return nil, err
		}
	}

	return a.write(ctx, "rwc", source)
}

// Change opens an existing database for a run that changes its rows. Any source is allowed.
func Change(ctx context.Context, where string) (*Store, error) {
	a, err := parseAddress(where)
	if err != nil {
		return nil, err
	}
	if a.isSQLite() {
		if err := a.requireFile(); err != nil {
			return nil, err
		}
	}
	return a.write(ctx, "rw", anySource)
}

const anySource = ""

// write opens a database and makes or upgrades its tables. SQLite overwrites what it deletes.
func (a address) write(ctx context.Context, mode, source string) (*Store, error) {
	if a.isSQLite() && mode == "rwc" {
		a.makeFile()
	}

	s, err := a.open(mode, "_pragma=journal_mode(WAL)", "_pragma=secure_delete(1)", "_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, source); err != nil {
		s.Close()
		return nil, a.errorOf(err)
	}
	return s, nil
}

// Read opens the database for a run that only reads. SQLite writes beside a file that it
// reads; in a folder that this run may not write, [Store.Unchanged] tells whether somebody
// has changed the file meanwhile.
func Read(ctx context.Context, where string) (*Store, error) {
	a, err := parseAddress(where)
	if err != nil {
		return nil, err
	}
	if !a.isSQLite() {
		return a.read(ctx)
	}

	if err := a.requireFile(); err != nil {
		return nil, err
	}

	s, err := a.read(ctx)
	if !isLocked(err) {
		return s, err
	}
	return a.readSnapshot(ctx)
}

func (a address) read(ctx context.Context, options ...string) (*Store, error) {
	s, err := a.open("ro", options...)
	if err != nil {
		return nil, err
	}
	if err := s.transact(ctx, s.requireTables(ctx)); err != nil {
		s.Close()
		return nil, a.errorOf(err)
	}
	return s, nil
}

// Close closes the database. Everything is stored already, so nothing depends on Close.
func (s *Store) Close() { _ = s.db.Close() }

// address says where a database is. No error shows it, since it may contain a password.
type address struct {
	path     string // of a SQLite file; "": it is Postgres
	postgres string
}

var keyValue = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|password|passfile|service|servicefile|` +
	`ssl\w+|connect_timeout|application_name|options|target_session_attrs)\s*=`)

func parseAddress(where string) (address, error) {
	if path, ok := strings.CutPrefix(where, "sqlite:"); ok && path != "" {
		return address{path: path}, nil
	}

	isURL := strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
	if !isURL && !keyValue.MatchString(where) {
		return address{}, fmt.Errorf("%w: give -db or DATABASE_URL as sqlite:PATH, postgres://… or host=… dbname=…",
			ErrSetup)
	}
	if _, err := pgx.ParseConfig(where); err != nil {
		return address{}, fmt.Errorf("%w: its address looks like one of Postgres and cannot be parsed", ErrSetup)
	}
	return address{postgres: where}, nil
}

func (a address) isSQLite() bool { return a.path != "" }

// requireFolder says which folder is missing. SQLite would say "unable to open database file".
func (a address) requireFolder() error {
	folder := filepath.Dir(a.path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no folder %s", ErrSetup, folder)
	}
	return nil
}

func (a address) requireFile() error {
	file, err := os.Open(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no database at %s; run docs-report sync first", ErrSetup, a.path)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return file.Close()
}

// makeFile makes the file of a new database, which only this user may read: SQLite would make it
// with the mode of any other file. If makeFile fails, SQLite says why.
func (a address) makeFile() {
	file, err := os.OpenFile(a.path, os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = file.Close() // nothing was written
	}
}

// open opens the database. mode and options are SQLite's.
func (a address) open(mode string, options ...string) (*Store, error) {
	driver := "pgx"
	name := a.postgres
	if a.isSQLite() {
		driver = "sqlite"
		options = append([]string{"mode=" + mode, "_pragma=busy_timeout(30000)"}, options...)
		name = "file:" + (&url.URL{Path: a.path}).EscapedPath() + "?" + strings.Join(options, "&")
	}

	db, err := sql.Open(driver, name)
	if err != nil {
		return nil, a.errorOf(err)
	}
	if a.isSQLite() {
		db.SetMaxOpenConns(1) // there is one writer anyway
	}

	holder := fmt.Sprintf("%s %d %x", hostname(), os.Getpid(), rand.Uint64())
	return &Store{db: db, isSQLite: a.isSQLite(), holder: holder, Log: func(string, ...any) {}}, nil
}

// errorOf adds to an error which database it comes from.
func (a address) errorOf(err error) error {
	switch {
	case !a.isSQLite():
		return fmt.Errorf("the database: %w", err)
	case isJunk(err), isLocked(err):
		return fmt.Errorf("%s: %w: %w", a.path, ErrSetup, err)
	}
	return fmt.Errorf("%s: %w", a.path, err)
}

func milliseconds(t time.Time) int64 { return t.UnixMilli() }
func instant(ms int64) time.Time     { return time.UnixMilli(ms).UTC() }

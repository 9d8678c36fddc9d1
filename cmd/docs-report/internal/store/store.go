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
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

// Demo is the source of made-up data.
const Demo = "the demo"

// ErrSetup matches the refusal of a database: its address, or what it holds.
var ErrSetup = usage.Errorf("the database cannot be used")

// Store is an open database.
type Store struct {
	Source string // is where the data come from: a base URL, or [Demo]

	db       *sql.DB
	isSQLite bool
	holder   string // names this run in leases
	log      Log

	snapshot *snapshot // nil: SQLite's locks and Postgres keep what is read from changing
}

// Log gets a line when a database cannot be reached and a run waits for it.
type Log = func(format string, args ...any)

// Open opens the database for a run that writes, and makes its tables if they are
// missing. A database belongs to the source that it was made for: demo data never mix
// with real ones.
func Open(ctx context.Context, where, source string, log Log) (*Store, error) {
	return write(ctx, where, "rwc", source, log)
}

// Change opens an existing database for a run that changes its rows. Any source is allowed.
func Change(ctx context.Context, where string, log Log) (*Store, error) {
	return write(ctx, where, "rw", anySource, log)
}

const anySource = ""

// write opens a database and makes or upgrades its tables. SQLite overwrites what it deletes.
func write(ctx context.Context, where, mode, source string, log Log) (*Store, error) {
	a, err := parseAddress(where)
	if err != nil {
		return nil, err
	}
	if a.IsSQLite() {
		if err := a.requirePlace(mode); err != nil {
			return nil, err
		}
	}

	s, err := a.open(url.Values{
		"mode":    {mode},
		"_txlock": {"immediate"},
		"_pragma": {"journal_mode(WAL)", "secure_delete(1)"},
	})
	if err != nil {
		return nil, err
	}

	s.log = log
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
	if !a.IsSQLite() {
		return a.read(ctx, nil)
	}

	if err := a.requireFile(); err != nil {
		return nil, err
	}

	s, err := a.read(ctx, url.Values{"mode": {"ro"}})
	if !isLocked(err) {
		return s, err
	}
	return a.readSnapshot(ctx)
}

func (a address) read(ctx context.Context, options url.Values) (*Store, error) {
	s, err := a.open(options)
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

// address is an address of which no error shows more than the file.
type address struct{ sqldb.Address }

func parseAddress(where string) (address, error) {
	a, err := sqldb.ParseAddress(where)
	if err != nil {
		return address{}, fmt.Errorf("%w: -db or DATABASE_URL %w; give sqlite:PATH, postgres://… or host=… dbname=…",
			ErrSetup, err)
	}

	if !a.IsSQLite() {
		if _, err := pgx.ParseConfig(a.Postgres); err != nil {
			return address{}, fmt.Errorf("%w: its address looks like one of Postgres and cannot be parsed", ErrSetup)
		}
	}
	return address{a}, nil
}

// requirePlace says which file or folder is missing: SQLite would say "unable to open database file".
// It makes the file of a new database.
func (a address) requirePlace(mode string) error {
	if mode != "rwc" {
		return a.requireFile()
	}

	folder := filepath.Dir(a.File)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no folder %s", ErrSetup, folder)
	}
	_ = a.MakeFile() // SQLite says why it fails
	return nil
}

func (a address) requireFile() error {
	file, err := os.Open(a.File)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no database at %s; run docs-report sync first", ErrSetup, a.File)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return file.Close()
}

// open opens the database. options are SQLite's.
func (a address) open(options url.Values) (*Store, error) {
	driver := "pgx"
	name := a.Postgres
	if a.IsSQLite() {
		driver = "sqlite"
		options["_pragma"] = append([]string{"busy_timeout(30000)"}, options["_pragma"]...)
		name = a.SQLite(options)
	}

	db, err := sql.Open(driver, name)
	if err != nil {
		return nil, a.errorOf(err)
	}
	if a.IsSQLite() {
		db.SetMaxOpenConns(1) // there is one writer anyway
	}

	holder := fmt.Sprintf("%s %d %x", hostname(), os.Getpid(), rand.Uint64())
	return &Store{db: db, isSQLite: a.IsSQLite(), holder: holder, log: func(string, ...any) {}}, nil
}

// errorOf adds to an error which database it comes from.
func (a address) errorOf(err error) error {
	switch {
	case !a.IsSQLite():
		return fmt.Errorf("the database: %w", err)
	case isJunk(err), isLocked(err):
		return fmt.Errorf("%s: %w: %w", a.File, ErrSetup, err)
	}
	return fmt.Errorf("%s: %w", a.File, err)
}

func milliseconds(t time.Time) int64 { return t.UnixMilli() }
func instant(ms int64) time.Time     { return time.UnixMilli(ms).UTC() }

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
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"modernc.org/sqlite"

	mintlify "github.com/mintlify-community/mintlify-go"
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
	holder   string // names this run in the lease
}

// AnySource opens an existing database of any source.
const AnySource = ""

// Open opens the database for a run that writes, and makes its tables if they are missing. A database
// belongs to the source that it was made for: demo data never mix with real ones.
func Open(ctx context.Context, where, source string) (*Store, error) {
	// SQLite overwrites what it deletes. Made-up data need not outlive a power failure: to wait for the
	// disk would take most of a demo's time.
	pragmas := []string{"secure_delete(1)"}
	if source == Demo {
		pragmas = append(pragmas, "synchronous(0)")
	}
	return open(ctx, where, source, url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": pragmas})
}

// Read opens the database for a run that only reads. It need not be allowed to write a SQLite file.
func Read(ctx context.Context, where string) (*Store, error) {
	return open(ctx, where, AnySource, url.Values{"mode": {"ro"}})
}

// open opens the database. options are SQLite's.
func open(ctx context.Context, where, source string, options url.Values) (*Store, error) {
	a, err := parseAddress(where)
	if err != nil {
		return nil, err
	}
	if err := a.prepareFile(source); err != nil {
		return nil, err
	}

	s, err := a.connect(options)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, source); err != nil {
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

// prepareFile makes the file of a new database for a run with a source. It says which file is missing, or
// may not be read: SQLite would say "unable to open database file".
func (a address) prepareFile(source string) error {
	if !a.IsSQLite() {
		return nil
	}
	if source != AnySource {
		if err := a.MakeFile(); err != nil {
			return fmt.Errorf("%w: %w", ErrSetup, err)
		}
	}

	file, err := os.Open(a.File)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no database at %s; run docs-report sync first", ErrSetup, a.File)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return file.Close()
}

func (a address) connect(options url.Values) (*Store, error) {
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

	host, _ := os.Hostname()
	holder := fmt.Sprintf("process %d on %s, %x", os.Getpid(), host, rand.Uint32())
	return &Store{db: db, isSQLite: a.IsSQLite(), holder: holder}, nil
}

// The codes of errors of SQLite. The last byte of an extended code is the code.
const (
	sqliteReadOnly         = 8  // this run may not write into the file
	sqliteCannotOpen       = 14 // or into its folder
	sqliteNotADatabase     = 26
	sqliteReadOnlyRollback = 776 // a run was killed that was writing; the next one that may write undoes it
)

// errorOf adds to an error which database it comes from.
func (a address) errorOf(err error) error {
	if !a.IsSQLite() {
		return fmt.Errorf("the database: %w", err)
	}

	code := 0
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		code = lite.Code()
	}
	switch {
	case code == sqliteReadOnlyRollback:
		return fmt.Errorf("%s: %w: a sync was killed while it stored a page, and a reader may not mend the file: "+
			"the next docs-report sync does", a.File, ErrSetup)
	case code == sqliteNotADatabase, code&0xff == sqliteReadOnly, code&0xff == sqliteCannotOpen:
		return fmt.Errorf("%s: %w: %w", a.File, ErrSetup, err)
	}
	return fmt.Errorf("%s: %w", a.File, err)
}

// IsPooler reports whether a statement failed that was prepared on another connection: a pooler gave this run one of
// another run.
func IsPooler(err error) bool {
	const isThere = "42P05"
	const isMissing = "26000"
	state := sqldb.SQLState(err)
	return state == isThere || state == isMissing
}

// File returns the file of a SQLite database, or "".
func File(where string) string {
	a, err := parseAddress(where)
	if err != nil {
		return ""
	}
	return a.File
}

// timeColumn reads a column of milliseconds into a field.
type timeColumn struct{ into *time.Time }

// Scan implements [sql.Scanner].
func (c timeColumn) Scan(column any) error {
	ms, _ := column.(int64)
	*c.into = time.UnixMilli(ms).UTC()
	return nil
}

// dateColumn reads a column with a date into a field.
type dateColumn struct{ into *mintlify.Date }

// Scan implements [sql.Scanner].
func (c dateColumn) Scan(column any) error {
	text, _ := column.(string)
	date, err := mintlify.ParseDate(text)
	*c.into = date
	return err
}

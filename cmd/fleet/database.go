package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	_ "modernc.org/sqlite" // the driver

	"github.com/mintlify-community/mintlify-go/once"
)

// database is Postgres or SQLite. It holds the records of package once, what fleet knows
// beside them, and River's queue.
type database struct {
	*sql.DB
	queue    queue // inserts jobs
	newQueue func(*river.Config) (queue, error)
	migrate  func(context.Context) error
	close    func()
}

// queue is what a client of River does on either database.
type queue interface {
	InsertMany(ctx context.Context, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

const schemaVersion = 1

//go:embed schema.sql
var schema string

// postgresForm matches the start of a URL, or of libpq's form such as "host=db dbname=fleet".
var postgresForm = regexp.MustCompile(`^(postgres(ql)?://|\s*[a-z_]+\s*=)`)

const databaseForms = "postgres://…, host=… dbname=…, or sqlite:FILE (for an absolute path sqlite:/var/lib/fleet.db)"

// openDatabase opens what DATABASE_URL names. create makes the tables that are missing.
// No error shows the URL: it may have a password.
func openDatabase(ctx context.Context, databaseURL string, create bool, logger *slog.Logger) (db *database, err error) {
	file, isFile := strings.CutPrefix(databaseURL, "sqlite:")
	switch {
	case databaseURL == "":
		return nil, usageError("DATABASE_URL is not set, want %s", databaseForms)
	case isFile && (file == "" || file == ":memory:" || strings.HasPrefix(file, "//") && !strings.HasPrefix(file, "///")):
		return nil, usageError("DATABASE_URL names no file, want %s", databaseForms)
	case isFile:
		db, err = openSQLite(file, create, logger)
	case postgresForm.MatchString(databaseURL):
		db, err = openPostgres(ctx, databaseURL, logger)
	default:
		return nil, usageError("DATABASE_URL has an unknown form, want %s", databaseForms)
	}
	if err == nil && create {
		err = db.migrate(ctx)
	}
	if err == nil {
		err = db.checkVersion(ctx)
	}
	if err != nil {
		if db != nil {
			db.close()
		}
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	return db, nil
}

func (db *database) checkVersion(ctx context.Context) error {
	version, err := number(ctx, db, "SELECT version FROM fleet_schema")
	switch {
	case err != nil && (strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "42P01")):
		return usageError("the database has no tables yet: run fleet init")
	case version > schemaVersion:
		return usageError("the tables have version %d, made by a newer fleet: this one knows %d", version, schemaVersion)
	}
	return err
}

// sqliteOptions: transactions lock from their start, since one that reads first cannot
// wait for its turn to write; commits outlive a loss of power.
var sqliteOptions = url.Values{
	"_txlock": {"immediate"},
	"_pragma": {"busy_timeout(3000)", "journal_mode(WAL)", "synchronous(FULL)"},
}

func openSQLite(file string, create bool, logger *slog.Logger) (*database, error) {
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return nil, usageError("%w", err)
	} else if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && !create {
		return nil, usageError("%w: run fleet init", err)
	}
	name := url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: sqliteOptions.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer; more connections would only wait for each other
	return newDatabase(db, riversqlite.New(db), logger, func() {})
}

func openPostgres(ctx context.Context, databaseURL string, logger *slog.Logger) (*database, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil { // its text may quote a part of the password: what is wrong is in the middle
		_, why, _ := strings.Cut(err.Error(), "`: ")
		why, _, _ = strings.Cut(why, " (")
		return nil, usageError("it cannot be parsed: %s", why)
	}
	config.MaxConns = max(config.MaxConns, 4) // with fewer, River and a transaction wait for each other
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return newDatabase(stdlib.OpenDBFromPool(pool), riverpgxv5.New(pool), logger, pool.Close)
}

func newDatabase[Tx any](
	sqlDB *sql.DB, driver riverdriver.Driver[Tx], logger *slog.Logger, closePool func(),
) (*database, error) {
	db := &database{DB: sqlDB}
	db.close = func() { _ = sqlDB.Close(); closePool() } // what is committed is on disk
	db.newQueue = func(config *river.Config) (queue, error) { return river.NewClient(driver, config) }
	db.migrate = func(ctx context.Context) error {
		migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: logger})
		if err != nil {
			return err
		}
		for range 20 { // each migration is a transaction, which fails if another process makes it meanwhile
			_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
			if err == nil {
				err = once.NewSQL(db).CreateTable(ctx)
			}
			if err == nil {
				_, err = db.ExecContext(ctx, schema)
			}
			if err == nil || db.PingContext(ctx) != nil {
				break
			}
			time.Sleep(rand.N(100 * time.Millisecond))
		}
		return err
	}
	var err error
	db.queue, err = db.newQueue(&river.Config{Logger: logger})
	return db, err
}

// transact commits what f did, or nothing of it. One transaction runs at a time, over all
// machines: each begins with an update of the same row.
func (db *database) transact(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it is committed, or of no use
	if _, err := tx.ExecContext(ctx, "UPDATE fleet_schema SET version = version"); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// scan calls each for the rows of a query.
func scan(ctx context.Context, db once.DB, each func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number returns the number that a query brings, 0 if it brings none.
func number(ctx context.Context, db once.DB, query string, args ...any) (int64, error) {
	var n sql.NullInt64
	err := scan(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&n) }, query, args...)
	return n.Int64, err
}

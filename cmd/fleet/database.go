package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
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
	lock     string               // the statement after which a transaction is alone
	queue    queue                // inserts jobs
	executor riverdriver.Executor // River's own statements
	newQueue func(*river.Config) (queue, error)
	migrate  func(context.Context) error
	close    func()
}

// queue is what a client of River does on either database.
type queue interface {
	InsertMany(ctx context.Context, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
	JobList(ctx context.Context, params *river.JobListParams) (*river.JobListResult, error)
	JobRetry(ctx context.Context, id int64) (*rivertype.JobRow, error)
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

const schemaVersion = 1

//go:embed schema.sql
var schema string

// keyValue is how a connection string of libpq begins.
var keyValue = regexp.MustCompile(`^\s*[a-z_]+\s*=`)

// openDatabase opens what DATABASE_URL names. create makes the tables that are missing.
// No error shows the URL: it may have a password.
func openDatabase(ctx context.Context, databaseURL string, create bool, logger *slog.Logger) (db *database, err error) {
	file, isFile := strings.CutPrefix(databaseURL, "sqlite:")
	switch {
	case databaseURL == "":
		return nil, usageError("DATABASE_URL is not set, want postgres://…, host=… dbname=…, or sqlite:FILE")
	case isFile && (file == "" || file == ":memory:" || strings.HasPrefix(file, "//") && !strings.HasPrefix(file, "///")):
		return nil, usageError("DATABASE_URL names no file, want sqlite:FILE")
	case isFile:
		db, err = openSQLite(file, create, logger)
	case strings.HasPrefix(databaseURL, "postgres://"), strings.HasPrefix(databaseURL, "postgresql://"), keyValue.MatchString(databaseURL):
		db, err = openPostgres(ctx, databaseURL, logger)
	default:
		return nil, usageError("DATABASE_URL is not of a known form, want postgres://…, host=… dbname=…, or sqlite:FILE")
	}
	if err != nil {
		return nil, err
	}
	if create {
		err = db.migrate(ctx)
	}
	if err == nil {
		err = db.checkVersion(ctx)
	}
	if err != nil {
		db.close()
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	return db, nil
}

func (db *database) checkVersion(ctx context.Context) error {
	var version int
	err := db.QueryRowContext(ctx, "SELECT version FROM fleet_schema").Scan(&version)
	switch {
	case err != nil && (strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "42P01")):
		return usageError("the database has no tables yet: run fleet init")
	case err == nil && version > schemaVersion:
		return usageError("the tables are of version %d, made by a newer fleet: this one knows %d", version, schemaVersion)
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
	if _, err := os.Stat(file); err != nil && !create {
		return nil, usageError("DATABASE_URL: %v: run fleet init", err)
	}
	sqlDB, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: sqliteOptions.Encode()}).String())
	if err != nil {
		return nil, err
	}
	sqlDB.SetMaxOpenConns(1) // SQLite has one writer; more connections would only wait for each other
	driver := riversqlite.New(sqlDB)
	db := &database{DB: sqlDB, executor: driver.GetExecutor(), close: func() { _ = sqlDB.Close() }} // what is committed is on disk
	db.newQueue = func(config *river.Config) (queue, error) { return river.NewClient(driver, config) }
	db.migrate = func(ctx context.Context) error {
		tx, err := sqlDB.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // it is committed, or of no use
		migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: logger})
		if err == nil {
			//lint:ignore SA1019 what cannot share a transaction are migrations of Postgres
			_, err = migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil)
		}
		if err == nil {
			err = createTables(ctx, tx)
		}
		if err != nil {
			return err
		}
		return tx.Commit()
	}
	db.queue, err = db.newQueue(&river.Config{Logger: logger})
	return db, err
}

func createTables(ctx context.Context, db once.DB) error {
	if err := once.NewSQL(db).CreateTable(ctx); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, schema)
	return err
}

const (
	migrationLock = "hashtextextended('fleet: migration', 0)"
	turnLock      = "SELECT pg_advisory_xact_lock(hashtextextended('fleet: turn', 0))"
)

func openPostgres(ctx context.Context, databaseURL string, logger *slog.Logger) (*database, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil { // its text may quote a part of the password: what is wrong is in the middle
		_, why, _ := strings.Cut(err.Error(), "`: ")
		why, _, _ = strings.Cut(why, " (")
		return nil, usageError("DATABASE_URL cannot be parsed: %s", why)
	}
	if config.MaxConns < 4 {
		return nil, usageError("DATABASE_URL has pool_max_conns=%d, want 4 or more", config.MaxConns)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err) // pgx leaves the password out
	}
	sqlDB := stdlib.OpenDBFromPool(pool)
	driver := riverpgxv5.New(pool)
	db := &database{DB: sqlDB, executor: driver.GetExecutor(), lock: turnLock, close: func() { _ = sqlDB.Close(); pool.Close() }}
	db.newQueue = func(config *river.Config) (queue, error) { return river.NewClient(driver, config) }
	db.migrate = func(ctx context.Context) error {
		migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: logger})
		if err != nil {
			return err
		}
		return withMigrationLock(ctx, sqlDB, func() error {
			if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
				return err
			}
			return createTables(ctx, sqlDB)
		})
	}
	db.queue, err = db.newQueue(&river.Config{Logger: logger})
	return db, err
}

// withMigrationLock runs f in one process at a time. It asks for the lock again and again:
// a session that waits inside of a statement would block CREATE INDEX CONCURRENTLY.
func withMigrationLock(ctx context.Context, db *sql.DB, f func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	for locked := false; !locked; {
		if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock("+migrationLock+")").Scan(&locked); err != nil {
			return err
		}
		if !locked {
			time.Sleep(50 * time.Millisecond)
		}
	}
	err = f()
	_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+migrationLock+")")
	return errors.Join(err, unlockErr)
}

// transact commits what f did, or nothing of it. Of those that are alone, one runs at a
// time over all machines.
func (db *database) transact(ctx context.Context, alone bool, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it is committed, or of no use
	if alone && db.lock != "" {
		if _, err := tx.ExecContext(ctx, db.lock); err != nil {
			return err
		}
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
)

// database is Postgres or SQLite: the table of prompts and River's queue. SQL is the
// same for both but for what dialect translates.
type database interface {
	querier

	// transact commits what f did, or nothing of it. Of the transactions with one
	// lock, over all processes, one runs at a time.
	transact(ctx context.Context, lock string, f func(*tx) error) error

	// newWorkers returns River's client for working off the queue.
	newWorkers(config *river.Config) (workers, error)

	close()
}

// querier runs SQL, within a transaction or without.
type querier interface {
	exec(ctx context.Context, sql string, args ...any) (changed int64, err error)
	query(ctx context.Context, each func(scan scanner) error, sql string, args ...any) error
}

type scanner func(dest ...any) error

// tx is a transaction that can put jobs into River's queue, too.
type tx struct {
	querier
	insert func(ctx context.Context, keys []string) (riverJobs []int64, err error)
}

// workers are River's.
type workers interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// args is all that River keeps of a prompt. The table has the rest.
type args struct {
	Key string `json:"key"`
}

func (args) Kind() string { return "fleet_prompt" }

// InsertOpts makes attempts no limit: a rescue costs one for good.
func (args) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 10_000} }

// queue is River on a database with transactions of type T.
type queue[T any] struct {
	driver riverdriver.Driver[T]
	client *river.Client[T] // for inserting
}

func newQueue[T any](driver riverdriver.Driver[T], logger *slog.Logger) (queue[T], error) {
	client, err := river.NewClient(driver, &river.Config{Logger: logger})
	return queue[T]{driver, client}, err
}

func (q queue[T]) newWorkers(config *river.Config) (workers, error) {
	return river.NewClient(q.driver, config)
}

func (q queue[T]) insert(ctx context.Context, tx T, keys []string) ([]int64, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	params := make([]river.InsertManyParams, len(keys))
	for i, key := range keys {
		params[i].Args = args{key}
	}
	results, err := q.client.InsertManyTx(ctx, tx, params)
	if err != nil {
		return nil, fmt.Errorf("insert into River's queue: %w", err)
	}
	ids := make([]int64, len(results))
	for i, result := range results {
		ids[i] = result.Job.ID
	}
	return ids, nil
}

// openDatabase opens the database at url, postgres:// or a file of SQLite, and makes
// its tables where they are missing.
func openDatabase(ctx context.Context, url string, logger *slog.Logger) (database, error) {
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		return openPostgres(ctx, url, logger)
	}
	if scheme, _, found := strings.Cut(url, "://"); found {
		return nil, fmt.Errorf("DATABASE_URL begins with %.20q: want postgres://, or the name of an SQLite file", scheme+"://")
	}
	return openSQLite(ctx, url, logger)
}

// tables are the program's own, beside River's. Times are in Unix milliseconds of the
// database's clock.
var tables = []string{`
CREATE TABLE IF NOT EXISTS fleet_prompts (
	key        TEXT PRIMARY KEY,
	project    TEXT NOT NULL,
	prompt     TEXT NOT NULL,
	pull       TEXT NOT NULL,
	state      TEXT NOT NULL,
	sends      BIGINT NOT NULL DEFAULT 0,
	sent_at    BIGINT NOT NULL DEFAULT 0,
	expires_at BIGINT NOT NULL DEFAULT 0, -- when a send without a response is given up
	job_id     TEXT NOT NULL DEFAULT '',
	pr_link    TEXT NOT NULL DEFAULT '',
	problem    TEXT NOT NULL DEFAULT '',
	changed_at BIGINT NOT NULL,
	open       BIGINT NOT NULL DEFAULT 1,
	river_job  BIGINT NOT NULL DEFAULT 0
)`,
	`CREATE INDEX IF NOT EXISTS fleet_prompts_sent ON fleet_prompts (project, sent_at)`,
	`CREATE INDEX IF NOT EXISTS fleet_prompts_open ON fleet_prompts (key) WHERE open = 1`,
}

func createTables(ctx context.Context, q querier) error {
	for _, table := range tables {
		if _, err := q.exec(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

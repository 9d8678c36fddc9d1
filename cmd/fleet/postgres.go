package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// postgresSQL is Postgres's for the time now, and of a River job's attempt, both in Unix
// milliseconds.
var postgresSQL = strings.NewReplacer(
	"{now}", "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
	"{attempted}", "(extract(epoch FROM j.attempted_at) * 1000)::bigint")

type postgres struct {
	pgxQuerier
	queue[pgx.Tx]
	pool *pgxpool.Pool
}

func openPostgres(ctx context.Context, url string, logger *slog.Logger) (database, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err) // pgx leaves the password out
	}
	p := &postgres{pgxQuerier: pgxQuerier{pool}, pool: pool}
	if p.queue, err = newQueue(riverpgxv5.New(pool), logger); err == nil {
		err = p.migrate(ctx, logger)
	}
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return p, nil
}

// migrate brings the tables up to date. The lock is held by a transaction beside, since
// River's migrations cannot run in a single one. Who does not get it asks again, rather
// than wait with a connection that the migrations may need.
func (p *postgres) migrate(ctx context.Context, logger *slog.Logger) error {
	if p.pool.Config().MaxConns < 2 {
		return errors.New("pool_max_conns is 1, want 2 or more")
	}
	for locked := false; !locked; {
		err := p.transact(ctx, "", func(tx *tx) error {
			err := tx.query(ctx, func(scan scanner) error { return scan(&locked) }, "SELECT pg_try_advisory_xact_lock(hashtextextended('fleet: migration', 0))")
			if err != nil || !locked {
				return err
			}
			return p.migrateLocked(ctx, tx, logger)
		})
		if err != nil {
			return err
		}
		if !locked {
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

func (p *postgres) migrateLocked(ctx context.Context, tx *tx, logger *slog.Logger) error {
	migrator, err := rivermigrate.New(p.driver, &rivermigrate.Config{Logger: logger})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return createTables(ctx, tx)
}

func (p *postgres) transact(ctx context.Context, lock string, f func(*tx) error) error {
	// Each statement is to see what was committed while the lock was waited for.
	options := pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	return pgx.BeginTxFunc(ctx, p.pool, options, func(pgxTx pgx.Tx) error {
		t := &tx{querier: pgxQuerier{pgxTx}}
		t.insert = func(ctx context.Context, keys []string) ([]int64, error) { return p.insert(ctx, pgxTx, keys) }
		if lock != "" {
			if _, err := t.exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "fleet: "+lock); err != nil {
				return err
			}
		}
		return f(t)
	})
}

func (p *postgres) close() { p.pool.Close() }

// pgxQuerier is a pool or a transaction.
type pgxQuerier struct {
	db interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	}
}

func (q pgxQuerier) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := q.db.Exec(ctx, postgresSQL.Replace(sql), args...)
	return tag.RowsAffected(), err
}

func (q pgxQuerier) query(ctx context.Context, each func(scanner) error, sql string, args ...any) error {
	rows, err := q.db.Query(ctx, postgresSQL.Replace(sql), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Package store is the database of docs-report: what was exported, how far an export has
// come, and which requests were made. It is a SQLite file or a Postgres server, by one SQL
// text.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed" // the schema
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"modernc.org/sqlite"
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

// write runs work in a transaction, and waits for a database that has gone away. If the
// response to a commit was lost, work is done twice, and has to find that out.
func (s *Store) write(ctx context.Context, work func(*sql.Tx) error) error {
	return s.retry(ctx, isAway, func() error { return s.transact(ctx, work) })
}

func (s *Store) retry(ctx context.Context, again func(error) bool, work func() error) error {
	start := time.Now()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := work()
		if err == nil || !again(err) || time.Since(start) > patience || ctx.Err() != nil {
			return err
		}
		if wait == 800*time.Millisecond {
			s.Log("The database is away: waiting for it, %v at most.", patience)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

func (s *Store) transact(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		_ = tx.Rollback() // or it has ended with its context or connection
		return err
	}
	return tx.Commit()
}

// isConflict reports whether another program makes the same tables at the same time.
func isConflict(err error) bool {
	var pgErr *pgconn.PgError // unique_violation, duplicate_table, duplicate_object
	return isBusy(err) || errors.As(err, &pgErr) && slices.Contains([]string{"23505", "42P07", "42710"}, pgErr.Code)
}

// isBusy reports whether another program is writing into the SQLite file. A new file's
// change to WAL does not wait for it.
func isBusy(err error) bool {
	const busy = 5
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == busy
}

// isAway reports whether the database may be back soon.
func isAway(err error) bool {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) { // a lost connection, a shutdown or start, too many connections, a deadlock
		return slices.Contains([]string{"08", "53", "40"}, pgErr.Code[:2]) || strings.HasPrefix(pgErr.Code, "57P")
	}
	var netErr net.Error
	return isBusy(err) || errors.As(err, &netErr) || pgconn.SafeToRetry(err) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed)
}

// QuotaError is a request that was not sent: none may be before Until.
type QuotaError struct {
	Until  time.Time
	Reason string
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("%s: nothing is sent before %s", e.Reason, e.Until.Format("15:04:05 MST on 2006-01-02"))
}

// Reserve records a request that is about to be sent, and returns how many of the
// hour's budget are left then, or a [*QuotaError]. It is recorded first: a crash in
// between costs one request of the budget, never one beyond it.
func (s *Store) Reserve(ctx context.Context, budget int) (left int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		until, used, oldest, err := quota(ctx, tx, now)
		switch {
		case err != nil:
			return err
		case now.Before(until):
			return &QuotaError{Until: until, Reason: "the service's hourly quota is used up (429)"}
		case used >= budget:
			return &QuotaError{Until: oldest.Add(quotaWindow), Reason: fmt.Sprintf("the budget of %d requests an hour is spent", budget)}
		}
		left = budget - used - 1
		_, err = tx.ExecContext(ctx, `INSERT INTO docs_requests (sent_at) VALUES ($1)`, milliseconds(now))
		return err
	})
	return left, err
}

// Left returns how many requests of the hour's budget are left.
func (s *Store) Left(ctx context.Context, budget int) (left int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		until, used, _, err := quota(ctx, tx, now)
		if left = max(budget-used, 0); now.Before(until) {
			left = 0
		}
		return err
	})
	return left, err
}

// quota returns what was sent within the last hour, and until when the service wants
// nothing. Its first update is a lock: two runs must not both take the last request.
func quota(ctx context.Context, tx *sql.Tx, now time.Time) (until time.Time, used int, oldest time.Time, err error) {
	var untilMS, oldestMS int64
	if err = mendClock(ctx, tx, now); err != nil {
		return
	}
	if err = tx.QueryRowContext(ctx, `UPDATE docs_service SET blocked_until = blocked_until RETURNING blocked_until`).Scan(&untilMS); err != nil {
		return
	}
	if _, err = tx.ExecContext(ctx, `DELETE FROM docs_requests WHERE sent_at <= $1`, milliseconds(now.Add(-quotaWindow))); err != nil {
		return
	}
	err = tx.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MIN(sent_at), 0) FROM docs_requests`).Scan(&used, &oldestMS)
	return instant(untilMS), used, instant(oldestMS), err
}

// Block records that the service wants no request before until.
func (s *Store) Block(ctx context.Context, until time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE docs_service SET blocked_until = $1 WHERE blocked_until < $1`, milliseconds(until))
		return err
	})
}

func milliseconds(t time.Time) int64 { return t.UnixMilli() }
func instant(ms int64) time.Time     { return time.UnixMilli(ms).UTC() }

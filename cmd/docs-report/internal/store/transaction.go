package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

const patience = 2 * time.Minute // how long to wait for a database that cannot be reached

// write runs work in a transaction, and waits for a database that cannot be reached. If the
// response to a commit was lost, write calls work again: work must notice that it is done already.
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
			reason := redact.OneLine(err.Error(), 500)
			s.log("The database cannot be reached: waiting for it, %v at most: %s", patience, reason)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

func (s *Store) transact(ctx context.Context, work func(*sql.Tx) error) error {
	return sqldb.Transact(ctx, s.db, work)
}

// changeOne runs a statement that changes one row, or none if another run was faster.
func changeOne(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if changed != 1 {
		return ErrOvertaken
	}
	return nil
}

// isConflict reports whether another program makes the same tables at the same time.
func isConflict(err error) bool {
	const uniqueViolation, duplicateTable, duplicateObject = "23505", "42P07", "42710"
	switch sqldb.SQLState(err) {
	case uniqueViolation, duplicateTable, duplicateObject:
		return true
	}
	return isBusy(err)
}

// isBusy reports whether another program is writing into the SQLite file. SQLite does not wait for
// that program when it changes a new file to WAL.
func isBusy(err error) bool {
	const busy = 5
	return isSQLite(err, busy)
}

// isJunk reports whether a file is not a SQLite database.
func isJunk(err error) bool {
	const notADatabase = 26
	return isSQLite(err, notADatabase)
}

// isLocked reports whether this run may not write into the SQLite file or its folder.
func isLocked(err error) bool {
	const readOnly, cannotOpen = 8, 14
	return isSQLite(err, readOnly) || isSQLite(err, cannotOpen)
}

func isSQLite(err error, code int) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == code
}

// isAway reports whether the database cannot be reached now, but may be back soon.
func isAway(err error) bool {
	if code := sqldb.SQLState(err); code != "" {
		// A lost connection, a shutdown or start, too many connections, a deadlock.
		return slices.Contains([]string{"08", "53", "40"}, code[:2]) || strings.HasPrefix(code, "57P")
	}

	var netErr net.Error
	if errors.As(err, &netErr) || pgconn.SafeToRetry(err) || isBusy(err) {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Package sqldb is what the commands with a database have in common, for Postgres and SQLite. It
// imports no driver: the commands do.
package sqldb

import (
	"context"
	"database/sql"

	"github.com/mintlify-community/mintlify-go/once"
)

// Transact commits what work did, or nothing of it.
func Transact(ctx context.Context, db *sql.DB, work func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // fails after a commit

	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Exec runs statements one by one, each with the same arguments.
func Exec(ctx context.Context, db once.DB, statements []string, args ...any) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement, args...); err != nil {
			return err
		}
	}
	return nil
}

// Scan calls each for the rows of a query.
func Scan(ctx context.Context, db once.DB, each func(*sql.Rows) error, query string, args ...any) error {
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

// All returns what read makes of each row of a query. It is empty, never nil, if there is none.
func All[T any](
	ctx context.Context, db once.DB, read func(*sql.Rows) (T, error), query string, args ...any,
) ([]T, error) {
	all := []T{}
	err := Scan(ctx, db, func(rows *sql.Rows) error {
		one, err := read(rows)
		if err != nil {
			return err
		}

		all = append(all, one)
		return nil
	}, query, args...)
	return all, err
}

// Number returns the number that a query selects, or 0 if there is no row.
func Number(ctx context.Context, db once.DB, query string, args ...any) (int64, error) {
	var n sql.NullInt64
	err := Scan(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&n) }, query, args...)
	return n.Int64, err
}

// Strings returns the text in the only column of a query's rows.
func Strings(ctx context.Context, db once.DB, query string, args ...any) ([]string, error) {
	return All(ctx, db, func(rows *sql.Rows) (string, error) {
		var text string
		err := rows.Scan(&text)
		return text, err
	}, query, args...)
}

// Changed returns how many rows a statement has changed.
func Changed(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

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

// Number returns the number that a query selects, or 0 if there is no row.
func Number(ctx context.Context, db once.DB, query string, args ...any) (int64, error) {
	var n sql.NullInt64
	err := Scan(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&n) }, query, args...)
	return n.Int64, err
}

// Strings returns the text in the only column of a query's rows.
func Strings(ctx context.Context, db once.DB, query string, args ...any) ([]string, error) {
	var texts []string
	err := Scan(ctx, db, func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}

		texts = append(texts, text)
		return nil
	}, query, args...)
	return texts, err
}

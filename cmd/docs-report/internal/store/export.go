package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// ErrOvertaken matches a write into an export that another run has taken further,
// completed or begun anew. Nothing was written: look at the window's state again.
var ErrOvertaken = errors.New("another run was faster")

// Begin begins an export of w in place of the one in state, if there is one.
func (s *Store) Begin(ctx context.Context, w Window, state State) (*Export, error) {
	export := &Export{token: rand.Int64()}
	export.At = time.Now()
	var old int64 = -1 // no token
	if state.Export != nil {
		old = state.Export.token
	}
	err := s.transact(ctx, func(tx *sql.Tx) error {
		// The export's row comes first in every transaction: runs queue up there.
		err := changeOne(ctx, tx, `
			INSERT INTO mintlify_exports (project, date_from, date_to, token, begun_at, next_offset, human, ai, total)
			VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0)
			ON CONFLICT (project, date_from, date_to) DO UPDATE
			SET token = excluded.token, begun_at = excluded.begun_at, next_offset = 0, human = 0, ai = 0, total = 0
			WHERE mintlify_exports.token = $6`, w.with(export.token, milliseconds(export.At), old)...)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM mintlify_staging`+ofWindow, w.with()...)
		return err
	})
	return export, err
}

// Append adds a page to an export and returns how far it has come. The last page
// replaces the window's rows and totals in the same transaction, so that nobody sees
// half of them, and ends the export: it is nil then.
func (s *Store) Append(ctx context.Context, w Window, export *Export, page *mintlify.VisitorPage) (*Export, error) {
	next := *export
	next.Offset, next.Totals = page.NextOffset, page.Totals
	err := s.transact(ctx, func(tx *sql.Tx) error {
		err := changeOne(ctx, tx, `UPDATE mintlify_exports SET next_offset = $4, human = $5, ai = $6, total = $7`+ofWindow+` AND token = $8 AND next_offset = $9`,
			w.with(next.Offset, next.Totals.Human, next.Totals.AI, next.Totals.Total, export.token, export.Offset)...)
		if err != nil {
			return err
		}
		if err := insertStaging(ctx, tx, w, page); err != nil || page.HasMore {
			return err
		}
		return publish(ctx, tx, w)
	})
	if err != nil || !page.HasMore {
		return nil, err
	}
	return &next, nil
}

// rowsAtOnce keeps statements short: SQLite looks each parameter up among all of them.
const rowsAtOnce = 25

func insertStaging(ctx context.Context, tx *sql.Tx, w Window, page *mintlify.VisitorPage) error {
	position := page.Offset
	for rows := range slices.Chunk(page.Visitors, rowsAtOnce) {
		var values []string
		args := w.with()
		for _, row := range rows {
			n := len(args)
			values = append(values, fmt.Sprintf("($1, $2, $3, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5))
			args = append(args, position, text(row.Path), row.Human, row.AI, row.Total)
			position++
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO mintlify_staging (project, date_from, date_to, position, path, human, ai, total) VALUES `+strings.Join(values, ", "), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// publish has the staged rows replace the window's.
func publish(ctx context.Context, tx *sql.Tx, w Window) error {
	for _, statement := range []string{
		`DELETE FROM mintlify_visitors` + ofWindow,
		`INSERT INTO mintlify_visitors (project, date_from, date_to, position, path, human, ai, total)
		 SELECT project, date_from, date_to, position, path, human, ai, total FROM mintlify_staging` + ofWindow,
		`DELETE FROM mintlify_windows` + ofWindow,
		`INSERT INTO mintlify_windows (project, date_from, date_to, fetched_at, human, ai, total, pages)
		 SELECT project, date_from, date_to, begun_at, human, ai, total,
		        (SELECT COUNT(*) FROM mintlify_staging` + ofWindow + `)
		 FROM mintlify_exports` + ofWindow,
		`DELETE FROM mintlify_staging` + ofWindow,
		`DELETE FROM mintlify_exports` + ofWindow,
	} {
		if _, err := tx.ExecContext(ctx, statement, w.with()...); err != nil {
			return err
		}
	}
	return nil
}

// changeOne runs a statement that changes one row, or none if another run was faster.
func changeOne(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed != 1 {
		err = ErrOvertaken
	}
	return err
}

// text is s as every database takes it: Postgres has no NUL in a text.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

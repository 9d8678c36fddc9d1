package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Kind is what an export is of.
type Kind string

// The kinds of exports. All but visitors are lists.
const (
	Visitors       Kind = "visitors"
	Views          Kind = "views"
	Searches       Kind = "searches"
	FeedbackByPage Kind = "feedback by page"
	Feedback       Kind = "feedback"
	Conversations  Kind = "conversations"
)

// Export is what was or is being loaded of a window. The zero value is none.
type Export struct {
	Window
	Kind      Kind
	At        time.Time              // when it began
	Totals    mintlify.VisitorTotals // as the service counts; of a list, the total alone
	Kept      int                    // rows, of a complete one
	Truncated bool                   // the service has more rows
	Texts     bool                   // what readers wrote is kept
	Problem   string                 // why there is no row
	Offset    int                    // of the next page, while it is under way
	Cursor    string                 // the same, for exports that page by cursor

	id       int64
	complete bool
	holder   string
	until    int64
}

// Page is a page of an export: visitors, or the rows of a list.
type Page struct {
	Visitors []mintlify.Visitor
	Rows     []any // marshal to JSON
	Totals   mintlify.VisitorTotals
	Next     int
	Cursor   string // of the next page
	More     bool   // the service has more rows
	Last     bool   // no further page is asked for
	Texts    bool   // what readers wrote is kept
}

// remove deletes an export, if there is one, and its rows.
func remove(ctx context.Context, tx *sql.Tx, id int64) error {
	for _, statement := range []string{`DELETE FROM docs_visitors WHERE export = $1`, `DELETE FROM docs_rows WHERE export = $1`, `DELETE FROM docs_exports WHERE id = $1`} {
		if _, err := tx.ExecContext(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}

// Append adds a page to an export and returns how far it has come. The last page completes
// it, in the place of the window's last one: nobody sees half of it.
func (s *Store) Append(ctx context.Context, e Export, page *Page) (next Export, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		next = e
		next.Offset, next.Cursor, next.Totals = page.Next, page.Cursor, page.Totals
		// The export's row comes first in every transaction: runs queue up there.
		err := changeOne(ctx, tx, `UPDATE docs_exports SET held_until = $1, next_offset = $2, cursor_at = $3, human = $4, ai = $5, total = $6
			WHERE id = $7 AND holder = $8 AND next_offset = $9 AND NOT complete`,
			milliseconds(time.Now().Add(LeaseTime)), next.Offset, next.Cursor, next.Totals.Human, next.Totals.AI, next.Totals.Total, e.id, s.holder, e.Offset)
		if err != nil {
			return err
		}
		if err := insertRows(ctx, tx, e, page); err != nil || !page.Last {
			return err
		}
		return complete(ctx, tx, e, page.More, page.Texts, "")
	})
	return next, err
}

// EndWith completes the export of a list that the service refuses, and keeps the reason.
func (s *Store) EndWith(ctx context.Context, e Export, problem string) error {
	return s.write(ctx, func(tx *sql.Tx) error { return complete(ctx, tx, e, false, false, text(problem)) })
}

func complete(ctx context.Context, tx *sql.Tx, e Export, truncated, texts bool, problem string) error {
	old, _, err := find(ctx, tx, e.Window, e.Kind)
	if err != nil {
		return err
	}
	if err := remove(ctx, tx, old.id); err != nil {
		return err
	}
	return changeOne(ctx, tx, `UPDATE docs_exports SET complete = TRUE, truncated = $1, texts = $2, problem = $3,
			rows_kept = (SELECT COUNT(*) FROM docs_visitors WHERE export = $4) + (SELECT COUNT(*) FROM docs_rows WHERE export = $4)
		WHERE id = $4 AND NOT complete`, truncated, texts, problem, e.id)
}

const rowsAtOnce = 25 // keeps statements short: SQLite looks each parameter up among all of them

func insertRows(ctx context.Context, tx *sql.Tx, e Export, page *Page) error {
	position := e.Offset
	for rows := range slices.Chunk(page.Visitors, rowsAtOnce) {
		var values []string
		args := []any{e.id}
		for _, row := range rows {
			n := len(args)
			values = append(values, fmt.Sprintf("($1, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5))
			args = append(args, position, text(row.Path), row.Human, row.AI, row.Total)
			position++
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO docs_visitors (export, position, path, human, ai, total) VALUES `+strings.Join(values, ", "), args...); err != nil {
			return err
		}
	}
	for _, row := range page.Rows {
		data, err := json.Marshal(row)
		if err == nil { // Postgres cannot take a NUL out of JSON
			_, err = tx.ExecContext(ctx, `INSERT INTO docs_rows (export, position, data) VALUES ($1, $2, $3)`, e.id, position, strings.ReplaceAll(string(data), `\u0000`, `\ufffd`))
		}
		if err != nil {
			return err
		}
		position++
	}
	return nil
}

// Prune deletes rolling windows of w's span that ended before w's own comparison.
func (s *Store) Prune(ctx context.Context, w Window) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		old, err := query(ctx, tx, ` WHERE project = $1 AND span = $2 AND date_to < $3`, w.Project, string(w.Span()), w.From.String())
		for _, e := range old {
			if err == nil {
				err = remove(ctx, tx, e.id)
			}
		}
		return err
	})
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

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

// Kind says what an export contains.
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

// Export is what a run has loaded, or is loading, for a window. The zero value is no export.
type Export struct {
	Window
	Kind      Kind
	At        time.Time              // when it began
	Totals    mintlify.VisitorTotals // are the service's own; a list has a total alone
	Kept      int                    // counts the rows of a complete export
	Truncated bool                   // the service has more rows
	Texts     bool                   // what readers wrote is kept
	Problem   string                 // why there is no row
	Expired   bool                   // the rows were deleted for their age
	Offset    int                    // is where the next page begins, while the export is under way
	Cursor    string                 // is Offset's counterpart, for exports that page by cursor

	id       int64
	complete bool
	holder   string
	until    int64
}

// Page is a page of an export: visitors, or the rows of a list.
type Page struct {
	Visitors []mintlify.Visitor
	Rows     []any    // marshal to JSON
	IDs      []string // are the rows', if they have any: what is forgotten by its id is left out
	Totals   mintlify.VisitorTotals
	Next     int
	Cursor   string // asks for the next page
	More     bool   // the service has more rows
	Last     bool   // no further page is asked for
	Texts    bool   // what readers wrote is kept
}

// Append adds a page to an export and returns the export as it is then. The last page completes
// the export, which then replaces the window's old one: nobody sees half of an export.
func (s *Store) Append(ctx context.Context, e Export, page *Page) (Export, error) {
	next := e
	next.Offset = page.Next
	next.Cursor = page.Cursor
	next.Totals = page.Totals

	err := s.write(ctx, func(tx *sql.Tx) error {
		forgotten, err := readForgotten(ctx, tx, e, page.IDs)
		if err != nil {
			return err
		}

		// The export's row comes before all others that it changes: runs queue up there.
		err = changeOne(ctx, tx, `UPDATE docs_exports
			SET held_until = $1, next_offset = $2, cursor_at = $3, human = $4, ai = $5, total = $6
			WHERE id = $7 AND holder = $8 AND next_offset = $9 AND NOT complete`,
			milliseconds(time.Now().Add(LeaseTime)), next.Offset, next.Cursor,
			next.Totals.Human, next.Totals.AI, next.Totals.Total, e.id, s.holder, e.Offset)
		if err != nil {
			return err
		}

		if err := insertVisitors(ctx, tx, e, page.Visitors); err != nil {
			return err
		}
		if err := insertRows(ctx, tx, e, page, forgotten); err != nil {
			return err
		}
		if !page.Last {
			return nil
		}
		return complete(ctx, tx, e, ending{truncated: page.More, texts: page.Texts})
	})
	return next, err
}

// EndWith completes the export of a list that the service refuses, and keeps the reason.
func (s *Store) EndWith(ctx context.Context, e Export, problem string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		return complete(ctx, tx, e, ending{problem: text(problem)})
	})
}

// ending has what is known about an export once it is complete.
type ending struct {
	truncated, texts bool
	problem          string
}

func complete(ctx context.Context, tx *sql.Tx, e Export, end ending) error {
	old, _, err := find(ctx, tx, e.Window, e.Kind)
	if err != nil {
		return err
	}
	if err := remove(ctx, tx, old.id); err != nil {
		return err
	}

	return changeOne(ctx, tx, `UPDATE docs_exports SET complete = TRUE, truncated = $1, texts = $2, problem = $3,
		rows_kept = (SELECT COUNT(*) FROM docs_visitors WHERE export = $4)
			+ (SELECT COUNT(*) FROM docs_rows WHERE export = $4)
		WHERE id = $4 AND NOT complete`, end.truncated, end.texts, end.problem, e.id)
}

const rowsAtOnce = 25 // keeps statements short: SQLite looks each parameter up among all of them

func insertVisitors(ctx context.Context, tx *sql.Tx, e Export, visitors []mintlify.Visitor) error {
	const insert = `INSERT INTO docs_visitors (export, position, path, human, ai, total) VALUES `
	position := e.Offset
	for rows := range slices.Chunk(visitors, rowsAtOnce) {
		var values []string
		args := []any{e.id}
		for _, row := range rows {
			n := len(args)
			values = append(values, fmt.Sprintf("($1, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5))
			args = append(args, position, text(row.Path), row.Human, row.AI, row.Total)
			position++
		}

		if _, err := tx.ExecContext(ctx, insert+strings.Join(values, ", "), args...); err != nil {
			return err
		}
	}
	return nil
}

func insertRows(ctx context.Context, tx *sql.Tx, e Export, page *Page, forgotten map[string]bool) error {
	const insert = `INSERT INTO docs_rows (export, position, data) VALUES ($1, $2, $3)`
	for i, row := range page.Rows {
		if page.IDs != nil && forgotten[page.IDs[i]] {
			continue
		}
		data, err := json.Marshal(row)
		if err != nil {
			return err
		}

		withoutNUL := strings.ReplaceAll(string(data), `\u0000`, `\ufffd`) // Postgres cannot take a NUL out of JSON
		if _, err := tx.ExecContext(ctx, insert, e.id, e.Offset+i, withoutNUL); err != nil {
			return err
		}
	}
	return nil
}

// text returns s as every database accepts it: Postgres allows no NUL in a text.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// remove deletes an export, if there is one, and its rows.
func remove(ctx context.Context, tx *sql.Tx, id int64) error {
	for _, statement := range []string{
		`DELETE FROM docs_visitors WHERE export = $1`,
		`DELETE FROM docs_rows WHERE export = $1`,
		`DELETE FROM docs_exports WHERE id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}

// Prune deletes rolling windows of w's span that ended before w's own comparison. Weeks are
// not rolling: they stay.
func (s *Store) Prune(ctx context.Context, w Window) error {
	if w.Span() == Week {
		return nil
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		const condition = ` WHERE project = $1 AND span = $2 AND date_to < $3`
		old, err := query(ctx, tx, condition, w.Project, string(w.Span()), w.From.String())
		if err != nil {
			return err
		}

		for _, e := range old {
			if err := remove(ctx, tx, e.id); err != nil {
				return err
			}
		}
		return nil
	})
}

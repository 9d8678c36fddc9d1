package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Page is a page of an export: visitors, or the rows of a list.
type Page struct {
	Visitors []mintlify.Visitor
	Rows     []any    // marshal to JSON
	IDs      []string // are the rows', or search terms: what is forgotten is left out
	Totals   mintlify.VisitorTotals
	Next     int
	Cursor   string // asks for the next page
	More     bool   // the service has more rows
	Last     bool   // no further page is asked for

	// IsResumed says that the page is the first of a run, and not of the export: if the service removes
	// rows after it has applied the limit, it repeats some that are stored.
	IsResumed bool
}

// insert stores the rows of a page behind those that the export has.
func (e Export) insert(ctx context.Context, tx *sql.Tx, page *Page) error {
	visitors := page.Visitors
	if page.IsResumed {
		var err error
		if visitors, err = e.withoutStored(ctx, tx, visitors); err != nil {
			return err
		}
	}
	if err := e.insertVisitors(ctx, tx, visitors); err != nil {
		return err
	}
	return e.insertRows(ctx, tx, page)
}

// withoutStored returns visitors without the rows that the export already has, each as often as it has it.
// A row without a path may be equal to another row.
func (e Export) withoutStored(
	ctx context.Context, tx *sql.Tx, visitors []mintlify.Visitor,
) ([]mintlify.Visitor, error) {
	var stored []mintlify.Visitor
	if err := sqldb.Scan(ctx, tx, appendVisitor(&stored), selectVisitors, e.id); err != nil {
		return nil, err
	}

	counts := map[mintlify.Visitor]int{}
	for _, row := range stored {
		counts[row]++
	}
	return slices.DeleteFunc(slices.Clone(visitors), func(row mintlify.Visitor) bool {
		row.Path = text(row.Path)
		counts[row]--
		return row.Path != "" && counts[row] >= 0
	}), nil
}

const rowsAtOnce = 25 // keeps statements short: SQLite looks each parameter up among all of them

func (e Export) insertVisitors(ctx context.Context, tx *sql.Tx, visitors []mintlify.Visitor) error {
	const insert = `INSERT INTO docs_visitors (export, position, path, human, ai, total) VALUES `
	at := e.Offset
	for rows := range slices.Chunk(visitors, rowsAtOnce) {
		var values []string
		args := []any{e.id}
		for _, row := range rows {
			n := len(args)
			values = append(values, fmt.Sprintf("($1, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5))
			args = append(args, at, text(row.Path), row.Human, row.AI, row.Total)
			at++
		}

		if _, err := tx.ExecContext(ctx, insert+strings.Join(values, ", "), args...); err != nil {
			return err
		}
	}
	return nil
}

func (e Export) insertRows(ctx context.Context, tx *sql.Tx, page *Page) error {
	isForgotten, err := e.isForgotten(ctx, tx)
	if err != nil {
		return err
	}

	const insert = `INSERT INTO docs_rows (export, position, data) VALUES ($1, $2, $3)`
	for i, row := range page.Rows {
		if page.IDs != nil && isForgotten(page.IDs[i]) {
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

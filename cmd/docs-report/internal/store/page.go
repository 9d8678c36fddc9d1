package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Page is a page of an export: visitors, or the rows of a list.
type Page struct {
	Visitors []mintlify.Visitor
	Rows     []any // marshal to JSON
	Totals   mintlify.VisitorTotals
	Next     int
	Cursor   string // asks for the next page
	More     bool   // the service has more rows
	Last     bool   // no further page is asked for

	// IsResumed says that the page is the first of a run, and not of the export: if the service removes
	// rows after it has applied the limit, it repeats some that are stored.
	IsResumed bool
}

// insertVisitors stores the visitors of a page. It leaves out what a page that IsResumed repeats, each row as
// often as the export has it. A row without a path may be equal to another row.
func (e Export) insertVisitors(ctx context.Context, tx *sql.Tx, page *Page) error {
	stored := map[mintlify.Visitor]int{}
	if page.IsResumed {
		rows, err := sqldb.All(ctx, tx, scanVisitor, selectVisitors, e.id)
		if err != nil {
			return err
		}
		for _, row := range rows {
			stored[row]++
		}
	}

	const insert = `INSERT INTO docs_visitors (export, position, path, human, ai, total)
		VALUES ($1, $2, $3, $4, $5, $6)`
	for i, row := range page.Visitors {
		row.Path = text(row.Path)
		stored[row]--
		if stored[row] >= 0 && row.Path != "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, insert, e.id, e.Offset+i, row.Path, row.Human, row.AI, row.Total); err != nil {
			return err
		}
	}
	return nil
}

// insertRows stores the rows of a list, without those that are forgotten, and without texts unless they are kept.
func (e Export) insertRows(ctx context.Context, tx *sql.Tx, page *Page) error {
	isForgotten, err := e.isForgotten(ctx, tx)
	if err != nil {
		return err
	}

	const insert = `INSERT INTO docs_rows (export, position, data) VALUES ($1, $2, $3)`
	for i, row := range page.Rows {
		data, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if isForgotten(idOf(data)) {
			continue
		}

		if e.Kind.HasTexts() && !e.Texts {
			if data, err = stripTexts(data); err != nil {
				return err
			}
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

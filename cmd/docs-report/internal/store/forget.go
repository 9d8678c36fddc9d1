package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// AllProjects stands for all projects in ForgetTexts and Forget.
const AllProjects = ""

const ofTexts = ` WHERE kind IN ('conversations', 'feedback') AND ($1 = '' OR project = $1)`

// ForgetTexts deletes what readers wrote, and returns from how many rows. Counts, categories and
// paths stay. A run that is loading some begins them anew.
func (s *Store) ForgetTexts(ctx context.Context, project string) (int, error) {
	return s.forget(ctx, func(tx *sql.Tx) (int, error) {
		if err := remove(ctx, tx, ofTexts+` AND NOT complete`, project); err != nil {
			return 0, err
		}
		rows, err := storedRows(ctx, tx, ofTexts+` AND texts`, project)
		if err != nil {
			return 0, err
		}

		stripped := 0
		for _, row := range rows {
			data, err := stripTexts(row.data)
			if err != nil {
				return 0, err
			}
			if bytes.Equal(data, row.data) {
				continue
			}

			stripped++
			const update = `UPDATE docs_rows SET data = $1 WHERE export = $2 AND position = $3`
			if _, err := tx.ExecContext(ctx, update, string(data), row.export, row.position); err != nil {
				return 0, err
			}
		}

		_, err = tx.ExecContext(ctx, `UPDATE docs_exports SET texts = FALSE`+ofTexts, project)
		return stripped, err
	})
}

// forget calls work, which returns how many rows it has changed. It keeps a sync from storing a page
// meanwhile, which may bring back what is forgotten.
func (s *Store) forget(ctx context.Context, work func(*sql.Tx) (int, error)) (int, error) {
	rows := 0
	err := sqldb.Transact(ctx, s.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE docs_service SET version = version`); err != nil {
			return err
		}
		var err error
		rows, err = work(tx)
		return err
	})
	return rows, err
}

// storedRow is a row of a list.
type storedRow struct {
	export, position int64
	data             []byte
}

// storedRows returns the rows of the exports for which a condition is true.
func storedRows(ctx context.Context, tx *sql.Tx, condition string, args ...any) ([]storedRow, error) {
	return sqldb.All(ctx, tx, func(rows *sql.Rows) (storedRow, error) {
		var row storedRow
		err := rows.Scan(&row.export, &row.position, &row.data)
		return row, err
	}, `SELECT export, position, data FROM docs_rows JOIN docs_exports ON id = export`+condition, args...)
}

// idOf returns the id or the search term of a row.
func idOf(data []byte) string {
	var row struct{ ID, SearchQuery string }
	_ = json.Unmarshal(data, &row) // what is not JSON has no id
	return cmp.Or(row.SearchQuery, row.ID)
}

// Forget deletes the rows of a kind that have an id, or the searches for a term in all its spellings, for
// good. It returns how many there were. A later run leaves them out.
func (s *Store) Forget(ctx context.Context, project string, kind Kind, what string) (int, error) {
	return s.forget(ctx, func(tx *sql.Tx) (int, error) {
		nameOf, err := namesOfForgotten(ctx, tx, kind)
		if err != nil {
			return 0, err
		}

		name := nameOf(what)
		const note = `INSERT INTO docs_forgotten (project, kind, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
		if _, err := tx.ExecContext(ctx, note, project, string(kind), name); err != nil {
			return 0, err
		}

		const ofKind = ` WHERE kind = $1 AND ($2 = '' OR project = $2)`
		rows, err := storedRows(ctx, tx, ofKind, string(kind), project)
		if err != nil {
			return 0, err
		}

		deleted := 0
		for _, row := range rows {
			if nameOf(idOf(row.data)) != name {
				continue
			}

			deleted++
			const remove = `DELETE FROM docs_rows WHERE export = $1 AND position = $2`
			if _, err := tx.ExecContext(ctx, remove, row.export, row.position); err != nil {
				return 0, err
			}
		}
		return deleted, nil
	})
}

// namesOfForgotten returns how the database names a row that is forgotten: by its id, or by a salted hash
// of its search term.
func namesOfForgotten(ctx context.Context, tx *sql.Tx, kind Kind) (func(id string) string, error) {
	if kind != Searches {
		return func(id string) string { return id }, nil
	}

	salt := ""
	err := tx.QueryRowContext(ctx, `SELECT salt FROM docs_service`).Scan(&salt)
	return func(term string) string {
		hash := hmac.New(sha256.New, []byte(salt))
		hash.Write([]byte(FoldTerm(term)))
		return hex.EncodeToString(hash.Sum(nil))
	}, err
}

// isForgotten returns whether a page must not bring a row back. The page's transaction and that of Forget
// exclude one another.
func (e Export) isForgotten(ctx context.Context, tx *sql.Tx) (func(id string) bool, error) {
	nameOf, err := namesOfForgotten(ctx, tx, e.Kind)
	if err != nil {
		return nil, err
	}
	const statement = `SELECT id FROM docs_forgotten WHERE kind = $1 AND project IN ('', $2)`
	names, err := sqldb.Strings(ctx, tx, statement, string(e.Kind), e.Project)
	return func(id string) bool { return slices.Contains(names, nameOf(id)) }, err
}

// Expire deletes the rows of a project's lists that ended by a day. Counts stay, and no run loads
// the rows again.
func (s *Store) Expire(ctx context.Context, project string, by mintlify.Date) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		const outdated = ` WHERE kind <> 'visitors' AND project = $1 AND date_to <= $2`
		return expire(ctx, tx, outdated, project, by.String())
	})
}

// ExpireDays deletes the pages of a project's days that ended by a day, but not those of the days to keep.
// Counts stay, and no run loads the pages again.
func (s *Store) ExpireDays(ctx context.Context, project string, by mintlify.Date, keep []mintlify.Date) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		const outdated = ` WHERE kind = 'visitors' AND span = 'day' AND project = $1 AND date_to <= $2
			AND $3 NOT LIKE '%' || date_from || '%'`
		return expire(ctx, tx, outdated, project, by.String(), fmt.Sprint(keep))
	})
}

// expire deletes the rows of the exports for which a condition is true.
func expire(ctx context.Context, tx *sql.Tx, condition string, args ...any) error {
	if err := remove(ctx, tx, condition+` AND NOT complete`, args...); err != nil {
		return err
	}

	const ofExports = ` WHERE export IN (SELECT id FROM docs_exports`
	return sqldb.Exec(ctx, tx, []string{
		`DELETE FROM docs_rows` + ofExports + condition + ` AND NOT expired)`,
		`DELETE FROM docs_visitors` + ofExports + condition + ` AND NOT expired)`,
		`UPDATE docs_exports SET expired = TRUE, texts = FALSE` + condition,
	}, args...)
}

package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
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
		if err := removeAll(ctx, tx, ofTexts+` AND NOT complete`, project); err != nil {
			return 0, err
		}
		kept, err := query(ctx, tx, ofTexts+` AND texts`, project)
		if err != nil {
			return 0, err
		}

		rows := 0
		for _, e := range kept {
			stripped, err := stripExport(ctx, tx, e)
			if err != nil {
				return 0, err
			}
			rows += stripped
		}
		return rows, nil
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

// stripExport deletes the texts of an export, and returns how many rows had some.
func stripExport(ctx context.Context, tx *sql.Tx, e Export) (int, error) {
	stripped := map[int64]string{}
	err := sqldb.Scan(ctx, tx, func(rows *sql.Rows) error {
		var position int64
		var data []byte
		if err := rows.Scan(&position, &data); err != nil {
			return err
		}

		without, err := stripTexts(e.Kind, data)
		if without != string(data) {
			stripped[position] = without
		}
		return err
	}, `SELECT position, data FROM docs_rows WHERE export = $1`, e.id)
	if err != nil {
		return 0, err
	}

	for position, data := range stripped {
		const update = `UPDATE docs_rows SET data = $1 WHERE export = $2 AND position = $3`
		if _, err := tx.ExecContext(ctx, update, data, e.id, position); err != nil {
			return 0, err
		}
	}

	_, err = tx.ExecContext(ctx, `UPDATE docs_exports SET texts = FALSE WHERE id = $1`, e.id)
	return len(stripped), err
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

		var found [][]any
		err = sqldb.Scan(ctx, tx, func(rows *sql.Rows) error {
			var export, position int64
			var id string
			err := rows.Scan(&export, &position, &id)

			if nameOf(id) == name {
				found = append(found, []any{export, position})
			}
			return err
		}, `SELECT r.export, r.position, COALESCE(r.data ->> 'searchQuery', r.data ->> 'id', '')
			FROM docs_rows r JOIN docs_exports e ON e.id = r.export
			WHERE e.kind = $1 AND ($2 = '' OR e.project = $2)`, string(kind), project)
		if err != nil {
			return 0, err
		}

		for _, row := range found {
			const remove = `DELETE FROM docs_rows WHERE export = $1 AND position = $2`
			if _, err := tx.ExecContext(ctx, remove, row...); err != nil {
				return 0, err
			}
		}
		return len(found), nil
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
		const condition = ` WHERE kind <> 'visitors' AND project = $1 AND date_to <= $2 AND NOT expired`
		return expireAll(ctx, tx, nil, condition, project, by.String())
	})
}

// ExpireDays deletes the pages of a project's days that ended by a day, but not those of the days to keep.
// Counts stay, and no run loads the pages again.
func (s *Store) ExpireDays(ctx context.Context, project string, by mintlify.Date, keep []mintlify.Date) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		const condition = ` WHERE kind = 'visitors' AND span = 'day' AND project = $1 AND date_to <= $2 AND NOT expired`
		return expireAll(ctx, tx, keep, condition, project, by.String())
	})
}

// expireAll deletes the rows of the exports for which a condition is true, but not of those that begin
// on a day to keep.
func expireAll(ctx context.Context, tx *sql.Tx, keep []mintlify.Date, condition string, args ...any) error {
	old, err := query(ctx, tx, condition, args...)
	if err != nil {
		return err
	}

	for _, e := range old {
		if slices.Contains(keep, e.From) {
			continue
		}
		if err := e.expire(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (e Export) expire(ctx context.Context, tx *sql.Tx) error {
	if e.State == Begun {
		return remove(ctx, tx, e.id)
	}
	return sqldb.Exec(ctx, tx, []string{
		`DELETE FROM docs_rows WHERE export = $1`,
		`DELETE FROM docs_visitors WHERE export = $1`,
		`UPDATE docs_exports SET expired = TRUE, texts = FALSE WHERE id = $1`,
	}, e.id)
}

// HasTexts reports whether the database keeps what readers of projects wrote.
func (s *Store) HasTexts(ctx context.Context, projects []string) (bool, error) {
	for _, project := range projects {
		kept, err := query(ctx, s.db, ofTexts+` AND texts AND rows_kept > 0 LIMIT 1`, project)
		if err != nil || len(kept) > 0 {
			return len(kept) > 0, err
		}
	}
	return false, nil
}

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

// AllProjects stands for all projects in ForgetTexts and ForgetRows.
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
	err := s.write(ctx, func(tx *sql.Tx) error {
		if _, err := exec(ctx, tx, `UPDATE docs_service SET version = version`); err != nil {
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

// ForgetRows deletes the rows of a kind that have an id, for good, and returns how many
// there were. A later run leaves them out.
func (s *Store) ForgetRows(ctx context.Context, project string, kind Kind, id string) (int, error) {
	return s.forget(ctx, func(tx *sql.Tx) (int, error) {
		if err := noteForgotten(ctx, tx, project, kind, id); err != nil {
			return 0, err
		}

		deleted, err := exec(ctx, tx, `DELETE FROM docs_rows WHERE data ->> 'id' = $1 AND export IN
			(SELECT id FROM docs_exports WHERE kind = $2 AND ($3 = '' OR project = $3))`, id, string(kind), project)
		return int(deleted), err
	})
}

// noteForgotten keeps later runs from bringing rows back.
func noteForgotten(ctx context.Context, tx *sql.Tx, project string, kind Kind, id string) error {
	const note = `INSERT INTO docs_forgotten (project, kind, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	_, err := tx.ExecContext(ctx, note, project, string(kind), id)
	return err
}

// ForgetTerm deletes the rows of a search term in all its spellings, for good, and returns how
// many there were. The database keeps only a salted hash of the term.
func (s *Store) ForgetTerm(ctx context.Context, project, term string) (int, error) {
	return s.forget(ctx, func(tx *sql.Tx) (int, error) {
		salt, err := readSalt(ctx, tx)
		if err != nil {
			return 0, err
		}
		if err := noteForgotten(ctx, tx, project, Searches, hashOf(salt, term)); err != nil {
			return 0, err
		}

		found, err := rowsOfTerm(ctx, tx, project, FoldTerm(term))
		if err != nil {
			return 0, err
		}

		for _, row := range found {
			const statement = `DELETE FROM docs_rows WHERE export = $1 AND position = $2`
			if _, err := tx.ExecContext(ctx, statement, row.export, row.position); err != nil {
				return 0, err
			}
		}
		return len(found), nil
	})
}

// rowKey names a row of a list.
type rowKey struct{ export, position int64 }

// rowsOfTerm returns the rows of searches whose term folds to a text.
func rowsOfTerm(ctx context.Context, tx *sql.Tx, project, folded string) ([]rowKey, error) {
	const statement = `SELECT r.export, r.position, r.data ->> 'searchQuery'
		FROM docs_rows r JOIN docs_exports e ON e.id = r.export
		WHERE e.kind = 'searches' AND ($1 = '' OR e.project = $1)`
	var found []rowKey
	err := sqldb.Scan(ctx, tx, func(rows *sql.Rows) error {
		var key rowKey
		var term string
		err := rows.Scan(&key.export, &key.position, &term)
		if FoldTerm(term) == folded {
			found = append(found, key)
		}
		return err
	}, statement, project)
	return found, err
}

func readSalt(ctx context.Context, tx *sql.Tx) (string, error) {
	salt := ""
	err := tx.QueryRowContext(ctx, `SELECT salt FROM docs_service`).Scan(&salt)
	return salt, err
}

func hashOf(salt, term string) string {
	hash := hmac.New(sha256.New, []byte(salt))
	hash.Write([]byte(FoldTerm(term)))
	return hex.EncodeToString(hash.Sum(nil))
}

// forgotten has what a page must not bring back: ids, or the hashes of search terms.
type forgotten struct {
	ids  map[string]bool
	salt string // "" for ids
}

func (f forgotten) has(id string) bool {
	if f.salt != "" && len(f.ids) > 0 {
		id = hashOf(f.salt, id)
	}
	return f.ids[id]
}

// readForgotten returns what a page must not bring back. The page's transaction and that of forget
// exclude one another.
func readForgotten(ctx context.Context, tx *sql.Tx, e Export, ids []string) (forgotten, error) {
	found := forgotten{ids: map[string]bool{}}
	if ids == nil {
		return found, nil
	}

	const statement = `SELECT id FROM docs_forgotten WHERE kind = $1 AND project IN ('', $2)`
	known, err := sqldb.Strings(ctx, tx, statement, string(e.Kind), e.Project)
	if err != nil {
		return found, err
	}

	for _, id := range known {
		found.ids[id] = true
	}
	if e.Kind == Searches {
		found.salt, err = readSalt(ctx, tx)
	}
	return found, err
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

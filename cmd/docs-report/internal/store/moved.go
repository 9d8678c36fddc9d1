package store

import (
	"context"
	"database/sql"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Move is a page that was found under a new name.
type Move struct {
	From, To string
	Day      mintlify.Date
}

// Moves returns the moves that the syncs of a project have found, oldest first.
func (s *Store) Moves(ctx context.Context, project string) ([]Move, error) {
	return sqldb.All(ctx, s.db, func(rows *sql.Rows) (Move, error) {
		var m Move
		err := rows.Scan(&m.From, &m.To, dateColumn{&m.Day})
		return m, err
	}, `SELECT path_from, path_to, moved_on FROM docs_moved WHERE project = $1 ORDER BY moved_on, path_from`, project)
}

// SaveMoves replaces the moves of a project.
func (s *Store) SaveMoves(ctx context.Context, project string, moves []Move) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM docs_moved WHERE project = $1`, project); err != nil {
			return err
		}
		for _, m := range moves {
			const insert = `INSERT INTO docs_moved (project, path_from, path_to, moved_on) VALUES ($1, $2, $3, $4)`
			if _, err := tx.ExecContext(ctx, insert, project, m.From, m.To, m.Day.String()); err != nil {
				return err
			}
		}
		return nil
	})
}

package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Sync says how the last sync of a project ended.
type Sync struct {
	Project string
	At      time.Time
	Missing int    // counts the requests that would load what the sync's flags ask for
	Problem string // "": none
}

// SaveSync replaces what is known about a project's last sync.
func (s *Store) SaveSync(ctx context.Context, last Sync) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		const statement = `INSERT INTO docs_syncs (project, ended_at, missing, problem) VALUES ($1, $2, $3, $4)
			ON CONFLICT (project) DO UPDATE
			SET ended_at = excluded.ended_at, missing = excluded.missing, problem = excluded.problem`
		_, err := tx.ExecContext(ctx, statement,
			last.Project, last.At.UnixMilli(), last.Missing, text(last.Problem))
		return err
	})
}

// Syncs returns how the last sync of each project ended, by project.
func (s *Store) Syncs(ctx context.Context) (map[string]Sync, error) {
	syncs := map[string]Sync{}
	err := sqldb.Scan(ctx, s.db, func(rows *sql.Rows) error {
		var last Sync
		err := rows.Scan(&last.Project, timeColumn{&last.At}, &last.Missing, &last.Problem)
		syncs[last.Project] = last
		return err
	}, `SELECT project, ended_at, missing, problem FROM docs_syncs`)
	return syncs, err
}

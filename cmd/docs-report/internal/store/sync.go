package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Sync says how the last sync of a project ended.
type Sync struct {
	Project string
	At      time.Time
	Missing int    // counts the requests that would load what the sync's flags ask for
	Problem string // "": none
	Failing []FailingList
}

// FailingList is a list that the last syncs in a row could not load.
type FailingList struct {
	Kind    Kind
	Times   int // counts the syncs
	Problem string
}

// SaveSync replaces what is known about a project's last sync.
func (s *Store) SaveSync(ctx context.Context, last Sync) error {
	lists, err := json.Marshal(last.Failing)
	if err != nil {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		const statement = `INSERT INTO docs_syncs (project, ended_at, missing, problem, lists)
			VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (project) DO UPDATE
			SET ended_at = excluded.ended_at, missing = excluded.missing, problem = excluded.problem,
				lists = excluded.lists`
		_, err := tx.ExecContext(ctx, statement,
			last.Project, last.At.UnixMilli(), last.Missing, text(last.Problem), text(string(lists)))
		return err
	})
}

// Syncs returns how the last sync of each project ended, by project.
func (s *Store) Syncs(ctx context.Context) (map[string]Sync, error) {
	syncs := map[string]Sync{}
	err := sqldb.Scan(ctx, s.db, func(rows *sql.Rows) error {
		var last Sync
		var lists []byte
		err := rows.Scan(&last.Project, timeColumn{&last.At}, &last.Missing, &last.Problem, &lists)
		if err != nil {
			return err
		}
		err = json.Unmarshal(lists, &last.Failing)
		syncs[last.Project] = last
		return err
	}, `SELECT project, ended_at, missing, problem, lists FROM docs_syncs`)
	return syncs, err
}

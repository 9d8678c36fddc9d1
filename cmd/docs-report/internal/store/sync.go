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
func (s *Store) Syncs(ctx context.Context) ([]Sync, error) {
	return sqldb.All(ctx, s.db, func(rows *sql.Rows) (Sync, error) {
		var last Sync
		err := rows.Scan(&last.Project, timeColumn{&last.At}, &last.Missing, &last.Problem)
		return last, err
	}, `SELECT project, ended_at, missing, problem FROM docs_syncs ORDER BY project`)
}

// Newest returns the newest complete export of a project's visitors of a span. It reports false
// if there is none.
func (s *Store) Newest(ctx context.Context, project string, span Span) (Export, bool, error) {
	const condition = ofVisitors + ` AND project = $1 AND span = $2 ORDER BY date_from DESC LIMIT 1`
	found, err := query(ctx, s.db, condition, project, string(span))
	if err != nil || len(found) == 0 {
		return Export{}, false, err
	}
	return found[0], true, nil
}

// Trouble says which exports of a kind the last runs could not load.
type Trouble struct {
	Kind    Kind
	Exports int
	Newest  Window // of them
	Problem string // is the newest's
}

// Troubles returns what the last runs could not load of a project, by kind.
func (s *Store) Troubles(ctx context.Context, project string) ([]Trouble, error) {
	const condition = ` WHERE project = $1 AND problem <> '' AND NOT expired
		ORDER BY kind, date_to DESC, date_from DESC`
	found, err := query(ctx, s.db, condition, project)
	if err != nil {
		return nil, err
	}

	var all []Trouble
	for _, r := range found {
		if len(all) == 0 || all[len(all)-1].Kind != r.Kind {
			all = append(all, Trouble{Kind: r.Kind, Newest: r.Window, Problem: r.Problem})
		}
		all[len(all)-1].Exports++
	}
	return all, nil
}

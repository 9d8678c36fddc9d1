package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Window is what one export is about: a project's visitors on the days from From to
// before To. Unique visitors do not add up, so each window is an export of its own.
type Window struct {
	Project  string
	From, To mintlify.Date
}

func (w Window) String() string {
	last := w.To.AddDays(-1)
	if last == w.From {
		return fmt.Sprintf("%s %v", w.Project, w.From)
	}
	return fmt.Sprintf("%s %v to %v", w.Project, w.From, last)
}

// with returns the arguments of a statement: the window's key and then more.
func (w Window) with(more ...any) []any {
	return append([]any{w.Project, w.From.String(), w.To.String()}, more...)
}

const ofWindow = ` WHERE project = $1 AND date_from = $2 AND date_to = $3`

// Counts are what a complete window has as a whole.
type Counts struct {
	At     time.Time // when the service was asked for the first of it
	Totals mintlify.VisitorTotals
	Pages  int // rows
}

// Export is an export under way: every row before Offset is in the staging table.
type Export struct {
	At     time.Time              // when it began
	Totals mintlify.VisitorTotals // known once Offset > 0
	Offset int
	token  int64 // new for each export, so that a slow run cannot write into a later one
}

// State is what the database knows of a window. Each part may be nil.
type State struct {
	Complete *Counts
	Export   *Export
}

// State returns what the database knows of w.
func (s *Store) State(ctx context.Context, w Window) (State, error) {
	var state State
	var complete Counts
	var export Export
	var at int64
	err := s.db.QueryRowContext(ctx, `SELECT fetched_at, pages, human, ai, total FROM mintlify_windows`+ofWindow, w.with()...).
		Scan(&at, &complete.Pages, &complete.Totals.Human, &complete.Totals.AI, &complete.Totals.Total)
	switch {
	case err == nil:
		complete.At = instant(at)
		state.Complete = &complete
	case !errors.Is(err, sql.ErrNoRows):
		return state, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT token, begun_at, next_offset, human, ai, total FROM mintlify_exports`+ofWindow, w.with()...).
		Scan(&export.token, &at, &export.Offset, &export.Totals.Human, &export.Totals.AI, &export.Totals.Total)
	switch {
	case err == nil:
		export.At = instant(at)
		state.Export = &export
	case !errors.Is(err, sql.ErrNoRows):
		return state, err
	}
	return state, nil
}

// Visitors returns w's totals and rows, in the service's order; nil counts where w is
// not complete. It is one statement, so that a run that replaces them is seen whole.
func (s *Store) Visitors(ctx context.Context, w Window) (*Counts, []mintlify.Visitor, error) {
	rows, err := s.db.QueryContext(ctx, `
		SELECT w.fetched_at, w.pages, w.human, w.ai, w.total,
		       v.position, COALESCE(v.path, ''), COALESCE(v.human, 0), COALESCE(v.ai, 0), COALESCE(v.total, 0)
		FROM mintlify_windows w LEFT JOIN mintlify_visitors v
		  ON v.project = w.project AND v.date_from = w.date_from AND v.date_to = w.date_to
		WHERE w.project = $1 AND w.date_from = $2 AND w.date_to = $3 ORDER BY v.position`, w.with()...)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rows.Close() }()
	var counts *Counts
	var visitors []mintlify.Visitor
	for rows.Next() {
		var c Counts
		var v mintlify.Visitor
		var at int64
		var position sql.NullInt64
		if err := rows.Scan(&at, &c.Pages, &c.Totals.Human, &c.Totals.AI, &c.Totals.Total, &position, &v.Path, &v.Human, &v.AI, &v.Total); err != nil {
			return nil, nil, err
		}
		c.At = instant(at)
		counts = &c
		if position.Valid {
			visitors = append(visitors, v)
		}
	}
	return counts, visitors, rows.Err()
}

// Totals returns the newest totals of w, be it complete or not: those of an export
// come with its first page.
func (s *Store) Totals(ctx context.Context, w Window) (mintlify.VisitorTotals, time.Time, error) {
	state, err := s.State(ctx, w)
	switch export := state.Export; {
	case err != nil:
		return mintlify.VisitorTotals{}, time.Time{}, err
	case export != nil && export.Offset > 0:
		return export.Totals, export.At, nil
	case state.Complete != nil:
		return state.Complete.Totals, state.Complete.At, nil
	}
	return mintlify.VisitorTotals{}, time.Time{}, fmt.Errorf("there are no totals of %v in the database", w)
}

// Pages returns how many rows the newest complete window of project has; false where
// there is none.
func (s *Store) Pages(ctx context.Context, project string) (pages int, known bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT pages FROM mintlify_windows WHERE project = $1 ORDER BY date_to DESC, pages DESC LIMIT 1`, project).Scan(&pages)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return pages, err == nil, err
}

package store

import (
	"context"
	"database/sql"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Kind says what an export contains.
type Kind string

// The kinds of exports. All but visitors are lists.
const (
	Visitors       Kind = "visitors"
	Views          Kind = "views"
	Searches       Kind = "searches"
	FeedbackByPage Kind = "feedback by page"
	Feedback       Kind = "feedback"
	Conversations  Kind = "conversations"
	Callers        Kind = "callers" // has one row: from where readers ask the assistant
)

// HasTexts reports whether readers write the rows of a kind.
func (k Kind) HasTexts() bool { return k == Conversations || k == Feedback }

// State says what the database has of an export.
type State int

// The states of an export.
const (
	Missing State = iota // is the zero value: there is nothing
	Loaded
	Refused // by the service; Problem says why
	Expired // the rows were deleted for their age
)

// Export says what the database has of a window: its visitors or a list.
type Export struct {
	Window
	Kind  Kind
	At    time.Time // is when the export began
	State State

	Totals    mintlify.VisitorTotals // are the service's own; a list has a total alone
	Kept      int                    // counts the rows
	Truncated bool                   // the service has more rows
	Texts     bool                   // what readers wrote is kept
	Problem   string                 // is why the service refused the export
}

// Point has the visitors of a window, for a chart.
type Point struct {
	Window
	Counts mintlify.VisitorTotals
}

// Progress says how far a run has come with an export that is not complete. The zero value means
// that no run has begun it.
type Progress struct {
	At      time.Time // is when the export began
	Rows    int       // are asked for already
	Pages   int       // are loaded
	Problem string    // is why the last run could not go on; "": nothing went wrong
	Until   time.Time // is when the last run let go of the export
}

// position is where the next page of an export begins.
type position struct {
	offset int
	cursor string // is offset's counterpart, for exports that page by cursor
	pages  int    // come before it
}

// record is a row of docs_exports. The zero value is none.
type record struct {
	Export
	id         int64
	isComplete bool
	next       position
	holder     string
	heldUntil  int64
}

func (r record) progress() Progress {
	if r.id == 0 {
		return Progress{}
	}
	return Progress{
		At:      r.At,
		Rows:    r.next.offset,
		Pages:   r.next.pages,
		Problem: r.Problem,
		Until:   instant(r.heldUntil),
	}
}

// remove deletes an export, if there is one, and its rows.
func remove(ctx context.Context, tx *sql.Tx, id int64) error {
	return sqldb.Exec(ctx, tx, []string{
		`DELETE FROM docs_visitors WHERE export = $1`,
		`DELETE FROM docs_rows WHERE export = $1`,
		`DELETE FROM docs_exports WHERE id = $1`,
	}, id)
}

// Prune deletes rolling windows of w's span that ended before w's own comparison, and those before
// w that could not be loaded, apart from the comparison: nothing asks for them any more. Days, weeks
// and months are not rolling: they stay, also if w is four weeks that are a February.
func (s *Store) Prune(ctx context.Context, w Window) error {
	switch w.Span() {
	case Day, Week, Month:
		return nil
	}

	return s.write(ctx, func(tx *sql.Tx) error {
		const condition = ` WHERE project = $1 AND span = $2 AND date_to < $3
			AND (date_to < $4 OR problem <> '' AND date_to <> $4)`
		return removeAll(ctx, tx, condition, w.Project, string(w.Span()), w.To.String(), w.From.String())
	})
}

// PruneFailed deletes days, weeks and months, and their lists, that begin before a day and could not
// be loaded: nothing asks for them any more. The visitors of months are asked for since firstMonth.
func (s *Store) PruneFailed(ctx context.Context, project string, before, firstMonth mintlify.Date) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		const condition = ` WHERE project = $1 AND span IN ('day', 'week', 'month') AND date_from < $2
			AND problem <> '' AND NOT expired
			AND (kind <> 'visitors' OR span <> 'month' OR date_from < $3)`
		return removeAll(ctx, tx, condition, project, before.String(), firstMonth.String())
	})
}

// removeAll deletes the exports for which a condition is true, and their rows.
func removeAll(ctx context.Context, tx *sql.Tx, condition string, args ...any) error {
	old, err := query(ctx, tx, condition, args...)
	if err != nil {
		return err
	}

	for _, r := range old {
		if err := remove(ctx, tx, r.id); err != nil {
			return err
		}
	}
	return nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Kind says what an export contains.
type Kind string

// The kinds of exports. All but visitors are lists.
const (
	Visitors       Kind = "visitors"
	Searches       Kind = "searches"
	FeedbackByPage Kind = "feedback by page"
	Feedback       Kind = "feedback"
	Conversations  Kind = "conversations"
)

// HasTexts reports whether readers write the rows of a kind.
func (k Kind) HasTexts() bool { return k == Conversations || k == Feedback }

// Name returns what readers of a message call a kind.
func (k Kind) Name() string {
	if k == Conversations {
		return "questions"
	}
	return string(k)
}

// State says what the database has of an export.
type State int

// The states of an export.
const (
	Missing State = iota // is the zero value: there is nothing
	Begun                // is not complete: a run has stored some pages, or none yet
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
	Problem   string                 // is why the service refused the export, or why the last run could not go on

	// Offset is the next page's: so many rows were asked for already. Cursor is its counterpart for
	// exports that page by cursor. Pages counts the pages that are loaded.
	Offset int
	Cursor string
	Pages  int

	// FailedAt is when the last run could not go on.
	FailedAt time.Time

	id int64
}

// HasFailed reports whether the last runs could not load an export.
func (e Export) HasFailed() bool { return e.Problem != "" && e.State != Expired }

// Point has the visitors of a window, for a chart.
type Point struct {
	Window
	Counts mintlify.VisitorTotals
	At     time.Time // is when they were asked for
}

// ErrGone matches a write into an export that is not where it was: somebody has forgotten its rows. Begin the
// export again.
var ErrGone = errors.New("the export is not where it was")

// Begin returns the export of wanted's window and kind that an earlier run has begun. It begins the
// export anew if there is none, if it began before freshSince, or with another choice of texts.
func (s *Store) Begin(ctx context.Context, wanted Export, freshSince time.Time) (Export, error) {
	var e Export
	err := s.change(ctx, func(tx *sql.Tx) error {
		var err error
		if e, err = find(ctx, tx, ofBegun, wanted.Window, wanted.Kind); err != nil {
			return err
		}

		isFresh := e.State == Begun && !e.At.Before(freshSince)
		if isFresh && e.Texts == wanted.Texts {
			return nil
		}
		if err := remove(ctx, tx, ofBegun, wanted.key(wanted.Kind)...); err != nil {
			return err
		}

		e = Export{Window: wanted.Window, Kind: wanted.Kind, Texts: wanted.Texts, At: time.Now(), State: Begun}
		e.id = rand.Int64()
		_, err = tx.ExecContext(ctx, `INSERT INTO docs_exports
			(project, date_from, date_to, kind, id, span, texts, fetched_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			append(e.key(e.Kind), e.id, string(e.Span()), e.Texts, e.At.UnixMilli())...)
		return err
	})
	return e, err
}

// Append adds a page to an export that was begun, and returns the export as it is then. The last page
// completes it, and it replaces the window's old one: nobody sees half of an export.
func (s *Store) Append(ctx context.Context, e Export, page *Page) (Export, error) {
	after := e
	after.Offset = page.Next
	after.Cursor = page.Cursor
	after.Pages++
	after.Totals = page.Totals

	err := s.change(ctx, func(tx *sql.Tx) error {
		const move = `UPDATE docs_exports
			SET problem = '', next_offset = $1, cursor_at = $2, pages_loaded = $3, human = $4, ai = $5, total = $6
			WHERE id = $7 AND next_offset = $8 AND NOT complete`
		moved, err := sqldb.Changed(tx.ExecContext(ctx, move, after.Offset, after.Cursor, after.Pages,
			after.Totals.Human, after.Totals.AI, after.Totals.Total, e.id, e.Offset))
		if err != nil {
			return err
		}
		if moved == 0 {
			return ErrGone
		}

		if err := e.insertVisitors(ctx, tx, page); err != nil {
			return err
		}
		if err := e.insertRows(ctx, tx, page); err != nil || !page.Last {
			return err
		}
		return e.complete(ctx, tx, page.More, "")
	})
	return after, err
}

func (e Export) complete(ctx context.Context, tx *sql.Tx, truncated bool, problem string) error {
	if err := remove(ctx, tx, ofComplete, e.key(e.Kind)...); err != nil {
		return err
	}

	_, err := tx.ExecContext(ctx, `UPDATE docs_exports SET complete = TRUE, truncated = $1, problem = $2,
		rows_kept = (SELECT COUNT(*) FROM docs_visitors WHERE export = $3)
			+ (SELECT COUNT(*) FROM docs_rows WHERE export = $3)
		WHERE id = $3`, truncated, problem, e.id)
	return err
}

// Fail keeps e.Problem, which is why this run could not go on with an export. If e.State is Refused, it completes
// the export, unless an older one is loaded, which stays.
func (s *Store) Fail(ctx context.Context, e Export) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		old, err := find(ctx, tx, ofComplete, e.Window, e.Kind)
		if err != nil {
			return err
		}
		if e.State == Refused && old.State != Loaded {
			return e.complete(ctx, tx, false, text(e.Problem))
		}

		const fail = `UPDATE docs_exports SET problem = $1, failed_at = $2 WHERE id = $3 AND NOT complete`
		_, err = tx.ExecContext(ctx, fail, text(e.Problem), time.Now().UnixMilli(), e.id)
		return err
	})
}

// remove deletes the exports for which a condition is true, and their rows.
func remove(ctx context.Context, tx *sql.Tx, condition string, args ...any) error {
	return sqldb.Exec(ctx, tx, []string{
		`DELETE FROM docs_visitors WHERE export IN (SELECT id FROM docs_exports` + condition + `)`,
		`DELETE FROM docs_rows WHERE export IN (SELECT id FROM docs_exports` + condition + `)`,
		`DELETE FROM docs_exports` + condition,
	}, args...)
}

// Prune deletes what nothing asks for any more: rolling windows of period's span that ended before
// period's own comparison, and what could not be loaded before from. The visitors of months are asked
// for since firstMonth. What else is loaded stays, also if period is four weeks that are a February.
func (s *Store) Prune(ctx context.Context, period Window, from, firstMonth mintlify.Date) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		const failed = ` WHERE project = $1 AND span IN ('day', 'week', 'month') AND date_from < $2
			AND problem <> '' AND NOT expired
			AND (kind <> 'visitors' OR span <> 'month' OR date_from < $3)`
		if err := remove(ctx, tx, failed, period.Project, from.String(), firstMonth.String()); err != nil {
			return err
		}

		const rolled = ` WHERE project = $1 AND span = $2 AND span NOT IN ('day', 'week', 'month')
			AND date_to < $3 AND (date_to < $4 OR problem <> '' AND date_to <> $4)`
		return remove(ctx, tx, rolled,
			period.Project, string(period.Span()), period.To.String(), period.From.String())
	})
}

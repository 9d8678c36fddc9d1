package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"
)

// LeaseTime is what a page extends a lease by. A request lasts a minute at most.
const LeaseTime = 3 * time.Minute

const maxLease = time.Hour // a longer lease comes from a clock that was ahead

// ErrOvertaken matches a write into an export that another run has taken further,
// completed or begun anew. Nothing was written: look at the window again.
var ErrOvertaken = errors.New("another run was faster")

// HeldError says that another run is working on an export.
type HeldError struct {
	Holder string
	Until  time.Time
}

func (e *HeldError) Error() string { return fmt.Sprintf("another run (%s) is working on it", e.Holder) }

// Claim is an export that this run is loading. No other run writes into it.
type Claim struct {
	Export
	store *Store
	id    int64
	next  position
}

// Offset returns how many rows of the export were asked for already.
func (c Claim) Offset() int { return c.next.offset }

// Pages returns how many pages of the export are loaded.
func (c Claim) Pages() int { return c.next.pages }

// Cursor returns what asks for the next page of an export that pages by cursor.
func (c Claim) Cursor() string { return c.next.cursor }

// Claim takes over for this run the export of wanted's window and kind. It starts the export, or
// starts it over if it began before freshSince or with another choice of texts. If a complete
// export isEnough, Claim takes none and reports false. A [*HeldError] says that another run holds
// the export.
func (s *Store) Claim(
	ctx context.Context, wanted Export, freshSince time.Time, isEnough func(Export) bool,
) (Claim, bool, error) {
	var claim Claim
	claimed := false
	err := s.write(ctx, func(tx *sql.Tx) error {
		complete, running, err := find(ctx, tx, wanted.Window, wanted.Kind)
		if err != nil {
			return err
		}

		claimed = !isEnough(complete.Export)
		if !claimed {
			return nil
		}
		if s.isHeldByOthers(running) {
			return &HeldError{running.holder, instant(running.heldUntil)}
		}

		isFresh := running.id != 0 && !running.At.Before(freshSince)
		if isFresh && running.Texts == wanted.Texts {
			claim = Claim{Export: running.Export, store: s, id: running.id, next: running.next}
			return s.takeOver(ctx, tx, running)
		}
		if err := remove(ctx, tx, running.id); err != nil {
			return err
		}

		begun := Export{Window: wanted.Window, Kind: wanted.Kind, Texts: wanted.Texts, At: time.Now()}
		claim = Claim{Export: begun, store: s, id: rand.Int64()}
		if err := claim.begin(ctx, tx); err != nil {
			return err
		}
		return checkNotDone(ctx, tx, begun, isEnough)
	})
	return claim, claimed, err
}

// checkNotDone returns ErrOvertaken if another run has completed an export that this run has
// just begun. Postgres shows each statement what is committed by then: another run may have
// begun and completed the export after this one had looked for it.
func checkNotDone(ctx context.Context, tx *sql.Tx, begun Export, isEnough func(Export) bool) error {
	complete, _, err := find(ctx, tx, begun.Window, begun.Kind)
	if err != nil {
		return err
	}

	if isEnough(complete.Export) {
		return ErrOvertaken
	}
	return nil
}

func (s *Store) isHeldByOthers(running record) bool {
	now := time.Now()
	until := instant(running.heldUntil)
	isHeld := until.After(now) && until.Before(now.Add(maxLease))
	return isHeld && running.holder != s.holder && !isDead(running.holder)
}

func (s *Store) takeOver(ctx context.Context, tx *sql.Tx, running record) error {
	return changeOne(ctx, tx, `UPDATE docs_exports SET holder = $1, held_until = $2
		WHERE id = $3 AND holder = $4 AND held_until = $5`,
		s.holder, milliseconds(time.Now().Add(LeaseTime)), running.id, running.holder, running.heldUntil)
}

func (c Claim) begin(ctx context.Context, tx *sql.Tx) error {
	return changeOne(ctx, tx, `INSERT INTO docs_exports
		(id, project, date_from, date_to, span, kind, texts, fetched_at, holder, held_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		c.id, c.Project, c.From.String(), c.To.String(), string(c.Span()), string(c.Kind), c.Texts,
		milliseconds(c.At), c.store.holder, milliseconds(c.At.Add(LeaseTime)))
}

// Append adds a page to the export and returns the claim as it is then. The last page completes
// the export, which then replaces the window's old one: nobody sees half of an export.
func (c Claim) Append(ctx context.Context, page *Page) (Claim, error) {
	after := c
	after.next = position{offset: page.Next, cursor: page.Cursor, pages: c.next.pages + 1}
	after.Totals = page.Totals

	err := c.store.write(ctx, func(tx *sql.Tx) error {
		forgotten, err := readForgotten(ctx, tx, c.Export, page.IDs)
		if err != nil {
			return err
		}

		// The export's row comes before all others that it changes: runs queue up there.
		err = changeOne(ctx, tx, `UPDATE docs_exports
			SET problem = '', held_until = $1, next_offset = $2, cursor_at = $3, pages_loaded = $4,
				human = $5, ai = $6, total = $7
			WHERE id = $8 AND holder = $9 AND next_offset = $10 AND NOT complete`,
			milliseconds(time.Now().Add(LeaseTime)), after.next.offset, after.next.cursor, after.next.pages,
			after.Totals.Human, after.Totals.AI, after.Totals.Total, c.id, c.store.holder, c.next.offset)
		if err != nil {
			return err
		}

		rows := page
		if page.IsResumed {
			if rows, err = c.withoutStored(ctx, tx, page); err != nil {
				return err
			}
		}
		if err := c.insertVisitors(ctx, tx, rows.Visitors); err != nil {
			return err
		}
		if err := c.insertRows(ctx, tx, rows, forgotten); err != nil {
			return err
		}
		if !page.Last {
			return nil
		}
		return c.complete(ctx, tx, ending{truncated: page.More})
	})
	return after, err
}

// Refuse completes the export of a list that the service refuses, and keeps the reason. An older
// export that is loaded stays: then Refuse does what Fail does.
func (c Claim) Refuse(ctx context.Context, problem string) error {
	return c.store.write(ctx, func(tx *sql.Tx) error {
		old, _, err := find(ctx, tx, c.Window, c.Kind)
		if err != nil {
			return err
		}

		if old.State == Loaded {
			return c.fail(ctx, tx, problem)
		}
		return c.complete(ctx, tx, ending{problem: text(problem)})
	})
}

// ending has what is known about an export once it is complete.
type ending struct {
	truncated bool
	problem   string
}

func (c Claim) complete(ctx context.Context, tx *sql.Tx, end ending) error {
	old, _, err := find(ctx, tx, c.Window, c.Kind)
	if err != nil {
		return err
	}
	if err := remove(ctx, tx, old.id); err != nil {
		return err
	}

	return changeOne(ctx, tx, `UPDATE docs_exports SET complete = TRUE, truncated = $1, problem = $2,
		rows_kept = (SELECT COUNT(*) FROM docs_visitors WHERE export = $3)
			+ (SELECT COUNT(*) FROM docs_rows WHERE export = $3)
		WHERE id = $3 AND NOT complete`, end.truncated, end.problem, c.id)
}

// Hold keeps other runs from taking the export until a time.
func (c Claim) Hold(ctx context.Context, until time.Time) error {
	return c.store.write(ctx, func(tx *sql.Tx) error {
		const update = `UPDATE docs_exports SET held_until = $1 WHERE id = $2 AND holder = $3`
		_, err := tx.ExecContext(ctx, update, milliseconds(until), c.id, c.store.holder)
		return err
	})
}

// Fail releases the export, and keeps why this run could not go on.
func (c Claim) Fail(ctx context.Context, problem string) error {
	return c.store.write(ctx, func(tx *sql.Tx) error { return c.fail(ctx, tx, problem) })
}

func (c Claim) fail(ctx context.Context, tx *sql.Tx, problem string) error {
	const update = `UPDATE docs_exports SET problem = $1, held_until = $2
		WHERE id = $3 AND holder = $4 AND NOT complete`
	_, err := tx.ExecContext(ctx, update, text(problem), milliseconds(time.Now()), c.id, c.store.holder)
	return err
}

// Restart makes the next run begin the export anew.
func (c Claim) Restart(ctx context.Context) error {
	return c.store.write(ctx, func(tx *sql.Tx) error {
		const update = `UPDATE docs_exports SET fetched_at = 0 WHERE id = $1 AND holder = $2 AND NOT complete`
		_, err := tx.ExecContext(ctx, update, c.id, c.store.holder)
		return err
	})
}

// Release lets another run resume the export at once.
func (c Claim) Release(ctx context.Context) error { return c.Hold(ctx, time.Now()) }

func hostname() string {
	name, _ := os.Hostname()
	return strings.ReplaceAll(name, " ", "-")
}

// isDead reports whether the run that holds a lease seems to have ended: a process of this machine
// that is gone. A process with this one's number was there before it. A run in another container of
// the same hostname looks dead, too, and loses the export: Append then refuses its page, so that no
// row is lost or stored twice, and the page costs one more request.
func isDead(holder string) bool {
	var host, name string
	var pid int
	if _, err := fmt.Sscanf(holder, "%s %d %s", &host, &pid, &name); err != nil || host != hostname() {
		return false
	}

	process, err := os.FindProcess(pid)
	return pid == os.Getpid() || err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

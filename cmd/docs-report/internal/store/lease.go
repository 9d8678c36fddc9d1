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

// Claim takes an export over for this run. It starts the export, or starts it over if it began
// before freshSince. If a complete export isEnough, Claim takes none and reports false. A
// [*HeldError] says that another run holds the export.
func (s *Store) Claim(
	ctx context.Context, w Window, kind Kind, freshSince time.Time, isEnough func(Export) bool,
) (Export, bool, error) {
	var export Export
	claimed := false
	err := s.write(ctx, func(tx *sql.Tx) error {
		complete, running, err := find(ctx, tx, w, kind)
		if err != nil {
			return err
		}

		claimed = !isEnough(complete)
		if !claimed {
			return nil
		}
		if s.isHeldByOthers(running) {
			return &HeldError{running.holder, instant(running.until)}
		}

		if running.id != 0 && !running.At.Before(freshSince) {
			export = running
			return s.takeOver(ctx, tx, running)
		}
		if err := remove(ctx, tx, running.id); err != nil {
			return err
		}

		export = Export{Window: w, Kind: kind, At: time.Now(), id: rand.Int64()}
		if err := s.begin(ctx, tx, export); err != nil {
			return err
		}
		return checkNotDone(ctx, tx, export, isEnough)
	})
	return export, claimed, err
}

// checkNotDone returns ErrOvertaken if another run has completed an export that this run has
// just begun. Postgres shows each statement what is committed by then: another run may have
// begun and completed the export after this one had looked for it.
func checkNotDone(ctx context.Context, tx *sql.Tx, begun Export, isEnough func(Export) bool) error {
	complete, _, err := find(ctx, tx, begun.Window, begun.Kind)
	if err != nil {
		return err
	}

	if isEnough(complete) {
		return ErrOvertaken
	}
	return nil
}

func (s *Store) isHeldByOthers(running Export) bool {
	now := time.Now()
	until := instant(running.until)
	isHeld := until.After(now) && until.Before(now.Add(maxLease))
	return isHeld && running.holder != s.holder && !isDead(running.holder)
}

func (s *Store) takeOver(ctx context.Context, tx *sql.Tx, e Export) error {
	return changeOne(ctx, tx, `UPDATE docs_exports SET holder = $1, held_until = $2
		WHERE id = $3 AND holder = $4 AND held_until = $5`,
		s.holder, milliseconds(time.Now().Add(LeaseTime)), e.id, e.holder, e.until)
}

func (s *Store) begin(ctx context.Context, tx *sql.Tx, e Export) error {
	return changeOne(ctx, tx, `INSERT INTO docs_exports
		(id, project, date_from, date_to, span, kind, fetched_at, holder, held_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
		e.id, e.Project, e.From.String(), e.To.String(), string(e.Span()), string(e.Kind),
		milliseconds(e.At), s.holder, milliseconds(e.At.Add(LeaseTime)))
}

// Lease sets until when this run holds an export. If until is now, another run may resume the
// export at once.
func (s *Store) Lease(ctx context.Context, e Export, until time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		const update = `UPDATE docs_exports SET held_until = $1 WHERE id = $2 AND holder = $3`
		_, err := tx.ExecContext(ctx, update, milliseconds(until), e.id, s.holder)
		return err
	})
}

func hostname() string {
	name, _ := os.Hostname()
	return strings.ReplaceAll(name, " ", "-")
}

// isDead reports whether the run that holds a lease is known to have ended: a process of
// this machine that is gone. A process with this one's number was there before it.
func isDead(holder string) bool {
	var host, name string
	var pid int
	if _, err := fmt.Sscanf(holder, "%s %d %s", &host, &pid, &name); err != nil || host != hostname() {
		return false
	}

	process, err := os.FindProcess(pid)
	return pid == os.Getpid() || err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

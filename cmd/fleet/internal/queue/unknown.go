package queue

import (
	"context"
	"errors"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/once"
)

// How often somebody looks for what became of an unknown prompt, and for how long.
const (
	firstLook = 5 * time.Minute
	maxLook   = 6 * time.Hour
	lookDays  = 7 * database.Day
	lookTime  = time.Minute // a look

	// OpensWithin is how long a job may take to open its pull request.
	OpensWithin = 30 * time.Minute
)

// Finder returns the link of the pull request that an unknown prompt led to, "" if none is known. Then whyNot says why
// nobody has looked, "" if somebody has.
type Finder func(ctx context.Context, record once.Record) (link, whyNot string, err error)

// IsLookedFor reports whether the pull request of a prompt would end it: it is unknown, or waits to be sent again. One
// whose job has failed has no deadline then.
func IsLookedFor(r database.Row) bool {
	return r.After == "" && (r.State == once.Unknown || r.State == once.Pending && !r.Deadline.IsZero())
}

// NextLook returns when fleet looks next for what became of a prompt: once it is sent, then 5, 10, 20 … minutes apart.
// A look that nobody could make is tried again 5 minutes later.
func NextLook(r database.Row, now time.Time) time.Time {
	if r.Looked.Before(r.Deadline) {
		missed := max(0, now.Sub(r.UpdatedAt)).Truncate(firstLook)
		return r.UpdatedAt.Add(missed + firstLook)
	}
	return r.Looked.Add(min(max(r.Looked.Sub(r.Deadline), firstLook), maxLook))
}

// lookUntilFound looks for the pull request of a prompt when that is due, for 7 days.
func (w *Worker) lookUntilFound(ctx context.Context, r database.Row, job int64) error {
	now := time.Now()
	if now.Sub(r.UpdatedAt) > lookDays {
		return nil
	}

	isDue := r.Looked.Before(r.Deadline) || !NextLook(r, now).After(now)
	if isDue && w.lookFor(ctx, r, now) {
		r.Looked = now
	}
	return w.Postpone(ctx, database.FollowerOf(r.Key), job, NextLook(r, now).Sub(now))
}

// lookFor looks for the pull request of one prompt. It reports whether somebody has looked: a person reads the time of
// a look, and may conclude that there is no pull request.
func (w *Worker) lookFor(ctx context.Context, r database.Row, now time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	link, whyNot, err := w.Find(ctx, r.Record)
	if err == nil && link != "" {
		err = w.Resolve(ctx, r.Record, link)
	}
	if err == nil && whyNot == "" {
		_, err = w.ExecContext(ctx, "UPDATE fleet_prompts SET looked = $2 WHERE key = $1", r.Key, now.UnixNano())
	}

	if err != nil {
		w.Logger.Warn("the pull request of an unknown prompt could not be looked for", "key", r.Key, "error", err)
	}
	return err == nil && whyNot == ""
}

// Resolve ends a prompt whose pull request was found.
func (s Queue) Resolve(ctx context.Context, record once.Record, link string) error {
	_, err := s.Runner(nil).MarkDone(ctx, record.Key, link)
	if errors.Is(err, once.ErrState) || errors.Is(err, once.ErrConflict) {
		return nil // somebody else has decided
	}
	if err != nil {
		return err
	}

	s.Logger.Info("the pull request of a prompt was found", "key", record.Key, "pr", link)
	s.TellSoon(ctx)
	return nil
}

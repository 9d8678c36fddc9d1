package once

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	askTime   = time.Minute        // for one call of the caller's functions
	firstFind = 5 * time.Minute    // until an unknown prompt is looked for again; it doubles
	lastFind  = 6 * time.Hour      // at most
	findFor   = 7 * 24 * time.Hour // after a Deadline
)

// Found is what became of an unknown prompt. The zero Found means that nothing is known yet.
type Found struct {
	// JobID is the id of the job that the prompt made. The record then follows that job.
	JobID string
	// PRLink is the link of the pull request that the prompt led to. Without a JobID the record is
	// done with this link, and what follows it up needs a person: it has no job to send messages to.
	PRLink string
}

// WithFinder has f look for what became of a prompt whose record is [Unknown], such as a pull
// request whose description has the line of the key's [Marker]. If f finds nothing, a person has to look;
// nothing is ever sent again by itself.
//
// f is called for new jobs only: the job of a follow-up itself tells what became of the message.
// [Runner.Do] and [Runner.Step] call it once for a record that was unknown before, or that another process
// left unknown: not after a send of their own. [Runner.Resume] calls it once for each unknown record,
// [Runner.Run] at once, then after 5, 10, 20 and more minutes, at most 6 hours apart, for 7 days, beside its
// other work. Each call has a minute. An error of f is logged and changes nothing. If the unknown records
// cannot be listed, Run logs it and Resume returns it.
//
// What f returns must have been made after the send: anybody can copy an old marker. Compare the
// creation of the pull request with r.Deadline minus the send time minus two minutes, because clocks
// differ.
func WithFinder(f func(ctx context.Context, r Record) (Found, error)) Option {
	return func(s *settings) error {
		if f == nil {
			return invalid("finder", "is nil")
		}
		s.finder = f
		return nil
	}
}

// canFind reports whether the finder may be asked about a record.
func (r *Runner) canFind(record Record) bool {
	return r.finder != nil && record.State == Unknown && record.After == ""
}

// stepOrFind does the next step of t's record, or looks for what became of its prompt.
func (r *Runner) stepOrFind(ctx context.Context, t Task, forced bool) (step, error) {
	s, err := r.step(ctx, t, forced)
	if err != nil || s.sent || !r.canFind(s.record) {
		return s, err
	}

	record, err := r.find(ctx, s.record)
	if ended(ctx) != nil {
		return s, ended(ctx)
	}
	if err != nil {
		r.logger.Log(ctx, slog.LevelWarn, "once: looking for an unknown prompt failed", "key", t.Key, "error", err)
	}

	if record.State.IsOpen() { // found, or sent again by a person meanwhile
		return step{record: record, next: 1}, nil
	}
	s.record = record
	return s, nil
}

// find asks the finder about an unknown record, stores what it has found, and returns the record that is stored then.
func (r *Runner) find(ctx context.Context, record Record) (Record, error) {
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()

	found, err := r.finder(asking, record)
	if err != nil || found == (Found{}) {
		return record, err
	}

	next := record
	next.Problem = ""
	next.State = Done
	if found.JobID != "" {
		if err := checkJobID(found.JobID); err != nil {
			return record, err
		}

		next.adopt(found.JobID)
		err = r.lookUp(asking, &next)
	}
	if err != nil {
		return record, fmt.Errorf("%s, which was found: %w", jobName(found.JobID), err)
	}

	next.PRLink = found.PRLink
	return r.keep(ctx, record, next)
}

// keep stores what was found of a record, as next, if the record is still the one that the finder was asked about.
func (r *Runner) keep(ctx context.Context, record, next Record) (Record, error) {
	current, err := r.store.Get(ctx, record.Key)
	if err != nil {
		return record, err
	}

	// The other fields may differ: a public store keeps no Problem, and shortens times.
	isStill := current.Sender == record.Sender && current.State == record.State
	switch {
	case current.JobID == next.JobID && current.PRLink == next.PRLink: // others have found it, too
		return current, nil
	case !isStill:
		found := fmt.Sprintf("%s and link %q were found for version %d, but the record went on",
			jobName(next.JobID), safetext.WithoutKeys(next.PRLink), record.Version)
		r.log(ctx, slog.LevelError, "once: "+found, current)
		return current, errors.New(found)
	}

	next.Reported = current.Reported
	return r.putDecided(ctx, current, next)
}

// isSame reports whether record, as the store has it, is the one before, apart from whether that was reported.
func (record Record) isSame(before Record) bool {
	before.Version = record.Version
	before.Reported = record.Reported
	return record == before
}

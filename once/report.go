package once

import (
	"context"
	"errors"
	"fmt"
)

// WithReport has f tell others how a record has ended: post its link to a chat, for example.
// [Runner.Run] and [Runner.Resume] call it for each record that is done, failed, refused or unknown,
// until it has returned nil: at least once for each end, and again if a record that was sent again
// ends again. They also call it, once each, for a pending follow-up, for a running record and for a message
// whose response is lost that need a person: Problem says why.
//
// There is one call at a time, beside the other work, with a context of a minute. The tries for a
// record are 30 s apart, then ever longer, up to 30 minutes, ±25 %. An unknown record is told once
// [WithFinder]'s function was asked in vain. Equal processes may all have WithReport: they may tell a result twice.
//
// Run lists the ended records when it starts, and then every ten minutes: it tells what other
// processes, [Runner.Do] and [Runner.Step] have ended, too. On a store with old records f gets these
// as well: return nil for what you do not want to tell, by r.UpdatedAt. Resume tries each report
// once more at its end, and names in its error what was not taken. If f goes on although its context
// has ended, both return without it after 5 s, and Resume's error says so.
func WithReport(f func(ctx context.Context, r Record) error) Option {
	return option(func(r *Runner) {
		r.report = f
		r.mustHave("report", f != nil)
	})
}

// isNews reports whether a record is to be told. isStuck says that it is a pending follow-up that
// cannot get on without a person.
func (record Record) isNews(isStuck bool) bool {
	if record.State == record.Reported {
		return false
	}

	switch record.State {
	case Done, Failed, Refused, Unknown:
		return true
	case Running:
		return record.Problem != ""
	case Pending:
		return isStuck && record.Problem != ""
	case Sending:
		return record.saysUndecided()
	case Canceled:
	}
	return false
}

// isUnreported reports whether a record that is not pending may be news.
func (record Record) isUnreported() bool {
	hasProblem := record.State == Sending && record.Problem != ""
	return record.isNews(false) || hasProblem && record.State != record.Reported
}

// tell tells how a record stands, and stores that it was told. told is the record as it was told
// before, if that could not be stored. tell returns the record that it has told.
func (r *Runner) tell(ctx context.Context, key string, isStuck bool, told Record) (Record, error) {
	record, err := r.store.Get(ctx, key)
	switch {
	case err != nil:
		return told, fmt.Errorf("its record cannot be read: %w", err)
	case !record.isNews(isStuck):
		return told, nil
	}

	if record.isSame(told) {
		return told, r.keepTold(ctx, record)
	}

	calling, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()

	err = r.report(calling, record)
	if err != nil {
		return told, fmt.Errorf("it could not be reported that it is %s: %w", record.State, err)
	}
	return record, r.keepTold(ctx, record)
}

// keepTold stores that a record was told, also if ctx has ended meanwhile. It is not a change: it has
// no line in the log, and keeps UpdatedAt.
func (r *Runner) keepTold(ctx context.Context, told Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.sendTime)
	defer cancel()

	for {
		current, err := r.store.Get(ctx, told.Key)
		if err != nil {
			return fmt.Errorf("it could not be stored that it was reported: %w", err)
		}
		if current.Reported == told.State || !current.isSame(told) { // it has ended anew: that is news
			return nil
		}

		next := current
		next.Version++
		next.Reported = told.State
		err = r.store.Put(ctx, next)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrConflict) || !pause(ctx, soon):
			return fmt.Errorf("it could not be stored that it was reported: %w", err)
		}
	}
}

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
	return func(s *settings) error {
		if f == nil {
			return invalid("report", "is nil")
		}
		s.report = f
		return nil
	}
}

// isNews reports whether a record is to be told. isStuck says that it is a pending follow-up that
// cannot get on without a person.
func (record Record) isNews(isStuck bool) bool {
	isStuck = isStuck && record.State == Pending && record.Problem != ""
	return record.State != record.Reported && (record.State == Done || isStuck || record.needsPerson(nil))
}

// isUnreported reports whether a record that is not pending may be news.
func (record Record) isUnreported() bool {
	hasProblem := record.State == Sending && record.Problem != ""
	return record.isNews(false) || hasProblem && record.State != record.Reported
}

// tell tells how the record of an errand stands, and stores that it was told. It reports whether it was told.
func (w *worker) tell(ctx context.Context, e *errand) (bool, error) {
	record, err := w.runner.store.Get(ctx, e.key)
	switch {
	case err != nil:
		return false, fmt.Errorf("its record cannot be read: %w", err)
	case !record.isNews(e.stuck):
		return false, nil
	}

	if !w.wasTold(record) { // else only that could not be stored
		calling, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()

		if err := w.runner.report(calling, record); err != nil {
			return false, fmt.Errorf("it could not be reported that it is %s: %w", record.State, err)
		}
		w.told.Store(e.key, record)
	}

	err = w.runner.keepTold(ctx, record)
	_, isListed := w.runner.store.(UnreportedLister) // which shows Reported
	if err == nil && isListed {
		w.told.Delete(e.key)
	}
	return true, err
}

// wasTold reports whether a record was told that does not show it, as in a store that leaves out Reported.
func (w *worker) wasTold(record Record) bool {
	if record.Reported == record.State {
		w.told.Delete(record.Key)
	}

	told, isKnown := w.told.Load(record.Key)
	return isKnown && record.isSame(told.(Record))
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

package once

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/async"
)

const (
	endedEvery  = 10 * time.Minute // at least, between two Lists of the ended records
	endedShare  = 200              // the next of these comes after this many times the duration of the last
	firstReport = 30 * time.Second // until the next try of a report; it doubles
	lastReport  = 30 * time.Minute // at most
	stopTime    = 5 * time.Second  // for which Run waits for a function of the caller's once ctx has ended

	forever = 1 << 62 // until the next try of what is tried once

	cannotListEnded = "once: the ended records cannot be listed"
)

var errStillCalled = errors.New(
	"once: the function of WithFinder, WithReport or WithOnHold has not returned: reports may be missing")

// startBeside begins what is done beside the steps. It ends with ctx, but a report that has begun may go on until
// reporting ends. A panic of the caller's functions calls cancel.
func (w *worker) startBeside(ctx, reporting context.Context, cancel func()) []*async.Run {
	if w.runner.finder == nil && w.runner.report == nil {
		return nil
	}

	begin := func(a *agenda, do func(*errand) time.Duration) *async.Run {
		return async.Go(func() {
			defer func() {
				if ended(ctx) == nil { // a function of the caller's did not return
					cancel()
				}
			}()
			a.run(ctx, do, w.steps.poke)
		})
	}

	w.lists.add(errand{})
	return []*async.Run{
		begin(w.lists, func(e *errand) time.Duration { return w.listEnded(ctx, e) }),
		begin(w.finds, func(e *errand) time.Duration { return w.find(ctx, e) }),
		begin(w.reports, func(e *errand) time.Duration { return w.report(reporting, e) }),
	}
}

// waitFor waits for the end of runs, and reports whether it came. A report may take a minute, but
// once reporting has ended waitFor does not wait long: a function of the caller's may pay no attention
// to its context. A panic of such a function surfaces here.
func waitFor(reporting context.Context, runs ...*async.Run) bool {
	if len(runs) == 0 {
		return true
	}

	late, cancel := context.WithTimeout(context.Background(), askTime+stopTime)
	defer cancel()
	defer context.AfterFunc(reporting, func() { time.AfterFunc(stopTime, cancel) })()

	areOver := true
	for _, run := range runs {
		select {
		case <-run.Done():
		case <-late.Done():
		}
		areOver = isOver(run) && areOver
	}
	return areOver
}

// isOver reports whether run has ended. If its function panicked, that surfaces here.
func isOver(run *async.Run) bool {
	select {
	case <-run.Done():
		run.Wait()
		return true
	default:
		return false
	}
}

// take notes what is to be done for a record beside the steps. rank says how it is known.
func (w *worker) take(record Record, isStuck bool, rank rank) {
	if w.runner.canFind(record) && !reached(record.since().Add(findFor)) {
		w.finds.add(errand{key: record.Key, send: record.Sender, rank: listed})
		return
	}
	w.takeNews(record, isStuck, rank)
}

// takeNews notes that a record is to be told, unless it was.
func (w *worker) takeNews(record Record, isStuck bool, rank rank) {
	if w.runner.report != nil && !w.wasTold(record) && record.isNews(isStuck) {
		w.reports.add(errand{key: record.Key, stuck: isStuck, rank: rank})
	}
}

// listEnded takes the ended records, those of other processes too.
func (w *worker) listEnded(ctx context.Context, e *errand) time.Duration {
	began := time.Now()
	err := w.takeEnded(ctx)
	if ended(ctx) != nil {
		return forever
	}

	w.endedErr = err
	w.runner.logOnce(ctx, cannotListEnded, "", err, &e.logged)
	if !w.stay {
		return forever
	}
	return max(endedEvery, endedShare*time.Since(began))
}

// takeEnded lists the records that may need something beside the steps.
func (w *worker) takeEnded(ctx context.Context) error {
	records, err := w.runner.unreported(ctx)
	mathrand.Shuffle(len(records), func(i, j int) { // several processes do not tell the same at once
		records[i], records[j] = records[j], records[i]
	})

	for _, record := range records {
		w.take(record, false, listed)
	}
	return err
}

// unreported returns the records that may need a find or a report.
func (r *Runner) unreported(ctx context.Context) ([]Record, error) {
	lister, ok := r.store.(UnreportedLister)
	switch {
	case r.report == nil:
		return r.store.List(ctx, Unknown)
	case !ok:
		return r.store.List(ctx, Done, Failed, Refused, Unknown, Running, Sending)
	}

	unreported, err := lister.ListUnreported(ctx)
	if err != nil || r.finder == nil {
		return unreported, err
	}
	unknown, err := r.store.List(ctx, Unknown)
	return append(unreported, unknown...), err
}

// find looks once for what became of an unknown prompt.
func (w *worker) find(ctx context.Context, e *errand) time.Duration {
	record, err := w.runner.store.Get(ctx, e.key)
	switch {
	case err != nil:
		w.runner.logOnce(ctx, "once: an unknown record cannot be read", e.key, err, &e.logged)
		return firstReport
	case !w.runner.canFind(record), reached(record.since().Add(findFor)):
		return 0
	}

	found, err := w.runner.find(ctx, record)
	if ended(ctx) != nil {
		return forever
	}

	w.runner.logOnce(ctx, "once: looking for an unknown prompt failed", e.key, err, &e.logged)
	if found.State != Unknown {
		return 0
	}

	w.takeNews(found, false, changed)
	if !w.stay {
		return forever
	}
	return backoff(firstFind, lastFind, e.tries)
}

// report tells once how a record stands.
func (w *worker) report(ctx context.Context, e *errand) time.Duration {
	began := time.Now()
	isTold, err := w.tell(ctx, e)
	e.err = err

	switch {
	case isTold && err == nil:
		w.telling = time.Since(began)
		return 0
	case err == nil: // others are telling, too, and what comes next may be with them
		pause(ctx, mathrand.N(w.telling+1))
		return 0
	}

	if w.stay && ended(ctx) == nil {
		w.runner.logOnce(ctx, "once: a report was not taken", e.key, err, &e.logged)
	}
	wait := backoff(firstReport, lastReport, e.tries)
	return wait*3/4 + mathrand.N(wait/2)
}

// finish tries each report once more, after the last step of a Resume and the end of the work, and
// returns what was not taken, and why the ended records could not be listed.
func (w *worker) finish(ctx context.Context) error {
	if w.runner.report != nil && ended(ctx) == nil {
		w.endedErr = w.takeEnded(ctx)
	}

	var all []error
	if w.endedErr != nil {
		all = append(all, fmt.Errorf("%s: %w", cannotListEnded, w.endedErr))
	}

	hangs := false
	for _, e := range w.reports.all() {
		if !hangs && ended(ctx) == nil {
			hangs = !waitFor(ctx, async.Go(func() { w.report(ctx, e) }))
			if hangs {
				all = append(all, errStillCalled)
				continue // that call may still change e
			}
		}
		all = append(all, forKey(e.key, e.err))
	}
	return errors.Join(all...)
}

package once

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
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
	"once: the function of WithFinder or WithReport has not returned: reports may be missing")

// sideWork is what Run and Resume do beside the steps: it looks for what became of unknown prompts, and
// tells how records have ended.
type sideWork struct {
	runner  *Runner
	stay    bool // of Run
	finds   *agenda
	reports *agenda
	wake    func() // wakes the worker

	runs   []*async.Run
	logged string // the text of the error of List that was logged last
	// telling is how long the last report took.
	telling time.Duration

	mu     sync.Mutex
	told   map[string]Record // what was told, of the records whose store does not show it
	listed bool              // the ended records were listed at least once

	listErr error // what the last of these Lists returned
}

func newSideWork(r *Runner, stay bool, wake func()) *sideWork {
	s := &sideWork{runner: r, stay: stay, wake: wake, told: map[string]Record{}}
	s.finds = newAgenda(wake)
	s.reports = newAgenda(func() {})
	return s
}

// start begins the work, which ends with ctx. A report that has begun may go on until reporting ends.
// A panic of the caller's functions calls cancel.
func (s *sideWork) start(ctx, reporting context.Context, cancel context.CancelFunc) {
	if s.runner.finder == nil && s.runner.report == nil {
		return
	}

	for _, work := range []func(){
		func() { s.list(ctx) },
		func() { s.finds.run(ctx, func(e *errand) time.Duration { return s.find(ctx, e) }) },
		func() { s.reports.run(ctx, func(e *errand) time.Duration { return s.report(reporting, e) }) },
	} {
		s.runs = append(s.runs, async.Go(func() {
			returned := false
			defer func() {
				if !returned {
					cancel()
				}
			}()

			work()
			returned = true
		}))
	}
}

// waitFor waits for the end of runs, and reports whether it came. A report may take a minute, but
// once reporting has ended waitFor does not wait long: a function of the caller's may pay no attention
// to its context. A panic of such a function surfaces here.
func waitFor(reporting context.Context, runs ...*async.Run) bool {
	late, cancel := context.WithTimeout(context.Background(), askTime+stopTime)
	defer cancel()
	defer context.AfterFunc(reporting, func() { time.AfterFunc(stopTime, cancel) })()

	isOver := true
	for _, run := range runs {
		select {
		case <-run.Done():
		case <-late.Done():
		}

		select {
		case <-run.Done():
			run.Wait()
		default:
			isOver = false
		}
	}
	return isOver
}

// take notes what is to be done for a record beside the steps. rank says how it is known.
func (s *sideWork) take(record Record, isStuck bool, rank rank) {
	r := s.runner
	if r.canFind(record) && !reached(record.since().Add(findFor)) {
		s.finds.add(errand{key: record.Key, send: record.Sender, rank: listed})
		return
	}
	if r.report != nil && record.isNews(isStuck) && !s.wasTold(record) {
		s.reports.add(errand{key: record.Key, stuck: isStuck, rank: rank})
	}
}

// remember notes what was told of a record whose store may not show it.
func (s *sideWork) remember(told Record) {
	_, isListed := s.runner.store.(UnreportedLister) // which shows Reported
	if isListed {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.told[told.Key] = told
}

// wasTold reports whether a record was told that does not show it, as in a store that leaves out Reported.
func (s *sideWork) wasTold(record Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	told, known := s.told[record.Key]
	return known && record.isSame(told)
}

// list takes the ended records, those of other processes too.
func (s *sideWork) list(ctx context.Context) {
	for ended(ctx) == nil {
		began := time.Now()
		err := s.takeEnded(ctx)
		if ended(ctx) != nil {
			return
		}

		s.runner.logOnce(ctx, cannotListEnded, "", err, &s.logged)
		s.mu.Lock()
		s.listed = true
		s.listErr = err
		s.mu.Unlock()
		s.wake()

		if !s.stay {
			return
		}
		pause(ctx, max(endedEvery, endedShare*time.Since(began)))
	}
}

// takeEnded lists the records that may need something beside the steps.
func (s *sideWork) takeEnded(ctx context.Context) error {
	records, err := s.listEnded(ctx)
	mathrand.Shuffle(len(records), func(i, j int) { // several processes do not tell the same at once
		records[i], records[j] = records[j], records[i]
	})

	for _, record := range records {
		s.forget(record)
		s.take(record, false, listed)
	}
	return err
}

func (s *sideWork) listEnded(ctx context.Context) ([]Record, error) {
	r := s.runner
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

// forget drops the memory of what was told if the record shows it.
func (s *sideWork) forget(record Record) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if record.Reported == record.State {
		delete(s.told, record.Key)
	}
}

// isQuiet reports whether each unknown record was looked for.
func (s *sideWork) isQuiet() bool {
	if s.runner.finder == nil {
		return true
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	return s.listed && s.finds.allTried()
}

// find looks once for what became of an unknown prompt.
func (s *sideWork) find(ctx context.Context, e *errand) time.Duration {
	record, err := s.runner.store.Get(ctx, e.key)
	switch {
	case err != nil:
		s.runner.logOnce(ctx, "once: an unknown record cannot be read", e.key, err, &e.logged)
		return firstReport
	case !s.runner.canFind(record), reached(record.since().Add(findFor)):
		return 0
	}

	found, err := s.runner.find(ctx, record)
	if ended(ctx) != nil {
		return forever
	}

	s.runner.logOnce(ctx, "once: looking for an unknown prompt failed", e.key, err, &e.logged)
	if found.State != Unknown {
		return 0
	}

	if s.runner.report != nil && found.isNews(false) && !s.wasTold(found) {
		s.reports.add(errand{key: e.key, rank: changed})
	}

	if !s.stay {
		return forever
	}
	return backoff(firstFind, lastFind, e.tries)
}

// report tells once how a record stands.
func (s *sideWork) report(ctx context.Context, e *errand) time.Duration {
	began := time.Now()
	told, err := s.runner.tell(ctx, e.key, e.stuck, e.told)
	e.told = told
	e.err = err

	switch {
	case err == nil && told.Version > 0:
		s.telling = time.Since(began)
		s.remember(told)
		return 0
	case err == nil: // others are telling, too, and what comes next may be with them
		pause(ctx, mathrand.N(s.telling+1))
		return 0
	}

	if s.stay && ended(ctx) == nil {
		s.runner.logOnce(ctx, "once: a report was not taken", e.key, err, &e.logged)
	}
	wait := backoff(firstReport, lastReport, e.tries)
	return wait*3/4 + mathrand.N(wait/2)
}

// finish tries each report once more, after the last step of a Resume and the end of the work, and
// returns what was not taken, and why the ended records could not be listed.
func (s *sideWork) finish(ctx context.Context) error {
	listErr := s.listErr
	if s.runner.report != nil && ended(ctx) == nil {
		listErr = s.takeEnded(ctx)
	}

	var all []error
	if listErr != nil {
		all = append(all, fmt.Errorf("%s: %w", cannotListEnded, listErr))
	}

	hangs := false
	for _, e := range s.reports.all() {
		if !hangs && ended(ctx) == nil {
			hangs = !waitFor(ctx, async.Go(func() { s.report(ctx, e) }))
			if hangs {
				all = append(all, errStillCalled)
				continue // that call may still change e
			}
		}
		all = append(all, forKey(e.key, e.err))
	}
	return errors.Join(all...)
}

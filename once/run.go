package once

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/async"
)

const (
	listEvery = 5 * time.Second // at least
	listShare = 20              // the next List comes after this many times the duration of the last

	cannotList = "once: the records cannot be listed"
)

// Resume calls [Runner.Step] for all open records in turn, also those added meanwhile, until
// none is left or ctx ends, whose error it then returns. Its error names the keys that cannot
// go on, such as a follow-up behind a record that needs a person; the others go on. It also names
// jobs that could not be recorded, and the reports of [WithReport] that were not taken. It fails
// with errors.ErrUnsupported if the store cannot list.
func (r *Runner) Resume(ctx context.Context) error {
	return r.work(ctx, false)
}

// Run works like [Runner.Resume], and stays for what is added later, until ctx ends, whose
// error it returns. It begins what this Runner adds once the step in progress ends, and what
// others add within 6 s or, in a large store, 20 times as long as a List takes. It logs the
// errors of keys and of the store, each once, and tries again. It fails with
// errors.ErrUnsupported if the store cannot list.
func (r *Runner) Run(ctx context.Context) error {
	return r.work(ctx, true)
}

func (r *Runner) work(ctx context.Context, stay bool) error {
	if err := r.canSend(ctx); err != nil {
		return err
	}

	working, cancel := context.WithCancel(ctx)
	defer cancel()

	w := &worker{
		runner:    r,
		stay:      stay,
		reporting: ctx,
		steps:     newAgenda(),
		lists:     newAgenda(),
		finds:     newAgenda(),
		reports:   newAgenda(),
	}
	r.workers.Store(w, true)
	defer r.workers.Delete(w)

	beside := w.startBeside(working, ctx, cancel)
	err := w.work(working)
	cancel()
	areOver := waitFor(ctx, append(beside, w.holds...)...)

	switch {
	case stay:
		return err
	case !areOver:
		return errors.Join(err, errStillCalled)
	}
	return errors.Join(err, w.finish(ctx))
}

// work does the steps that are due until nothing is left, or ctx ends.
func (w *worker) work(ctx context.Context) error {
	for {
		if reached(w.nextList) {
			w.list(ctx)
		}

		item := w.steps.first()

		switch {
		case ended(ctx) != nil:
			return w.errors(ended(ctx))
		case errors.Is(w.listErr, errors.ErrUnsupported):
			return w.errors(nil)
		case item != nil:
			w.steps.again(item, w.step(ctx, item))
		case w.stay || w.hasWork() || !w.lists.allTried() || !w.finds.allTried():
			w.steps.wait(ctx, w.nextList)

		case w.listed: // nothing was left when the store was listed
			return w.errors(nil)
		default:
			w.nextList = w.lastList.Add(soon) // a store whose reads lag behind may still list what is over
			w.steps.wait(ctx, w.nextList)
		}
	}
}

// worker works off the open records of a store, one step at a time. Beside the steps it looks for what became of
// unknown prompts, and tells how records have ended.
type worker struct {
	runner  *Runner
	stay    bool    // of Run: errors are logged when they occur
	steps   *agenda // of the open records that are known
	lists   *agenda // of the Lists of what has ended
	finds   *agenda
	reports *agenda

	reporting context.Context // of Run or Resume, which ends after working does
	holds     []*async.Run    // calls of WithOnHold's function

	lastList time.Time
	nextList time.Time
	listed   bool    // whether no step was done since the last List
	listErr  error   // what the last List returned
	logged   string  // the text of it that was logged last
	lost     []error // what could not be recorded

	endedErr error         // what the last List of what has ended returned
	telling  time.Duration // how long the last report took
	told     sync.Map      // of Record, by key: what was told, if its store does not show it
}

// announce tells the workers of r about a record that this Runner has made open.
func (r *Runner) announce(key string) {
	for w := range r.workers.Range {
		w.(*worker).steps.add(errand{key: key, rank: urgent})
	}
}

func (w *worker) list(ctx context.Context) {
	began := time.Now()
	open, err := w.runner.store.List(ctx, Pending, Sending, Running)
	if ended(ctx) != nil {
		return
	}

	w.lastList = time.Now()
	w.nextList = w.lastList.Add(max(listEvery, listShare*w.lastList.Sub(began)))
	w.listed = true
	w.listErr = err

	for _, record := range open {
		e := errand{key: record.Key, rank: listed}
		if record.State == Pending && record.After != "" && record.Problem == "" { // perhaps woken by a decision
			e.version = record.Version
		}
		w.steps.add(e)
	}
	w.log(ctx, cannotList, "", err, &w.logged)
}

// hasWork reports whether there is a record that can go on.
func (w *worker) hasWork() bool {
	return slices.ContainsFunc(w.steps.all(), func(e *errand) bool { return e.err == nil })
}

// step does the next step of a record, and returns the time until the one after it, 0 if the record needs no
// more steps.
func (w *worker) step(ctx context.Context, e *errand) time.Duration {
	w.listed = false
	s, err := w.runner.step(ctx, Task{Key: e.key}, false)
	w.holds = append(slices.DeleteFunc(w.holds, isOver), w.runner.tellHold(w.reporting, s.hold)...)
	if errors.Is(err, errUnrecorded) {
		w.lost = append(w.lost, forKey(e.key, err))
		err = nil
		s.next = listEvery
	}
	if ended(ctx) != nil {
		return listEvery
	}
	if s.record.Version > 0 {
		e.version = s.record.Version
	}

	e.err = nil
	switch {
	case err != nil:
		e.err = forKey(e.key, err)
		s.next = listEvery // it is tried again while others go on
	case isStuck(s.cause):
		e.err = forKey(e.key, s.cause)
		w.take(s.record, true, listed)
	case s.next == 0:
		return 0
	}

	w.log(ctx, "once: a record cannot go on", e.key, e.err, &e.logged)
	return s.next
}

// log logs err if w is Run's: Resume returns it.
func (w *worker) log(ctx context.Context, message, key string, err error, last *string) {
	if w.stay {
		w.runner.logOnce(ctx, message, key, err, last)
	}
}

// errors returns why keys cannot go on, the error of the last List, and end.
func (w *worker) errors(end error) error {
	all := w.lost
	for _, e := range w.steps.all() {
		all = append(all, e.err)
	}

	if w.listErr != nil {
		all = append(all, fmt.Errorf("%s: %w", cannotList, w.listErr))
	}
	return errors.Join(append(all, end)...)
}

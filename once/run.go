package once

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
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
	err := r.canSend(ctx)
	if err != nil {
		return err
	}

	working, cancel := context.WithCancel(ctx)
	defer cancel()

	w := r.newWorker(stay)
	defer w.close()

	reporting := working
	if !stay { // a Resume ends by itself, and waits for the report that has begun
		reporting = ctx
	}

	w.side.start(working, reporting, cancel)
	err = w.work(working)
	cancel()
	isOver := waitFor(reporting, w.side.runs...)

	switch {
	case stay:
		return err
	case !isOver:
		return errors.Join(err, errStillCalled)
	}
	return errors.Join(err, w.side.finish(ctx))
}

// work does the steps that are due until nothing is left, or ctx ends.
func (w *worker) work(ctx context.Context) error {
	for {
		w.takeAdded()
		if reached(w.nextList) {
			w.list(ctx)
		}
		item := w.nextItem()

		switch {
		case ended(ctx) != nil:
			return w.errors(ended(ctx))
		case errors.Is(w.listErr, errors.ErrUnsupported):
			return w.errors(nil)
		case item != nil && reached(item.due):
			w.step(ctx, item)
		case w.stay || w.hasWork() || !w.side.isQuiet():
			w.wait(ctx, item)
		case w.listed: // nothing was left when the store was listed
			return w.errors(nil)
		default:
			w.nextList = w.lastList.Add(soon) // a store whose reads lag behind may still list what is over
			w.wait(ctx, nil)
		}
	}
}

// worker works off the open records of a store, one step at a time. It starts anew from each List,
// unlike errands, which run beside it and are for the functions of the caller's.
type worker struct {
	runner *Runner
	side   *sideWork
	stay   bool             // of Run: errors are logged when they occur
	items  map[string]*item // the open records that are known, by key
	seen   int              // how many items there were so far

	lastList time.Time
	nextList time.Time
	listed   bool   // whether no step was done since the last List
	listErr  error  // what the last List returned
	logged   string // the text of it that was logged last

	wake  chan struct{} // has a value if there is something in added
	added []string      // keys that this Runner has made open since takeAdded; guarded by runner.mu
	lost  []error       // what could not be recorded
}

// item is an open record.
type item struct {
	key    string
	number int       // in the order of listing
	due    time.Time // when its next step is due
	err    error     // why it cannot go on; nil if it can
	logged string    // the text of the error that was logged last
}

func (r *Runner) newWorker(stay bool) *worker {
	w := &worker{runner: r, stay: stay, items: map[string]*item{}, wake: make(chan struct{}, 1)}
	w.side = newSideWork(r, stay, func() { poke(w.wake) })

	r.mu.Lock()
	defer r.mu.Unlock()

	r.workers[w] = true
	return w
}

func (w *worker) close() {
	w.runner.mu.Lock()
	defer w.runner.mu.Unlock()

	delete(w.runner.workers, w)
}

// announce tells the workers of r about a record that this Runner has made open.
func (r *Runner) announce(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for w := range r.workers {
		w.added = append(w.added, key)
		poke(w.wake)
	}
}

// tellWorkers tells the workers of r about a change that this Runner has stored.
func (r *Runner) tellWorkers(record Record) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for w := range r.workers {
		w.side.take(record, false)
	}
}

func (w *worker) takeAdded() {
	w.runner.mu.Lock()
	added := w.added
	w.added = nil
	w.runner.mu.Unlock()

	for _, key := range added {
		w.know(key).due = time.Time{} // before all others
	}
}

// know returns the item of key, due now if it is new.
func (w *worker) know(key string) *item {
	if known := w.items[key]; known != nil {
		return known
	}

	w.seen++
	fresh := &item{key: key, number: w.seen, due: time.Now()}
	w.items[key] = fresh
	return fresh
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
		w.know(record.Key)
	}
	w.log(ctx, cannotList, "", err, &w.logged)
}

// nextItem returns the item that is due first, nil if there is none.
func (w *worker) nextItem() *item {
	var first *item
	for _, i := range w.items {
		if first == nil || i.before(first) {
			first = i
		}
	}
	return first
}

func (i *item) before(other *item) bool {
	if i.due.Equal(other.due) {
		return i.number < other.number
	}
	return i.due.Before(other.due)
}

// hasWork reports whether there is a record that can go on.
func (w *worker) hasWork() bool {
	for _, i := range w.items {
		if i.err == nil {
			return true
		}
	}
	return false
}

// step does the next step of an item, and forgets it once the record needs no more steps.
func (w *worker) step(ctx context.Context, i *item) {
	w.listed = false
	s, err := w.runner.step(ctx, Task{Key: i.key}, false)
	if errors.Is(err, errUnrecorded) {
		w.lost = append(w.lost, forKey(i.key, err))
		err = nil
		s.next = listEvery
	}
	if ended(ctx) != nil {
		return
	}

	if s.stuck {
		w.side.take(s.record, true)
	}
	switch {
	case err != nil:
		i.err = forKey(i.key, err)
		i.due = time.Now().Add(listEvery) // it is tried again while others go on
	case s.next == 0:
		delete(w.items, i.key)
		return

	default:
		i.err = nil
		i.due = time.Now().Add(s.next)
		if s.stuck {
			i.err = forKey(i.key, s.cause)
		}
	}
	w.log(ctx, "once: a record cannot go on", i.key, i.err, &i.logged)
}

// wait waits until an item is due, a List is, or this Runner adds a record.
func (w *worker) wait(ctx context.Context, first *item) {
	until := w.nextList
	if first != nil && first.due.Before(until) {
		until = first.due
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()

	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.wake:
	}
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
	for _, key := range slices.Sorted(maps.Keys(w.items)) {
		all = append(all, w.items[key].err)
	}
	if w.listErr != nil {
		all = append(all, fmt.Errorf("%s: %w", cannotList, w.listErr))
	}
	return errors.Join(append(all, end)...)
}

package once

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// errands calls do for one key after another, when each is due.
type errands struct {
	// do does an errand, and returns the time until it is due again, 0 if it is over.
	do func(ctx context.Context, e *errand) time.Duration
	// done is called after each.
	done func()

	mu    sync.Mutex
	byKey map[string]*errand
	wake  chan struct{} // has a value if there is a new errand
}

// errand is what is to be done for a record. Only the goroutine that does errands changes it.
type errand struct {
	key    string
	send   string // the Sender of the record, if another send makes another errand
	due    time.Time
	tries  int
	stuck  bool   // the record needs a person, although it is pending
	told   Record // what was told of it, but could not be stored
	err    error  // why it is to be done again
	logged string // the text of the error that was logged last
}

func newErrands(do func(context.Context, *errand) time.Duration, done func()) *errands {
	return &errands{do: do, done: done, byKey: map[string]*errand{}, wake: make(chan struct{}, 1)}
}

// add makes an errand due now, unless its key has one for the same send. It replaces that of another
// send, which may wait for hours.
func (e *errands) add(fresh errand) {
	e.mu.Lock()
	defer e.mu.Unlock()

	known := e.byKey[fresh.key]
	if known != nil && known.send == fresh.send {
		return
	}

	fresh.due = time.Now()
	e.byKey[fresh.key] = &fresh
	poke(e.wake)
}

// poke wakes whoever waits for wake, unless it is awake already.
func poke(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// allTried reports whether each errand was done at least once.
func (e *errands) allTried() bool {
	e.mu.Lock()
	defer e.mu.Unlock()

	for _, errand := range e.byKey {
		if errand.tries == 0 {
			return false
		}
	}
	return true
}

// first returns the errand that is due first, nil if there is none.
func (e *errands) first() *errand {
	e.mu.Lock()
	defer e.mu.Unlock()

	var first *errand
	for _, errand := range e.byKey {
		if first == nil || errand.due.Before(first.due) || errand.due.Equal(first.due) && errand.key < first.key {
			first = errand
		}
	}
	return first
}

// all returns the errands in the order of their keys. Nothing may do them meanwhile.
func (e *errands) all() []*errand {
	e.mu.Lock()
	defer e.mu.Unlock()

	byKey := func(a, b *errand) int { return strings.Compare(a.key, b.key) }
	return slices.SortedFunc(maps.Values(e.byKey), byKey)
}

// run does errands until ctx ends. One that has begun may go on until doing ends.
func (e *errands) run(ctx, doing context.Context) {
	for ended(ctx) == nil {
		first := e.first()
		if first != nil && reached(first.due) {
			e.try(doing, first)
			continue
		}
		e.wait(ctx, first)
	}
}

func (e *errands) try(ctx context.Context, errand *errand) {
	again := e.do(ctx, errand)
	defer e.done()

	e.mu.Lock()
	defer e.mu.Unlock()

	errand.tries++
	errand.due = time.Now().Add(again)
	if again == 0 && e.byKey[errand.key] == errand { // it may have been replaced meanwhile
		delete(e.byKey, errand.key)
	}
}

// wait waits until the first errand is due, or a new one is added.
func (e *errands) wait(ctx context.Context, first *errand) {
	var due <-chan time.Time
	if first != nil {
		timer := time.NewTimer(time.Until(first.due))
		defer timer.Stop()

		due = timer.C
	}

	select {
	case <-ctx.Done():
	case <-e.wake:
	case <-due:
	}
}

// backoff returns the time until the next of several tries: first, then twice as long each time.
func backoff(first, longest time.Duration, tries int) time.Duration {
	for range tries {
		first = min(2*first, longest)
	}
	return first
}

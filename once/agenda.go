package once

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// agenda says what is due, at most one errand for each key. What is due at the same moment is done in the
// order of add.
type agenda struct {
	mu    sync.Mutex
	byKey map[string]*errand
	added int
	wake  chan struct{} // has a value if there is something new
}

// errand is what is to be done for a record. What follows logged is guarded by the agenda's lock; the rest
// belongs to the goroutine that does the errands.
type errand struct {
	key    string
	send   string // the Sender of the record, if another send makes another errand
	stuck  bool   // the record needs a person, although it is pending
	err    error  // why it cannot be done, or is to be done again
	logged string // the text of the error that was logged last

	// version is the version of the record that its last step saw. In an errand that is added, it is the one that a
	// List has shown, if the record was woken.
	version int

	rank    rank
	due     time.Time
	number  int // in the order of add
	tries   int
	isDoing bool
}

// rank orders the errands that are due. New records go before overdue polls.
type rank int

const (
	urgent  rank = iota // this Runner has made the record open
	changed             // this Runner has changed the record
	listed              // a List has shown the record
	tried               // it was done before
)

func newAgenda() *agenda {
	return &agenda{byKey: map[string]*errand{}, wake: make(chan struct{}, 1)}
}

// add makes an errand due now, unless its key has one for the same send: that becomes due now if fresh is
// urgent or a decision has woken its record, and is done anew if the record has changed while it is being done.
// An errand of another send, which may wait for hours, is replaced.
func (a *agenda) add(fresh errand) {
	a.mu.Lock()
	defer a.mu.Unlock()

	known := a.byKey[fresh.key]
	switch {
	case known == nil || known.send != fresh.send:
		a.added++
		fresh.number = a.added
		a.byKey[fresh.key] = &fresh

	case known.isDoing && fresh.rank < listed, fresh.rank == urgent, known.wasWoken(fresh):
		known.rank = fresh.rank
		known.due = time.Time{}
	default:
		return
	}
	a.poke()
}

// wasWoken reports whether listed shows that a person's decision has woken the record since e's last step. Only the
// goroutine that does the steps adds an errand with a version.
func (e *errand) wasWoken(listed errand) bool {
	return listed.version > e.version
}

// poke ends a wait.
func (a *agenda) poke() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// first returns the errand that is due first, nil if none is due. The caller does it, and calls again.
func (a *agenda) first() *errand {
	a.mu.Lock()
	defer a.mu.Unlock()

	first := a.next()
	if first == nil || first.rank == tried && !reached(first.due) {
		return nil
	}

	first.isDoing = true
	first.rank = tried
	return first
}

// next returns the errand that is to be done first, nil if there is none. The lock is held.
func (a *agenda) next() *errand {
	var next *errand
	for _, e := range a.byKey {
		if next == nil || e.before(next) {
			next = e
		}
	}
	return next
}

func (e *errand) before(other *errand) bool {
	return cmp.Or(cmp.Compare(e.rank, other.rank), e.due.Compare(other.due), cmp.Compare(e.number, other.number)) < 0
}

// again notes that an errand was done, and is due again after wait. It is over if wait is 0.
func (a *agenda) again(e *errand, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()

	e.tries++
	e.isDoing = false
	if e.rank != tried { // it was added meanwhile
		return
	}

	e.due = time.Now().Add(wait)
	if wait == 0 && a.byKey[e.key] == e { // it may have been replaced meanwhile
		delete(a.byKey, e.key)
	}
}

// wait waits until an errand is due or until has come, or for something new.
func (a *agenda) wait(ctx context.Context, until time.Time) {
	a.mu.Lock()
	next := a.next()
	if next != nil && next.due.Before(until) {
		until = next.due
	}
	a.mu.Unlock()

	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()

	select {
	case <-ctx.Done():
	case <-a.wake:
	case <-timer.C:
	}
}

// run does what is due until ctx ends, and calls done after each errand.
func (a *agenda) run(ctx context.Context, do func(*errand) time.Duration, done func()) {
	for ended(ctx) == nil {
		first := a.first()
		if first == nil {
			a.wait(ctx, time.Now().Add(forever))
			continue
		}
		a.again(first, do(first))
		done()
	}
}

// allTried reports whether each errand was done at least once.
func (a *agenda) allTried() bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, e := range a.byKey {
		if e.tries == 0 {
			return false
		}
	}
	return true
}

// all returns the errands in the order of their keys. Nothing may do them meanwhile.
func (a *agenda) all() []*errand {
	a.mu.Lock()
	defer a.mu.Unlock()

	byKey := func(a, b *errand) int { return strings.Compare(a.key, b.key) }
	return slices.SortedFunc(maps.Values(a.byKey), byKey)
}

// backoff returns the time until the next of several tries: first, then twice as long each time.
func backoff(first, longest time.Duration, tries int) time.Duration {
	for range tries {
		first = min(2*first, longest)
	}
	return first
}

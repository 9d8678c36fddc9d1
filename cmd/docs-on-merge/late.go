package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// late is a store that keeps the record of a job for later if it cannot be written. Nobody else knows the job's id, so
// the run goes on with the job and tries again until it ends.
type late struct {
	once.Store
	// onJob is told when a read shows a job, whichever run has made it: a run can then go on without the store.
	onJob func()
	// claim is on record while this run sends. Its version is 0 before and after.
	claim once.Record
	// owed is the record that could not be written yet. Its version is 0 if there is none.
	owed once.Record
	// since is when the record was owed first, and err is why the last attempt failed.
	since time.Time
	err   error
}

func (s *late) isOwed() bool { return s.owed.Version > 0 }

// Get returns what this run knows if the store does not respond: what the prompt has come to must find its claim.
func (s *late) Get(ctx context.Context, key string) (once.Record, error) {
	if s.isOwed() {
		return s.owed, nil
	}

	r, err := s.Store.Get(ctx, key)
	switch {
	case err != nil && s.claim.Version > 0:
		return s.claim, nil
	case err == nil && r.State == once.Running:
		s.onJob()
	}
	return r, err
}

// Put succeeds for the job of this run's own prompt, also if the record is only owed.
func (s *late) Put(ctx context.Context, r once.Record) error {
	isOwn := s.claim.Version > 0 && s.claim.Sender == r.Sender
	err := s.Store.Put(ctx, r)
	switch {
	case err == nil && r.State == once.Sending:
		s.claim = r
	case err == nil:
		s.claim = once.Record{}
	case isOwn && r.JobID != "" && !errors.Is(err, once.ErrConflict):
		s.owe(r, err)
		return nil
	}
	return err
}

// owe keeps a record that could not be written.
func (s *late) owe(r once.Record, err error) {
	s.owed = r
	s.since = time.Now()
	s.err = err
}

// pay writes the record that is owed.
func (s *late) pay(ctx context.Context) error {
	err := s.Store.Put(ctx, s.owed)
	if errors.Is(err, once.ErrConflict) {
		err = s.payAfter(ctx)
	}

	s.err = err
	if err == nil {
		s.claim = once.Record{}
		s.owed = once.Record{}
	}
	return err
}

// payAfter writes the record after what others have concluded meanwhile: that the prompt's outcome is unknown.
func (s *late) payAfter(ctx context.Context) error {
	current, err := s.Store.Get(ctx, s.owed.Key)
	isStillOwed := current.Sender == s.owed.Sender && current.JobID == ""
	switch {
	case err != nil:
		return err
	case current.JobID == s.owed.JobID: // an attempt that seemed to fail has written it
		return nil
	case !isStillOwed:
		err = fmt.Errorf("another run has sent the prompt again, and the record has job %q", current.JobID)
		return &responseError{error: err}
	}

	next := current
	next.Version++
	next.State = once.Running
	next.JobID = s.owed.JobID
	next.UpdatedAt = time.Now().UTC()
	s.owed = next
	return s.Store.Put(ctx, next)
}

// isForGood reports whether a record is refused however often it is written.
func isForGood(err error) bool {
	var failed *responseError
	return errors.As(err, &failed) && !failed.mayPass
}

const payEvery = 10 * time.Second

// tellJob logs a job that was made, and whether it is on record.
func (w *worker) tellJob(id string) {
	switch {
	case !w.store.isOwed():
		w.isOnRecord = true
		w.p.step.Printf("Job %s is on record.", id)
	case isForGood(w.store.err):
		w.warnOwed()
	default:
		w.p.step.Printf("Job %s was made, and its record cannot be written yet (%v): trying again.", id, w.store.err)
	}
}

// warnOwed says at once that the record of the job is refused for good.
func (w *worker) warnOwed() {
	r := result{record: w.store.owed}
	w.p.step.Warnf("Job %s cannot be recorded: %v. %s", r.record.JobID, w.store.err, w.p.adviseJob(w.change, r))
}

// pay tries once to write the record that is owed.
func (w *worker) pay(ctx context.Context) {
	if !w.store.isOwed() || isForGood(w.store.err) {
		return
	}

	paying, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.p.sendTime)
	defer cancel()
	owed := w.store.owed
	err := w.store.pay(paying)
	switch {
	case err == nil:
		w.record = owed
		w.p.step.Printf("Job %s is on record.", owed.JobID)
	case isForGood(err):
		w.warnOwed()
	}
}

// payLast tries to write the record that is owed until -timeout, and at least for twice the time of a send, after a
// signal, too. With -no-wait it tries no longer.
func (w *worker) payLast(ctx context.Context) {
	atLeast, cancel := context.WithDeadline(context.WithoutCancel(ctx), w.store.since.Add(2*w.p.sendTime))
	defer cancel()

	w.pay(ctx)
	for w.store.isOwed() && !isForGood(w.store.err) {
		mayWait := !w.p.options.noWait && ci.Sleep(ctx, payEvery)
		if !mayWait && !ci.Sleep(atLeast, payEvery) {
			break
		}
		w.pay(ctx)
	}

	if w.store.isOwed() {
		w.unrecorded = w.store.err
		w.err = ci.Running.Of(w.store.err)
	}
}

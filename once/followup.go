package once

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	lookEvery   = time.Minute      // until the next look at the record before, if it has no job yet
	personEvery = 5 * time.Minute  // until the next look, if a person must decide about that record
	settleTime  = 30 * time.Second // for which the job may still report its earlier end after a message
	maxChain    = 1000             // records before a follow-up
)

// before is the record before a follow-up.
type before struct {
	Record

	// blocker is the record that the whole chain waits for. It is this record, unless this is a
	// pending follow-up too: then it is the nearest earlier record that is not.
	blocker Record
}

// standing says what the record before a follow-up means for the follow-up.
type standing int

const (
	waiting  standing = iota // there is no job yet
	working                  // it is being sent, or its job runs
	finished                 // its job has ended: the message may be sent
	stranded                 // there is no job, and none will come unless a person decides
)

func (b before) standing() standing {
	switch {
	case b.State == Sending || b.State == Running:
		return working
	case (b.State == Done || b.State == Failed) && b.JobID != "":
		return finished
	case b.State != Pending:
		return stranded
	case b.blocker.Key != b.Key:
		return b.blockedBy()
	}
	return waiting
}

// blockedBy says what the blocker of a pending follow-up means for those behind that.
func (b before) blockedBy() standing {
	blocker := before{Record: b.blocker, blocker: b.blocker}
	if blocker.standing() == stranded {
		return stranded
	}
	return waiting
}

// problem says why a follow-up waits; "" if it waits for the end of a job.
func (b before) problem() string {
	s := b.standing()
	if s == working || s == finished {
		return ""
	}

	text := fmt.Sprintf("waits for %s, which is %s", b.Key, b.State)
	if s == waiting {
		return text
	}

	if b.blocker.Key != b.Key {
		text += fmt.Sprintf(" behind %s, which is %s", b.blocker.Key, b.blocker.State)
	}
	if b.blocker.State == Done || b.blocker.State == Failed {
		text += " without the id of a job: what follows it needs Adopt or Cancel"
	}
	return text
}

// projectOf returns the project of the follow-up t: the one that the job is in.
func (b before) projectOf(t Task) string { return cmp.Or(b.Project, t.Project) }

// checkAfter compares t.After with the After on record, which never changes. A task without
// After and prompt continues the record.
func (t Task) checkAfter(record Record) error {
	takesUp := t.After == "" && strings.TrimSpace(t.Prompt) == ""
	if record.Version == 0 || t.After == record.After || takesUp {
		return nil
	}
	return invalid("after", fmt.Sprintf("is %q, but the record's is %q for good", t.After, record.After))
}

// before returns the record before the follow-up t.
func (r *Runner) before(ctx context.Context, t Task) (before, error) {
	if t.After == t.Key {
		return before{}, invalid("after", "is the task's own key")
	}

	record, err := r.readBefore(ctx, t.After)
	if err != nil {
		return before{}, err
	}

	b := before{Record: record, blocker: record}
	for range maxChain {
		if b.blocker.State != Pending || b.blocker.After == "" {
			return b, nil
		}

		b.blocker, err = r.readBefore(ctx, b.blocker.After)
		if err != nil {
			return before{}, err
		}
	}
	return before{}, fmt.Errorf("more than %d follow-ups wait for each other", maxChain)
}

func (r *Runner) readBefore(ctx context.Context, key string) (Record, error) {
	if checkKey(key) != nil {
		return Record{}, invalid("after", "is not the key of a record")
	}

	record, err := r.read(ctx, key)
	switch {
	case err != nil:
		return Record{}, fmt.Errorf("the record before it, %s: %w", key, err)
	case record.Version == 0:
		return Record{}, invalid("after", fmt.Sprintf("is %s, which is not on record", key))
	}
	return record, nil
}

// beginFollowUp sends the message of a draft that is a follow-up, once the job of the record
// before it has ended. Until then it does that record's step, or waits.
func (r *Runner) beginFollowUp(ctx context.Context, record, draft Record, forced bool) (step, error) {
	b, err := r.before(ctx, draft.Task)
	if err != nil {
		return step{record: record}, err
	}

	draft.Project = b.projectOf(draft.Task)

	switch b.standing() {
	case finished:
		return r.send(ctx, delivery{record: record, draft: draft, before: b}, forced)
	case working:
		return r.stepBefore(ctx, record, draft, b)
	case waiting:
		return r.postpone(ctx, draft, b.problem(), step{record: record, next: lookEvery})
	}

	cause := errors.New(b.problem())
	return r.postpone(ctx, draft, b.problem(), step{record: record, next: personEvery, cause: cause, stuck: true})
}

// stepBefore does a step of the record before a follow-up.
func (r *Runner) stepBefore(ctx context.Context, record, draft Record, b before) (step, error) {
	s, err := r.postpone(ctx, draft, b.problem(), step{record: record})
	if err != nil {
		return s, err
	}

	done, err := r.follow(ctx, b.Record, draft.Project)
	if err != nil {
		return s, fmt.Errorf("the record before it, %s: %w", b.Key, err)
	}

	s.next = max(done.next, 1) // if that is over, the message comes next
	s.cause = done.cause
	return s, nil
}

// postpone stores that the record of s, or the draft if there is none yet, is pending and why,
// unless the record says so already.
func (r *Runner) postpone(ctx context.Context, draft Record, problem string, s step) (step, error) {
	record := s.record
	if record.Version == 0 {
		s.record = draft
	}
	s.record.Problem = problem
	return r.change(ctx, record, s)
}

// unchanged returns an error if the record before a follow-up has changed since it was read: a
// person may have sent its prompt again.
func (r *Runner) unchanged(ctx context.Context, b before) error {
	if b.Version == 0 {
		return nil
	}

	record, err := r.readBefore(ctx, b.Key)
	if err != nil {
		return err
	}
	if record.Version != b.Version {
		return fmt.Errorf("the record before it, %s: %w", b.Key, ErrConflict)
	}
	return nil
}

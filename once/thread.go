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
	lookEvery   = time.Minute     // until the next look at a first record that has no job yet
	personEvery = 5 * time.Minute // until the next look, if a person must decide about that record
	maxChain    = 1000            // follow-ups that name each other
)

// needsPersonError is why a record cannot get on without a person.
type needsPersonError string

func (e needsPersonError) Error() string { return string(e) }

// isStuck reports whether no step helps, because of err, before a person has decided about another record.
func isStuck(err error) bool { return errors.As(err, new(needsPersonError)) }

// thread returns the key of the thread that a record belongs to: that of its first record.
func (record Record) thread() string { return cmp.Or(record.Thread, record.Key) }

// isOtherInThread reports whether record is another follow-up of the same thread.
func (record Record) isOtherInThread(other Record) bool {
	return record.After != "" && record.Thread == other.Thread && record.Key != other.Key
}

// hasEndedJob reports whether the record has a job that has ended: then a message may be sent.
func (record Record) hasEndedJob() bool {
	return (record.State == Done || record.State == Failed) && record.JobID != ""
}

// whyWait says why the follow-ups of record, which has no job, wait.
func (record Record) whyWait() string {
	text := fmt.Sprintf("waits for %s, which is %s", record.Key, record.State)
	switch {
	case record.Version == 0:
		return fmt.Sprintf("waits for %s, which is not on record any more: it needs Cancel", record.Key)
	case record.State == Done || record.State == Failed:
		return text + " without the id of a job: what follows it needs Adopt or Cancel"
	}
	return text
}

// checkAfter returns why After cannot be the key of the record before t. "" is allowed.
func (t Task) checkAfter() error {
	switch {
	case t.After == "":
		return nil
	case t.After == t.Key:
		return invalid("after", "is the task's own key")
	case checkKey(t.After) != nil:
		return invalid("after", "is not the key of a record")
	}
	return nil
}

// checkSameThread returns why t cannot continue record: its After names another thread. A task
// without After and prompt continues any record.
func (r *Runner) checkSameThread(ctx context.Context, t Task, record Record) error {
	takesUp := t.After == "" && strings.TrimSpace(t.Prompt) == ""
	if record.Version == 0 || t.After == record.After || takesUp {
		return nil
	}

	if t.After != "" && record.After != "" {
		named, _, err := r.threadOf(ctx, t)
		if err != nil {
			return err
		}
		if named == record.Thread {
			return nil
		}
	}
	return invalid("after", fmt.Sprintf("is %q, but the record's is %q for good", t.After, record.After))
}

// threadOf returns the key of the thread that the follow-up t belongs to, and the record that its After names.
func (r *Runner) threadOf(ctx context.Context, t Task) (string, Record, error) {
	if err := t.checkAfter(); err != nil {
		return "", Record{}, err
	}

	named, err := r.readNamed(ctx, t.After)
	return named.thread(), named, err
}

// readNamed returns the record that an After names.
func (r *Runner) readNamed(ctx context.Context, key string) (Record, error) {
	record, err := r.read(ctx, key)
	switch {
	case err != nil:
		return Record{}, fmt.Errorf("the record before it, %s: %w", key, err)
	case record.Version == 0:
		return Record{}, invalid("after", fmt.Sprintf("is %s, which is not on record", key))
	}
	return record, nil
}

// addFollowUp stores the draft of a follow-up before anything is sent for it: the others of its thread must see it.
func (r *Runner) addFollowUp(ctx context.Context, record, draft Record) (step, error) {
	pending, err := r.newRecord(ctx, draft.Task)
	if err != nil {
		return step{record: record}, err
	}
	return r.change(ctx, record, step{record: pending, next: 1})
}

// beginFollowUp sends the message of a draft that is a follow-up, once the job of its thread has
// ended and no other message comes first. Until then it does the step of what it waits for.
func (r *Runner) beginFollowUp(ctx context.Context, record, draft Record, forced bool) (step, error) {
	if draft.Thread == "" {
		return step{record: record}, errors.New("it has After and no Thread: the store must keep both")
	}

	first, err := r.read(ctx, draft.Thread)
	if err != nil {
		return step{record: record}, fmt.Errorf("the first record of its thread, %s: %w", draft.Thread, err)
	}

	draft.ProjectID = cmp.Or(first.ProjectID, draft.ProjectID)
	d := delivery{record: record, draft: draft, first: first}

	switch {
	case first.hasEndedJob():
		return r.takeTurn(ctx, d, forced)
	case first.isAtWork():
		return r.stepOther(ctx, d, first, forced)
	case first.State == Pending:
		return r.postpone(ctx, draft, first.whyWait(), step{record: record, next: lookEvery})
	}

	cause := needsPersonError(first.whyWait())
	return r.postpone(ctx, draft, cause.Error(), step{record: record, next: personEvery, cause: cause, ends: true})
}

// takeTurn sends a message if it is the next of its thread.
func (r *Runner) takeTurn(ctx context.Context, d delivery, forced bool) (step, error) {
	ahead, err := r.ahead(ctx, d.draft)
	switch {
	case ended(ctx) != nil:
		return step{record: d.record}, ended(ctx)
	case err != nil:
		cause := needsPersonError("the records of its thread cannot be listed: " + err.Error())
		s := step{record: d.record, next: lookEvery, cause: cause, ends: true}
		return r.postpone(ctx, d.draft, cause.Error(), s)

	case ahead.Version > 0:
		return r.stepOther(ctx, d, ahead, forced)
	}
	return r.send(ctx, d, forced)
}

// ahead returns the follow-up of the same thread that t has to wait for. That is the one that is being sent
// or runs, or else the earliest one before t that can be sent. It returns the zero Record if it is t's turn.
func (r *Runner) ahead(ctx context.Context, t Record) (Record, error) {
	records, err := r.listThread(ctx, t.Thread)
	if errors.Is(err, errors.ErrUnsupported) {
		return r.namedAhead(ctx, t)
	}
	if err != nil {
		return Record{}, err
	}

	earliest := t
	for _, other := range records {
		switch {
		case !other.isOtherInThread(t):
		case other.isAtWork():
			return other, nil
		case other.canBeSent() && other.isBefore(earliest):
			earliest = other
		}
	}

	if earliest.Key == t.Key {
		return Record{}, nil
	}
	return earliest, nil
}

// listThread returns the open records of a thread, and perhaps others.
func (r *Runner) listThread(ctx context.Context, thread string) ([]Record, error) {
	lister, ok := r.store.(ThreadLister)
	if ok {
		return lister.ListThread(ctx, thread)
	}
	return r.store.List(ctx, Pending, Sending, Running)
}

// namedAhead is ahead in a store that cannot list: it looks at the records that After names, back to the first
// that was sent.
func (r *Runner) namedAhead(ctx context.Context, t Record) (Record, error) {
	var earliest Record
	name := t.After
	for range maxChain {
		if name == t.Thread {
			return earliest, nil
		}

		named, err := r.readNamed(ctx, name)
		switch {
		case err != nil:
			return Record{}, err
		case named.isAtWork():
			return named, nil
		case named.canBeSent():
			earliest = named
		case named.State != Pending && named.State != Canceled:
			return earliest, nil
		}

		name = named.After
	}
	return Record{}, fmt.Errorf("more than %d follow-ups wait for each other", maxChain)
}

// isAtWork reports whether the record's prompt is being sent, or its job runs.
func (record Record) isAtWork() bool { return record.State == Sending || record.State == Running }

// canBeSent reports whether another's step may send the record's prompt. A store that others can read has none.
func (record Record) canBeSent() bool { return record.State == Pending && record.Prompt != "" }

// isBefore reports whether record was added before other, by the clocks of those who added them.
func (record Record) isBefore(other Record) bool {
	return cmp.Or(record.AddedAt.Compare(other.AddedAt), cmp.Compare(record.Key, other.Key)) < 0
}

// stepOther does a step of other, which the follow-up of d waits for: the prompt of one that is pending is sent.
func (r *Runner) stepOther(ctx context.Context, d delivery, other Record, forced bool) (step, error) {
	s, err := r.postpone(ctx, d.draft, "", step{record: d.record})
	if err != nil {
		return s, err
	}

	var done step
	if other.State == Pending {
		draft := other
		draft.ProjectID = d.draft.ProjectID
		done, err = r.send(ctx, delivery{record: other, draft: draft, first: d.first}, forced)
	} else {
		done, err = r.follow(ctx, other, d.draft.ProjectID)
	}

	done.ahead = done.record
	done.record = s.record
	done.next = max(done.next, 1) // if that is over, the message comes next
	done.cause = forKey(other.Key, done.cause)
	if err != nil && ended(ctx) == nil {
		err = done.aboutAhead(err)
	}
	return done, err
}

// aboutAhead returns err, which is about the record ahead, for the record that waits for it.
func (s step) aboutAhead(err error) error {
	return &otherError{
		says:     fmt.Sprintf("once: %s, which %s waits for", s.ahead.Key, s.record.Key),
		hasNamed: true,
		err:      err,
	}
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

// isAlone reports whether a follow-up whose claim is stored may be sent. Another that was claimed
// at the same time may have looked before this claim was there, and be sending; an earlier one may have been
// added; a person may have decided about the first record.
func (r *Runner) isAlone(ctx context.Context, claim, first Record) bool {
	ahead, err := r.ahead(ctx, claim)
	if err != nil || ahead.Version > 0 {
		return false
	}

	current, err := r.read(ctx, first.Key)
	isSame := current.State == first.State && current.Sender == first.Sender && current.JobID == first.JobID
	return err == nil && isSame
}

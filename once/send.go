package once

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// begin sends the prompt of a record that is pending, or not there yet, unless something speaks against it.
func (r *Runner) begin(ctx context.Context, record Record, t Task, forced bool) (step, error) {
	draft := record
	draft.State = Pending
	draft.Prompt = cmp.Or(t.Prompt, record.Prompt)
	draft.ProjectID = cmp.Or(t.ProjectID, record.ProjectID)
	draft.After = cmp.Or(record.After, t.After)

	err := checkPrompt(draft.Prompt)
	switch {
	case err != nil:
		return step{record: record}, err
	case draft.After == "":
		return r.send(ctx, delivery{record: record, draft: draft}, forced)
	case record.Version == 0:
		return r.addFollowUp(ctx, record, draft)
	}
	return r.beginFollowUp(ctx, record, draft, forced)
}

// delivery is a prompt on its way to the service.
type delivery struct {
	// record is the stored record. Its Version is 0 if nothing is stored.
	record Record
	// draft is the record with the prompt and the project that its claim will store.
	draft Record
	// first is the first record of a follow-up's thread, else zero.
	first   Record
	project *project
}

func (d delivery) isFollowUp() bool { return d.first.Version > 0 }

// send sends the prompt of a delivery, unless its project is held, its job is at work, or the service does not work.
func (r *Runner) send(ctx context.Context, d delivery, forced bool) (step, error) {
	p, err := r.projectOf(d.draft.ProjectID)
	if err != nil {
		return step{record: d.record}, err
	}

	d.project = p
	d.draft.ProjectID = p.client.ProjectID()

	if !forced {
		wait, release, why := p.admit()
		if wait > 0 {
			return step{record: d.record, next: wait, cause: why}, nil
		}

		defer release()
	}

	wait, err := r.askFirst(ctx, d)
	switch {
	case ended(ctx) != nil:
		return step{record: d.record}, ended(ctx)
	case err != nil:
		s := step{record: d.record, next: p.left(), cause: err, ends: true}
		s, storeErr := r.postpone(ctx, d.draft, err.Error(), s)
		s.hold = p.takeNews()
		return s, storeErr
	case wait > 0:
		return r.postpone(ctx, d.draft, "", step{record: d.record, next: wait})
	}
	return r.claimAndSend(context.WithoutCancel(ctx), d)
}

// askFirst returns nil if the service works, and how long to wait for a job at work.
func (r *Runner) askFirst(ctx context.Context, d delivery) (time.Duration, error) {
	asking, cancel := context.WithTimeout(ctx, r.sendTime) // a rate limiter may let it wait
	defer cancel()

	if !d.isFollowUp() {
		return 0, d.project.inVain(ctx, d.project.ask(asking))
	}
	wait, err := d.project.idleIn(asking, d.first)
	return wait, d.project.inVain(ctx, err)
}

// claimAndSend claims the record, sends the prompt and records what came of it. ctx does not
// end: the caller must not end it between the send and its recording.
func (r *Runner) claimAndSend(ctx context.Context, d delivery) (step, error) {
	// A process that is stopped between claim and request wakes past its deadline, and the SDK sends nothing.
	deadline := time.Now().Add(r.sendTime)
	sending, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()

	claim := d.record.nextVersion(d.draft.claimedBy(rand.Text(), deadline))
	if err := r.write(sending, claim); err != nil {
		claim.Version = d.record.Version // it may be stored nevertheless
		return r.giveBack(ctx, claim, err)
	}

	r.announceClaim(ctx, claim)
	if d.isFollowUp() && !r.isAlone(sending, claim, d.first) {
		return r.giveWay(ctx, claim)
	}

	job, cause := d.post(sending, claim)
	result := claim.outcome(job, cause)
	d.project.sent(result, cause)

	settled, err := r.settle(ctx, result, cause)
	s := settled.afterSend(result, cause, d.project.left())
	s.hold = d.project.takeNews()
	s.sent = job != nil || errors.Is(cause, mintlify.ErrOutcomeUnknown) || statusOf(cause) != 0
	r.memory.sawRunning(settled)
	return s, err
}

// write stores a record with a Sender of its own. A client of object storage that retries a
// request may return ErrConflict for its own write: that is a success.
func (r *Runner) write(ctx context.Context, record Record) error {
	err := r.store.Put(ctx, record)
	if !errors.Is(err, ErrConflict) {
		return err
	}

	stored, readErr := r.store.Get(ctx, record.Key)
	isOurs := stored.Version == record.Version && stored.Sender == record.Sender && stored.State == record.State
	if readErr == nil && isOurs && ended(ctx) == nil {
		return nil
	}
	return err
}

// announceClaim tells of a claim before its prompt is sent. If WithOnChange's function panics, or
// ends its goroutine, the claim is given back.
func (r *Runner) announceClaim(ctx context.Context, claim Record) {
	returned := false
	defer func() {
		if !returned {
			_, _ = r.giveBack(ctx, claim, errors.New("the function of WithOnChange did not return"))
		}
	}()

	r.changed(ctx, claim, nil)
	returned = true
}

func (record Record) claimedBy(sender string, deadline time.Time) Record {
	record.State = Sending
	record.Sends++
	record.Sender = sender
	record.Deadline = deadline.UTC().Round(0)
	record.JobID = ""
	record.PRLink = ""
	record.Problem = ""
	return record
}

// afterSend returns the step for a send: record is what is stored, result is what the send tried to
// store, and hold is how long its project is held.
func (record Record) afterSend(result Record, cause error, hold time.Duration) step {
	if record.Sender != result.Sender || record.State != result.State { // others have decided meanwhile
		return step{record: record, next: soon, cause: cause}
	}

	switch record.State {
	case Running:
		return step{record: record, next: 1} // the first poll comes at once
	case Pending:
		return step{record: record, next: hold, cause: cause, ends: true}
	case Sending: // the response to a message is lost: its job tells
		return step{record: record, next: lostEvery, cause: cause}
	}
	return step{record: record, cause: cause}
}

// giveBack makes a claim pending again if nothing was sent for it. A claim whose Put failed may
// be stored nevertheless.
func (r *Runner) giveBack(ctx context.Context, claim Record, err error) (step, error) {
	claim.State = Pending
	claim.Problem = "nothing was sent: " + err.Error()
	settled, _ := r.settle(ctx, claim, err) // what could not be recorded is in the log
	if errors.Is(err, ErrConflict) {
		return step{record: settled, next: soon}, nil
	}
	return step{record: settled}, err
}

// giveWay gives the claim of a follow-up back because another of its thread may be at work. Both
// may do so: they try again at different times.
func (r *Runner) giveWay(ctx context.Context, claim Record) (step, error) {
	claim.State = Pending
	settled, err := r.settle(ctx, claim, nil)
	return step{record: settled, next: time.Second + mathrand.N(9*time.Second)}, err
}

// post sends the prompt of a claim: as a new job, or as a message to the job of its thread.
func (d delivery) post(ctx context.Context, claim Record) (*mintlify.Job, error) {
	jobs := d.project.client.Jobs
	if claim.After == "" {
		return jobs.Create(ctx, mintlify.CreateJobParams{Prompt: claim.Prompt + askForMarker + Marker(claim.Key)})
	}

	job, err := jobs.Message(ctx, d.first.JobID, mintlify.MessageParams{Prompt: claim.Prompt})
	if job != nil {
		job.ID = d.first.JobID
	}
	return job, err
}

const askForMarker = "\n\nWrite this line, on its own, in the description of the pull request:\n"

package once

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// begin sends the prompt of a record that is pending, or not there yet, unless something
// speaks against it.
func (r *Runner) begin(ctx context.Context, record Record, t Task, forced bool) (step, error) {
	draft := record
	draft.State = Pending
	draft.Prompt = cmp.Or(t.Prompt, record.Prompt)
	draft.Project = cmp.Or(t.Project, record.Project)
	draft.After = cmp.Or(t.After, record.After)

	err := checkPrompt(draft.Prompt)
	if err != nil {
		return step{record: record}, err
	}
	if draft.After != "" {
		return r.beginFollowUp(ctx, record, draft, forced)
	}
	return r.send(ctx, delivery{record: record, draft: draft}, forced)
}

// delivery is a prompt on its way to the service.
type delivery struct {
	// record is the stored record. Its Version is 0 if nothing is stored.
	record Record
	// draft is the record with the prompt and the project that its claim will store.
	draft Record
	// before is the record before a follow-up, else zero.
	before  before
	project *project
}

// send sends the prompt of a delivery, unless its project is held, its job is at work, or the
// service does not work.
func (r *Runner) send(ctx context.Context, d delivery, forced bool) (step, error) {
	p, err := r.projectOf(d.draft.Project)
	if err != nil {
		return step{record: d.record}, err
	}

	d.project = p
	d.draft.Project = p.client.ProjectID()

	if !forced {
		wait, release := p.admit()
		if wait > 0 {
			return step{record: d.record, next: wait}, nil
		}

		defer release()
	}

	wait, err := r.askFirst(ctx, d)
	switch {
	case ended(ctx) != nil:
		return step{record: d.record}, ended(ctx)
	case err != nil:
		return r.postpone(ctx, d.draft, err.Error(), step{record: d.record, next: p.left(), cause: err})
	case wait > 0:
		return r.postpone(ctx, d.draft, "", step{record: d.record, next: wait})
	}
	return r.claimAndSend(context.WithoutCancel(ctx), d)
}

// askFirst returns nil if the service works, and how long to wait for a job at work.
func (r *Runner) askFirst(ctx context.Context, d delivery) (time.Duration, error) {
	asking, cancel := context.WithTimeout(ctx, r.sendTime) // a rate limiter may let it wait
	defer cancel()

	if d.before.Version > 0 {
		wait, err := d.project.idleIn(asking, d.before)
		if err != nil || wait > 0 {
			return wait, d.project.inVain(ctx, err)
		}
	}
	return 0, d.project.inVain(ctx, d.project.ask(asking))
}

// claimAndSend claims the record, sends the prompt and records what came of it. ctx does not
// end: the caller must not end it between the send and its recording.
func (r *Runner) claimAndSend(ctx context.Context, d delivery) (step, error) {
	// A process that is stopped between claim and request wakes past its deadline, and the SDK
	// sends nothing.
	deadline := time.Now().Add(r.sendTime)
	sending, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()

	claim, err := r.put(sending, d.draft.claimedBy(rand.Text(), deadline))
	if errors.Is(err, ErrConflict) {
		return step{record: d.record, next: soon}, nil
	}
	if err == nil {
		err = r.unchanged(sending, d.before)
	}
	if err != nil {
		return r.giveBack(ctx, claim, err)
	}

	job, cause := d.post(sending, claim)
	result := claim.outcome(job, cause)
	d.project.sent(result, cause)

	settled, err := r.settle(ctx, result)
	if err != nil {
		return step{record: settled}, err
	}
	return settled.afterSend(result, cause, d.project.left()), nil
}

// claimedBy returns the claim of a send.
func (r Record) claimedBy(sender string, deadline time.Time) Record {
	r.State = Sending
	r.Sends++
	r.Sender = sender
	r.Deadline = deadline.UTC().Round(0)
	r.JobID = ""
	r.PRLink = ""
	r.Problem = ""
	return r
}

// afterSend returns the step for a send: r is the stored record, result is what the send tried to
// store, and hold is how long its project is held.
func (r Record) afterSend(result Record, cause error, hold time.Duration) step {
	if r.Sender != result.Sender || r.State != result.State { // others have decided meanwhile
		return step{record: r, next: soon}
	}

	switch r.State {
	case Running:
		return step{record: r, next: 1} // the first poll comes at once
	case Pending:
		return step{record: r, next: hold, cause: cause}
	}
	return step{record: r, cause: cause}
}

// giveBack makes a claim pending again if nothing was sent for it. A claim whose Put failed may
// be stored nevertheless.
func (r *Runner) giveBack(ctx context.Context, claim Record, err error) (step, error) {
	claim.State = Pending
	claim.Problem = "nothing was sent: " + err.Error()
	settled, _ := r.settle(ctx, claim) // what could not be recorded is in the log
	if errors.Is(err, ErrConflict) {
		return step{record: settled, next: soon}, nil
	}
	return step{record: settled}, err
}

// post sends the prompt of a claim: as a new job, or as a message to the job of the record
// before it.
func (d delivery) post(ctx context.Context, claim Record) (*mintlify.Job, error) {
	jobs := d.project.client.Jobs
	if claim.After == "" {
		return jobs.Create(ctx, mintlify.CreateJobParams{Prompt: claim.Prompt + askForMarker + Marker(claim.Key)})
	}

	job, err := jobs.Message(ctx, d.before.JobID, mintlify.MessageParams{Prompt: claim.Prompt})
	if job != nil {
		job.ID = d.before.JobID
	}
	return job, err
}

const askForMarker = "\n\nEnd the description of the pull request with this line, on its own:\n"

// outcome returns what a claim becomes after the response to its send. A job is running, even
// if it comes with an error.
func (r Record) outcome(job *mintlify.Job, err error) Record {
	if job != nil {
		r.State = Running
		r.JobID = job.ID
		r.PRLink = job.PRLink
		return r
	}

	r.Problem = err.Error()
	switch {
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		r.State = Unknown
	case r.isRefused(err):
		r.State = Refused
	default:
		r.State = Pending
	}
	return r
}

// isRefused reports whether err is about the prompt, or about the job that it was a message to.
func (r Record) isRefused(err error) bool {
	var argument *mintlify.ArgumentError // a key source's bad key is one, too
	if errors.As(err, &argument) {
		return argument.Name == "prompt"
	}

	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	case http.StatusNotFound, http.StatusConflict:
		return r.After != ""
	}
	return false
}

// sent notes what a send has come to.
func (p *project) sent(result Record, err error) {
	switch {
	case result.State == Running:
		p.succeeded()
	case result.State != Refused:
		p.failed(err)
	case statusOf(err) != 0: // the service refused it, not the SDK
		p.succeeded()
	}
}

// errOtherJob is the error of a response that has no place on record.
var errOtherJob = errors.New("the record went on with another send or job")

// settle stores what came of a send, for as long as others wait for it, and returns what is
// on record then. The id of a job that could not be stored is in the error and in the log.
func (r *Runner) settle(ctx context.Context, result Record) (Record, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.sendTime)
	defer cancel()

	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		record, err := r.record(ctx, result)
		if err == nil {
			return record, nil
		}

		if errors.Is(err, errOtherJob) || !pause(ctx, wait) {
			err = fmt.Errorf("%s could not be recorded: %w", result.summary(), err)
			r.logger.Log(ctx, slog.LevelError, "once: "+err.Error(), "key", result.Key, "job", result.JobID)
			return result, err
		}
	}
}

// summary names what came of a send.
func (r Record) summary() string {
	if r.JobID != "" {
		return fmt.Sprintf("job %q", r.JobID)
	}
	return "that it is " + string(r.State)
}

// record tries once to store what came of a send.
func (r *Runner) record(ctx context.Context, result Record) (Record, error) {
	current, err := r.store.Get(ctx, result.Key)
	if err != nil {
		return current, err
	}
	if current.Version < result.Version {
		return current, errors.New("the store returned an older version") // such as a replica's
	}

	next, err := result.addedTo(current)
	if err != nil || next == current {
		return current, err
	}
	return r.put(ctx, next)
}

// addedTo returns current, which is on record, with what came of a send.
func (r Record) addedTo(current Record) (Record, error) {
	isOurs := current.Sender == r.Sender
	isNew := r.After == "" // all sends of a follow-up have the same job: there the Sender alone tells
	switch {
	case r.JobID != "" && r.JobID == current.JobID && (isOurs || isNew):
		return current, nil
	case r.JobID != "" && (!isOurs || current.JobID != ""):
		return current, fmt.Errorf("%w: it is %s with job %q", errOtherJob, current.State, current.JobID)
	case !isOurs || current.JobID != "":
		return current, nil
	}

	next := current
	if current.State == Sending || r.JobID != "" && current.State != Done {
		next.State = r.State
		next.Problem = r.Problem
	}
	if r.JobID != "" {
		next.JobID = r.JobID
		next.PRLink = cmp.Or(current.PRLink, r.PRLink)
	}
	return next, nil
}

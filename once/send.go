package once

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	soon         = 100 * time.Millisecond // until the next look at a record that another changes
	listEvery    = 5 * time.Second        // at least, while Resume has work
	afterRefusal = 30 * time.Second       // until the next send, if the service does not say
	afterMending = 5 * time.Minute        // until the next request, if a person has to mend something first
)

// send claims a record that is pending or not there yet, sends the prompt, and records what came of it.
func (r *Runner) send(ctx context.Context, record Record, t Task, force bool) (step, error) {
	s := step{record: record}
	record.Prompt, record.Project = cmp.Or(t.Prompt, record.Prompt), cmp.Or(t.Project, record.Project)
	client, err := r.check(record.Task)
	if err != nil {
		return s, err
	}
	if until, ok := r.held.Load(client.ProjectID()); ok && !force && time.Now().Before(until.(time.Time)) {
		s.next = time.Until(until.(time.Time))
		return s, nil
	}
	// A process that is stopped between claim and request wakes past its deadline, and the SDK
	// sends nothing. No end of the caller's ctx comes between the send and its recording.
	ctx, deadline := context.WithoutCancel(ctx), time.Now().Add(r.sendTime)
	sending, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	record.State, record.Problem, record.JobID, record.PRLink = Sending, "", "", ""
	record.Sends, record.Sender, record.Deadline = record.Sends+1, rand.Text(), deadline.UTC().Round(0)
	claim, err := r.put(sending, record)
	if err != nil {
		if !errors.Is(err, ErrConflict) { // it may be stored all the same
			record.State, record.Problem = Pending, "nothing was sent: "+err.Error()
			s.record, _ = r.settle(ctx, record)
		}
		return s, err
	}
	job, err := client.Jobs.Create(sending, mintlify.CreateJobParams{
		Prompt: record.Prompt + "\n\nEnd the description of the pull request with this line, on its own:\n" + Marker(record.Key),
	})
	s = outcome(claim, job, err)
	if s.cause != nil && s.next > 0 {
		r.held.Store(client.ProjectID(), time.Now().Add(s.next))
	}
	settled, err := r.settle(ctx, s.record)
	if settled.Sender != claim.Sender || settled.State != s.record.State { // others have decided meanwhile
		s.next, s.cause = soon, nil
	}
	s.record = settled
	return s, err
}

// outcome tells what a send came to. A job is running, even if it comes with an error.
func outcome(claim Record, job *mintlify.Job, err error) step {
	if job != nil {
		claim.State, claim.JobID, claim.PRLink = Running, job.ID, job.PRLink
		return step{record: claim, next: 1} // the first poll comes at once
	}
	s := step{record: claim, next: afterMending, cause: err}
	s.record.State, s.record.Problem = Pending, err.Error()
	wait, mayHelp := mintlify.RetryAfter(err)
	var argument *mintlify.ArgumentError // a key source's bad key is one, too
	var response *mintlify.APIError
	switch {
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		s.record.State, s.next = Unknown, 0
	case errors.Is(err, mintlify.ErrBadRequest), errors.As(err, &argument) && argument.Name == "prompt",
		errors.As(err, &response) && response.StatusCode == http.StatusRequestEntityTooLarge:
		s.record.State, s.next = Refused, 0
	case mayHelp, errors.Is(err, context.DeadlineExceeded):
		s.next = cmp.Or(wait, afterRefusal)
	}
	return s
}

// settle stores what came of a send, for as long as others wait for it, and returns what is
// on record then. The id of a job that could not be stored is in the error.
func (r *Runner) settle(ctx context.Context, result Record) (Record, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.sendTime)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		record, err := r.store.Get(ctx, result.Key)
		next, lost := result.onto(record)
		switch {
		case err != nil:
		case record.Version < result.Version:
			err = errors.New("the store returned an older version") // such as of a replica
		case lost:
			err = fmt.Errorf("the record went on as %s with another send or job %q", record.State, record.JobID)
			cancel() // no retry would help
		case next != record:
			record, err = r.put(ctx, next)
		}
		if err == nil {
			return record, nil
		}
		if sleep(ctx, wait) != nil {
			err = fmt.Errorf("once: %s, job %q, could not be recorded as %s: %w", result.Key, result.JobID, result.State, err)
			r.log(ctx, slog.LevelError, err.Error(), result)
			return result, err
		}
	}
}

// onto returns current with what r, of a send of ours, adds to it. lost: r's job has no place there.
func (r Record) onto(current Record) (next Record, lost bool) {
	switch {
	case r.JobID != "" && current.JobID == r.JobID:
		return current, false
	case current.Sender != r.Sender || current.JobID != "":
		return current, r.JobID != ""
	case current.State == Sending, current.State != Done && r.JobID != "":
		current.State, current.Problem = r.State, r.Problem
	}
	current.JobID, current.PRLink = r.JobID, cmp.Or(current.PRLink, r.PRLink)
	return current, false
}

// watch looks after a send of another process, which may be dead.
func (r *Runner) watch(ctx context.Context, record Record) (step, error) {
	next, left := record, time.Until(record.Deadline)+2*r.sendTime // clocks differ, and a recording is retried
	switch {
	case left > time.Hour+2*r.sendTime: // made by a clock that was wrong
		next.Deadline = time.Now().Add(r.sendTime).UTC().Round(0)
		return r.change(ctx, record, next, soon)
	case left <= 0:
		next.State, next.Problem = Unknown, "the send that had to end by "+record.Deadline.Format(time.RFC3339)+" left no response on record"
		return r.change(ctx, record, next, 0)
	}
	return step{record: record, next: min(max(time.Since(record.Updated), soon), 5*time.Second, left)}, nil
}

// poll polls the job of a running record once, and stores what changed.
func (r *Runner) poll(ctx context.Context, record Record, t Task) (s step, err error) {
	t.Project = cmp.Or(record.Project, t.Project)
	client, err := r.project(t)
	if err != nil {
		return step{record: record}, err
	}
	poll, cause := client.Jobs.Poll(ctx, record.JobID, max(0, time.Since(record.Updated)))
	next := record
	if poll.Job != nil {
		next.PRLink = poll.Job.PRLink
	}
	switch {
	case poll.Next > 0 && poll.Err != nil: // such as the network's: the next one may succeed
	case poll.Next > 0:
		next.Problem = ""
	case cause == nil:
		next.State, next.Problem = Done, ""
	case errors.Is(cause, mintlify.ErrJobFailed):
		next.State, next.Problem = Failed, cause.Error()
	case ended(ctx) != nil:
		return step{record: record}, fmt.Errorf("once: %s: %w", record.Key, cause)
	default: // a revoked key says nothing about the job: failed would invite a second one
		wait, _ := mintlify.RetryAfter(cause)
		next.Problem, poll.Next = cmp.Or(record.Problem, cause.Error()), cmp.Or(wait, afterMending)
	}
	s, err = r.change(ctx, record, next, poll.Next)
	s.cause = cause
	return s, err
}

func checkKey(key string) error {
	unprintable := func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
	return refuse(key == "" || len(key) > 300 || !utf8.ValidString(key) || strings.ContainsFunc(key, unprintable), "key", "is not 1 to 300 bytes of printable text without white space")
}

func refuse(bad bool, name, reason string) error {
	if !bad {
		return nil
	}
	return &mintlify.ArgumentError{Name: name, Reason: reason}
}

// end returns Do's error for a record. cause is why this call ends, nil if the record says it.
func (r Record) end(cause error) error {
	cause = cmp.Or(cause, errors.New(cmp.Or(r.Problem, "SendAgain makes it pending")))
	switch r.State {
	case Done:
		return nil
	case Failed:
		cause = &mintlify.JobFailedError{Job: &mintlify.Job{ID: r.JobID, Status: mintlify.JobFailed, PRLink: r.PRLink}}
	case Unknown:
		if !errors.Is(cause, mintlify.ErrOutcomeUnknown) {
			cause = fmt.Errorf("%w: %w", mintlify.ErrOutcomeUnknown, cause)
		}
		return fmt.Errorf("once: %s: %w; look for the pull request whose description ends with %q, then call Adopt with its job's id, MarkDone with its link, or SendAgain if there is none", r.Key, cause, Marker(r.Key))
	}
	return fmt.Errorf("once: %s is %s: %w", r.Key, r.State, cause)
}

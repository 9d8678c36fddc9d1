package once

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// follow does the next step of a record whose prompt was sent, or is not to be sent.
func (r *Runner) follow(ctx context.Context, record Record, project string) (step, error) {
	switch record.State {
	case Sending:
		return r.watch(ctx, record)
	case Running:
		return r.poll(ctx, record, project)
	case Done, Failed, Refused, Unknown, Canceled:
		return step{record: record}, nil
	}
	return step{record: record}, fmt.Errorf("it has the state %q, which this version does not know", record.State)
}

// watch looks after a send in progress. Its process may be dead.
func (r *Runner) watch(ctx context.Context, record Record) (step, error) {
	return r.change(ctx, record, record.watched(time.Now(), r.sendTime))
}

// watched returns what becomes of a claim by the time t. The grace is twice the send time, because
// clocks differ and recording is retried.
func (r Record) watched(t time.Time, sendTime time.Duration) step {
	left := r.Deadline.Sub(t) + 2*sendTime
	switch {
	case left > time.Hour+2*sendTime: // a wrong clock made it
		r.Deadline = t.Add(sendTime).UTC().Round(0)
		return step{record: r, next: soon}

	case left <= 0:
		r.State = Unknown
		r.Problem = "the send that had to end by " + r.Deadline.Format(time.RFC3339) + " left no response on record"
		return step{record: r}
	}

	age := t.Sub(r.Updated)
	return step{record: r, next: min(max(age, soon), 5*time.Second, left)}
}

// poll polls the job of a running record once, and stores what changed. project is the job's
// project if the record has none.
func (r *Runner) poll(ctx context.Context, record Record, project string) (step, error) {
	p, err := r.projectOf(cmp.Or(record.Project, project))
	if err != nil {
		return step{record: record}, err
	}

	waited := time.Since(record.Updated)
	if record.After != "" && waited < -time.Minute {
		return r.rewrite(ctx, record)
	}

	waited = max(0, waited)

	poll, err := p.client.Jobs.Poll(ctx, record.JobID, waited, record.settling()...)
	end := ended(ctx)
	if end != nil && poll.Err != nil {
		return step{record: record}, end
	}

	p.heard(failureOf(poll, err))
	return r.change(ctx, record, record.polled(poll, err, waited))
}

// failureOf returns why a poll failed, else the error of the wait that it ended.
func failureOf(poll mintlify.Poll, err error) error {
	if poll.Err != nil {
		return poll.Err
	}
	return err
}

// rewrite stores a record again if a wrong clock has dated it in the future: otherwise a message
// would settle until that time.
func (r *Runner) rewrite(ctx context.Context, record Record) (step, error) {
	_, err := r.put(ctx, record)
	if err != nil && !errors.Is(err, ErrConflict) {
		return step{record: record}, err
	}
	return step{record: record, next: soon}, nil
}

// settling returns the options of a poll after a message: at first, a terminal status may
// still be the one from before the message.
func (r Record) settling() []mintlify.WaitOption {
	if r.After == "" {
		return nil
	}
	return []mintlify.WaitOption{mintlify.WithSettleTime(settleTime)}
}

// polled returns what a running record becomes after a poll.
func (r Record) polled(poll mintlify.Poll, err error, waited time.Duration) step {
	if poll.Next > 0 && poll.Err != nil { // such as the network's: the next one may succeed
		return step{record: r, next: poll.Next}
	}
	if poll.Next > 0 && poll.Job != nil && poll.Job.Status.IsTerminal() { // as before the message
		return step{record: r, next: max(poll.Next, settleTime-waited)}
	}
	if poll.Job != nil {
		r.PRLink = poll.Job.PRLink
	}

	switch {
	case poll.Next > 0:
		r.Problem = ""
		return step{record: r, next: poll.Next}

	case err == nil:
		r.State = Done
		r.Problem = ""
		return step{record: r}

	case errors.Is(err, mintlify.ErrJobFailed):
		r.State = Failed
		r.Problem = err.Error()
		return step{record: r}
	}

	// A revoked key says nothing about the job: failed would invite a second one.
	r.Problem = cmp.Or(r.Problem, err.Error())
	wait, _ := mintlify.RetryAfter(err)
	return step{record: r, next: min(cmp.Or(wait, mendingTime), longestWait), cause: err}
}

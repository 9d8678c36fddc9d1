package once

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// watch looks after a send of another process, which may be dead.
func (r *Runner) watch(ctx context.Context, record Record) (step, error) {
	left := time.Until(record.Deadline)
	next := record
	switch {
	case left > maxSendTime: // made by a clock that was wrong
		next.Deadline = time.Now().Add(r.sendTime).UTC().Round(0)
		return r.change(ctx, record, next, afterConflict)
	case left+r.grace() <= 0:
		next.State = Unknown
		next.Problem = "no response was recorded of the send that had to end by " + record.Deadline.Format(time.RFC3339)
		return r.change(ctx, record, next, 0)
	}
	age := max(time.Since(record.Updated), afterConflict)
	return step{record: record, next: min(age, 5*time.Second, left+r.grace())}, nil
}

// poll polls the job of a running record once, and stores what changed.
func (r *Runner) poll(ctx context.Context, record Record, t Task) (step, error) {
	client, err := r.project(cmp.Or(record.Project, t.Project))
	if err != nil {
		return step{record: record}, err
	}
	poll, err := client.Jobs.Poll(ctx, record.JobID, max(0, time.Since(record.Updated)))
	next := record
	if poll.Job != nil {
		next.PRLink = poll.Job.PRLink
	}
	switch {
	case poll.Next > 0 && poll.Err != nil: // the network, or a 5xx
	case poll.Next > 0:
		next.Problem = ""
	case err == nil:
		next.State, next.Problem = Done, ""
	case errors.Is(err, mintlify.ErrJobFailed):
		next.State, next.Problem = Failed, err.Error()
	case ended(ctx) != nil:
		return step{record: record}, fmt.Errorf("once: %s: %w", record.Key, err)
	default: // a revoked key says nothing about the job: failed would invite a second one
		next.Problem = cmp.Or(record.Problem, err.Error())
		wait, _ := mintlify.RetryAfter(err)
		s, putErr := r.change(ctx, record, next, cmp.Or(wait, afterMending))
		s.cause = err
		return s, putErr
	}
	return r.change(ctx, record, next, poll.Next)
}

// change stores next if it differs from record.
func (r *Runner) change(ctx context.Context, record, next Record, after time.Duration) (s step, err error) {
	s = step{record: record, next: after}
	if next != record {
		s.record, err = r.put(ctx, next)
	}
	return s, err
}

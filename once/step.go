package once

import (
	"context"
	"errors"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Step is what one call of [Runner.Step] did.
type Step struct {
	// Record is the record after the step.
	Record Record
	// Next is the time until the next step. If it is 0, the work is over, or a person has to decide.
	Next time.Duration
	// Ahead is the record that the step was about, if that is another one of the thread: one that
	// was added before and is pending, and whose prompt the step has sent or tried to send, or one that
	// is sending or running. It is zero if the step was about Record. Sent and Err are about Ahead, too.
	Ahead Record
	// Sent reports whether the request with the prompt may have reached the service in this
	// step. It is true for any response, also a 429, and if the outcome is unknown.
	Sent bool
	// Err is what kept this step from getting on: an outage, a quota, a bad key. It is an
	// [*mintlify.APIError] if a response is the cause, and nil if nothing stood in the way.
	Err error
}

// Step sends the prompt, polls the job once, or looks after a send of another process. It is
// for a job queue: call it again after Next, until that is 0.
//
//	step, err := runner.Step(ctx, key)
//	if step.Next > 0 {
//		return snooze(step.Next)
//	}
//	return err
//
// While Next is more than 0 the error is nil, unless the step could not be done: then it is the
// context's or the store's, and Next is 5 s. If Next is 0, the error is the one that [Runner.Do]
// would return: nil if the record is done.
//
// While the service does not work, and for a while after a send that failed, Step sends nothing to that project,
// for any key. Err then has the cause.
func (r *Runner) Step(ctx context.Context, key string) (Step, error) {
	s, err := r.stepOrFind(ctx, Task{Key: key}, false)
	waitFor(ctx, r.tellHold(ctx, s.hold)...)
	public := Step{Record: s.record, Next: s.next, Ahead: s.ahead, Sent: s.sent, Err: s.cause}

	switch {
	case errors.As(err, new(*mintlify.ArgumentError)):
		public.Next = 0
	case err != nil:
		public.Next = retryEvery
	case s.next == 0:
		return public, s.record.result(s.cause)
	}
	return public, forKey(key, err)
}

type step struct {
	record Record
	ahead  Record        // that the step was about, if that is another one
	next   time.Duration // until the next step; 0: it is over
	sent   bool          // the request with the prompt may have reached the service
	cause  error         // what kept this step from getting on
	ends   bool          // Do does not wait for the next step, but returns cause
	hold   *Hold         // of the project, if a person is to be told of it

	status mintlify.JobStatus // of the job that was polled, as last seen
}

// step does the next step of t's record. If forced, it sends even if the project is held.
func (r *Runner) step(ctx context.Context, t Task, forced bool) (step, error) {
	if err := r.canSend(ctx); err != nil {
		return step{}, err
	}

	record, err := r.read(ctx, t.Key)
	if err != nil {
		return step{record: record}, err
	}

	if err := r.checkSameThread(ctx, t, record); err != nil {
		return step{record: record}, err
	}

	if err := t.checkSameProject(record); err != nil {
		return step{record: record}, err
	}

	if record.Version == 0 || record.State == Pending {
		return r.begin(ctx, record, t, forced)
	}
	return r.follow(ctx, record, t.ProjectID)
}

package queue

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"

	"github.com/mintlify-community/mintlify-go/once"
)

// pollOverdue is how often the job is polled that has been running for a day.
const pollOverdue = 30 * time.Minute

// Poll polls the job of a prompt once, or looks after another's send, and has River come back until neither is left
// to do. A prompt that is pending is left to its turn.
func (w *Worker) Poll(ctx context.Context, job *river.Job[PollArgs]) error {
	if err := w.CheckVersion(ctx); err != nil {
		return err
	}
	key := job.Args.Key
	record, err := w.Records().Get(ctx, key)
	if err != nil || !isUnderWay(record) {
		return err
	}

	step, err := w.polls.Step(ctx, key)
	if err := unfinished(step, err); err != nil {
		return err
	}
	if record.State == once.Running && step.Err == nil {
		if err := w.endAsked(ctx, record.ProjectID); err != nil {
			return err
		}
	}

	if !isUnderWay(step.Record) {
		w.TellSoon(ctx)
		return w.wake(ctx, record.ProjectID) // for messages to its job
	}

	next := step.Next
	if (database.Row{Record: step.Record}).IsOverdue() {
		next = max(next, pollOverdue)
	}
	return river.JobSnooze(next)
}

// isUnderWay reports whether a record has something to follow.
func isUnderWay(r once.Record) bool { return r.State == once.Sending || r.State == once.Running }

// LookUp polls the job of a running record that has no pull request yet: the service may know one.
func (w *Worker) LookUp(ctx context.Context, key string) error {
	record, err := w.Records().Get(ctx, key)
	if err != nil || record.State != once.Running || record.PRLink != "" {
		return err
	}
	step, err := w.polls.Step(ctx, key)
	return unfinished(step, err)
}

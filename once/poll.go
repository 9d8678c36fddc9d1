package once

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	sentLong       = 5 * time.Minute  // after a Deadline, when a message has settled by any clock
	lostEvery      = 5 * time.Second  // until the next poll for a message whose response is lost
	lostGrace      = 2 * time.Minute  // after a Deadline, at least, until such a message is unknown
	undecidedAfter = 10 * time.Minute // after a Deadline, at least, when a person may decide what became of it
	oddAfter       = 10 * time.Minute // after a Deadline, when a status that nobody knows is a Problem
	longActive     = 6 * time.Hour    // after a Deadline, when a job at work is a Problem
	wrongClock     = time.Hour        // ahead: a Deadline that a wrong clock has made
)

// follow does the next step of a record whose prompt was sent, or is not to be sent.
func (r *Runner) follow(ctx context.Context, record Record, project string) (step, error) {
	switch record.State {
	case Sending:
		return r.watch(ctx, record, project)
	case Running:
		return r.poll(ctx, record, project)
	case Done, Failed, Refused, Unknown, Canceled:
		return step{record: record}, nil
	}
	return step{record: record}, fmt.Errorf("it has the state %q, which this version does not know", record.State)
}

// since returns the time from which the age of a send counts.
func (record Record) since() time.Time {
	if record.Deadline.IsZero() { // a person has adopted it
		return record.UpdatedAt
	}
	return record.Deadline
}

// hasWrongDeadline reports whether a wrong clock has made the Deadline.
func (record Record) hasWrongDeadline(t time.Time) bool { return record.Deadline.Sub(t) > wrongClock }

func (record Record) withDeadline(t time.Time) Record {
	record.Deadline = t.UTC().Round(0)
	return record
}

// watch looks after a send in progress. Its process may be dead.
func (r *Runner) watch(ctx context.Context, record Record, project string) (step, error) {
	isLost := record.Problem != "" || reached(record.Deadline)
	if record.After != "" && isLost && !record.hasWrongDeadline(time.Now()) {
		return r.watchMessage(ctx, record, project)
	}
	return r.change(ctx, record, record.watched(time.Now(), r.sendTime))
}

// watched returns what becomes of a claim by the time t. The grace is twice the send time, because
// clocks differ and recording is retried.
func (record Record) watched(t time.Time, sendTime time.Duration) step {
	left := record.Deadline.Sub(t) + 2*sendTime
	switch {
	case record.hasWrongDeadline(t):
		return step{record: record.withDeadline(t.Add(sendTime)), next: soon}
	case left <= 0:
		return step{record: record.lost()}
	}

	age := t.Sub(record.UpdatedAt)
	return step{record: record, next: min(max(age, soon), 5*time.Second, left)}
}

// lost returns a claim as unknown.
func (record Record) lost() Record {
	record.State = Unknown
	silence := "the send that had to end by " + record.Deadline.Format(time.RFC3339) + " left no response on record"
	record.Problem = cmp.Or(record.Problem, silence)
	return record
}

// watchMessage looks after a message whose response is lost, or whose sender may be dead. A job
// that is at work again shows that the message has arrived. One that has ended proves nothing, and a poll that
// fails decides nothing.
func (r *Runner) watchMessage(ctx context.Context, record Record, project string) (step, error) {
	first, err := r.read(ctx, record.Thread)
	if err != nil {
		return step{record: record}, fmt.Errorf("the first record of its thread, %s: %w", record.Thread, err)
	}

	seen, link, cause := r.lookForMessage(ctx, record, first, project)
	if ended(ctx) != nil {
		return step{record: record}, ended(ctx)
	}

	next := record
	wait := lostEvery
	switch {
	case seen == Running:
		next.State = Running
		next.JobID = first.JobID
		next.PRLink = link
		next.Problem = ""

	case seen == Unknown && reached(record.Deadline.Add(max(2*r.sendTime, lostGrace))):
		return r.change(ctx, record, step{record: record.lost(), cause: cause})

	case record.isUndecided(r.sendTime):
		wait = lookEvery
		if !record.saysUndecided() { // else the Problem would grow
			next.Problem = undecidedProblem + ": " + cmp.Or(record.Problem, "its sender left no response")
		}
	}

	s, err := r.change(ctx, record, step{record: next, next: wait, cause: cause})
	r.memory.sawRunning(s.record)
	return s, err
}

// isUndecided reports whether a message was lost so long ago that a person may decide what became of it.
func (record Record) isUndecided(sendTime time.Duration) bool {
	isLate := reached(record.Deadline.Add(max(2*sendTime, undecidedAfter)))
	return record.State == Sending && record.After != "" && isLate
}

const undecidedProblem = "its job does not tell whether the message has arrived"

// saysUndecided reports whether the Problem of a lost message needs a person.
func (record Record) saysUndecided() bool {
	return record.State == Sending && strings.HasPrefix(record.Problem, undecidedProblem)
}

// lookForMessage looks at the job of a lost message, and returns the job's link, and the state of the message: Running
// if the job is at work, which only the message can have caused, Unknown if it is not, or is another one than the
// message was for, and Sending, perhaps with an error, if that cannot be told.
func (r *Runner) lookForMessage(ctx context.Context, record, first Record, project string) (State, string, error) {
	if !first.hasEndedJob() { // its prompt was sent again, and its new job is at work for that
		return Unknown, "", nil
	}

	p, err := r.projectOf(cmp.Or(first.ProjectID, record.ProjectID, project))
	if err != nil {
		return Sending, "", err
	}

	poll, err := p.pollTwice(ctx, first.JobID, 0)
	p.heard(err)
	switch {
	case err != nil && !showsWorking(err):
		return Sending, "", err
	case poll.Job.Status != mintlify.JobActive:
		return Unknown, "", nil
	}

	other, err := r.ahead(ctx, record)
	if err != nil || other.isAtWork() {
		return Sending, "", err
	}
	return Running, poll.Job.PRLink, nil
}

// poll polls the job of a running record once, and stores what changed. project is the job's
// project if the record has none.
func (r *Runner) poll(ctx context.Context, record Record, project string) (step, error) {
	if record.hasWrongDeadline(time.Now()) {
		return r.change(ctx, record, step{record: record.withDeadline(time.Now()), next: soon})
	}

	p, err := r.projectOf(cmp.Or(record.ProjectID, project))
	if err != nil {
		return step{record: record}, err
	}

	unsettled := r.unsettled(record)
	waited := max(0, time.Since(record.UpdatedAt))

	poll, err := p.client.Jobs.Poll(ctx, record.JobID, waited, mintlify.WithSettleTime(0))
	end := ended(ctx)
	if end != nil && poll.Err != nil {
		return step{record: record}, end
	}

	p.heard(failureOf(poll, err))
	return r.change(ctx, record, record.polled(poll, err, unsettled, time.Since(record.since())))
}

// unsettled returns for how long a terminal status may still be the one from before the message of
// record: until the settle time after it was seen running, unless it was sent long ago.
func (r *Runner) unsettled(record Record) time.Duration {
	if record.After == "" {
		return 0
	}

	seen := r.memory.sawRunning(record)
	if reached(record.since().Add(max(sentLong, r.settleTime))) {
		return 0
	}
	return max(0, r.settleTime-time.Since(seen))
}

// failureOf returns why a poll failed, or ended its wait; nil if it has shown the job.
func failureOf(poll mintlify.Poll, err error) error {
	switch {
	case poll.Err != nil:
		return poll.Err
	case errors.Is(err, mintlify.ErrJobFailed):
		return nil
	}
	return err
}

// polled returns what a running record becomes after a poll. For unsettled a terminal status does
// not count yet. age is how long ago the send had to end.
func (record Record) polled(poll mintlify.Poll, err error, unsettled, age time.Duration) step {
	status := poll.Job.Status
	switch {
	case poll.Next > 0 && poll.Err != nil: // such as the network's: the next one may succeed
		return step{record: record, next: poll.Next, cause: poll.Err, status: status}
	case status.IsTerminal() && unsettled > 0: // as before the message
		return step{record: record, next: unsettled, status: status}
	}

	record.PRLink = cmp.Or(poll.Job.PRLink, record.PRLink) // a link that was found may not be the job's yet

	switch {
	case poll.Next > 0:
		record.Problem = record.oddity(status, age)
		return step{record: record, next: poll.Next, status: status}

	case err == nil:
		record.State = Done
		record.Problem = ""
		return step{record: record}

	case errors.Is(err, mintlify.ErrJobFailed):
		record.State = Failed
		record.Problem = err.Error()
		return step{record: record}
	}

	// A revoked key says nothing about the job: failed would invite a second one.
	record.Problem = cmp.Or(record.Problem, err.Error())
	wait, _ := mintlify.RetryAfter(err)
	return step{record: record, next: min(cmp.Or(wait, mendingTime), longestWait), cause: err, ends: true}
}

// oddity returns the Problem of a job that has not ended: a status that nobody knows, or hours of
// work. It stays as long as its cause, although storing it makes an adopted record young again.
func (record Record) oddity(status mintlify.JobStatus, age time.Duration) string {
	problem := fmt.Sprintf("the job has been %s for %v", status, longActive)
	after := longActive
	if status != mintlify.JobActive {
		problem = fmt.Sprintf("the job has the status %q, which this version does not know",
			safetext.WithoutKeys(string(status)))
		after = oddAfter
	}

	if age > after || record.Problem == problem {
		return problem
	}
	return ""
}

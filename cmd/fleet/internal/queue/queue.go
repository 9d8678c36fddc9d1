// Package queue sends the prompts of the database to the service, and follows their jobs, over all machines. River
// runs three kinds of jobs: send works off the queue of a project, poll follows the job of a prompt, and tell tells
// results. A pass makes the jobs that are missing.
//
// The order of the prompts is in the database, not in River. River's job of a project is an alarm clock: it looks at
// the queue, and sleeps until the project may send again, five minutes at most, so whatever lets a prompt be sent
// earlier has to wake it. Before it sends, a look takes a turn: a project has one at a time, in its row of
// fleet_projects. What failures lead to is in the same row; the row without a name pauses all.
package queue

import (
	"context"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// Queue is the prompts of the database, and the rules by which they are sent.
type Queue struct {
	database.Store
	Settings
}

// sends is River's queue of the jobs that send: a service that hangs keeps no job from being polled.
const sends = "sends"

// SendArgs are those of the job that sends the prompts of a project, one after the other.
type SendArgs struct {
	Project string `json:"project"`
}

// Kind implements [river.JobArgs].
func (SendArgs) Kind() string { return "fleet_send" }

// PollArgs are those of the job that follows a prompt that is sending or running.
type PollArgs struct {
	Key string `json:"key"`
}

// Kind implements [river.JobArgs].
func (PollArgs) Kind() string { return "fleet_poll" }

// TellArgs are those of the job that tells results.
type TellArgs struct{}

// Kind implements [river.JobArgs].
func (TellArgs) Kind() string { return "fleet_tell" }

// Enqueue stores prompts that have been checked, has their projects' queues worked off, and returns the
// records of those that were known already.
func (s Queue) Enqueue(ctx context.Context, prompts ...database.Prompt) ([]once.Record, error) {
	projects, known, err := s.Add(ctx, prompts...)
	if err != nil {
		return nil, err
	}

	if err := s.LookNow(ctx, projects); err != nil {
		s.Calm.Warn("a queue was not woken: a worker's next pass will", "error", err)
	}
	return known, nil
}

// LookNow has workers look at the queues of projects, which may be named several times.
func (s Queue) LookNow(ctx context.Context, projects []string) error {
	slices.Sort(projects)
	projects = slices.Compact(projects)
	s.InsertSends(ctx, projects...)

	for _, project := range projects {
		if err := s.wake(ctx, project); err != nil {
			return err
		}
	}
	return nil
}

// InsertSends gives projects the job that sends their prompts, unless they have it. What fails here the
// next pass of a worker does.
func (s Queue) InsertSends(ctx context.Context, projects ...string) {
	var jobs []river.JobArgs
	for _, project := range projects {
		jobs = append(jobs, SendArgs{project})
	}
	s.insert(ctx, sends, usual, jobs...)
}

// InsertPolls gives prompts the job that follows them, unless they have it.
func (s Queue) InsertPolls(ctx context.Context, keys ...string) {
	var jobs []river.JobArgs
	for _, key := range keys {
		jobs = append(jobs, PollArgs{key})
	}
	s.insert(ctx, river.QueueDefault, usual, jobs...)
}

// TellSoon starts the job that tells the results which nobody got yet.
func (s Queue) TellSoon(ctx context.Context) { s.insert(ctx, river.QueueDefault, soon, TellArgs{}) }

// openStates are those of a job that is not at its end.
var openStates = []rivertype.JobState{
	rivertype.JobStateAvailable,
	rivertype.JobStatePending,
	rivertype.JobStateRetryable,
	rivertype.JobStateRunning,
	rivertype.JobStateScheduled,
}

// insert inserts jobs that are not there yet, by their args. Attempts do not limit them: a rescue costs one for good.
func (s Queue) insert(ctx context.Context, queue string, priority int, jobs ...river.JobArgs) {
	options := &river.InsertOpts{
		MaxAttempts: 10_000,
		Priority:    priority,
		Queue:       queue,
		UniqueOpts:  river.UniqueOpts{ByArgs: true, ByState: openStates},
	}

	var params []river.InsertManyParams
	for _, args := range jobs {
		params = append(params, river.InsertManyParams{Args: args, InsertOpts: options})
	}

	for batch := range slices.Chunk(params, 500) {
		if ctx.Err() != nil {
			return
		}

		// River logs an error if it is stopped between the rows and the news of them.
		inserting, cancel := context.WithTimeout(context.WithoutCancel(ctx), database.StoreTime)
		if _, err := s.Jobs.InsertMany(inserting, batch); err != nil {
			s.Calm.Warn("no job was inserted: a worker's next pass will", "error", err)
		}
		cancel()
	}
}

// River stores a snooze only after the run: a job that is at work cannot be woken, and a second one like it cannot be
// inserted.

// The priorities of River's jobs that send.
const (
	soon  = 1 // a person waits for it
	usual = 2
)

const wakeJobs = `UPDATE river_job SET state = 'available', scheduled_at = $1, priority = $2
WHERE kind = 'fleet_send' AND state IN ('scheduled', 'retryable') AND scheduled_at > $1 AND `

// wake has River look at the queue of a project, or of all for "".
func (s Queue) wake(ctx context.Context, project string) error { return s.wakeAs(ctx, usual, project) }

func (s Queue) wakeAs(ctx context.Context, priority int, project string) error {
	_, err := s.ExecContext(ctx, wakeJobs+"($3 = '' OR args->>'project' = $3)",
		RiverTime(time.Now()), priority, project)
	return err
}

// wakeNew wakes the queues in which prompts have come since the pass before: they may have come during a look.
func (w *Worker) wakeNew(ctx context.Context) error {
	now := time.Now()
	_, err := w.ExecContext(ctx, wakeJobs+`args->>'project' IN (
	SELECT project FROM fleet_prompts WHERE state = 'pending' AND queued > $3)`,
		RiverTime(now), usual, now.Add(-2*w.Pass).UnixNano())
	return err
}

// WakeNow wakes the queues of a project, or of all, and does so again, for 3 s, until no look is left that began
// before, which has not seen what has changed.
func (s Queue) WakeNow(ctx context.Context, project string) error {
	for since := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		looks, err := sqldb.Number(ctx, s.DB, `SELECT count(*) FROM river_job
WHERE kind = 'fleet_send' AND state = 'running' AND attempted_at < $1 AND ($2 = '' OR args->>'project' = $2)`,
			RiverTime(since.Add(time.Millisecond)), project) // RiverTime rounds down
		if err != nil {
			return err
		}

		// In the other order, a look that ends in between would be neither woken nor counted.
		err = s.wakeAs(ctx, soon, project)
		if err != nil || looks == 0 || time.Since(since) > 3*time.Second {
			return err
		}
	}
}

// rescue makes jobs available again whose process must be dead: River does so itself only twice a minute,
// and only with a leader. A send's POST must have ended, and without a turn its look; the turn keeps a stopped
// twin's project to one POST. It also wakes jobs that a clock ahead of ours has put off too far.
func (w *Worker) rescue(ctx context.Context) error {
	before := func(age time.Duration) string { return RiverTime(time.Now().Add(-age)) }

	_, err := w.ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = $1
WHERE state = 'running' AND (kind = 'fleet_send' AND attempted_at < $2 OR kind = 'fleet_poll' AND attempted_at < $3
		OR kind = 'fleet_tell' AND attempted_at < $4
		OR kind = 'fleet_send' AND attempted_at < $5 AND NOT EXISTS (
			SELECT 1 FROM fleet_projects WHERE project = args->>'project' AND turn_until > `+w.Clock+`))
	OR state = 'scheduled' AND scheduled_at > $6`,
		before(0), before(w.Settings.SendTime+w.lease()), before(w.stepTime()), before(tellJob),
		before(w.takeTime()), before(-2*database.Day))
	return err
}

// RiverTime is a time in a form that both databases compare with those of River.
func RiverTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000+00:00") }

// WakePolls has River poll at once the running jobs of a choice that have a problem. It returns how many it has woken.
func (s Queue) WakePolls(ctx context.Context, choice database.Choice) (int64, error) {
	choice.State = once.Running
	filter := choice.Filter()
	now := filter.Arg(RiverTime(time.Now()))
	return sqldb.Changed(s.ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = `+now+`
WHERE kind = 'fleet_poll' AND state IN ('scheduled', 'retryable') AND scheduled_at > `+now+` AND args->>'key' IN (
	SELECT key FROM fleet_prompts WHERE problem <> '' AND `+filter.Where()+`)`, filter.Args...))
}

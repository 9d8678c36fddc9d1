// Package queue sends the prompts of the database to the service, and follows their jobs, over all machines. River
// runs the jobs: send works off the queue of a project, follow looks what becomes of a prompt that was sent, tell tells
// results, and wake wakes many projects.
//
// The order of the prompts is in the database, not in River. River's job of a project is an alarm clock, which the
// project's row names: it looks at the queue, and sleeps until the project may send again. Whatever lets a prompt be
// sent earlier wakes it, in the transaction of the change. Before it sends, a look takes a turn: a project has one at a
// time, in its row of fleet_projects. What failures lead to is in the same row; the row without a name pauses all.
package queue

import (
	"context"
	"database/sql"
	"math/rand/v2"
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

// TellArgs are the arguments of the job that tells results.
type TellArgs struct{}

// Kind implements [river.JobArgs].
func (TellArgs) Kind() string { return "fleet_tell" }

// WakeArgs are the arguments of the job that wakes all projects with prompts.
type WakeArgs struct{}

// Kind implements [river.JobArgs].
func (WakeArgs) Kind() string { return "fleet_wake" }

// TellSoon starts the job that tells the results which nobody got yet, unless it is there: what fails here the next
// pass of a worker does.
func (s Queue) TellSoon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), database.StoreTime)
	defer cancel()

	_, err := s.Jobs.Insert(ctx, TellArgs{}, &river.InsertOpts{
		MaxAttempts: 10_000,
		UniqueOpts:  river.UniqueOpts{ByArgs: true, ByState: openStates},
	})
	if err != nil {
		s.Calm.Warn("results are told later: a worker's next pass will", "error", err)
	}
}

// openStates are those of a job that is not at its end.
var openStates = []rivertype.JobState{
	rivertype.JobStateAvailable,
	rivertype.JobStatePending,
	rivertype.JobStateRetryable,
	rivertype.JobStateRunning,
	rivertype.JobStateScheduled,
}

// wakeAll wakes all projects once a transaction is committed. A worker does it, and tries it again: whoever changes
// what concerns many projects may die before all of them are woken.
func (s Queue) wakeAll(ctx context.Context, tx *sql.Tx) error {
	_, err := s.Jobs.InsertTx(ctx, tx, WakeArgs{}, &river.InsertOpts{MaxAttempts: 10_000})
	return err
}

// WakeAll wakes all projects with prompts.
func (s Queue) WakeAll(ctx context.Context) error {
	projects, err := sqldb.Strings(ctx, s.DB,
		"SELECT DISTINCT project FROM fleet_prompts WHERE state = 'pending' ORDER BY project")
	if err != nil {
		return err
	}
	return s.WakeEach(ctx, database.SendsOf, projects...)
}

// wakeLost wakes what is open or unknown and whose alarm is gone, as in a backup that was restored.
func (s Queue) wakeLost(ctx context.Context) error {
	const isOpen = "j.state NOT IN ('completed', 'cancelled', 'discarded')"
	projects, err := sqldb.Strings(ctx, s.DB, `SELECT DISTINCT p.project FROM fleet_prompts p
JOIN fleet_projects q ON q.project = p.project WHERE p.state = 'pending' AND NOT EXISTS (SELECT 1 FROM river_job j
	WHERE j.id = q.river AND j.kind = 'fleet_send' AND j.args->>'project' = q.project AND `+isOpen+`)`)
	if err != nil {
		return err
	}
	if err := s.WakeEach(ctx, database.SendsOf, projects...); err != nil {
		return err
	}

	keys, err := sqldb.Strings(ctx, s.DB, `SELECT p.key FROM fleet_prompts p
WHERE (p.state IN ('sending', 'running') OR p.state = 'unknown' AND p.updated > $1) AND NOT EXISTS (
	SELECT 1 FROM river_job j
	WHERE j.id = p.river AND j.kind = 'fleet_follow' AND j.args->>'key' = p.key AND `+isOpen+`)`,
		time.Now().Add(-lookDays).UnixNano())
	if err != nil {
		return err
	}
	return s.WakeEach(ctx, database.FollowerOf, keys...)
}

// WakePolls has the running jobs of a choice polled at once that have a problem. It returns how many there are.
func (s Queue) WakePolls(ctx context.Context, choice database.Choice) (int64, error) {
	choice.State = once.Running
	filter := choice.Filter()
	keys, err := sqldb.Strings(ctx, s.DB, "SELECT key FROM fleet_prompts WHERE problem <> '' AND "+filter.Where(),
		filter.Args...)
	if err != nil {
		return 0, err
	}
	return int64(len(keys)), s.WakeEach(ctx, database.FollowerOf, keys...)
}

// sleep is how long a job sleeps that is woken earlier if anything changes. Nothing sleeps for longer than about an
// hour.
func sleep(d time.Duration) time.Duration {
	return max(0, min(d, 50*time.Minute+rand.N(20*time.Minute)))
}

package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Sends is River's queue of the jobs that send: a service that hangs keeps no job from being polled.
const Sends = "sends"

// SendArgs are the arguments of the job that sends the prompts of a project, one after the other.
type SendArgs struct {
	Project string `json:"project"`
}

// Kind implements [river.JobArgs].
func (SendArgs) Kind() string { return "fleet_send" }

// FollowArgs are the arguments of the job that follows a prompt once it is sent.
type FollowArgs struct {
	Key string `json:"key"`
}

// Kind implements [river.JobArgs].
func (FollowArgs) Kind() string { return "fleet_follow" }

// Alarm is a job of River's whose id a row has: that one is the row's only alarm. A job of which the row has not the
// id is void, and does nothing when it rings, so that an alarm is moved by setting another.
type Alarm struct {
	table, column, name string // of the row

	args  river.JobArgs
	queue string
}

// SendsOf is the alarm at which somebody looks whether a project may send.
func SendsOf(project string) Alarm {
	return Alarm{"fleet_projects", "project", project, SendArgs{project}, Sends}
}

// FollowerOf is the alarm at which somebody looks what has become of a prompt.
func FollowerOf(key string) Alarm {
	return Alarm{"fleet_prompts", "key", key, FollowArgs{key}, river.QueueDefault}
}

// Start sets an alarm to a time of the database's clock, or to now for the zero time.
func (db *DB) Start(ctx context.Context, tx *sql.Tx, a Alarm, at time.Time) error {
	// Attempts do not limit it: a rescue costs one for good.
	options := &river.InsertOpts{MaxAttempts: 10_000, Queue: a.queue, ScheduledAt: at}
	inserted, err := db.Jobs.InsertTx(ctx, tx, a.args, options)
	if err != nil {
		return err
	}

	_, err = tx.ExecContext(ctx, "UPDATE "+a.table+" SET river = $2 WHERE "+a.column+" = $1", a.name, inserted.Job.ID)
	return err
}

// Wake has an alarm ring as soon as the transaction is committed. Whoever changes what the work at an alarm has read
// wakes it in the same transaction. It locks the row before it moves the job: else it could move one that becomes void
// meanwhile. A job that runs cannot be moved, and has read what was there before, so that another is set.
func (db *DB) Wake(ctx context.Context, tx *sql.Tx, a Alarm) error {
	var id int64
	query := "SELECT river FROM " + a.table + " WHERE " + a.column + " = $1" + db.lock()
	err := tx.QueryRowContext(ctx, query, a.name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}

	job, err := db.Jobs.JobRetryTx(ctx, tx, id)
	if err != nil && !errors.Is(err, rivertype.ErrNotFound) {
		return err
	}
	if err == nil && job.State == rivertype.JobStateAvailable && a.isOf(job) {
		return nil
	}
	return db.Start(ctx, tx, a, time.Time{})
}

// isOf reports whether a job is the alarm's: the tables may have been restored without River's.
func (a Alarm) isOf(job *rivertype.JobRow) bool {
	var of struct{ Project, Key string }
	if err := json.Unmarshal(job.EncodedArgs, &of); err != nil {
		return false
	}
	return job.Kind == a.args.Kind() && of.Project+of.Key == a.name
}

// IsVoid reports whether a job is not, or not any more, the alarm of a row.
func (db *DB) IsVoid(ctx context.Context, a Alarm, job int64) (bool, error) {
	id, err := sqldb.Number(ctx, db, "SELECT river FROM "+a.table+" WHERE "+a.column+" = $1", a.name)
	return id != job, err
}

// Postpone has an alarm ring again after a while by the database's clock, unless its job has become void.
func (db *DB) Postpone(ctx context.Context, a Alarm, job int64, d time.Duration) error {
	return db.Transact(ctx, func(tx *sql.Tx) error {
		var id int64
		var now time.Time
		query := "SELECT river, " + db.Clock + " FROM " + a.table + " WHERE " + a.column + " = $1" + db.lock()
		err := tx.QueryRowContext(ctx, query, a.name).Scan(&id, Millis(&now))
		if err != nil || id != job {
			return err
		}
		return db.Start(ctx, tx, a, now.Add(d))
	})
}

// lock is what a SELECT of Postgres ends with that locks its rows. A transaction of SQLite locks all.
func (db *DB) lock() string {
	if db.pool == nil {
		return ""
	}
	return " FOR UPDATE"
}

// LockProjects locks the rows of projects, and makes those that are missing. A transaction locks what it needs in this
// order: projects by their names, the row of all, repositories, prompts.
func (db *DB) LockProjects(ctx context.Context, tx *sql.Tx, projects ...string) error {
	for _, project := range slices.Compact(slices.Sorted(slices.Values(projects))) {
		err := sqldb.Exec(ctx, tx, []string{
			"INSERT INTO fleet_projects (project) VALUES ($1) ON CONFLICT DO NOTHING",
			"SELECT project FROM fleet_projects WHERE project = $1" + db.lock(),
		}, project)
		if err != nil {
			return err
		}
	}
	return nil
}

// WakeSends has somebody look whether projects, which are locked, may send.
func (db *DB) WakeSends(ctx context.Context, tx *sql.Tx, projects ...string) error {
	for _, project := range projects {
		if err := HoldMessages(ctx, tx, project); err != nil {
			return err
		}
		if err := db.Wake(ctx, tx, SendsOf(project)); err != nil {
			return err
		}
	}
	return nil
}

// WakeEach wakes the alarms of names, such as [SendsOf] projects, each in a transaction.
func (db *DB) WakeEach(ctx context.Context, alarmOf func(string) Alarm, names ...string) error {
	for _, name := range names {
		if err := db.Transact(ctx, func(tx *sql.Tx) error { return db.Wake(ctx, tx, alarmOf(name)) }); err != nil {
			return err
		}
	}
	return nil
}

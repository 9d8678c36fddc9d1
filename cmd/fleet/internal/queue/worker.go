package queue

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/once"
)

// Worker works a queue off.
type Worker struct {
	Queue
	Client  *mintlify.Client
	polls   *once.Runner // for all but sends
	results Teller       // nil: results are told to nobody

	// Posts counts POSTs by the state that they led to.
	Posts *prometheus.CounterVec

	// Decide decides, with each pass, about what waits for a record to change. Unless it is set, nothing does.
	Decide func(context.Context) error

	// Find looks for the pull requests of unknown prompts. Nil: nobody does.
	Find Finder
}

// NewWorker returns a worker of a queue. The client has to have the rate limiter [OnlyInTurn].
func NewWorker(s Queue, client *mintlify.Client, results Teller) *Worker {
	posts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fleet_posts_total",
		Help: "POSTs of this process, by the state that they led to.",
	}, []string{"result"})
	return &Worker{
		Queue:   s,
		Client:  client,
		polls:   s.Runner(client),
		results: results,
		Posts:   posts,
		Decide:  func(context.Context) error { return nil },
	}
}

// Run works the queue off until ctx ends. POSTs in progress then may end; polls may not.
func (w *Worker) Run(ctx context.Context) error {
	bundle := river.NewWorkers()
	river.AddWorker(bundle, river.WorkFunc(w.Send))
	river.AddWorker(bundle, river.WorkFunc(w.Follow))
	river.AddWorker(bundle, &teller{Worker: w})
	river.AddWorker(bundle, river.WorkFunc(func(ctx context.Context, _ *river.Job[WakeArgs]) error {
		return w.WakeAll(ctx)
	}))

	workers, err := w.NewJobClient(&river.Config{
		Queues: map[string]river.QueueConfig{
			river.QueueDefault: {MaxWorkers: w.N},
			database.Sends:     {MaxWorkers: w.Settings.Posts},
		},

		FetchPollInterval:    w.Settings.Poll, // nobody notifies of an alarm that is moved
		Workers:              bundle,
		JobTimeout:           w.jobTime(),
		RescueStuckJobsAfter: w.jobTime(),

		CompletedJobRetentionPeriod: keepJobs,
		RetryPolicy:                 retryPolicy{},
		PollOnly:                    w.PollOnly,
		Logger:                      w.Calm,
	})
	if err != nil {
		return err
	}

	if err := w.wakeLost(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	if err := workers.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	w.Logger.Info("working", "steps", w.N, "posts", w.Settings.Posts, "sendTime", w.Settings.SendTime)
	go w.beat(ctx)
	passErr := w.passes(ctx)

	w.Logger.Info("stopping: POSTs in progress may end")
	return errors.Join(passErr, stop(context.WithoutCancel(ctx), workers))
}

// keepJobs is how long River keeps jobs that are done. A send leaves three.
const keepJobs = 5 * time.Minute

// beat notes every 15 s that there is a worker, until ctx ends.
func (w *Worker) beat(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := w.ExecContext(ctx, "UPDATE fleet_schema SET worked = "+w.Clock); err != nil && ctx.Err() == nil {
			w.Calm.Warn("it could not be noted that a worker is there", "error", err)
		}

		select {
		case <-ctx.Done():
		case <-time.After(15 * time.Second):
		}
	}
}

// stop lets steps end within a second, and then ends all but POSTs. River would do so itself, with a warning.
func stop(ctx context.Context, workers *river.Client[*sql.Tx]) error {
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()

	if err := workers.Stop(soon); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return workers.StopAndCancel(ctx)
}

// retryPolicy goes on soon after a database that failed, or a look that died, however often that was.
type retryPolicy struct{}

// NextRetry implements [river.ClientRetryPolicy].
func (retryPolicy) NextRetry(*rivertype.JobRow) time.Time {
	return time.Now().Add(5*time.Second + rand.N(10*time.Second))
}

// Follow polls the job of a prompt once, or looks after another's send or for the pull request of an unknown prompt,
// and has River come back until none of these is left to do. A prompt that is pending is left to its turn.
func (w *Worker) Follow(ctx context.Context, job *river.Job[database.FollowArgs]) error {
	if err := w.CheckVersion(ctx); err != nil {
		return err
	}
	key := job.Args.Key
	isVoid, err := w.IsVoid(ctx, database.FollowerOf(key), job.ID)
	if err != nil || isVoid {
		return err
	}

	r, err := database.First(w.Rows(ctx, "key = $1", key))
	switch {
	case err != nil:
		return err
	case isUnderWay(r.Record):
		return w.poll(ctx, r.Record, job.ID)
	case IsLookedFor(r) && w.Find != nil:
		return w.lookUntilFound(ctx, r, job.ID)
	}
	return nil
}

func (w *Worker) poll(ctx context.Context, record once.Record, job int64) error {
	step, err := w.polls.Step(ctx, record.Key)
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
		return nil
	}

	next := step.Next
	if (database.Row{Record: step.Record}).IsOverdue() { // it has been running for a day
		next = max(next, 30*time.Minute)
	}
	return w.Postpone(ctx, database.FollowerOf(record.Key), job, next)
}

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

package main

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// worker does the next step of one prompt, whenever River says so.
type worker struct {
	river.WorkerDefaults[promptArgs]
	store
	client  *mintlify.Client
	steps   *once.Runner           // for all but sends
	results teller                 // nil: results are told to nobody
	posts   *prometheus.CounterVec // by the state that they led to
}

func newWorker(s store, client *mintlify.Client, results teller) *worker {
	posts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fleet_posts_total",
		Help: "POSTs of this process, by the state that they led to.",
	}, []string{"result"})
	return &worker{store: s, client: client, steps: s.runner(client, s.DB), results: results, posts: posts}
}

// NextRetry is when to go on after a database that failed, or a step that died.
func (w *worker) NextRetry(*river.Job[promptArgs]) time.Time {
	return time.Now().Add(5*time.Second + rand.N(10*time.Second))
}

// Work does one step, and has River come back for the next, until nothing is left to do.
func (w *worker) Work(ctx context.Context, job *river.Job[promptArgs]) error {
	record, err := w.records().Get(ctx, job.Args.Key)
	if err != nil || !record.State.IsOpen() {
		return err
	}
	if record.State == once.Pending {
		return w.send(ctx, record)
	}

	record, next, err := w.steps.Step(ctx, record.Key)
	if err != nil {
		return err
	}
	if next == 0 {
		return w.ended(ctx, record.Key)
	}
	if (row{Record: record}).isOverdue() {
		next = max(next, 30*time.Minute)
	}
	return river.JobSnooze(next)
}

// ended tells the result of a prompt, and goes on with the one that follows it.
func (w *worker) ended(ctx context.Context, key string) error {
	w.tellSoon(ctx)
	return w.wakeFollower(ctx, key)
}

// send sends the first prompt of the record's project, once it is its turn.
func (w *worker) send(ctx context.Context, record once.Record) error {
	ready, err := w.isReady(ctx, record)
	if err != nil {
		return err
	}
	if !ready {
		return river.JobSnooze(maxWait) // the end of the job before it wakes it
	}

	project, err := projectOf(ctx, w.DB, record.Key) // a record's own may have moved with the one before it
	if err != nil {
		return err
	}
	t, err := w.takeTurn(ctx, record.Key, project)
	if err != nil {
		return err
	}
	if t.key == "" {
		return river.JobSnooze(t.wait)
	}

	sent, err := w.sendInTurn(ctx, t)
	if err != nil {
		return err
	}
	if !sent.record.State.IsOpen() && !sent.isUnsent() {
		if err := w.ended(ctx, t.key); err != nil {
			return err
		}
	}

	if t.key != record.Key || sent.isUnsent() {
		return river.JobSnooze(time.Second) // the next look says when
	}
	if sent.wait == 0 {
		return nil
	}
	return river.JobSnooze(sent.wait)
}

// sendInTurn sends the prompt whose turn it is, and ends the turn.
func (w *worker) sendInTurn(ctx context.Context, t turn) (result, error) {
	observed, seen := observe(ctx)
	begin, cancel := context.WithTimeout(observed, w.lease())
	defer cancel() // does not end a send that has begun

	// Each turn has its own runner: the table of pauses holds prompts back, for all machines.
	after, wait, stepErr := w.runner(w.client, w.DB).Step(begin, t.key)
	sent := result{record: after, status: int(seen.status.Load()), posted: seen.posts.Load() > 0, wait: wait}
	if sent.posted {
		w.posts.WithLabelValues(nameOf(cmp.Or(after.State, once.Unknown))).Inc()
	}

	if err := w.endTurn(ctx, t, sent); err != nil {
		w.calm.Error("the end of a turn could not be stored: the project waits until it has passed",
			"project", t.project, "error", err)
	}
	if !sent.posted && errors.Is(stepErr, context.DeadlineExceeded) && ctx.Err() == nil {
		return sent, nil // the service did not respond to a question in time, which has paused the project
	}
	return sent, stepErr
}

// work works the queue off until ctx ends. POSTs in progress then may end; polls may not.
func (w *worker) work(ctx context.Context) error {
	bundle := river.NewWorkers()
	river.AddWorker(bundle, w)
	river.AddWorker(bundle, &tellWorker{store: w.store, results: w.results})

	workers, err := w.newQueue(&river.Config{
		Queues:          map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: w.N}},
		Workers:         bundle,
		JobTimeout:      w.stepTime(),
		SoftStopTimeout: time.Second,
		PollOnly:        w.PollOnly,
		Logger:          w.calm,
	})
	if err != nil {
		return err
	}

	if err := workers.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	w.logger.Info("working", "steps", w.N, "sendTime", w.SendTime)
	w.passes(ctx)

	w.logger.Info("stopping: POSTs in progress may end")
	return workers.Stop(context.WithoutCancel(ctx))
}

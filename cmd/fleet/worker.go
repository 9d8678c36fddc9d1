package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// settings are what a user can set, and a test.
type settings struct {
	N                  int           // steps in progress at once
	SendTime           time.Duration // how long one POST may take
	Quota              int           // prompts per Window and project
	Window             time.Duration
	PauseMin, PauseMax time.Duration // of the breaker
	Pass               time.Duration // between two passes
	PollOnly           bool
}

// stepTime is how long a step can take at most: a send, and recording what came of it.
func (c settings) stepTime() time.Duration { return 3*c.SendTime + c.lease() + storeTime }

// lease is the time within which a turn has to begin.
func (c settings) lease() time.Duration { return min(c.SendTime, 10*time.Second) }

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
	posts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fleet_posts_total",
		Help: "POSTs of this process, by the state that they led to."}, []string{"result"})
	return &worker{store: s, client: client, steps: s.runner(client, s.DB), results: results, posts: posts}
}

// observer notes the status of the response for a request whose context has an
// *atomic.Int64, and 1 if no response comes.
type observer struct{ next http.RoundTripper }

func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	status, ok := r.Context().Value(observer{}).(*atomic.Int64)
	if !ok {
		return o.next.RoundTrip(r)
	}
	status.Store(1)
	response, err := o.next.RoundTrip(r)
	if err == nil {
		status.Store(int64(response.StatusCode))
	}
	return response, err
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
	var next time.Duration
	if record.State == once.Pending {
		next, err = w.send(ctx, record)
	} else {
		record, next, err = w.steps.Step(ctx, record.Key)
	}
	switch {
	case err != nil:
		return err
	case next == 0:
		w.tellSoon(ctx)
		return nil
	case (row{Record: record}).isOverdue():
		next = max(next, 30*time.Minute)
	}
	return river.JobSnooze(next)
}

// send sends the first prompt of the record's project, once it is its turn, and returns when
// to look at the record again.
func (w *worker) send(ctx context.Context, record once.Record) (next time.Duration, err error) {
	t, err := w.takeTurn(ctx, record.Key, record.Project)
	if err != nil || t.key == "" {
		return t.wait, err
	}
	if err := w.probe(ctx, t); err != nil {
		failed := once.Record{State: once.Pending, Problem: "probe: " + err.Error()}
		return time.Second, w.endTurn(ctx, t, failed, http.StatusServiceUnavailable, 0)
	}
	var status atomic.Int64
	begin, cancel := context.WithTimeout(context.WithValue(ctx, observer{}, &status), w.lease())
	defer cancel() // which does not end a send that has begun
	// A runner of its own: what it would hold back is in the table of pauses, for all machines.
	after, wait, stepErr := w.runner(w.client, w.DB).Step(begin, t.key)
	if status.Load() > 0 {
		w.posts.WithLabelValues(nameOf(cmp.Or(after.State, once.Unknown))).Inc()
	}
	if err := w.endTurn(ctx, t, after, int(status.Load()), wait); err != nil {
		w.calm.Error("the end of a turn could not be stored: the project waits until it has passed",
			"project", t.project, "error", err)
	}
	if stepErr != nil || t.key == record.Key && after.State != once.Pending {
		return wait, stepErr
	}
	if !after.State.IsOpen() {
		w.tellSoon(ctx)
	}
	return time.Second, nil // the next look says when
}

// probe asks the service for a job, which need not exist, if the breaker has paused the
// project. It returns why no prompt should be sent yet.
func (w *worker) probe(ctx context.Context, t turn) error {
	client, err := w.client.ForProject(t.project)
	if !t.probe || err != nil {
		return nil //nolint:nilerr // the prompt itself meets what is wrong with the project
	}
	ctx, cancel := context.WithTimeout(ctx, w.lease()/2)
	defer cancel()
	_, err = client.Jobs.Get(ctx, "fleet-probe")
	var response *mintlify.APIError
	if errors.As(err, &response) && response.StatusCode < 500 {
		return nil
	}
	return err
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
	if err == nil {
		err = workers.Start(context.WithoutCancel(ctx))
	}
	if err != nil {
		return err
	}
	w.logger.Info("working", "steps", w.N, "sendTime", w.SendTime)
	for ctx.Err() == nil {
		if err := w.pass(ctx); err != nil && ctx.Err() == nil {
			w.calm.Warn("the database fails", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.Pass + rand.N(w.Pass/5+1)):
		}
	}
	w.logger.Info("stopping: POSTs in progress may end")
	return workers.Stop(context.WithoutCancel(ctx))
}

// pass gives each open prompt a River job, unless it has one, and keeps the tables in order.
func (w *worker) pass(ctx context.Context) error {
	var prompts []prompt
	err := scan(ctx, w.DB, func(rows *sql.Rows) error {
		var p prompt
		err := rows.Scan(&p.Key, &p.Priority)
		prompts = append(prompts, p)
		return err
	}, `SELECT p.key, p.priority FROM mintlify_once o CROSS JOIN fleet_prompts p
WHERE o.state IN ('pending', 'sending', 'running') AND p.key = o.key`)
	for some := range slices.Chunk(prompts, 500) {
		w.insertJobs(ctx, some...)
	}
	now := time.Now()
	for _, statement := range []string{
		"DELETE FROM fleet_pauses WHERE source = 'service' AND until < $1",
		// Times that a clock ahead of ours has made become now.
		"UPDATE fleet_prompts SET added = $1 WHERE added > $1",
		"UPDATE fleet_posts SET at = $1, ends = $1 WHERE at - 60000 > $1",
		"UPDATE fleet_pauses SET since = $1, until = $1 WHERE since - 60000 > $1 AND source <> 'person'",
	} {
		if err == nil {
			_, err = w.ExecContext(ctx, statement, now.UnixMilli())
		}
	}
	if err == nil {
		old := now.Add(-w.Window - 2*w.SendTime - w.lease())
		_, err = w.ExecContext(ctx, "DELETE FROM fleet_posts WHERE ends < $1", old.UnixMilli())
	}
	if err == nil {
		err = w.wake(ctx, now)
	}
	w.tellSoon(ctx)
	return err
}

// wake makes River's jobs available that a dead process was at, as River does only twice a
// minute and only with a leader, or that a clock ahead of ours has put off too far.
func (w *worker) wake(ctx context.Context, now time.Time) error {
	at := func(d time.Duration) string { // in a form that both databases compare
		return now.Add(d).UTC().Format("2006-01-02 15:04:05.000+00:00")
	}
	_, err := w.ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = $1
WHERE state = 'running' AND attempted_at < $2 OR state = 'scheduled' AND scheduled_at > $3`,
		at(0), at(-w.stepTime()), at(2*day))
	return err
}

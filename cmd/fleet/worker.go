package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
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
func (c settings) stepTime() time.Duration { return 3*c.SendTime + c.lease() + needs }

// lease is the time within which a turn has to begin.
func (c settings) lease() time.Duration { return min(c.SendTime, 10*time.Second) }

// worker does the next step of one prompt, whenever River says so.
type worker struct {
	river.WorkerDefaults[promptArgs]
	store
	settings
	client  *mintlify.Client
	runner  *once.Runner // for polls
	results teller       // nil: results are told to nobody
	posts   func(result string)
}

// newMintlify returns the client that all projects share. A request is sent once: River retries.
func newMintlify(getenv func(string) string, c settings, transport http.RoundTripper, opts []mintlify.Option) (*mintlify.Client, error) {
	key := getenv("MINTLIFY_API_KEY")
	if key == "" {
		return nil, usageError("MINTLIFY_API_KEY is not set")
	}
	client, err := mintlify.NewClient(key, "of-the-prompt", append([]mintlify.Option{
		mintlify.WithBaseURL(cmp.Or(getenv("MINTLIFY_BASE_URL"), mintlify.DefaultBaseURL)),
		mintlify.WithUserAgent("fleet"),
		mintlify.WithMaxRetries(0),
		mintlify.WithHTTPClient(&http.Client{Timeout: c.SendTime, Transport: observer{transport}}),
	}, opts...)...)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return client, nil
}

// observer notes the status of a response for the send whose context has an observed.
type observer struct{ next http.RoundTripper }

type observed struct{ status atomic.Int64 } // 0: no request, 1: no response

func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	seen, _ := r.Context().Value(observed{}).(*observed)
	if seen == nil || r.Method != http.MethodPost {
		return o.next.RoundTrip(r)
	}
	seen.status.Store(1)
	response, err := o.next.RoundTrip(r)
	if err == nil {
		seen.status.Store(int64(response.StatusCode))
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
		record, next, err = w.runner.Step(ctx, record.Key)
	}
	if err != nil {
		return err
	}
	if next > 0 {
		return river.JobSnooze(w.unhurried(ctx, record, next))
	}
	w.tellSoon(ctx)
	return nil
}

// unhurried makes the polls rare of a job that does not end.
func (w *worker) unhurried(ctx context.Context, record once.Record, next time.Duration) time.Duration {
	if record.State == once.Running && time.Since(record.Deadline) > overdue {
		if r, err := w.row(ctx, record.Key); err == nil && r.isOverdue() {
			return max(next, 30*time.Minute)
		}
	}
	return next
}

// send sends the first prompt of the record's project, once it is its turn, and returns when
// to look at the record again.
func (w *worker) send(ctx context.Context, record once.Record) (next time.Duration, err error) {
	t, err := w.takeTurn(ctx, record.Key, record.Project, w.settings)
	if err != nil || t.key == "" {
		return t.wait, err
	}
	if t.probe {
		if reason := w.probe(ctx, t); reason != "" {
			return time.Second, w.endTurn(ctx, t, broken, true, 0, reason, w.settings)
		}
	}
	seen := &observed{}
	begin, cancel := context.WithTimeout(context.WithValue(ctx, observed{}, seen), w.lease())
	defer cancel() // which does not end a send that has begun
	// A runner of its own: what it would hold back is in the table of pauses, for all machines.
	after, wait, stepErr := w.store.runner(w.client, w.DB, w.SendTime).Step(begin, t.key)
	r := resultOf(after, int(seen.status.Load()), stepErr)
	if w.posts != nil && seen.status.Load() > 0 {
		w.posts(string(cmp.Or(after.State, once.Unknown)))
	}
	if r != accepted && r != skipped {
		w.logger.WarnContext(ctx, "not sent, or nobody knows", "key", t.key, "project", t.project, "state", after.State, "problem", after.Problem)
	}
	if err := w.endTurn(ctx, t, r, after.State == once.Pending, wait, redact.OneLine(after.Problem, 300), w.settings); err != nil {
		w.calm.Error("the end of a turn could not be stored: the project waits until it has passed", "project", t.project, "error", err)
	}
	if stepErr != nil || t.key == record.Key && after.State != once.Pending {
		return wait, stepErr
	}
	if !after.State.IsOpen() {
		w.tellSoon(ctx)
	}
	return time.Second, nil // the next look says when
}

// resultOf tells what a send says of the service.
func resultOf(after once.Record, status int, err error) result {
	switch {
	case status == 0 && err == nil && after.State == once.Pending:
		return held // such as a key source that fails
	case status == 0:
		return skipped
	case status == http.StatusPaymentRequired, status >= 500, after.State == once.Unknown:
		return broken
	case after.State == once.Pending:
		return held
	case after.State == once.Running, after.State == once.Refused, after.State == once.Done:
		return accepted
	}
	return skipped
}

// probe asks the service for a job, which need not exist. It returns why no prompt should be
// sent yet, "" if one may.
func (w *worker) probe(ctx context.Context, t turn) (reason string) {
	client, err := w.client.ForProject(t.project)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, w.lease()/2)
	defer cancel()
	_, err = client.Jobs.Get(ctx, "fleet-probe")
	var response *mintlify.APIError
	if err == nil || errors.As(err, &response) && response.StatusCode < 500 {
		return ""
	}
	return redact.OneLine("probe: "+err.Error(), 300)
}

// work works the queue off until ctx ends. POSTs in progress then may end; polls may not.
func work(ctx context.Context, w *worker, riverLogger *slog.Logger) error {
	bundle := river.NewWorkers()
	river.AddWorker(bundle, w)
	river.AddWorker(bundle, &tellWorker{store: w.store, results: w.results})
	workers, err := w.newQueue(&river.Config{
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: w.N}},
		Workers:                     bundle,
		JobTimeout:                  w.stepTime(),
		RescueStuckJobsAfter:        w.stepTime() + time.Second,
		CompletedJobRetentionPeriod: time.Hour, // the records keep what there is to keep
		SoftStopTimeout:             time.Second,
		PollOnly:                    w.PollOnly,
		Logger:                      riverLogger,
	})
	if err != nil {
		return err
	}
	if err := workers.Start(context.WithoutCancel(ctx)); err != nil {
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

// pass gives each open prompt a River job, unless it has one, finds the sends whose process
// has died, and removes what is over.
func (w *worker) pass(ctx context.Context) error {
	sending, err := w.records().List(ctx, once.Sending)
	for _, record := range sending {
		if time.Since(record.Deadline) > 2*w.SendTime {
			if _, _, err := w.runner.Step(ctx, record.Key); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	var prompts []prompt
	err = scan(ctx, w.DB, func(rows *sql.Rows) error {
		var p prompt
		err := rows.Scan(&p.Key, &p.Priority)
		prompts = append(prompts, p)
		return err
	}, `SELECT p.key, p.priority FROM mintlify_once o CROSS JOIN fleet_prompts p WHERE o.state IN ('pending', 'sending', 'running') AND p.key = o.key`)
	for some := range slices.Chunk(prompts, 500) {
		w.insertJobs(ctx, some)
	}
	now := time.Now()
	const open = " AND key IN (SELECT key FROM mintlify_once WHERE state IN ('pending', 'running'))"
	for statement, than := range map[string]time.Time{ // the updates are for a clock that was ahead
		"UPDATE fleet_prompts SET added = $1 WHERE added > $1" + open:           now,
		"UPDATE fleet_prompts SET running_at = $1 WHERE running_at > $1" + open: now,
		"UPDATE fleet_prompts SET told_at = $1 WHERE told_at > $1":              now,
		"DELETE FROM fleet_posts WHERE ends < $1":                               now.Add(-w.Window - 2*w.SendTime - w.lease()),
		"DELETE FROM fleet_pauses WHERE source = 'service' AND until < $1":      now,
	} {
		if err == nil {
			_, err = w.ExecContext(ctx, statement, than.UnixMilli())
		}
	}
	if err == nil {
		err = errors.Join(w.rescue(ctx, now), w.wake(ctx, now.Add(2*maxPause)))
	}
	w.tellSoon(ctx)
	return err
}

// rescue makes the jobs of dead processes available again, as River does only twice a minute
// and only with a leader.
func (w *worker) rescue(ctx context.Context, now time.Time) error {
	horizon := now.Add(-w.stepTime())
	stuck, err := w.executor.JobGetStuck(ctx, &riverdriver.JobGetStuckParams{Max: 100, StuckHorizon: horizon})
	if err != nil || len(stuck) == 0 {
		return err
	}
	params := riverdriver.JobRescueManyParams{StuckHorizon: horizon}
	for _, job := range stuck {
		params.ID, params.Error = append(params.ID, job.ID), append(params.Error, []byte(`{"error":"its process died"}`))
		params.FinalizedAt, params.ScheduledAt = append(params.FinalizedAt, nil), append(params.ScheduledAt, now.UTC())
		params.State = append(params.State, string(rivertype.JobStateAvailable))
	}
	_, err = w.executor.JobRescueMany(ctx, &params)
	return err
}

// wake wakes the jobs that a clock ahead of ours has put off too far.
func (w *worker) wake(ctx context.Context, limit time.Time) error {
	jobs, err := w.queue.JobList(ctx, river.NewJobListParams().Kinds(promptArgs{}.Kind()).States(rivertype.JobStateScheduled).
		OrderBy(river.JobListOrderByScheduledAt, river.SortOrderDesc).First(100))
	if err != nil {
		return err
	}
	for _, job := range jobs.Jobs {
		if job.ScheduledAt.After(limit) {
			if _, err := w.queue.JobRetry(ctx, job.ID); err != nil {
				return fmt.Errorf("wake job %d: %w", job.ID, err)
			}
		}
	}
	return nil
}

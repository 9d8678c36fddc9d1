package mintlify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"
)

// maxPollDelay bounds how long the service's Retry-After may delay a poll.
const maxPollDelay = time.Hour

// Poll is one poll of a wait.
type Poll struct {
	// Job is the job as last seen, in a wait for a job. It is nil before the first response.
	Job *Job
	// Deployment is the deployment as last seen, in a wait for a deployment. It is nil before
	// the first response.
	Deployment *Deployment
	// Status is the status of either as last seen. It is "" before the first response.
	Status string
	// Err is why this poll failed. It is nil if the poll did not fail.
	Err error
	// Number counts the polls of the wait, from 1.
	Number int
	// Waited is the time since the wait began.
	Waited time.Duration
	// Next is the time until the next poll. It is 0 if the wait is over.
	Next time.Duration
}

type waitConfig struct {
	minInterval, maxInterval time.Duration
	maxOutage                time.Duration
	settleTime               time.Duration
	onPoll                   func(Poll)
}

func defaultWait() waitConfig {
	return waitConfig{
		minInterval: 5 * time.Second,
		maxInterval: time.Minute,
		maxOutage:   10 * time.Minute,
		onPoll:      func(Poll) {},
	}
}

func (w *waitConfig) apply(opts []WaitOption) error {
	for i, opt := range opts {
		if opt == nil {
			return &ArgumentError{"opts", fmt.Sprintf("has a nil option at index %d", i)}
		}
		if err := opt(w); err != nil {
			return err
		}
	}
	return nil
}

// WaitOption configures a WaitUntilDone or a Poll, or all of a client's: see
// [WithWaitDefaults].
type WaitOption func(*waitConfig) error

// WithPollInterval bounds the time between polls, 5 s and 60 s unless set. The interval is
// 5 % of the time waited so far, within the bounds, ±10 %. Bounds of 0 are for tests with a
// transport in memory: over a connection they make thousands of requests a second.
func WithPollInterval(min, max time.Duration) WaitOption {
	return func(w *waitConfig) error {
		if min < 0 || max < min {
			return &ArgumentError{"pollInterval", fmt.Sprintf("is %v to %v, want 0 <= min <= max", min, max)}
		}

		w.minInterval = min
		w.maxInterval = max
		return nil
	}
}

// WithMaxOutage sets how long polls may fail in a row, from the first of them, before the
// wait ends with a [*WaitError]: 10 minutes unless set. With 0 the first failed poll ends
// the wait.
func WithMaxOutage(d time.Duration) WaitOption {
	return func(w *waitConfig) error {
		if d < 0 {
			return &ArgumentError{"maxOutage", fmt.Sprintf("is %v, want 0 or more", d)}
		}
		w.maxOutage = d
		return nil
	}
}

// WithSettleTime is for the wait after a [JobsService.Message], which the service acts on
// asynchronously: until d has passed, a terminal status counts only if the wait has seen the
// job active. 0, the default, trusts the first poll.
func WithSettleTime(d time.Duration) WaitOption {
	return func(w *waitConfig) error {
		if d < 0 {
			return &ArgumentError{"settleTime", fmt.Sprintf("is %v, want 0 or more", d)}
		}
		w.settleTime = d
		return nil
	}
}

// WithOnPoll calls f after every poll, also after a failed one. f runs in the waiting
// goroutine: the next poll comes after it returns. Before the first response [Poll.Job] and
// [Poll.Deployment] are nil: use [Poll.Status].
func WithOnPoll(f func(Poll)) WaitOption {
	return func(w *waitConfig) error {
		if f == nil {
			return &ArgumentError{"onPoll", "is nil"}
		}
		w.onPoll = f
		return nil
	}
}

// polled is a result of a poll.
type polled interface {
	*Job | *Deployment
	kind() string   // what it is called
	status() string // "" for nil
	isKnown() bool  // this version knows the status
	isDone() bool   // the status is terminal
	failure() error // of a terminal status that is not a success, else nil
}

// getter gets a job or a deployment by its id.
type getter[T polled] func(ctx context.Context, id string) (T, error)

// wait is a wait in progress: the schedule of its polls, and when it ends.
type wait[T polled] struct {
	waitConfig
	logger *slog.Logger
	id     string
	get    getter[T] // one poll
	start  time.Time

	last         T // as last seen
	polls        int
	lastErr      error     // of the last poll
	failingSince time.Time // the first failed poll in a row; zero if the last one did not fail
	seenActive   bool
	warned       bool // of an unknown status
}

func newWait[T polled](
	ctx context.Context, cfg *config, id string, get getter[T], opts []WaitOption,
) (*wait[T], error) {
	if ctx == nil {
		return nil, &ArgumentError{"ctx", "is nil"}
	}
	if err := checkID(id); err != nil {
		return nil, err
	}

	w := &wait[T]{waitConfig: cfg.wait, logger: cfg.logger, id: id, get: get, start: time.Now()}
	return w, w.apply(opts)
}

// run polls until the wait is over.
func (w *wait[T]) run(ctx context.Context) (T, error) {
	for ended(ctx) == nil {
		poll, err := w.poll(ctx)
		if poll.Next == 0 {
			return w.last, err
		}
		sleep(ctx, poll.Next)
	}
	return w.last, w.interrupted(contextError(ctx))
}

// once polls once, for a caller that keeps the schedule and decides how long polls may fail
// in a row.
func (w *wait[T]) once(ctx context.Context, waited time.Duration) (Poll, error) {
	w.start = w.start.Add(-max(0, waited))
	w.maxOutage = maxDuration
	return w.poll(ctx)
}

// poll polls once. If Next is 0 the wait is over, and the error is the wait's.
func (w *wait[T]) poll(ctx context.Context) (Poll, error) {
	seen, err := w.get(ctx, w.id)
	w.polls++
	poll := Poll{Err: err, Number: w.polls, Waited: time.Since(w.start)}

	d := w.decide(ctx, seen, err, poll.Waited)
	if !d.over && ended(ctx) != nil {
		d = ends(w.interrupted(contextError(ctx)))
	}
	if !d.over {
		poll.Next = max(d.next, 1)
		w.warn(ctx, poll)
	}

	poll.Job, poll.Deployment = jobOrDeployment(w.last)
	poll.Status = w.last.status()
	w.onPoll(poll)
	return poll, d.err
}

// warn logs a failed poll, and once in a wait a status that this version does not know: the
// wait goes on until the context ends.
func (w *wait[T]) warn(ctx context.Context, poll Poll) {
	attrs := []slog.Attr{
		slog.String(w.last.kind(), w.id),
		slog.Int("poll", poll.Number),
		slog.Duration("wait", poll.Next),
	}

	if poll.Err != nil {
		attrs = append(attrs, slog.String("error", poll.Err.Error()))
		w.logger.LogAttrs(ctx, slog.LevelWarn, "mintlify: poll failed, polling again", attrs...)
		return
	}

	if !w.last.isKnown() && !w.warned {
		w.warned = true
		attrs = append(attrs, slog.String("status", w.last.status()))
		w.logger.LogAttrs(ctx, slog.LevelWarn, "mintlify: unknown status, polling on", attrs...)
	}
}

// decision says how a wait goes on after a poll.
type decision struct {
	over bool
	err  error         // of the wait, if it is over
	next time.Duration // until the next poll, if it is not
}

func ends(err error) decision            { return decision{over: true, err: err} }
func pollAfter(d time.Duration) decision { return decision{next: d} }

func (w *wait[T]) decide(ctx context.Context, seen T, err error, waited time.Duration) decision {
	end := ended(ctx)
	switch {
	case err == nil:
		return w.succeeded(seen, waited)
	case endsWait(err):
		w.lastErr = err
		return ends(err)
	case end != nil && errors.Is(err, end):
		return ends(w.interrupted(contextError(ctx)))
	}

	return w.failed(err, w.interval(waited))
}

// succeeded decides after a poll that has seen the job or the deployment.
func (w *wait[T]) succeeded(seen T, waited time.Duration) decision {
	w.last = seen
	w.lastErr = nil
	w.failingSince = time.Time{}

	if w.isDone(waited) {
		return ends(seen.failure())
	}
	return pollAfter(w.interval(waited))
}

// failed decides after a poll that may succeed the next time.
func (w *wait[T]) failed(err error, next time.Duration) decision {
	w.lastErr = err

	if asked, ok := askedToWait(err); ok {
		next = max(next, asked)
		if !w.failingSince.IsZero() {
			w.failingSince = w.failingSince.Add(next) // a delay that the service asks for is not an outage
		}
		return pollAfter(next)
	}

	if w.failingSince.IsZero() {
		w.failingSince = time.Now()
	}
	outage := time.Since(w.failingSince)
	if outage >= w.maxOutage {
		return ends(w.interrupted(fmt.Errorf("polls have failed for %v", outage.Round(time.Second))))
	}
	return pollAfter(next)
}

func (w *wait[T]) isDone(waited time.Duration) bool {
	if !w.last.isDone() {
		w.seenActive = true
		return false
	}
	return waited >= w.settleTime || w.seenActive
}

// endsWait reports whether another poll would bring the same response.
func endsWait(err error) bool {
	var apiErr *APIError
	if !errors.As(err, &apiErr) {
		return false
	}

	switch apiErr.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return false
	case http.StatusTooManyRequests:
		return apiErr.RetryAfter > maxPollDelay
	}
	return apiErr.StatusCode >= 300 && apiErr.StatusCode <= 499
}

// askedToWait returns the Retry-After of a 429.
func askedToWait(err error) (time.Duration, bool) {
	var apiErr *APIError
	if errors.As(err, &apiErr) && apiErr.StatusCode == http.StatusTooManyRequests {
		return apiErr.RetryAfter, apiErr.RetryAfter > 0
	}
	return 0, false
}

func (w *waitConfig) interval(waited time.Duration) time.Duration {
	interval := min(max(waited/20, w.minInterval), w.maxInterval, maxDuration/2) // room for the jitter
	return time.Duration(float64(interval) * (0.9 + 0.2*rand.Float64()))
}

func (w *wait[T]) interrupted(err error) *WaitError {
	job, deployment := jobOrDeployment(w.last)

	return &WaitError{
		Job:        job,
		Deployment: deployment,
		Polls:      w.polls,
		Waited:     time.Since(w.start),
		LastErr:    w.lastErr,
		Err:        err,
		id:         w.last.kind() + " " + w.id,
	}
}

// jobOrDeployment returns last as a *Job or a *Deployment; the other is nil.
func jobOrDeployment[T polled](last T) (*Job, *Deployment) {
	switch last := any(last).(type) {
	case *Job:
		return last, nil
	case *Deployment:
		return nil, last
	}
	return nil, nil
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

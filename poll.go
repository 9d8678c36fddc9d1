package mintlify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/internal/status"
)

const (
	maxPollDelay   = time.Hour      // that a Retry-After may delay a poll by
	maxUnknownTime = 24 * time.Hour // that a wait polls a status that this version does not know
	maxFailures    = 1000           // polls that fail in a row, if there is no time between polls
)

// Poll is one poll of a wait. As JSON its Err is {}: log Err.Error().
type Poll struct {
	// Job is the job as last seen, in a wait for a job. It is zero before the first response.
	Job Job
	// Deployment is the deployment as last seen, in a wait for a deployment. It is zero before the
	// first response. Its slices are the wait's own: do not change them.
	Deployment Deployment
	// Status is the status of either as last seen. It is "" before the first response.
	Status string
	// Err is why this poll failed. It is nil if the poll did not fail.
	Err error
	// Number counts the polls of the wait, from 1. It is 1 in a single Poll.
	Number int
	// Waited is the time since the wait began.
	Waited time.Duration
	// Next is the time until the next poll. It is 0 if the wait is over.
	Next time.Duration
}

type waitConfig struct {
	minInterval, maxInterval time.Duration
	maxOutage                time.Duration
	settleTime               time.Duration // negative: the rule for a wait after a message holds
	onPoll                   []func(Poll)
}

func defaultWait() waitConfig {
	return waitConfig{
		minInterval: 5 * time.Second,
		maxInterval: time.Minute,
		maxOutage:   10 * time.Minute,
		settleTime:  -1,
	}
}

// WaitOption configures a WaitUntilDone or a Poll, or all of a client's: see
// [WithWaitDefaults].
type WaitOption func(*waitConfig) error

// WithPollInterval bounds the time between polls, 5 s and 60 s unless set. The interval is
// 5 % of the time waited so far, within the bounds, ±10 %. A bound between 0 and 1 ms is refused:
// it probably lacks a unit.
//
// Bounds of 0 are for tests with a transport in memory: over a connection they make thousands of
// requests a second. If max is 0, the 1,000th failed poll in a row ends the wait with a
// [*WaitError].
func WithPollInterval(min, max time.Duration) WaitOption {
	return func(w *waitConfig) error {
		bounds := fmt.Sprintf("is %v to %v", min, max)
		switch {
		case min < 0 || max < min:
			return &ArgumentError{"pollInterval", bounds + ", want 0 <= min <= max"}
		case isTooShort(min) || isTooShort(max):
			return &ArgumentError{"pollInterval", bounds + ": want a unit, such as 5*time.Second"}
		}

		w.minInterval = min
		w.maxInterval = max
		return nil
	}
}

// isTooShort reports whether d is shorter than anybody means: a number without a unit.
func isTooShort(d time.Duration) bool { return d > 0 && d < time.Millisecond }

// WithMaxOutage sets how long polls may fail in a row, from the first of them, before the
// wait ends with a [*WaitError]: 10 minutes unless set. With 0 the first failed poll ends
// the wait, but not one with a Retry-After of up to an hour, which delays the next poll. Such delays
// do not count, up to an hour in all until a poll succeeds; those of a 429 never do.
func WithMaxOutage(d time.Duration) WaitOption {
	return func(w *waitConfig) error {
		if d < 0 {
			return &ArgumentError{"maxOutage", fmt.Sprintf("is %v, want 0 or more", d)}
		}
		w.maxOutage = d
		return nil
	}
}

// WithSettleTime sets the settle time: for how long after its beginning a wait ignores that the job
// or deployment has ended, unless a poll has shown another status before. With 0 the first poll counts.
//
// Right after a [JobsService.Message] the job may still have the status completed or failed from
// before. Without this option, or with a negative d, a wait ignores these for 30 s after a Message of
// this client, or of a client that [Client.ForProject] made of it, unless a poll has shown another
// status since. Set d if another process sends the messages. Given to [WithWaitDefaults], it makes
// each wait take that long whose first poll shows the end.
func WithSettleTime(d time.Duration) WaitOption {
	return func(w *waitConfig) error {
		w.settleTime = d
		return nil
	}
}

// WithOnPoll calls f after every poll of a wait, also after a failed one, but not after a single
// Poll, which returns what f would get. f runs in the waiting goroutine: the next poll comes after it
// returns. If it is given more than once, each f is called, in order: those of [WithWaitDefaults]
// before those of the wait.
func WithOnPoll(f func(Poll)) WaitOption {
	return func(w *waitConfig) error {
		if f == nil {
			return &ArgumentError{"onPoll", "is nil"}
		}
		w.onPoll = append(slices.Clip(w.onPoll), f) // a wait's own must not end up in the client's
		return nil
	}
}

type polled interface {
	*Job | *Deployment
	kind() string // what it is called, also for nil
	status() string
	isKnown() bool  // this version knows the status
	isDone() bool   // the status is terminal
	failure() error // of a terminal status that is not a success, else nil
}

// target is what a wait polls.
type target[T polled] struct {
	id  string
	url string
	get func(ctx context.Context, id string) (T, error) // one poll
}

// wait is a wait in progress: the schedule of its polls, and when it ends.
type wait[T polled] struct {
	waitConfig
	target[T]
	logger *slog.Logger
	memory *memory
	start  time.Time

	last         T // as last seen
	polls        int
	lastErr      error         // of the last poll
	failures     int           // in a row, but for delays that the service asked for
	failingSince time.Time     // the first of them; zero if there is none
	delayed      time.Duration // since a poll succeeded, by a Retry-After, but for that of a 429
	seenOther    bool          // than a terminal status

	unknown      string    // the last status, if this version does not know it
	unknownSince time.Time // when the wait first saw it
}

func newWait[T polled](
	ctx context.Context, cfg *config, target target[T], opts []WaitOption,
) (*wait[T], error) {
	if ctx == nil {
		return nil, &ArgumentError{"ctx", "is nil"}
	}
	if err := checkID(target.id); err != nil {
		return nil, err
	}

	w := &wait[T]{
		waitConfig: cfg.wait,
		target:     target,
		logger:     cfg.logger,
		memory:     &cfg.memory,
		start:      time.Now(),
	}
	return w, apply(&w.waitConfig, opts)
}

// waitUntilDone polls until the wait is over.
func waitUntilDone[T polled](ctx context.Context, cfg *config, target target[T], opts []WaitOption) (T, error) {
	w, err := newWait(ctx, cfg, target, opts)
	if err != nil {
		return nil, err
	}

	for ended(ctx) == nil {
		poll := w.poll(ctx)
		w.report(poll)
		if poll.over {
			return w.last, poll.end
		}

		select {
		case <-ctx.Done():
		case <-time.After(poll.next):
		}
	}
	return w.last, w.interrupted(contextError(ctx))
}

// pollOnce polls once, for a caller that keeps the schedule and decides how long polls may fail
// in a row.
func pollOnce[T polled](
	ctx context.Context, cfg *config, target target[T], waited time.Duration, opts []WaitOption,
) (Poll, error) {
	w, err := newWait(ctx, cfg, target, opts)
	if err != nil {
		return Poll{}, err
	}
	w.start = w.start.Add(-max(0, waited))
	w.maxOutage = maxDuration

	poll := w.poll(ctx)
	return w.describe(poll), poll.end
}

// report calls the hooks. It is a function of its own, since a wait between two polls would hold a Poll, which is
// larger than the rest of its stack.
func (w *wait[T]) report(poll decision) {
	for _, f := range w.onPoll {
		f(w.describe(poll))
	}
}

// poll makes one poll.
func (w *wait[T]) poll(ctx context.Context) decision {
	began := time.Now()
	seen, err := w.get(ctx, w.id)
	w.polls++
	waited := time.Since(w.start)

	if err == nil {
		w.note(seen, began)
	}
	d := w.decide(ctx, err, waited)
	if !d.over && ended(ctx) != nil {
		d = ends(w.interrupted(contextError(ctx)))
	}
	d.err = err
	d.waited = waited
	if !d.over {
		w.warn(ctx, d)
	}
	return d
}

func (w *wait[T]) describe(poll decision) Poll {
	job, deployment := jobOrDeployment(w.last)

	return Poll{
		Job:        job,
		Deployment: deployment,
		Status:     cmp.Or(string(job.Status), string(deployment.Status)),
		Err:        poll.err,
		Number:     w.polls,
		Waited:     poll.waited,
		Next:       poll.next,
	}
}

// warn logs a failed poll, and a status that this version does not know, once in the client's life.
func (w *wait[T]) warn(ctx context.Context, poll decision) {
	attrs := []slog.Attr{
		slog.String(w.last.kind(), safetext.WithoutKeys(w.id)),
		slog.Int("poll", w.polls),
		slog.Duration("wait", poll.next),
	}

	if poll.err != nil {
		attrs = append(attrs, slog.String("error", poll.err.Error()))
		w.logger.LogAttrs(ctx, slog.LevelWarn, "mintlify: poll failed, polling again", attrs...)
		return
	}

	if w.unknown != "" && w.memory.isNews(w.url, w.unknown) {
		attrs = append(attrs, slog.String("status", safetext.WithoutKeys(w.unknown)))
		w.logger.LogAttrs(ctx, slog.LevelWarn, "mintlify: unknown status, polling on", attrs...)
	}
}

// decision says how a wait goes on after a poll.
type decision struct {
	over bool
	end  error         // of the wait, if it is over
	next time.Duration // until the next poll, more than 0, if it is not

	err    error // why the poll failed
	waited time.Duration
}

func ends(err error) decision            { return decision{over: true, end: err} }
func pollAfter(d time.Duration) decision { return decision{next: max(d, 1)} }

func (w *wait[T]) decide(ctx context.Context, err error, waited time.Duration) decision {
	end := ended(ctx)
	switch {
	case err == nil:
		return w.succeeded(waited)
	case endsWait(err) && !w.isTooEarly(err):
		w.lastErr = err
		return ends(err)
	case end != nil && errors.Is(err, end):
		return ends(w.interrupted(contextError(ctx)))
	}

	return w.failed(err, w.interval(waited))
}

// note keeps what a poll, which began at a time, has seen.
func (w *wait[T]) note(seen T, began time.Time) {
	w.last = seen
	w.lastErr = nil
	w.failures = 0
	w.failingSince = time.Time{}
	w.delayed = 0

	if !seen.isDone() {
		w.seenOther = true
		w.memory.messages.removeBefore(w.url, began) // from now on the job may end
	}

	switch {
	case seen.isKnown():
		w.unknown = ""
	case seen.status() != w.unknown:
		w.unknown = seen.status()
		w.unknownSince = time.Now()
	}
}

// succeeded decides after a poll that has seen the job or the deployment.
func (w *wait[T]) succeeded(waited time.Duration) decision {
	switch {
	case w.isDone(waited):
		return ends(w.last.failure())
	case w.unknown != "" && time.Since(w.unknownSince) >= maxUnknownTime:
		return ends(w.interrupted(fmt.Errorf(
			"for 24 hours it has had the status %q, which this version of the SDK does not know: see the dashboard",
			safetext.WithoutKeys(w.unknown))))
	}
	return pollAfter(w.interval(waited))
}

// failed decides after a poll that may succeed the next time.
func (w *wait[T]) failed(err error, next time.Duration) decision {
	w.lastErr = err

	if delay := w.delayAskedFor(err, next); delay > 0 {
		if !w.failingSince.IsZero() {
			w.failingSince = w.failingSince.Add(delay) // a delay that the service asks for is not an outage
		}
		return pollAfter(delay)
	}

	w.failures++
	if w.failingSince.IsZero() {
		w.failingSince = time.Now()
	}
	neverPauses := w.maxInterval == 0 && w.failures >= maxFailures
	if neverPauses || time.Since(w.failingSince) >= w.maxOutage {
		return ends(w.interrupted(w.outage()))
	}
	return pollAfter(next)
}

// outage says how long polls have failed, or how often if that is a moment.
func (w *wait[T]) outage() error {
	failing := time.Since(w.failingSince).Truncate(time.Second)
	if failing > 0 {
		return fmt.Errorf("polls have failed for %v", failing)
	}
	return fmt.Errorf("polls have failed: %d in a row", w.failures)
}

// isDone reports whether the status is terminal, and not one from before a message.
func (w *wait[T]) isDone(waited time.Duration) bool {
	switch {
	case !w.last.isDone():
		return false
	case w.settleTime < 0:
		return !w.memory.messages.has(w.url)
	}
	return w.seenOther || waited >= w.settleTime
}

// isTooEarly reports whether err is a 404 for a job that Create has just returned.
func (w *wait[T]) isTooEarly(err error) bool {
	return errors.Is(err, ErrNotFound) && w.memory.created.has(w.url)
}

// endsWait reports whether another poll would bring the same response.
func endsWait(err error) bool {
	var apiErr *APIError
	if !errors.As(err, &apiErr) {
		return false
	}
	return !status.Of(apiErr.StatusCode).Passes || apiErr.isRateLimit() && apiErr.RetryAfter > maxPollDelay
}

func (e *APIError) isRateLimit() bool { return status.Of(e.StatusCode).Kind == status.RateLimited }

// delayAskedFor returns for how long the service asks to wait, at least next: 0 if it does not ask, or
// asks for too long. A 429 shows that the service works, so its delays are not counted. The delays of
// a maintenance page that asks again and again end: the outage begins when they have come to an hour.
func (w *wait[T]) delayAskedFor(err error, next time.Duration) time.Duration {
	var apiErr *APIError
	if !errors.As(err, &apiErr) || !status.Of(apiErr.StatusCode).Passes {
		return 0
	}
	if apiErr.RetryAfter <= 0 || apiErr.RetryAfter > maxPollDelay {
		return 0
	}

	delay := max(next, apiErr.RetryAfter)
	if apiErr.isRateLimit() {
		return delay
	}

	left := maxPollDelay - w.delayed
	if left > 0 && delay >= left {
		w.failingSince = time.Time{} // the first failed poll of the outage is the next one
	}
	w.delayed += min(delay, left)
	return min(delay, left)
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

// jobOrDeployment returns last as a Job or a Deployment; the other is zero. Both are zero if
// last is nil.
func jobOrDeployment[T polled](last T) (Job, Deployment) {
	var job Job
	var deployment Deployment
	if last, _ := any(last).(*Job); last != nil {
		job = *last
	}
	if last, _ := any(last).(*Deployment); last != nil {
		deployment = *last
	}
	return job, deployment
}

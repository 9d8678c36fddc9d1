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

// maxPollDelay is how far ahead the service's Retry-After may move a poll.
const maxPollDelay = time.Hour

// Poll is one look at a job during a wait.
type Poll struct {
	Job    *Job          // as last seen; nil before the first answer
	Err    error         // of this poll, if it failed
	Number int           // of this poll, from 1
	Waited time.Duration // since the wait began
	Next   time.Duration // until the next poll; 0 if there is none
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

// WaitOption sets up a [JobsService.WaitUntilDone], or by [WithWaitDefaults] all
// of a client's.
type WaitOption func(*waitConfig) error

// WithPollInterval bounds the time between polls, 5 s and 60 s unless set. The
// time is 5 % of that waited so far, within the bounds, give or take 10 %.
func WithPollInterval(min, max time.Duration) WaitOption {
	return func(w *waitConfig) error {
		if min < 0 || max < min {
			return &ArgumentError{"pollInterval", fmt.Sprintf("is %v to %v, want 0 <= min <= max", min, max)}
		}
		w.minInterval, w.maxInterval = min, max
		return nil
	}
}

// WithMaxOutage sets how long polls may fail in a row, counted from the first of
// them, before the wait gives up with a [*WaitError]: 10 minutes unless set. With
// 0 the first failed poll ends the wait.
func WithMaxOutage(d time.Duration) WaitOption {
	return func(w *waitConfig) error {
		if d < 0 {
			return &ArgumentError{"maxOutage", fmt.Sprintf("is %v, want 0 or more", d)}
		}
		w.maxOutage = d
		return nil
	}
}

// WithSettleTime is for the wait after a [JobsService.Message], which the service
// takes up asynchronously: within d of the wait's start a terminal status counts
// only once the job has been seen at work. 0, the default, trusts the first poll.
func WithSettleTime(d time.Duration) WaitOption {
	return func(w *waitConfig) error {
		if d < 0 {
			return &ArgumentError{"settleTime", fmt.Sprintf("is %v, want 0 or more", d)}
		}
		w.settleTime = d
		return nil
	}
}

// WithOnPoll has f called after every poll, failed ones too. f runs in the
// waiting goroutine: the next poll comes after it returns.
func WithOnPoll(f func(Poll)) WaitOption {
	return func(w *waitConfig) error {
		if f == nil {
			return &ArgumentError{"onPoll", "is nil"}
		}
		w.onPoll = f
		return nil
	}
}

// WaitUntilDone polls the job until it has come to its end: the first poll at
// once, each further one after 5 % of the time waited so far, at least 5 s and at
// most 60 s, give or take 10 %. A poll is one GET /v2/agent/{projectId}/job/{id}.
// It changes nothing and is safe to call again, also in another process.
//
// It returns the job and nil for status completed or archived, and the job with a
// [*JobFailedError] for failed.
//
// A poll that fails (network, 5xx, 408, 425, 429, an answer that cannot be read,
// the rate limiter, the key source) does not end the wait until polls have failed
// in a row for 10 minutes. A Retry-After of a 429 moves the next poll, by up to an
// hour, and is no outage. The outage, and the end of ctx, is a [*WaitError]. Any
// other 3xx or 4xx answer, or a Retry-After of more than an hour, ends the wait at
// once with its [*APIError]. The job as last seen comes with each of them.
func (s *JobsService) WaitUntilDone(ctx context.Context, id string, opts ...WaitOption) (*Job, error) {
	if ctx == nil {
		return nil, &ArgumentError{"ctx", "is nil"}
	}
	if err := checkJobID(id); err != nil {
		return nil, err
	}
	w := &wait{jobs: s, id: id, waitConfig: s.client.config.wait, start: time.Now()}
	if err := w.apply(opts); err != nil {
		return nil, err
	}
	return w.run(ctx)
}

// wait is a WaitUntilDone under way.
type wait struct {
	waitConfig
	jobs  *JobsService
	id    string
	start time.Time

	job          *Job // as last seen
	polls        int
	lastErr      error     // of the last poll
	failingSince time.Time // the first failed poll in a row; zero if the last one did not fail
	seenAtWork   bool
}

func (w *wait) run(ctx context.Context) (*Job, error) {
	for ctx.Err() == nil {
		done, delay, err := w.poll(ctx)
		if done {
			return w.job, err
		}
		sleep(ctx, delay)
	}
	return w.job, w.cutShort(contextError(ctx))
}

// poll looks at the job once and says whether the wait is done, and with what
// error, or else how long it is until the next poll.
func (w *wait) poll(ctx context.Context) (done bool, delay time.Duration, result error) {
	job, err := w.jobs.get(ctx, w.id, 0)
	w.polls++
	poll := Poll{Err: err, Number: w.polls, Waited: time.Since(w.start)}
	done, delay, result = w.take(ctx, job, err, poll.Waited)
	if !done && ctx.Err() == nil {
		poll.Next = delay
	}
	poll.Job = w.job
	w.onPoll(poll)
	if err != nil && !done {
		w.jobs.client.config.logger.LogAttrs(ctx, slog.LevelWarn, "mintlify: poll failed and will be made again",
			slog.Int("poll", poll.Number), slog.Duration("wait", delay), slog.String("error", err.Error()))
	}
	return done, delay, result
}

// take notes what a poll brought. Its results are those of poll.
func (w *wait) take(ctx context.Context, job *Job, err error, waited time.Duration) (done bool, delay time.Duration, result error) {
	delay = w.interval(waited)
	if err == nil {
		w.job, w.lastErr, w.failingSince = job, nil, time.Time{}
		done, result = w.isDone(waited)
		return done, delay, result
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return true, 0, w.cutShort(contextError(ctx))
	}
	w.lastErr = err
	var apiErr *APIError
	if errors.As(err, &apiErr) {
		if apiErr.endsWait() {
			return true, 0, err
		}
		if apiErr.StatusCode == http.StatusTooManyRequests && apiErr.RetryAfter > 0 {
			w.failingSince = time.Time{}
			return false, max(delay, apiErr.RetryAfter), nil
		}
	}
	if w.failingSince.IsZero() {
		w.failingSince = time.Now()
	}
	if outage := time.Since(w.failingSince); outage >= w.maxOutage {
		return true, 0, w.cutShort(fmt.Errorf("polls have failed for %v", outage.Round(time.Second)))
	}
	return false, delay, nil
}

func (w *wait) isDone(waited time.Duration) (bool, error) {
	if !w.job.Status.IsTerminal() {
		w.seenAtWork = true
		return false, nil
	}
	if waited < w.settleTime && !w.seenAtWork {
		return false, nil
	}
	if w.job.Status == JobFailed {
		return true, &JobFailedError{Job: w.job}
	}
	return true, nil
}

// endsWait reports whether no further poll would bring another answer.
func (e *APIError) endsWait() bool {
	switch e.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return false
	case http.StatusTooManyRequests:
		return e.RetryAfter > maxPollDelay
	}
	return e.StatusCode >= 300 && e.StatusCode <= 499
}

func (w *wait) interval(waited time.Duration) time.Duration {
	interval := min(max(waited/20, w.minInterval), w.maxInterval, maxDuration/2) // room for the jitter
	return time.Duration(float64(interval) * (0.9 + 0.2*rand.Float64()))
}

func (w *wait) cutShort(err error) *WaitError {
	return &WaitError{Job: w.job, Polls: w.polls, Waited: time.Since(w.start), LastErr: w.lastErr, Err: err, id: w.id}
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

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// worker does the next step of one prompt, whenever River says so.
type worker struct {
	river.WorkerDefaults[args]
	store   store
	client  *mintlify.Client
	results teller // nil: results are told to nobody
	logger  *slog.Logger
	settings

	mu     sync.Mutex
	paused map[string]time.Time // projects that the service will not take more from just now
}

// settings are what a user can set, and a test.
type settings struct {
	N        int           // steps under way at once
	SendTime time.Duration // how long one POST may take
	MaxWait  time.Duration // for the end of a job
	Quota    int           // prompts per Window and project
	Window   time.Duration
	PollOnly bool
}

// pause is how long to wait where nobody says how long.
func (s settings) pause() time.Duration { return s.SendTime / 2 }

// grace is how long a send may stay without a response before it is given up.
func (s settings) grace() time.Duration { return s.SendTime * 3 / 2 }

// stuck is how long a step can take at most: to send, and to record what came of it.
func (s settings) stuck() time.Duration { return 2*s.SendTime + 6*time.Second }

// quota counts intents. A prompt reaches the service up to a send's time later, so the
// window is longer by that.
func (s settings) quota() quota { return quota{sends: s.Quota, window: s.Window + s.SendTime} }

// NextRetry is when to go on after a database that failed, or a step that died.
func (w *worker) NextRetry(*river.Job[args]) time.Time { return time.Now().Add(jitter(w.pause())) }

// Work does one step, and has River come back for the next, until nothing is left to do.
func (w *worker) Work(ctx context.Context, job *river.Job[args]) error {
	r, err := rowOf(ctx, w.store, job.Args.Key)
	if err != nil {
		return err
	}
	if r.riverJob != job.ID {
		return nil // another River job has taken its place
	}
	switch r.State {
	case queued:
		return w.send(ctx, r)
	case sending: // its sender is at it still, or the sweep will give it up
		return river.JobSnooze(w.pause())
	case waiting:
		return w.poll(ctx, r)
	default:
		return w.tell(ctx, r)
	}
}

// send sends the prompt, at most once whatever happens to the process: the intent is on
// record before, and what came of it after. A shutdown interrupts none of the three.
func (w *worker) send(ctx context.Context, r row) error {
	client, err := w.client.ForProject(r.Project)
	if err != nil {
		r.State, r.Problem = failed, err.Error()
		return w.moved(ctx, r, w.store.settle(ctx, r, queued))
	}
	if pause := w.pauseOf(r.Project); pause > 0 {
		return river.JobSnooze(jitter(pause))
	}
	// The deadline comes first: where the process is stopped after the intent, it has
	// passed when the process wakes, and inTime sends nothing.
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.SendTime)
	defer cancel()
	intent, prompt, full, err := w.store.intend(sendCtx, r, w.quota(), w.grace())
	if full > 0 {
		return river.JobSnooze(jitter(full))
	}
	if err != nil {
		return ignoreMoved(err)
	}
	job, err := client.Jobs.Create(sendCtx, mintlify.CreateJobParams{Prompt: marked(prompt, r.Key)})
	intent = responded(intent, job, err)
	if recordErr := w.record(ctx, intent); recordErr != nil || intent.State != queued {
		return w.moved(ctx, intent, recordErr)
	}
	return river.JobSnooze(w.pauseProject(ctx, intent, err))
}

// inTime is a rate limiter, which is asked right before a request: none is sent once
// the time for it has passed, even if the context has not heard of that yet.
func inTime(ctx context.Context, _ mintlify.Operation, _ string) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return errors.New("the time for the request has passed: the process was stopped, or the database slow")
	}
	return nil
}

// responded returns r, an intent, in the state that follows from what Create returned.
func responded(r row, job *mintlify.Job, err error) row {
	if job != nil { // with or without an error: what counts is its id
		r.State, r.JobID = waiting, job.ID
		return r
	}
	r.Problem = err.Error()
	var apiErr *mintlify.APIError
	switch {
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		r.State = unknown
	case errors.Is(err, mintlify.ErrInvalidArgument), errors.As(err, &apiErr) && !mayPass(err):
		r.State = failed
	default: // it is proven that the service did not act
		r.State, r.SentAt = queued, time.Time{}
		if !needsPerson(err) {
			r.Problem = ""
		}
	}
	return r
}

// mayPass reports whether a request refused so may be taken later.
func mayPass(err error) bool { return errors.Is(err, mintlify.ErrRateLimited) || needsPerson(err) }

// needsPerson reports whether somebody has to see to the key before that.
func needsPerson(err error) bool {
	return errors.Is(err, mintlify.ErrUnauthorized) || errors.Is(err, mintlify.ErrForbidden)
}

// recordTime is how long a database may fail before what came of a send is lost.
const recordTime = 2 * time.Minute

// record stores what came of an intent, against a database that fails for a while and
// against a shutdown: what it does not store is unknown.
func (w *worker) record(ctx context.Context, r row) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	for {
		err := w.recordOnce(ctx, r)
		if err == nil || errors.Is(err, errMoved) {
			return err
		}
		w.logger.Error("what came of a send could not be recorded", "key", r.Key, "state", r.State, "job", r.JobID, "error", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

func (w *worker) recordOnce(ctx context.Context, r row) error {
	ctx, cancel := context.WithTimeout(ctx, recordTime/8) // a connection may hang
	defer cancel()
	if r.State == unknown {
		return w.store.settle(ctx, r, sending)
	}
	return w.store.revise(ctx, r)
}

// poll looks at the agent's job once.
func (w *worker) poll(ctx context.Context, r row) error {
	client, err := w.client.ForProject(r.Project)
	if err != nil {
		r.State, r.Problem = failed, err.Error()
		return w.moved(ctx, r, w.store.settle(ctx, r, waiting))
	}
	pollCtx, cancel := context.WithTimeout(ctx, w.SendTime)
	defer cancel()
	poll, err := client.Jobs.Poll(pollCtx, r.JobID, r.age)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	next := poll.Next
	if wait, again := mintlify.RetryAfter(err); err != nil && (again || mayPass(err) || pollCtx.Err() != nil) {
		next = max(wait, w.pause())
	}
	failure := cmp.Or(err, poll.Err)
	switch {
	case next > 0 && r.age < w.MaxWait:
		return cmp.Or(w.noteProblem(ctx, r, next, failure), river.JobSnooze(next))
	case next > 0:
		r.State, r.Problem = failed, fmt.Sprintf("job %s has not ended within %v", r.JobID, w.MaxWait)
		if failure != nil {
			r.Problem += "; last poll: " + failure.Error()
		}
	case err == nil:
		r.State, r.PRLink, r.Problem = done, poll.Job.PRLink, ""
	default:
		r.State, r.Problem = failed, err.Error()
	}
	return w.moved(ctx, r, w.store.settle(ctx, r, waiting))
}

// noteProblem logs a failed poll, and shows one that needs a person in the status.
func (w *worker) noteProblem(ctx context.Context, r row, next time.Duration, failure error) error {
	problem := ""
	if failure != nil {
		w.logger.Warn("poll failed", "key", r.Key, "job", r.JobID, "next", next, "error", failure)
		if needsPerson(failure) {
			problem = failure.Error()
		}
	}
	if problem == r.Problem {
		return nil
	}
	return w.store.note(ctx, r, problem)
}

// tell tells the result: again, where the process dies before it is on record that it
// was told.
func (w *worker) tell(ctx context.Context, r row) error {
	if !r.open {
		return nil
	}
	if w.results != nil {
		if err := w.results.tell(ctx, r); err != nil && r.age < w.MaxWait {
			w.logger.Warn("the result could not be told", "key", r.Key, "error", err)
			return river.JobSnooze(10 * w.pause())
		} else if err != nil {
			w.logger.Error("the result was told to nobody", "key", r.Key, "error", err)
		}
	}
	return w.store.close(ctx, r)
}

// moved logs where a prompt has come, and ends the step.
func (w *worker) moved(ctx context.Context, r row, err error) error {
	if errors.Is(err, errMoved) && r.State == waiting {
		w.logger.ErrorContext(ctx, "a late response: the prompt had been sent again by then, so there may be two jobs", "key", r.Key, "job", r.JobID)
	}
	if err != nil {
		return ignoreMoved(err)
	}
	level := slog.LevelInfo
	if r.State == unknown || r.State == failed {
		level = slog.LevelWarn
	}
	w.logger.Log(ctx, level, "prompt "+string(r.State), "key", r.Key, "job", r.JobID, "pullRequest", r.PRLink, "problem", r.Problem)
	return river.JobSnooze(0)
}

// ignoreMoved has the step done anew from where the row is now.
func ignoreMoved(err error) error {
	if errors.Is(err, errMoved) {
		return river.JobSnooze(0)
	}
	return err
}

// pauseProject keeps this process from sending more to a project that the service takes
// nothing from just now, and returns for how long.
func (w *worker) pauseProject(ctx context.Context, r row, err error) time.Duration {
	wait, _ := mintlify.RetryAfter(err)
	wait = min(max(wait, w.pause()), w.Window)
	w.logger.WarnContext(ctx, "not sent", "key", r.Key, "project", r.Project, "next", wait, "error", err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused[r.Project] = time.Now().Add(wait)
	return jitter(wait)
}

func (w *worker) pauseOf(project string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Until(w.paused[project])
}

// jitter adds up to a tenth, so that not all come back at once.
func jitter(d time.Duration) time.Duration { return d + rand.N(d/10+1) }

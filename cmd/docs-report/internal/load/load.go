// Package load keeps windows of the database up to date, with as few requests as possible.
package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	maxFailures = 3                // windows of a project in a row
	heldWait    = 10 * time.Second // for other runs, if only their exports are left
)

// Loader loads windows. Its fields are set before use.
type Loader struct {
	Store *store.Store

	// Client may be for any project. It asks Reserve before each request and does not retry.
	Client *mintlify.Client

	Budget   int                              // requests an hour
	Pages    int                              // how many pages of a list the loader asks for at most
	Texts    bool                             // whether to keep what readers write
	Wait     bool                             // whether to wait for the quota instead of stopping
	Log      func(format string, args ...any) // gets a line for each export and wait
	Requests int                              // counts what this loader has requested
	Later    int                              // counts the missing lists that the next runs load

	left int // requests of the budget
}

// Reserve is a limiter for the client: it keeps the budget over all runs.
func (l *Loader) Reserve(ctx context.Context, _ mintlify.Operation, _ string) error {
	left, err := l.Store.Reserve(ctx, l.Budget)
	if err != nil {
		return err
	}

	l.left = left
	l.Requests++
	return nil
}

// Load brings the exports of a range up to date, and keeps each page as it comes.
//
// It ends with a [*store.QuotaError] when the budget or the quota is used up, unless Wait is
// set. If an export fails, Load still loads the others, and returns the error at the end. It
// gives a project up after a few such exports in a row.
//
// Before it loads anything, it deletes the lists that the range does not keep.
func (l *Loader) Load(ctx context.Context, r Range) error {
	if !r.KeepFrom.IsZero() {
		for _, project := range r.Projects {
			if err := l.Store.Expire(ctx, project, r.KeepFrom); err != nil {
				return err
			}
		}
	}

	tasks, err := l.Tasks(ctx, r)
	if err != nil {
		return err
	}

	q := queue{tasks: tasks, all: len(tasks), failedInARow: map[string]int{}}
	for len(q.tasks) > 0 {
		task := q.take()
		if q.failedInARow[task.Project] >= maxFailures {
			continue
		}

		err := l.loadTask(ctx, task)
		if stop := l.settle(ctx, &q, task, err); stop != nil {
			return stop
		}
	}

	if len(q.failures) > 0 {
		return errors.Join(q.failures...)
	}
	return l.prune(ctx, r)
}

// queue has the tasks of a run and how they ended.
type queue struct {
	tasks        []Task
	all, done    int
	heldInARow   int            // tasks that other runs are working on
	failedInARow map[string]int // by project
	failures     []error
}

func (q *queue) take() Task {
	task := q.tasks[0]
	q.tasks = q.tasks[1:]
	return task
}

// settle acts on the end of a task, and returns why the run stops, if it does.
func (l *Loader) settle(ctx context.Context, q *queue, task Task, err error) error {
	switch outcomeOf(ctx, err) {
	case loaded:
		q.done++
		q.heldInARow = 0
		q.failedInARow[task.Project] = 0
		l.Log("%v (%d of %d exports, %d requests, %d left this hour)", task, q.done, q.all, l.Requests, l.left)

	case interrupted:
		return err

	case held:
		if q.heldInARow >= len(q.tasks) { // there is nothing else to do meanwhile
			q.heldInARow = 0
			l.Log("Waiting: %v.", err)
			_ = sleep(ctx, heldWait) // if ctx ends, so does the next task
		}
		q.heldInARow++
		q.tasks = append(q.tasks, task)

	case overtaken: // this run checks the export again at the end
		q.tasks = append(q.tasks, task)

	case quotaSpent:
		if !l.Wait {
			return errors.Join(append(q.failures, err)...)
		}
		l.waitForQuota(ctx, err)
		q.tasks = append([]Task{task}, q.tasks...)

	case projectRefused: // no other export of the project would succeed
		q.failedInARow[task.Project] = maxFailures
		q.failures = append(q.failures, fmt.Errorf("%v: %w", task, err))

	case failed:
		q.failedInARow[task.Project]++
		q.failures = append(q.failures, fmt.Errorf("%v: %w", task, err))
	}
	return nil
}

func (l *Loader) waitForQuota(ctx context.Context, err error) {
	var quota *store.QuotaError
	if !errors.As(err, &quota) {
		return
	}
	l.Log("Waiting for the hourly quota until %s.", quota.Until.Format(time.TimeOnly+" MST"))
	_ = sleep(ctx, time.Until(quota.Until))
}

// prune deletes the windows that no report compares with any more.
func (l *Loader) prune(ctx context.Context, r Range) error {
	for _, project := range r.Projects {
		if err := l.Store.Prune(ctx, r.lastWeeks(project)); err != nil {
			return err
		}
	}
	return nil
}

// outcome is how a task ended.
type outcome int

const (
	loaded outcome = iota
	interrupted
	held           // another run is working on the export
	overtaken      // another run has taken the export further, or has completed it
	quotaSpent     // by runs on this database or by other programs of the organization
	projectRefused // the service does not give out the project
	failed
)

func outcomeOf(ctx context.Context, err error) outcome {
	var other *store.HeldError
	var quota *store.QuotaError

	switch {
	case err == nil:
		return loaded
	case ctx.Err() != nil:
		return interrupted
	case errors.As(err, &other):
		return held
	case errors.Is(err, store.ErrOvertaken):
		return overtaken
	case errors.As(err, &quota):
		return quotaSpent
	case isRefusal(err):
		return projectRefused
	}
	return failed
}

func isRefusal(err error) bool {
	return errors.Is(err, mintlify.ErrUnauthorized) || errors.Is(err, mintlify.ErrForbidden) ||
		errors.Is(err, mintlify.ErrNotFound)
}

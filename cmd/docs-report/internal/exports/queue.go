package exports

import (
	"context"
	"errors"
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const maxFailures = 3 // windows in a row

// queue notes how the tasks of a run ended.
type queue struct {
	from      mintlify.Date // of the range
	all, done int           // tasks

	hasFailed    map[series]bool // in an earlier run
	failedInARow map[series]int
	refused      map[string]bool // projects
	failures     []error         // *LoadError of each task that is not optional
}

// series is what may fail as a whole: the exports of a kind of a project. Months before the range are
// apart: the service may not go back that far.
type series struct {
	project   string
	kind      store.Kind
	isEarlier bool
}

// LoadError says what a run could not do for another reason than the quota: to come back later may
// not help.
type LoadError struct {
	project string
	err     error
}

func (e *LoadError) Error() string { return e.err.Error() }
func (e *LoadError) Unwrap() error { return e.err }

func newQueue(r Range) *queue {
	return &queue{
		from:         r.From,
		hasFailed:    map[series]bool{},
		failedInARow: map[series]int{},
		refused:      map[string]bool{},
	}
}

// noteEarlier notes what the last runs could not load, even if nothing asks for it any more.
func (q *queue) noteEarlier(known []store.Export) {
	for _, e := range known {
		if e.HasFailed() {
			q.hasFailed[q.seriesOf(Task{e.Window, e.Kind})] = true
		}
	}
}

func (q *queue) seriesOf(task Task) series {
	return series{task.Project, task.Kind, task.From.Time().Before(q.from.Time())}
}

// isOptional reports whether a run may end well without a task: a list, or a month before the range.
func (q *queue) isOptional(task Task) bool {
	return task.Kind != store.Visitors || q.seriesOf(task).isEarlier
}

// isGivenUp reports whether other exports of the task's series have failed: after some days, or
// after one optional task. A list that fails costs one request a night.
func (q *queue) isGivenUp(task Task) bool {
	limit := maxFailures
	if q.isOptional(task) {
		limit = 1
	}
	return q.refused[task.Project] || q.failedInARow[q.seriesOf(task)] >= limit
}

func (q *queue) attempts(task Task) int {
	if q.isOptional(task) && q.hasFailed[q.seriesOf(task)] {
		return 1
	}
	return maxAttempts
}

func (q *queue) succeeded(task Task) {
	q.done++
	q.failedInARow[q.seriesOf(task)] = 0
	q.hasFailed[q.seriesOf(task)] = false
}

// failed notes a failure. If the service does not give out a project's visitors, no other export of
// the project would succeed.
func (q *queue) failed(task Task, err error) {
	q.failedInARow[q.seriesOf(task)]++
	if q.isOptional(task) {
		return
	}

	q.failures = append(q.failures, &LoadError{task.Project, fmt.Errorf("%v: %w", task, err)})
	if isRefusal(err) {
		q.refused[task.Project] = true
	}
}

// problem returns why a project is not up to date, if it is for another reason than the quota.
func (q *queue) problem(project string, stop error) string {
	for _, err := range q.failures {
		if failure, ok := errors.AsType[*LoadError](err); ok && failure.project == project {
			return failure.Error()
		}
	}

	switch {
	case stop == nil, isQuota(stop):
		return ""
	case errors.Is(stop, context.Canceled), errors.Is(stop, context.DeadlineExceeded):
		return "interrupted"
	}
	return stop.Error()
}

func isRefusal(err error) bool {
	return errors.Is(err, mintlify.ErrUnauthorized) || errors.Is(err, mintlify.ErrForbidden) ||
		errors.Is(err, mintlify.ErrNotFound)
}

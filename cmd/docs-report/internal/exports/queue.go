package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const maxFailures = 3 // windows in a row

// queue notes how the tasks of a run ended.
type queue struct {
	r         Range
	all, done int // tasks

	outcomes map[series]*outcome
	refused  map[string]bool // projects
	failures []error         // *LoadError of each task that is not optional
}

// series is what may fail as a whole: the exports of a kind of a project. Months before the range are
// apart: the service may not go back that far.
type series struct {
	project   string
	kind      store.Kind
	isEarlier bool
}

// outcome is how the exports of a series ended.
type outcome struct {
	hasFailed bool // also in an earlier run, until one succeeds
	inARow    int  // failures
	wasAsked  bool
	problem   string // of a failure that was not a refusal
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
	return &queue{r: r, outcomes: map[series]*outcome{}, refused: map[string]bool{}}
}

// noteEarlier notes what the last runs could not load, even if nothing asks for it any more.
func (q *queue) noteEarlier(known []store.Export) {
	for _, e := range known {
		if e.HasFailed() {
			q.outcome(Task{e.Window, e.Kind}).hasFailed = true
		}
	}
}

// outcome returns the outcome of a task's series.
func (q *queue) outcome(task Task) *outcome {
	of := series{task.Project, task.Kind, q.r.isEarlier(task)}
	if q.outcomes[of] == nil {
		q.outcomes[of] = &outcome{}
	}
	return q.outcomes[of]
}

// isOptional reports whether a run may end well without a task: a list, or a month before the range.
func (q *queue) isOptional(task Task) bool {
	return task.Kind != store.Visitors || q.r.isEarlier(task)
}

// isGivenUp reports whether other exports of the task's series have failed: after some days, or
// after one optional task.
func (q *queue) isGivenUp(task Task) bool {
	limit := maxFailures
	if q.isOptional(task) {
		limit = 1
	}
	return q.refused[task.Project] || q.outcome(task).inARow >= limit
}

func (q *queue) attempts(task Task) int {
	if q.isOptional(task) && q.outcome(task).hasFailed {
		return 1
	}
	return maxAttempts
}

func (q *queue) succeeded(task Task) {
	q.done++
	of := q.outcome(task)
	of.wasAsked = true
	of.hasFailed = false
	of.inARow = 0
}

// failed notes a failure. If the service does not give out a project's visitors, no other export of
// the project would succeed.
func (q *queue) failed(task Task, err error) {
	of := q.outcome(task)
	of.inARow++
	if !isRefusal(err) {
		of.wasAsked = true
		of.problem = err.Error()
	}
	if q.isOptional(task) {
		return
	}

	q.failures = append(q.failures, &LoadError{task.Project, fmt.Errorf("%v: %w", task, err)})
	if isRefusal(err) {
		q.refused[task.Project] = true
	}
}

// failing returns the lists of a project that the last runs in a row could not load. A list that this run did not ask
// for has the count of the runs before. The second run in a row is a failure.
func (q *queue) failing(project string, earlier []store.FailingList) []store.FailingList {
	before := map[store.Kind]store.FailingList{}
	for _, list := range earlier {
		before[list.Kind] = list
	}

	var all []store.FailingList
	for _, kind := range kinds(true)[1:] {
		list := before[kind]
		of := cmp.Or(q.outcomes[series{project: project, kind: kind}], &outcome{})
		if of.wasAsked {
			list = store.FailingList{Kind: kind, Times: list.Times + 1, Problem: of.problem}
		}
		if list.Problem == "" {
			continue
		}

		all = append(all, list)
		if of.wasAsked && list.Times > 1 {
			err := fmt.Errorf("the list of %s of %s could not be loaded in %d syncs in a row: %s",
				kind.Name(), project, list.Times, list.Problem)
			q.failures = append(q.failures, &LoadError{project, err})
		}
	}
	return all
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

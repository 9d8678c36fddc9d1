package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const maxFailures = 3 // windows in a row

// queue notes how the tasks of a run ended.
type queue struct {
	r         Range
	all, done int // tasks

	hasFailed    map[series]bool // in an earlier run
	failedInARow map[series]int
	refused      map[string]bool // projects
	failures     []error         // *LoadError of each task that is not optional

	lists map[listOf]string // that were asked for: why they could not be loaded, or ""
}

// listOf is a kind of lists of a project.
type listOf struct {
	project string
	kind    store.Kind
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
		r:            r,
		hasFailed:    map[series]bool{},
		failedInARow: map[series]int{},
		refused:      map[string]bool{},
		lists:        map[listOf]string{},
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
	return series{task.Project, task.Kind, q.r.isEarlier(task)}
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
	if list := (listOf{task.Project, task.Kind}); q.lists[list] == "" {
		q.lists[list] = ""
	}
}

// failed notes a failure. If the service does not give out a project's visitors, no other export of
// the project would succeed.
func (q *queue) failed(task Task, err error) {
	q.failedInARow[q.seriesOf(task)]++
	if task.Kind != store.Visitors && !isRefusal(err) {
		q.lists[listOf{task.Project, task.Kind}] = err.Error()
	}
	if q.isOptional(task) {
		return
	}

	q.failures = append(q.failures, &LoadError{task.Project, fmt.Errorf("%v: %w", task, err)})
	if isRefusal(err) {
		q.refused[task.Project] = true
	}
}

// failing returns the lists of a project that this run could not load, and in how many runs in a row. A list that was
// not asked for has the count of the runs before.
func (q *queue) failing(project string, earlier []store.FailingList) []store.FailingList {
	times := map[store.Kind]int{}
	var all []store.FailingList
	for _, list := range earlier {
		times[list.Kind] = list.Times
		if _, wasAsked := q.lists[listOf{project, list.Kind}]; !wasAsked {
			all = append(all, list)
		}
	}
	for list, problem := range q.lists {
		if list.project == project && problem != "" {
			all = append(all, store.FailingList{Kind: list.kind, Times: times[list.kind] + 1, Problem: problem})
		}
	}
	slices.SortFunc(all, func(a, b store.FailingList) int { return cmp.Compare(a.Kind, b.Kind) })
	return all
}

// failTwice notes a failure for each list that could not be loaded in two runs in a row.
func (q *queue) failTwice(last store.Sync) {
	for _, list := range last.Failing {
		if _, wasAsked := q.lists[listOf{last.Project, list.Kind}]; wasAsked && list.Times > 1 {
			err := fmt.Errorf("the list of %s of %s could not be loaded in %d syncs in a row: %s",
				list.Kind.Name(), last.Project, list.Times, list.Problem)
			q.failures = append(q.failures, &LoadError{last.Project, err})
		}
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

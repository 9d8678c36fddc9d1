// Package exports keeps windows of the database up to date, with as few requests as possible.
package exports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	heldWait = 10 * time.Second // for other runs, if only their exports are left
	saveTime = 10 * time.Second // for each project, to store how a run ended, even if it was interrupted
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

	left int // requests of the budget
}

// Reserve is a limiter for the client: it keeps the budget over all runs.
func (l *Loader) Reserve(ctx context.Context, _ mintlify.RequestInfo) error {
	left, err := l.Store.Reserve(ctx, l.Budget)
	if err != nil {
		return err
	}

	l.left = left
	l.Requests++
	return nil
}

// Load brings the exports of a range up to date, and keeps each page as it comes. It loads what
// is final first. Then it loads what may still change, as far as it fits into the hour's budget.
//
// Load ends with a [*store.QuotaError] when the budget or the quota is used up before all that
// is final is loaded, unless Wait is set. If visitors cannot be loaded, Load still loads the
// others, and returns a [*LoadError] at the end. It joins the two if both happen. A list that cannot
// be loaded is not an error: the database has the reason.
//
// Before it loads anything, it deletes the lists that the range does not keep. At the end it
// stores for each project how it ended.
func (l *Loader) Load(ctx context.Context, r Range) error {
	q := newQueue(r)
	stop := l.load(ctx, r, q)

	patience := saveTime * time.Duration(len(r.Projects))
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	saved := l.saveSyncs(detached, r, q, stop)
	return errors.Join(append(q.errors(), stop, saved)...)
}

// load loads the exports of a range, and returns why it stopped before the end, if it did.
func (l *Loader) load(ctx context.Context, r Range, q *queue) error {
	if !r.KeepFrom.IsZero() {
		for _, project := range r.Projects {
			if err := l.Store.Expire(ctx, project, r.KeepFrom); err != nil {
				return err
			}
		}
	}

	todo, err := l.plan(ctx, r)
	if err != nil {
		return err
	}

	q.tasks = slices.Concat(todo.final, todo.failed)
	q.all = len(q.tasks)
	if err := l.noteEarlierFailures(ctx, q, r.Projects, todo.failed); err != nil {
		return err
	}

	if err := l.loadFinal(ctx, q); err != nil {
		return err
	}
	if err := l.loadOpen(ctx, q, todo.open); err != nil {
		return err
	}
	if len(q.failures) > 0 {
		return nil
	}
	return l.prune(ctx, r)
}

// noteEarlierFailures notes what the last runs could not load, even if nothing asks for it any more.
func (l *Loader) noteEarlierFailures(ctx context.Context, q *queue, projects []string, tasks []Task) error {
	for _, task := range tasks {
		q.hasFailed[q.seriesOf(task)] = true
	}

	for _, project := range projects {
		troubles, err := l.Store.Troubles(ctx, project)
		if err != nil {
			return err
		}

		for _, t := range troubles {
			q.hasFailed[q.seriesOf(Task{t.Newest, t.Kind})] = true
		}
	}
	return nil
}

// loadFinal loads what will not change. It waits for other runs that are loading it.
func (l *Loader) loadFinal(ctx context.Context, q *queue) error {
	for len(q.tasks) > 0 {
		task := q.take()
		if q.isGivenUp(task) {
			continue
		}

		err := l.loadTask(ctx, task, q.attempts(task))
		if stop := l.settle(ctx, q, task, err); stop != nil {
			return stop
		}
	}
	return nil
}

// settle acts on the end of a task, and returns why the run stops, if it does.
func (l *Loader) settle(ctx context.Context, q *queue, task Task, err error) error {
	switch outcomeOf(ctx, err) {
	case loaded:
		l.noteLoaded(q, task)

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
			return err
		}
		l.waitForQuota(ctx, err)
		q.tasks = append([]Task{task}, q.tasks...)

	case failed:
		l.noteFailure(q, task, err)
	}
	return nil
}

// loadOpen loads what may still change, as far as each export fits into the budget: if it were
// half loaded, the next night would begin it anew. It waits for nothing.
func (l *Loader) loadOpen(ctx context.Context, q *queue, tasks []Task) error {
	for _, task := range tasks {
		if q.isGivenUp(task) {
			continue
		}

		fits, err := l.fits(ctx, task)
		if err != nil {
			return err
		}
		if !fits {
			continue
		}

		err = l.loadTask(ctx, task, q.attempts(task))
		switch outcomeOf(ctx, err) {
		case loaded:
			q.all++
			l.noteLoaded(q, task)

		case interrupted:
			return err

		case held, overtaken: // the other run goes on with it

		case quotaSpent:
			return nil

		case failed:
			if !errors.Is(err, errTotalsChanged) {
				l.noteFailure(q, task, err)
			}
		}
	}
	return nil
}

func (l *Loader) noteLoaded(q *queue, task Task) {
	q.succeeded(task)
	l.Log("%v (%d of %d exports, %d requests, %d left this hour)", task, q.done, q.all, l.Requests, l.left)
}

func (l *Loader) noteFailure(q *queue, task Task, err error) {
	q.failed(task, err)
	if q.isOptional(task) {
		l.Log("Not loaded: %v: %v", task, err)
	}
}

func (l *Loader) waitForQuota(ctx context.Context, err error) {
	var quota *store.QuotaError
	if !errors.As(err, &quota) {
		return
	}
	l.Log("Waiting for the hourly quota until %s.", quota.Until.Format(time.TimeOnly+" MST"))
	_ = sleep(ctx, time.Until(quota.Until))
}

// prune deletes the windows that no report compares with any more, and what could not be loaded
// before it left the range.
func (l *Loader) prune(ctx context.Context, r Range) error {
	firstMonth := r.firstMonth(mintlify.DayOf(time.Now().UTC()))
	for _, project := range r.Projects {
		if err := l.Store.PruneFailed(ctx, project, r.From, firstMonth); err != nil {
			return err
		}

		period := store.LastWeeks(project, r.Weeks, SettledDay(time.Now()))
		if err := l.Store.Prune(ctx, period); err != nil {
			return err
		}
	}
	return nil
}

// saveSyncs stores how the run ended, by project.
func (l *Loader) saveSyncs(ctx context.Context, r Range, q *queue, stop error) error {
	todo, err := l.plan(ctx, r)
	if err != nil {
		return notStored(err)
	}

	// The service may not go back to a month before the range: then it is not missing.
	todo.failed = slices.DeleteFunc(todo.failed, func(task Task) bool { return q.seriesOf(task).isEarlier })

	missing := map[string]int{}
	for _, task := range slices.Concat(todo.final, todo.failed) {
		requests, err := l.knownCost(ctx, task)
		if err != nil {
			return notStored(err)
		}
		missing[task.Project] += requests
	}

	for _, project := range r.Projects {
		last := store.Sync{
			Project: project,
			At:      time.Now(),
			Missing: missing[project],
			Problem: q.problem(project, stop),
		}
		if err := l.Store.SaveSync(ctx, last); err != nil {
			return notStored(err)
		}
	}
	return nil
}

func notStored(err error) error {
	return &LoadError{fmt.Errorf("how the run ended could not be stored: %w", err)}
}

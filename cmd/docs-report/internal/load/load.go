// Package load keeps windows of the database up to date, at as few requests as can be.
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
	pageSize    = 250             // the most there is: the quota counts requests, not rows
	maxAttempts = 4               // of a page
	firstRetry  = 2 * time.Second // doubles
	maxFailures = 3               // windows of a project in a row
	maxRestarts = 3               // of an export whose totals change from page to page
	quotaWait   = 10 * time.Minute
	maxBlock    = time.Hour // the quota is of an hour, whatever a Retry-After says
)

// Task is a window to have up to date.
type Task struct {
	store.Window
	TotalsOnly bool // the totals come with the first page: one request, whatever the site's size
}

// Loader loads windows. Its fields are set before use.
type Loader struct {
	Store  *store.Store
	Client *mintlify.Client // of any project; it asks Reserve before each request and does not retry
	Budget int              // requests an hour
	Settle time.Duration    // a window's counts are final this long after its end
	MaxAge time.Duration    // until then, they are loaded again when older than this
	Wait   bool             // for the quota, instead of stopping
	Show   func(Progress)   // called after each page, at the start, and before a wait for the quota

	left     int // of the budget
	progress Progress
}

// Progress is how far a run has come.
type Progress struct {
	Windows, Done int           // to be loaded, and loaded
	Requests      int           // made by this run
	Left          int           // requests left of the hour's budget
	Completed     *store.Window // just now; nil within a window
	Waiting       time.Time     // until when; zero unless it waits
}

// Reserve is a limiter for the client: it keeps the budget over all runs.
func (l *Loader) Reserve(ctx context.Context, _ mintlify.Operation, _ string) error {
	left, err := l.Store.Reserve(ctx, l.Budget)
	if err == nil {
		l.left = left
		l.progress.Requests++
	}
	return err
}

// Load brings the windows up to date, in this order, and keeps each page as it comes.
//
// It ends with a [*store.QuotaError] when the budget or the quota is used up, unless
// it is to wait. A window that fails leaves the others to be loaded, and is told at the
// end. A project is given up after a few such windows in a row.
func (l *Loader) Load(ctx context.Context, tasks []Task) error {
	plan, err := l.Plan(ctx, tasks)
	if err != nil {
		return err
	}
	l.progress, l.left = Progress{Windows: len(plan.Tasks)}, plan.Left
	l.show(nil)
	var failures []error
	inARow := map[string]int{} // windows that failed, by project
	queue := plan.Tasks
	for len(queue) > 0 {
		task := queue[0]
		queue = queue[1:]
		if inARow[task.Project] == maxFailures {
			continue
		}
		err := l.loadWindow(ctx, task)
		var quota *store.QuotaError
		switch {
		case err == nil:
			inARow[task.Project] = 0
			l.progress.Done++
			l.show(&task.Window)
		case errors.Is(err, store.ErrOvertaken):
			queue = append(queue, task) // the other run is at it: what it does not do comes last
		case ctx.Err() != nil:
			return err
		case errors.As(err, &quota) && l.Wait:
			queue = append([]Task{task}, queue...)
			if err := l.waitUntil(ctx, quota.Until); err != nil {
				return err
			}
		case errors.As(err, &quota):
			return errors.Join(append(failures, quota)...)
		default:
			inARow[task.Project]++
			if isOfProject(err) {
				inARow[task.Project] = maxFailures
			}
			failures = append(failures, fmt.Errorf("%v: %w", task.Window, err))
		}
	}
	return errors.Join(failures...)
}

// isOfProject reports whether no window of the project can be had.
func isOfProject(err error) bool {
	return errors.Is(err, mintlify.ErrUnauthorized) || errors.Is(err, mintlify.ErrForbidden) || errors.Is(err, mintlify.ErrNotFound)
}

// loadWindow loads what is missing of a window.
func (l *Loader) loadWindow(ctx context.Context, task Task) error {
	state, err := l.Store.State(ctx, task.Window)
	if err != nil || l.hasAll(task, state) {
		return err
	}
	export := state.Export
	if export == nil || !l.isFresh(export.At, task.Window) {
		if export, err = l.Store.Begin(ctx, task.Window, state); err != nil {
			return err
		}
	}
	for restarts := 0; ; restarts++ {
		err := l.loadPages(ctx, task, export)
		if !errors.Is(err, errTotalsChanged) {
			return err
		}
		if restarts == maxRestarts {
			return err
		}
		if state, err = l.Store.State(ctx, task.Window); err != nil {
			return err
		}
		if export, err = l.Store.Begin(ctx, task.Window, state); err != nil {
			return err
		}
	}
}

var errTotalsChanged = errors.New("the totals change from page to page: the counts are still moving, load them later")

// loadPages takes an export to its end, page by page. A page that has come is
// kept, whatever befalls the context meanwhile.
func (l *Loader) loadPages(ctx context.Context, task Task, export *store.Export) error {
	client, err := l.Client.ForProject(task.Project)
	if err != nil {
		return err
	}
	for failures := 0; ; {
		params := mintlify.VisitorsParams{DateFrom: task.From, DateTo: task.To, Limit: pageSize, Offset: export.Offset}
		for page, err := range client.Analytics.VisitorPages(ctx, params) {
			if err != nil {
				failures++
				if err := l.afterFailure(ctx, err, failures); err != nil {
					return err
				}
				break
			}
			failures = 0
			if export.Offset > 0 && page.Totals != export.Totals {
				return errTotalsChanged
			}
			export, err = l.Store.Append(context.WithoutCancel(ctx), task.Window, export, page)
			if err != nil || export == nil || task.TotalsOnly {
				return err
			}
			l.show(nil)
		}
	}
}

// afterFailure returns nil once a request that failed may be made again, and else the
// error: that of the quota where the service says 429.
func (l *Loader) afterFailure(ctx context.Context, err error, failures int) error {
	wait, again := mintlify.RetryAfter(err)
	var quota *store.QuotaError
	switch {
	case ctx.Err() != nil, errors.As(err, &quota):
		return err
	case errors.Is(err, mintlify.ErrRateLimited):
		return l.block(ctx, wait)
	case !again, failures == maxAttempts:
		return err
	}
	return sleep(ctx, min(max(wait, firstRetry<<(failures-1)), quotaWait))
}

// block records that the service wants no more for now. Others of the organization
// spend the same quota, so that it may come early.
func (l *Loader) block(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		wait = quotaWait
	}
	until := time.Now().Add(min(wait, maxBlock))
	if err := l.Store.Block(context.WithoutCancel(ctx), until); err != nil {
		return err
	}
	l.left = 0
	return &store.QuotaError{Until: until, Reason: "the service's hourly quota is used up (429)"}
}

// Requests returns how many requests were made.
func (l *Loader) Requests() int { return l.progress.Requests }

// IsFinal reports whether counts that were asked for at a time will not change.
func (l *Loader) IsFinal(at time.Time, w store.Window) bool {
	return !at.Before(w.To.Time().Add(l.Settle))
}

// isFresh reports whether counts that were asked for at a time need not be asked for
// again: they are final, or recent.
func (l *Loader) isFresh(at time.Time, w store.Window) bool {
	return l.IsFinal(at, w) || time.Since(at) < l.MaxAge
}

func (l *Loader) hasAll(task Task, state store.State) bool {
	if state.Complete != nil && l.isFresh(state.Complete.At, task.Window) {
		return true
	}
	return task.TotalsOnly && state.Export != nil && state.Export.Offset > 0 && l.isFresh(state.Export.At, task.Window)
}

func (l *Loader) waitUntil(ctx context.Context, at time.Time) error {
	l.progress.Waiting = at
	l.show(nil)
	l.progress.Waiting = time.Time{}
	return sleep(ctx, time.Until(at))
}

func (l *Loader) show(completed *store.Window) {
	if l.Show != nil {
		l.progress.Left, l.progress.Completed = l.left, completed
		l.Show(l.progress)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
	maxAttempts = 4               // of a page
	firstRetry  = 2 * time.Second // doubles
	maxFailures = 3               // windows of a project in a row
	maxRestarts = 3               // of an export whose totals change from page to page
	quotaWait   = 10 * time.Minute
	maxBlock    = time.Hour        // the quota is of an hour, whatever a Retry-After says
	heldWait    = 10 * time.Second // for other runs, if they are at all that is left
)

// Loader loads windows. Its fields are set before use.
type Loader struct {
	Store    *store.Store
	Client   *mintlify.Client                 // of any project; it asks Reserve before each request and does not retry
	Budget   int                              // requests an hour
	Pages    int                              // the most of a list
	Texts    bool                             // whether to keep what readers write
	Wait     bool                             // for the quota, instead of stopping
	Log      func(format string, args ...any) // told of each export and wait
	Requests int                              // made so far
	Later    int                              // lists that are missing and left for the next runs

	left int // of the budget
}

// Reserve is a limiter for the client: it keeps the budget over all runs.
func (l *Loader) Reserve(ctx context.Context, _ mintlify.Operation, _ string) (err error) {
	if l.left, err = l.Store.Reserve(ctx, l.Budget); err == nil {
		l.Requests++
	}
	return err
}

// Load brings the exports of a range up to date, and keeps each page as it comes.
//
// It ends with a [*store.QuotaError] when the budget or the quota is used up, unless
// it is to wait. An export that fails leaves the others to be loaded, and is told at the
// end. A project is given up after a few such exports in a row.
func (l *Loader) Load(ctx context.Context, r Range) error {
	queue, err := l.Tasks(ctx, r)
	if err != nil {
		return err
	}
	var failures []error
	inARow := map[string]int{}          // exports that failed, by project
	held, done, all := 0, 0, len(queue) // held: exports in a row that other runs are at
	for len(queue) > 0 {
		task := queue[0]
		queue = queue[1:]
		if inARow[task.Project] >= maxFailures {
			continue
		}
		err := l.loadTask(ctx, task)
		var quota *store.QuotaError
		var other *store.HeldError
		switch {
		case err == nil:
			inARow[task.Project], held = 0, 0
			done++
			l.Log("%v (%d of %d exports, %d requests, %d left this hour)", task, done, all, l.Requests, l.left)
		case ctx.Err() != nil:
			return err
		case errors.As(err, &other) && held >= len(queue):
			l.Log("Waiting: %v.", other)
			held = 0
			_ = sleep(ctx, heldWait) // an end of ctx ends the next task
			fallthrough
		case other != nil:
			held++
			fallthrough
		case errors.Is(err, store.ErrOvertaken):
			queue = append(queue, task) // what the other run does not do comes last
		case errors.As(err, &quota) && l.Wait:
			l.Log("Waiting for the hourly quota until %s.", quota.Until.Format(time.TimeOnly+" MST"))
			_ = sleep(ctx, time.Until(quota.Until))
			queue = append([]Task{task}, queue...)
		case quota != nil:
			return errors.Join(append(failures, quota)...)
		default:
			inARow[task.Project]++
			if errors.Is(err, mintlify.ErrUnauthorized) || errors.Is(err, mintlify.ErrForbidden) || errors.Is(err, mintlify.ErrNotFound) {
				inARow[task.Project] = maxFailures // nothing of the project can be had
			}
			failures = append(failures, fmt.Errorf("%v: %w", task, err))
		}
	}
	if len(failures) == 0 {
		for _, project := range r.Projects {
			failures = append(failures, l.Store.Prune(ctx, r.lastWeeks(project)))
		}
	}
	return errors.Join(failures...)
}

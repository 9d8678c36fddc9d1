package exports

import (
	"cmp"
	"context"
	"errors"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	maxAttempts = 4 // of a page
	maxRestarts = 3 // of an export
	maxWait     = 10 * time.Minute
	maxBlock    = time.Hour // the quota is for an hour, even if a Retry-After is longer
)

var (
	errTotalsChanged = errors.New("the totals change from page to page: the counts still move, load them later")
	errOldCursor     = errors.New("the service rejects the cursor of an earlier run")
)

// loadTask loads the missing pages of an export. It asks for each page that many times at most.
func (l *Loader) loadTask(ctx context.Context, task Task, attempts int) error {
	wanted := store.Export{Window: task.Window, Kind: task.Kind, Texts: l.Texts && task.Kind.HasTexts()}
	since := freshSince(task.Window)
	failures := 0
	restarts := 0
	for {
		begun, err := l.Store.Begin(ctx, wanted, since)
		if err != nil {
			return err
		}

		reached, err := l.loadPages(ctx, begun)
		if reached.Pages > begun.Pages {
			failures = 0
		}
		wait, isRetryable := mintlify.RetryAfter(err)

		since = freshSince(task.Window)
		switch {
		case isOutdated(err) && restarts < maxRestarts:
			restarts++
			since = time.Now().Add(time.Hour) // later than the export: Begin begins it anew

		case isRetryable && !endsRun(ctx, err) && failures+1 < attempts:
			failures++
			wait = min(wait, maxWait)
			l.Log("Retrying in %v: %v: %v", wait, task, err)
			if err := l.pause(ctx, wait); err != nil {
				return err
			}

		default:
			return l.noteProblem(ctx, begun, err)
		}
	}
}

// isOutdated reports whether the pages of an export that are stored are of no use.
func isOutdated(err error) bool {
	return errors.Is(err, errTotalsChanged) || errors.Is(err, errOldCursor) || errors.Is(err, store.ErrGone)
}

// freshSince returns since when an export of a window must have begun: a run resumes a younger one.
func freshSince(w store.Window) time.Time {
	if IsFinal(time.Now(), w) {
		return w.To.Time().Add(settle)
	}
	return time.Now().Add(-maxAge)
}

// noteProblem returns err, and keeps why an export could not be loaded: status and the report say so.
func (l *Loader) noteProblem(ctx context.Context, e store.Export, err error) error {
	if err == nil || endsRun(ctx, err) || isMoving(err, e.Window) {
		return err
	}

	e.Problem = err.Error()
	if e.Kind != store.Visitors && isRefusal(err) {
		e.State = store.Refused
	}
	return errors.Join(err, l.Store.Fail(context.WithoutCancel(ctx), e))
}

// isMoving reports whether an export could not be loaded because its counts may still change.
func isMoving(err error, w store.Window) bool {
	return errors.Is(err, errTotalsChanged) && !IsFinal(time.Now(), w)
}

// loadPages appends pages to an export until it is complete or a request fails, and returns the export as
// it is then. A page that has arrived is stored even if ctx ends meanwhile.
func (l *Loader) loadPages(ctx context.Context, begun store.Export) (store.Export, error) {
	client, err := l.Client.ForProject(begun.Project)
	if err != nil {
		return begun, err
	}

	e := begun
	for page, err := range pages(ctx, client, begun) {
		isFirst := e.Pages == begun.Pages

		switch {
		case isFirst && e.Cursor != "" && errors.Is(err, mintlify.ErrBadRequest):
			return e, errOldCursor // nobody says how long a cursor lives: it would be rejected each night
		case errors.Is(err, mintlify.ErrRateLimited):
			return e, l.block(ctx, err)
		case err != nil:
			return e, err
		case e.Kind == store.Visitors && e.Offset > 0 && page.Totals != e.Totals:
			return e, errTotalsChanged
		}

		page.IsResumed = isFirst && e.Offset > 0
		page.Next = cmp.Or(page.Next, e.Offset+pageSizes[e.Kind])
		isLong := e.Kind != store.Visitors && e.Pages+1 >= l.Pages
		page.Last = page.Last || !page.More || isLong

		next, err := l.Store.Append(context.WithoutCancel(ctx), e, page)
		if err != nil || page.Last {
			return next, err
		}
		e = next
	}
	return e, nil
}

// block records that the service refuses requests for now. Other programs of the
// organization spend the same quota, so the 429 may come before the budget is spent.
func (l *Loader) block(ctx context.Context, err error) error {
	wait, _ := mintlify.RetryAfter(err)
	until := time.Now().Add(min(wait, maxBlock))
	if err := l.Store.Block(context.WithoutCancel(ctx), until); err != nil {
		return err
	}
	return &store.QuotaError{Until: until, Reason: "the service's hourly quota is used up (429)"}
}

// pause waits, and holds the database meanwhile.
func (l *Loader) pause(ctx context.Context, d time.Duration) error {
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 {
			return ctx.Err()
		}

		if err := sleep(ctx, min(left, store.KeepEvery)); err != nil {
			return err
		}
		if err := l.Store.Keep(ctx); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	done, cancel := context.WithTimeout(ctx, d)
	defer cancel()

	<-done.Done()
	return ctx.Err()
}

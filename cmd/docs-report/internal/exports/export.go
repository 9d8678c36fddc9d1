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
	maxAttempts = 4               // of a page
	firstRetry  = 2 * time.Second // doubles
	maxRestarts = 3               // of an export
	quotaWait   = 10 * time.Minute
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
	for restarts := 0; ; restarts++ {
		e, err := l.Store.Begin(ctx, wanted, since)
		if err != nil {
			return err
		}

		err = l.loadPages(ctx, e, attempts)
		isOutdated := errors.Is(err, errTotalsChanged) || errors.Is(err, errOldCursor)
		isAgain := isOutdated || errors.Is(err, store.ErrGone)
		if !isAgain || restarts == maxRestarts {
			return l.noteProblem(ctx, e, err)
		}

		if isOutdated {
			since = time.Now().Add(time.Hour) // later than the export: Begin begins it anew
		}
	}
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
	isRefused := errors.Is(err, mintlify.ErrForbidden) || errors.Is(err, mintlify.ErrNotFound)
	detached := context.WithoutCancel(ctx)
	switch {
	case err == nil, endsRun(ctx, err), isMoving(err, e.Window):
		return err
	case e.Kind != store.Visitors && isRefused:
		return errors.Join(err, l.Store.Refuse(detached, e, err.Error()))
	}
	return errors.Join(err, l.Store.Fail(detached, e, err.Error()))
}

// isMoving reports whether an export could not be loaded because its counts may still change.
func isMoving(err error, w store.Window) bool {
	return errors.Is(err, errTotalsChanged) && !IsFinal(time.Now(), w)
}

// loadPages loads an export to its end, page by page, and retries requests that fail.
func (l *Loader) loadPages(ctx context.Context, e store.Export, attempts int) error {
	client, err := l.Client.ForProject(e.Project)
	if err != nil {
		return err
	}

	stored := e.Cursor
	for failures := 0; ; {
		reached, err := l.loadUntilFailure(ctx, client, e)
		var request *requestError
		if !errors.As(err, &request) {
			return err
		}

		if reached.Offset > e.Offset {
			failures = 0
		}
		e = reached
		failures++

		// Nobody says how long a cursor lives. The service would reject an old one each night.
		if stored != "" && e.Cursor == stored && errors.Is(err, mintlify.ErrBadRequest) {
			return errOldCursor
		}

		backoff := firstRetry << (failures - 1)
		if failures == attempts {
			backoff = noRetry
		}
		if err := l.afterFailure(ctx, request.err, backoff); err != nil {
			return err
		}
	}
}

// requestError tells a request that failed, and may be worth a retry, from everything else.
type requestError struct{ err error }

func (e *requestError) Error() string { return e.err.Error() }
func (e *requestError) Unwrap() error { return e.err }

// loadUntilFailure appends pages to an export until it is complete or a request fails, and
// returns the export as it is then. A page that has arrived is stored even if ctx ends meanwhile.
func (l *Loader) loadUntilFailure(
	ctx context.Context, client *mintlify.Client, e store.Export,
) (store.Export, error) {
	isResumed := e.Offset > 0
	for page, err := range pages(ctx, client, e) {
		if err != nil {
			return e, &requestError{err}
		}
		if e.Kind == store.Visitors && e.Offset > 0 && page.Totals != e.Totals {
			return e, errTotalsChanged
		}

		page.IsResumed = isResumed
		isResumed = false
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

const noRetry time.Duration = 0 // is the backoff after the last attempt

// afterFailure waits until a request that failed may be made again, at least for the backoff, and
// returns nil. If no retry is allowed, it returns the reason: the quota's error if the service
// responded 429.
func (l *Loader) afterFailure(ctx context.Context, err error, backoff time.Duration) error {
	wait, again := mintlify.RetryAfter(err)
	switch {
	case endsRun(ctx, err):
		return err
	case errors.Is(err, mintlify.ErrRateLimited):
		return l.block(ctx, wait)
	case !again, backoff == noRetry:
		return err
	}

	if response, ok := errors.AsType[*mintlify.APIError](err); ok {
		backoff = max(backoff, response.RetryAfter)
	}
	return l.pause(ctx, min(backoff, quotaWait))
}

// block records that the service refuses requests for now. Other programs of the
// organization spend the same quota, so the 429 may come before the budget is spent.
func (l *Loader) block(ctx context.Context, wait time.Duration) error {
	until := time.Now().Add(min(cmp.Or(max(wait, 0), quotaWait), maxBlock))
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

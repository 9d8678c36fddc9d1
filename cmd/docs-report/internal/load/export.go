package load

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
	maxRestarts = 3               // when the totals of an export change from page to page
	quotaWait   = 10 * time.Minute
	maxBlock    = time.Hour // the quota is for an hour, even if a Retry-After is longer
)

var errTotalsChanged = errors.New("the totals change from page to page: the counts still move, load them later")

// loadTask loads the missing pages of an export. It holds the export's lease meanwhile, so that
// no other run loads the export.
func (l *Loader) loadTask(ctx context.Context, task Task) error {
	freshSince := time.Now().Add(-maxAge)
	if final := task.To.Time().Add(settle); final.Before(freshSince) {
		freshSince = final
	}

	for restarts := 0; ; restarts++ {
		export, claimed, err := l.Store.Claim(ctx, task.Window, task.Kind, freshSince, l.isUpToDate)
		if err != nil || !claimed {
			return err
		}

		err = l.loadPages(ctx, export)
		if errors.Is(err, errTotalsChanged) && restarts < maxRestarts {
			freshSince = time.Now().Add(time.Hour) // later than the export: Claim begins it anew
			continue
		}
		return errors.Join(err, l.Store.Lease(context.WithoutCancel(ctx), export, time.Now()))
	}
}

// loadPages loads an export to its end, page by page, and retries requests that fail.
func (l *Loader) loadPages(ctx context.Context, export store.Export) error {
	client, err := l.Client.ForProject(export.Project)
	if err != nil {
		return err
	}

	for failures := 0; ; {
		reached, err := l.loadUntilFailure(ctx, client, export)
		var request *requestError
		if !errors.As(err, &request) {
			return err
		}

		if reached.Offset > export.Offset {
			failures = 0
		}
		export = reached
		failures++
		if err := l.afterFailure(ctx, export, request.err, failures); err != nil {
			return l.orProblem(ctx, export, err)
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
	ctx context.Context, client *mintlify.Client, export store.Export,
) (store.Export, error) {
	for page, err := range l.pages(ctx, client, export) {
		if err != nil {
			return export, &requestError{err}
		}
		if export.Kind == store.Visitors && export.Offset > 0 && page.Totals != export.Totals {
			return export, errTotalsChanged
		}

		size := pageSizes[export.Kind]
		page.Next = export.Offset + size
		page.Texts = l.Texts
		isLong := export.Kind != store.Visitors && page.Next >= l.Pages*size
		page.Last = page.Last || !page.More || isLong

		next, err := l.Store.Append(context.WithoutCancel(ctx), export, page)
		if err != nil || page.Last {
			return next, err
		}

		export = next
	}
	return export, nil
}

// afterFailure waits until a request that failed may be made again, and returns nil. If no retry
// is allowed, it returns the reason: the quota's error if the service responded 429.
func (l *Loader) afterFailure(ctx context.Context, export store.Export, err error, failures int) error {
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

	wait = min(max(wait, firstRetry<<(failures-1)), quotaWait)
	if err := l.Store.Lease(ctx, export, time.Now().Add(wait+store.LeaseTime)); err != nil {
		return err
	}
	return sleep(ctx, wait)
}

// orProblem keeps why the service refuses a list: the report says so, and the run goes on.
func (l *Loader) orProblem(ctx context.Context, export store.Export, err error) error {
	isRefused := errors.Is(err, mintlify.ErrForbidden) || errors.Is(err, mintlify.ErrNotFound)
	if export.Kind == store.Visitors || !isRefused {
		return err
	}

	l.Log("Not loaded: %v: %v", Task{export.Window, export.Kind}, err)
	return l.Store.EndWith(ctx, export, err.Error())
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

func sleep(ctx context.Context, d time.Duration) error {
	done, cancel := context.WithTimeout(ctx, d)
	defer cancel()

	<-done.Done()
	return ctx.Err()
}

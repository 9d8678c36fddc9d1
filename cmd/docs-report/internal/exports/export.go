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
	maxRestarts = 3               // when the totals of an export change from page to page
	quotaWait   = 10 * time.Minute
	maxBlock    = time.Hour // the quota is for an hour, even if a Retry-After is longer
)

var errTotalsChanged = errors.New("the totals change from page to page: the counts still move, load them later")

// loadTask loads the missing pages of an export. It holds the export's lease meanwhile, so that
// no other run loads the export. It asks for each page that many times at most.
func (l *Loader) loadTask(ctx context.Context, task Task, attempts int) error {
	wanted := store.Export{Window: task.Window, Kind: task.Kind, Texts: l.Texts && task.Kind.HasTexts()}
	since := freshSince(task.Window)
	for restarts := 0; ; restarts++ {
		claim, claimed, err := l.Store.Claim(ctx, wanted, since, l.isUpToDate)
		if err != nil || !claimed {
			return err
		}

		err = l.loadPages(ctx, claim, attempts)
		if errors.Is(err, errTotalsChanged) && restarts < maxRestarts {
			since = time.Now().Add(time.Hour) // later than the export: Claim begins it anew
			continue
		}

		detached := context.WithoutCancel(ctx)
		isMoving := errors.Is(err, errTotalsChanged) && !IsFinal(time.Now(), task.Window)
		if outcomeOf(ctx, err) == failed && !isMoving {
			return errors.Join(err, claim.Fail(detached, err.Error()))
		}
		return errors.Join(err, claim.Release(detached))
	}
}

// freshSince returns since when an export of a window must have begun: a run resumes a younger one.
func freshSince(w store.Window) time.Time {
	if IsFinal(time.Now(), w) {
		return w.To.Time().Add(settle)
	}
	return time.Now().Add(-maxAge)
}

// loadPages loads an export to its end, page by page, and retries requests that fail.
func (l *Loader) loadPages(ctx context.Context, claim store.Claim, attempts int) error {
	client, err := l.Client.ForProject(claim.Project)
	if err != nil {
		return err
	}

	stored := claim.Cursor() // of an earlier run
	for failures := 0; ; {
		reached, err := l.loadUntilFailure(ctx, client, claim)
		var request *requestError
		if !errors.As(err, &request) {
			return err
		}

		if reached.Offset() > claim.Offset() {
			failures = 0
		}
		claim = reached
		failures++

		backoff := firstRetry << (failures - 1)
		if failures == attempts {
			backoff = noRetry
		}
		if err := l.afterFailure(ctx, claim, request.err, backoff); err != nil {
			if claim.Cursor() == stored {
				err = noteRejectedCursor(ctx, claim, err)
			}
			return l.noteRefusal(ctx, claim, err)
		}
	}
}

// requestError tells a request that failed, and may be worth a retry, from everything else.
type requestError struct{ err error }

func (e *requestError) Error() string { return e.err.Error() }
func (e *requestError) Unwrap() error { return e.err }

// loadUntilFailure appends pages to an export until it is complete or a request fails, and
// returns the claim as it is then. A page that has arrived is stored even if ctx ends meanwhile.
func (l *Loader) loadUntilFailure(
	ctx context.Context, client *mintlify.Client, claim store.Claim,
) (store.Claim, error) {
	isResumed := claim.Offset() > 0
	for page, err := range pages(ctx, client, claim) {
		if err != nil {
			return claim, &requestError{err}
		}
		if claim.Kind == store.Visitors && claim.Offset() > 0 && page.Totals != claim.Totals {
			return claim, errTotalsChanged
		}

		page.IsResumed = isResumed
		isResumed = false
		page.Next = cmp.Or(page.Next, claim.Offset()+pageSizes[claim.Kind])
		isLong := claim.Kind != store.Visitors && claim.Pages()+1 >= l.Pages
		page.Last = page.Last || !page.More || isLong

		next, err := claim.Append(context.WithoutCancel(ctx), page)
		if err != nil || page.Last {
			return next, err
		}

		claim = next
	}
	return claim, nil
}

const noRetry time.Duration = 0 // is the backoff after the last attempt

// afterFailure waits until a request that failed may be made again, at least for the backoff, and
// returns nil. If no retry is allowed, it returns the reason: the quota's error if the service
// responded 429.
func (l *Loader) afterFailure(ctx context.Context, claim store.Claim, err error, backoff time.Duration) error {
	wait, again := mintlify.RetryAfter(err)
	var quota *store.QuotaError
	switch {
	case ctx.Err() != nil, errors.As(err, &quota):
		return err
	case errors.Is(err, mintlify.ErrRateLimited):
		return l.block(ctx, wait)
	case !again, backoff == noRetry:
		return err
	}

	wait = min(max(asked(err), backoff), quotaWait)
	if err := claim.Hold(ctx, time.Now().Add(wait+store.LeaseTime)); err != nil {
		return err
	}
	return sleep(ctx, wait)
}

// asked returns how long the service asks to wait; 0 if it does not say.
func asked(err error) time.Duration {
	var response *mintlify.APIError
	if !errors.As(err, &response) {
		return 0
	}
	return response.RetryAfter
}

// noteRefusal returns err, and keeps it if the service refuses a list: the report says so.
func (l *Loader) noteRefusal(ctx context.Context, claim store.Claim, err error) error {
	isRefused := errors.Is(err, mintlify.ErrForbidden) || errors.Is(err, mintlify.ErrNotFound)
	if claim.Kind == store.Visitors || !isRefused {
		return err
	}
	return errors.Join(err, claim.Refuse(ctx, err.Error()))
}

// noteRejectedCursor returns err. If the service rejects the cursor that an earlier run has stored, it
// would do so each night: the next run begins the export anew.
func noteRejectedCursor(ctx context.Context, claim store.Claim, err error) error {
	if claim.Cursor() == "" || !errors.Is(err, mintlify.ErrBadRequest) {
		return err
	}
	return errors.Join(err, claim.Restart(ctx))
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

package load

import (
	"cmp"
	"context"
	"errors"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// loadTask loads what is missing of an export. Meanwhile no other run is at it.
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
			freshSince = time.Now().Add(time.Hour) // begin anew
			continue
		}
		return errors.Join(err, l.Store.Lease(context.WithoutCancel(ctx), export, time.Now()))
	}
}

var errTotalsChanged = errors.New("the totals change from page to page: the counts are still moving, load them later")

// loadPages takes an export to its end, page by page. A page that has come is
// kept, whatever befalls the context meanwhile.
func (l *Loader) loadPages(ctx context.Context, export store.Export) error {
	client, err := l.Client.ForProject(export.Project)
	if err != nil {
		return err
	}
	for failures := 0; ; {
		for page, err := range l.pages(ctx, client, export) {
			if err != nil {
				failures++
				if err := l.afterFailure(ctx, export, err, failures); err != nil {
					return l.orProblem(ctx, export, err)
				}
				break
			}
			failures = 0
			if export.Kind == store.Visitors && export.Offset > 0 && page.Totals != export.Totals {
				return errTotalsChanged
			}
			size := pageSizes[export.Kind]
			page.Next, page.Texts = export.Offset+size, l.Texts
			page.Last = page.Last || !page.More || export.Kind != store.Visitors && page.Next >= l.Pages*size
			export, err = l.Store.Append(context.WithoutCancel(ctx), export, page)
			if err != nil || page.Last {
				return err
			}
		}
	}
}

// orProblem keeps why the service refuses a list: the report says so, and the run goes on.
func (l *Loader) orProblem(ctx context.Context, export store.Export, err error) error {
	if export.Kind == store.Visitors || !errors.Is(err, mintlify.ErrForbidden) && !errors.Is(err, mintlify.ErrNotFound) {
		return err
	}
	l.Log("Not loaded: %v: %v", Task{export.Window, export.Kind}, err)
	return l.Store.EndWith(ctx, export, err.Error())
}

// afterFailure returns nil once a request that failed may be made again, and else the
// error: the quota's if the service responds 429.
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
	return errors.Join(l.Store.Lease(ctx, export, time.Now().Add(wait+store.LeaseTime)), sleep(ctx, wait))
}

// block records that the service wants no more for now. Others of the organization
// spend the same quota, so that it may come early.
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

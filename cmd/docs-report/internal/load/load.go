// Package load keeps windows of the database up to date, at as few requests as can be.
package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
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

// pageSizes are the most rows there are: the quota counts requests, not rows. A page of
// 1,000 conversations may be larger than the SDK reads.
var pageSizes = map[store.Kind]int{
	store.Visitors: 250, store.Views: 250, store.Searches: 100, store.FeedbackByPage: 100, store.Feedback: 100, store.Conversations: 250,
}

// pages returns the pages of an export from where it has come to.
func (l *Loader) pages(ctx context.Context, client *mintlify.Client, e store.Export) iter.Seq2[*store.Page, error] {
	a, limit := client.Analytics, pageSizes[e.Kind]
	switch e.Kind {
	case store.Views:
		pages := a.ViewPages(ctx, mintlify.ViewsParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Offset: e.Offset})
		return convert(pages, func(p *mintlify.ViewPage) *store.Page {
			return &store.Page{Rows: anyOf(p.Views), Totals: mintlify.VisitorTotals(p.Totals), More: p.HasMore}
		})
	case store.Searches:
		pages := a.SearchPages(ctx, mintlify.SearchesParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Cursor: e.Cursor})
		return convert(pages, func(p *mintlify.SearchPage) *store.Page {
			return &store.Page{Rows: anyOf(p.Searches), Totals: mintlify.VisitorTotals{Total: p.TotalSearches}, Cursor: p.NextCursor, More: p.NextCursor != ""}
		})
	case store.Feedback:
		pages := a.FeedbackPages(ctx, mintlify.FeedbackParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Cursor: e.Cursor})
		return convert(pages, func(p *mintlify.FeedbackPage) *store.Page {
			return &store.Page{Rows: anyOf(p.Feedback), Cursor: p.NextCursor, More: p.HasMore}
		})
	case store.FeedbackByPage: // it has no pages
		p, err := a.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{DateFrom: e.From, DateTo: e.To, Limit: limit})
		if err != nil {
			p = &mintlify.FeedbackByPage{}
		}
		return func(yield func(*store.Page, error) bool) {
			yield(&store.Page{Rows: anyOf(p.Pages), More: p.HasMore, Last: true}, err)
		}
	case store.Conversations:
		pages := a.ConversationPages(ctx, mintlify.ConversationsParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Cursor: e.Cursor})
		return convert(pages, func(p *mintlify.ConversationPage) *store.Page {
			if !l.Texts {
				dropTexts(p.Conversations)
			}
			return &store.Page{Rows: anyOf(p.Conversations), Cursor: p.NextCursor, More: p.HasMore}
		})
	}
	pages := a.VisitorPages(ctx, mintlify.VisitorsParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Offset: e.Offset})
	return convert(pages, func(p *mintlify.VisitorPage) *store.Page {
		return &store.Page{Visitors: p.Visitors, Totals: p.Totals, More: p.HasMore}
	})
}

// dropTexts leaves what is not personal of conversations. A URL's query may name a person.
func dropTexts(rows []mintlify.Conversation) {
	for i, row := range rows {
		page, _, _ := strings.Cut(strings.ReplaceAll(row.PageURL, "#", "?"), "?")
		rows[i] = mintlify.Conversation{Timestamp: row.Timestamp, ResponseType: row.ResponseType, ResolutionStatus: row.ResolutionStatus, QueryCategory: row.QueryCategory, PageURL: page}
	}
}

func convert[P any](pages iter.Seq2[P, error], to func(P) *store.Page) iter.Seq2[*store.Page, error] {
	return func(yield func(*store.Page, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(to(page), nil) {
				return
			}
		}
	}
}

func anyOf[T any](rows []T) []any {
	all := make([]any, len(rows))
	for i, row := range rows {
		all[i] = row
	}
	return all
}

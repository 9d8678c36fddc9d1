package load

import (
	"context"
	"errors"
	"fmt"
	"math"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Plan says what Load would do. It sends requests only to find out how large a site is of
// which the database knows nothing: one for a site of up to 250 pages.
func (l *Loader) Plan(ctx context.Context, r Range) (string, error) {
	tasks, err := l.Tasks(ctx, r)
	if err != nil {
		return "", err
	}
	requests := map[bool]int{} // for visitors, and for lists
	for _, task := range tasks {
		rows, failed := l.estimate(ctx, task)
		_, running, err := l.Store.Find(ctx, task.Window, task.Kind)
		if err = errors.Join(failed, err); err != nil {
			return "", err
		}
		if isFresh(running.At, task.Window) {
			rows -= running.Offset
		}
		size := pageSizes[task.Kind]
		requests[task.Kind == store.Visitors] += max(1, (rows+size-1)/size)
	}
	left, err := l.Store.Left(ctx, l.Budget)
	text := fmt.Sprintf("%d exports to load, about %d requests and at most %d for lists; %d of the hour's budget of %d are left",
		len(tasks), requests[true], requests[false], left, l.Budget)
	if beyond := requests[true] + requests[false] - left; beyond > 0 {
		text += fmt.Sprintf(", so it takes %d runs an hour apart", 1+(beyond+l.Budget-1)/l.Budget)
	}
	return fmt.Sprintf("%s (requests that found out how large the site is: %d).", text, l.Requests), err
}

// estimate returns how many rows an export has: of a list that is not known, the most.
func (l *Loader) estimate(ctx context.Context, task Task) (rows int, err error) {
	rows, known, err := l.Store.Size(ctx, task.Project, task.Kind, task.Span())
	switch {
	case err != nil, known, task.Kind == store.FeedbackByPage:
		return rows, err
	case task.Kind == store.Visitors:
		return l.probe(ctx, task.Window)
	}
	return l.Pages * pageSizes[task.Kind], nil
}

// probe finds out how large a site is. The service does not tell, so it is asked for rows
// further and further down, and then in between, until the bounds are a quarter apart.
func (l *Loader) probe(ctx context.Context, w store.Window) (atMost int, err error) {
	client, err := l.Client.ForProject(w.Project)
	if err != nil {
		return 0, err
	}
	low, high := 0, math.MaxInt
	for at := 0; float64(high) > 1.25*float64(low); {
		page, err := client.Analytics.GetVisitors(ctx, mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To, Limit: pageSizes[store.Visitors], Offset: at})
		switch {
		case errors.Is(err, mintlify.ErrRateLimited):
			wait, _ := mintlify.RetryAfter(err)
			return 0, l.block(ctx, wait)
		case err != nil:
			return 0, err
		case page.HasMore:
			low = page.NextOffset
		case len(page.Visitors) > 0 || at == 0:
			low, high = at+len(page.Visitors), at+len(page.Visitors)
		default:
			high = at
		}
		if at = 4 * low; high < math.MaxInt {
			at = int(math.Sqrt(float64(low) * float64(high)))
		}
	}
	return high, l.Store.SetSize(ctx, w.Project, high)
}

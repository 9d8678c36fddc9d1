package load

import (
	"context"
	"errors"
	"fmt"
	"math"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Plan says what Load would do. It sends requests only if the database does not know how large
// the site is: one request for a site of up to 250 pages.
func (l *Loader) Plan(ctx context.Context, r Range) (string, error) {
	tasks, err := l.Tasks(ctx, r)
	if err != nil {
		return "", err
	}

	visitors, lists := 0, 0
	for _, task := range tasks {
		requests, err := l.requestsFor(ctx, task)
		if err != nil {
			return "", err
		}
		if task.Kind == store.Visitors {
			visitors += requests
		} else {
			lists += requests
		}
	}

	left, err := l.Store.Left(ctx, l.Budget)
	if err != nil {
		return "", err
	}

	text := fmt.Sprintf("%d exports to load, about %d requests and at most %d for lists; "+
		"%d of the hour's budget of %d are left", len(tasks), visitors, lists, left, l.Budget)
	if beyond := visitors + lists - left; beyond > 0 {
		text += fmt.Sprintf(", so it takes %d runs an hour apart", 1+(beyond+l.Budget-1)/l.Budget)
	}
	return fmt.Sprintf("%s (requests that found out how large the site is: %d).", text, l.Requests), nil
}

// requestsFor estimates how many requests a task still takes: a run that was interrupted may
// have loaded some pages already.
func (l *Loader) requestsFor(ctx context.Context, task Task) (int, error) {
	rows, err := l.estimate(ctx, task)
	if err != nil {
		return 0, err
	}

	_, running, err := l.Store.Find(ctx, task.Window, task.Kind)
	if err != nil {
		return 0, err
	}

	if isFresh(running.At, task.Window) {
		rows -= running.Offset
	}
	size := pageSizes[task.Kind]
	return max(1, (rows+size-1)/size), nil
}

// estimate returns how many rows an export has. For a list that the database does not know yet,
// it returns the maximum.
func (l *Loader) estimate(ctx context.Context, task Task) (int, error) {
	rows, known, err := l.Store.Size(ctx, task.Project, task.Kind, task.Span())
	switch {
	case err != nil, known, task.Kind == store.FeedbackByPage:
		return rows, err
	case task.Kind == store.Visitors:
		return l.probe(ctx, task.Window)
	}
	return l.Pages * pageSizes[task.Kind], nil
}

// probe returns how many pages a site has at most, within a quarter. The service does not
// tell, so probe asks for rows further and further down, and then in between.
func (l *Loader) probe(ctx context.Context, w store.Window) (int, error) {
	client, err := l.Client.ForProject(w.Project)
	if err != nil {
		return 0, err
	}

	low := 0
	high := math.MaxInt
	for at := 0; float64(high) > 1.25*float64(low); at = between(low, high) {
		params := mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To, Limit: pageSizes[store.Visitors], Offset: at}
		page, err := client.Analytics.GetVisitors(ctx, params)

		switch {
		case errors.Is(err, mintlify.ErrRateLimited):
			wait, _ := mintlify.RetryAfter(err)
			return 0, l.block(ctx, wait)
		case err != nil:
			return 0, err
		case page.HasMore:
			low = page.NextOffset
		case len(page.Visitors) > 0 || at == 0:
			low = at + len(page.Visitors)
			high = low
		default:
			high = at
		}
	}
	return high, l.Store.SetSize(ctx, w.Project, high)
}

// between returns the offset to ask for next: four times the last offset, until one is beyond the
// end.
func between(low, high int) int {
	if high == math.MaxInt {
		return 4 * low
	}
	return int(math.Sqrt(float64(low) * float64(high)))
}

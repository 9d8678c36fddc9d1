package load

import (
	"context"
	"errors"
	"fmt"
	"math"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Plan is what a run would do.
type Plan struct {
	Tasks    []Task // that are not up to date
	Requests int    // about so many, for visitors
	Lists    int    // requests for lists, at most
	Probes   int    // requests that were made to find out
	Left     int    // requests left of the hour's budget
	Budget   int
}

func (p Plan) String() string {
	text := fmt.Sprintf("%d exports to load, about %d requests", len(p.Tasks), p.Requests)
	if p.Lists > 0 {
		text += fmt.Sprintf(" and at most %d for lists", p.Lists)
	}
	text += fmt.Sprintf("; %d of the hour's budget of %d are left", p.Left, p.Budget)
	if beyond := p.Requests + p.Lists - p.Left; beyond > 0 {
		text += fmt.Sprintf(", so it takes %d runs an hour apart", 1+(beyond+p.Budget-1)/p.Budget)
	}
	if p.Probes > 0 {
		text += fmt.Sprintf(" (requests that found out how large the site is: %d)", p.Probes)
	}
	return text + "."
}

// Plan returns what Load would do. It sends requests only to find out how large a site is
// of which the database knows nothing: one for a site of up to 250 pages.
func (l *Loader) Plan(ctx context.Context, r Range) (plan Plan, err error) {
	if plan.Tasks, err = l.Tasks(ctx, r); err != nil {
		return plan, err
	}
	plan.Budget = l.Budget
	for _, task := range plan.Tasks {
		rows, err := l.estimate(ctx, task)
		if err != nil {
			return plan, err
		}
		_, running, err := l.Store.Find(ctx, task.Window, task.Kind)
		if err != nil {
			return plan, err
		}
		if isFresh(running.At, task.Window) {
			rows -= running.Offset
		}
		size, requests := pageSizes[task.Kind], &plan.Lists
		if task.Kind == store.Visitors {
			requests = &plan.Requests
		}
		*requests += max(1, (rows+size-1)/size)
	}
	plan.Probes = l.Requests
	plan.Left, err = l.Store.Left(ctx, l.Budget)
	return plan, err
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

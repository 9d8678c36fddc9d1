package exports

import (
	"context"
	"math"
	"slices"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Plan says what runs cost, in requests.
type Plan struct {
	Missing int  // load what is final, lists with as many pages as they may have
	Left    int  // are left of the hour's budget
	Night   int  // are what a night costs on average, once nothing is missing
	IsGuess bool // the database does not know how many pages the site has
}

// Plan says what Load would cost. It sends nothing.
func (l *Loader) Plan(ctx context.Context, r Range) (Plan, error) {
	todo, err := l.plan(ctx, r)
	if err != nil {
		return Plan{}, err
	}

	var p Plan
	night := 0.0
	for _, project := range r.Projects {
		p.Missing += l.missing(todo, r, project)
		night += l.costOfNight(todo.known, project)
		_, isKnown := rows(todo.known, project, store.Visitors, store.Day)
		p.IsGuess = p.IsGuess || !isKnown
	}
	p.Night = int(math.Ceil(night))
	p.Left, err = l.Store.Left(ctx, l.Budget)
	return p, err
}

// missing returns about how many requests load what a project lacks that is final. The service may not go back to a
// month before the range: one that has failed is not missing.
func (l *Loader) missing(todo night, r Range, project string) int {
	requests := 0
	for _, task := range slices.Concat(todo.final, slices.DeleteFunc(slices.Clone(todo.failed), r.isEarlier)) {
		if task.Project == project {
			requests += l.requests(todo.known, project, task.Kind, task.Span())
		}
	}
	return requests
}

// costOfNight returns how many requests a night takes on average for what becomes final: a day, a seventh of what a
// week brings, which is two exports of visitors, the lists and the week's thumbs, and a share of a month.
func (l *Loader) costOfNight(known []store.Export, project string) float64 {
	const monthsOfDay = 12 / 365.25
	visitors := func(span store.Span) float64 {
		return float64(l.requests(known, project, store.Visitors, span))
	}

	lists := 0.0
	for _, kind := range kinds(l.Texts)[1:] {
		lists += float64(l.requests(known, project, kind, store.Month))
	}
	return visitors(store.Day) + (2*visitors(store.Week)+lists+1)/7 + (visitors(store.Month)+lists)*monthsOfDay
}

// requests returns about how many requests an export takes. As long as the database has none of its kind, it is one of
// visitors, and the most that are made for a list.
func (l *Loader) requests(known []store.Export, project string, kind store.Kind, span store.Span) int {
	count, isKnown := rows(known, project, kind, span)
	size := pageSizes[kind]
	requests := max(1, (count+size-1)/size)

	switch {
	case kind == store.Visitors:
		return requests
	case kind == store.FeedbackByPage:
		return 1
	case !isKnown:
		return l.Pages
	}
	return min(requests, l.Pages)
}

// rows returns how many rows the newest export of a span has, or the largest of another span.
func rows(known []store.Export, project string, kind store.Kind, span store.Span) (count int, isKnown bool) {
	for _, e := range known {
		switch {
		case e.Project != project || e.Kind != kind || e.State == store.Begun || e.Problem != "":
		case e.Span() == span:
			return e.Kept, true
		default:
			count = max(count, e.Kept)
			isKnown = true
		}
	}
	return count, isKnown
}

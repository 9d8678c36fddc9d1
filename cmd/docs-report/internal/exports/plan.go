package exports

import (
	"context"
	"math"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Plan says what runs cost, in requests.
type Plan struct {
	Missing int  // load what is final, lists with as many pages as they may have
	Left    int  // of the hour's budget
	Night   int  // is what a night costs on average, once nothing is missing
	IsGuess bool // the database does not know how many pages the site has
}

// Plan says what Load would cost. It sends nothing.
func (l *Loader) Plan(ctx context.Context, r Range) (Plan, error) {
	todo, err := l.plan(ctx, r)
	if err != nil {
		return Plan{}, err
	}

	p := Plan{Night: l.costOfNight(r, todo.known)}
	for _, w := range todo.missing(r) {
		p.Missing += w.requests
		p.IsGuess = p.IsGuess || w.isGuess
	}
	p.Left, err = l.Store.Left(ctx, l.Budget)
	return p, err
}

// costOfNight returns how many requests a night takes on average for what becomes final: a day, a
// seventh of what a week brings, and a share of a month.
func (l *Loader) costOfNight(r Range, known []store.Export) int {
	const daysOfMonth = 365.25 / 12
	cost := func(tasks []Task) float64 {
		sum := 0
		for _, task := range tasks {
			sum += l.estimate(known, task, store.Export{}).requests
		}
		return float64(sum)
	}

	total := 0.0
	for _, project := range r.Projects {
		total += cost(tasksOf(newest(project, store.Day), store.Visitors))
		total += cost(firsts(r.report(project, SettledDay(time.Now()), l.Texts))) / 7
		total += cost(tasksOf(newest(project, store.Month), kinds(l.Texts)...)) / daysOfMonth
	}
	return int(math.Ceil(total))
}

// newest returns the newest window of a span that is final.
func newest(project string, span store.Span) store.Window {
	settled := SettledDay(time.Now())
	all := store.Windows(project, span, settled.AddDays(-62), settled)
	return all[len(all)-1]
}

// estimate says how many requests a task still takes: a run that was interrupted may have loaded some
// pages already.
func (l *Loader) estimate(known []store.Export, task Task, begun store.Export) work {
	rows, isKnown := l.rows(known, task)
	if begun.At.Before(freshSince(task.Window)) {
		begun = store.Export{} // is thrown away
	}

	size := pageSizes[task.Kind]
	requests := max(1, (rows-begun.Offset+size-1)/size)
	if task.Kind != store.Visitors {
		requests = min(requests, max(1, l.Pages-begun.Pages))
	}
	return work{Task: task, requests: requests, isGuess: task.Kind == store.Visitors && !isKnown}
}

// rows returns how many rows an export has: as many as the newest one of its span, or of another span. If the
// database has none, rows returns the most that are asked for of a list, and one page of visitors.
func (l *Loader) rows(known []store.Export, task Task) (rows int, isKnown bool) {
	size := pageSizes[task.Kind]
	switch task.Kind {
	case store.FeedbackByPage:
		return 1, true
	case store.Visitors:
		rows = size
	default:
		rows = l.Pages * size
	}

	for _, e := range known {
		isLike := e.Project == task.Project && e.Kind == task.Kind && e.State != store.Begun && e.Problem == ""
		switch {
		case isLike && e.Span() == task.Span():
			return e.Kept, true
		case isLike && !isKnown:
			rows = e.Kept
			isKnown = true
		}
	}
	return rows, isKnown
}

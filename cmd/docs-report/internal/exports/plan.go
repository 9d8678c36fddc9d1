package exports

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Plan says what Load would do, and what it will do night by night. It sends nothing.
func (l *Loader) Plan(ctx context.Context, r Range) (string, error) {
	todo, err := l.plan(ctx, r)
	if err != nil {
		return "", err
	}
	left, err := l.Store.Left(ctx, l.Budget)
	if err != nil {
		return "", err
	}

	final := slices.Concat(todo.final, todo.failed)
	lines := []string{l.sayFinal(final, left)}
	if len(todo.open) > 0 {
		visitors, lists := requests(todo.open)
		lines = append(lines, fmt.Sprintf("What may still change: %s, about %s. "+
			"sync loads what fits into the rest of the budget.",
			plural(len(todo.open), "export"), plural(visitors+lists, "request")))
	}

	lines = append(lines, l.sayNight(l.costOfNight(r, todo.known)))
	if slices.ContainsFunc(append(final, todo.open...), func(w work) bool { return w.isGuess }) {
		lines = append(lines, "This is for a site of up to 250 pages: each 250 more take a request more for each "+
			"export of visitors. sync finds out.")
	}
	return strings.Join(lines, "\n"), nil
}

func requests(all []work) (visitors, lists int) {
	for _, w := range all {
		if w.Kind == store.Visitors {
			visitors += w.requests
		} else {
			lists += w.requests
		}
	}
	return visitors, lists
}

func (l *Loader) sayFinal(all []work, left int) string {
	if len(all) == 0 {
		return fmt.Sprintf("Up to date; %d of the hour's budget of %d are left.", left, l.Budget)
	}

	visitors, lists := requests(all)
	text := fmt.Sprintf("%s to load, about %s and at most %d for lists; %d of the hour's budget of %d are left",
		plural(len(all), "export"), plural(visitors, "request"), lists, left, l.Budget)
	if beyond := visitors + lists - left; beyond > 0 {
		text += fmt.Sprintf(", so it takes %d runs an hour apart", 1+(beyond+l.Budget-1)/l.Budget)
	}
	return text + "."
}

func (l *Loader) sayNight(requests int) string {
	text := "From then on, a night costs about " + plural(requests, "request") + " on average"
	if requests > l.Budget {
		return text + fmt.Sprintf(": more than the %d of one run. Run sync more often, or with -wait.", l.Budget)
	}
	return text + fmt.Sprintf(", and a run may make %d.", l.Budget)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
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

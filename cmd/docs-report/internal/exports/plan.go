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

	final, err := l.costs(ctx, append(todo.final, todo.failed...))
	if err != nil {
		return "", err
	}
	open, err := l.costs(ctx, todo.open)
	if err != nil {
		return "", err
	}

	night, err := l.costOfNight(ctx, r)
	if err != nil {
		return "", err
	}
	left, err := l.Store.Left(ctx, l.Budget)
	if err != nil {
		return "", err
	}

	lines := []string{l.sayFinal(final, left)}
	if open.exports > 0 {
		lines = append(lines, fmt.Sprintf("What may still change: %s, about %s. "+
			"sync loads what fits into the rest of the budget.",
			plural(open.exports, "export"), plural(open.visitors+open.lists, "request")))
	}
	lines = append(lines, l.sayNight(night))
	if final.isGuess || open.isGuess {
		lines = append(lines, "This is for a site of up to 250 pages: each 250 more take a request more for each "+
			"export of visitors. sync finds out.")
	}
	return strings.Join(lines, "\n"), nil
}

type costs struct {
	exports, visitors, lists int
	isGuess                  bool // the database does not know how large a site is
}

func (l *Loader) costs(ctx context.Context, tasks []Task) (costs, error) {
	c := costs{exports: len(tasks)}
	for _, task := range tasks {
		requests, known, err := l.cost(ctx, task)
		if err != nil {
			return c, err
		}

		if task.Kind == store.Visitors {
			c.visitors += requests
			c.isGuess = c.isGuess || !known
		} else {
			c.lists += requests
		}
	}
	return c, nil
}

func (l *Loader) sayFinal(c costs, left int) string {
	if c.exports == 0 {
		return fmt.Sprintf("Up to date; %d of the hour's budget of %d are left.", left, l.Budget)
	}

	text := fmt.Sprintf("%s to load, about %s and at most %d for lists; %d of the hour's budget of %d are left",
		plural(c.exports, "export"), plural(c.visitors, "request"), c.lists, left, l.Budget)
	if beyond := c.visitors + c.lists - left; beyond > 0 {
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
func (l *Loader) costOfNight(ctx context.Context, r Range) (int, error) {
	const daysOfMonth = 365.25 / 12
	total := 0.0
	for _, project := range r.Projects {
		day := []Task{{newest(project, store.Day), store.Visitors}}
		week := firsts(r.report(project, SettledDay(time.Now()), l.Texts))
		month := tasksOf(newest(project, store.Month), append(slices.Clone(lists(l.Texts)), store.Visitors))

		for _, brought := range []struct {
			tasks []Task
			days  float64
		}{{day, 1}, {week, 7}, {month, daysOfMonth}} {
			for _, task := range brought.tasks {
				rows, _, err := l.rows(ctx, task)
				if err != nil {
					return 0, err
				}

				total += float64(requestsFor(task, rows)) / brought.days
			}
		}
	}
	return int(math.Ceil(total)), nil
}

// newest returns the newest window of a span that is final.
func newest(project string, span store.Span) store.Window {
	settled := SettledDay(time.Now())
	all := store.Windows(project, span, settled.AddDays(-62), settled)
	return all[len(all)-1]
}

// fits reports whether an export can be loaded completely with what is left of the budget.
func (l *Loader) fits(ctx context.Context, task Task) (bool, error) {
	requests, _, err := l.cost(ctx, task)
	if err != nil {
		return false, err
	}
	left, err := l.Store.Left(ctx, l.Budget)
	return requests <= left, err
}

// cost estimates how many requests a task still takes: a run that was interrupted may have
// loaded some pages already. It reports false if the database does not know how many rows there are.
func (l *Loader) cost(ctx context.Context, task Task) (int, bool, error) {
	rows, known, err := l.rows(ctx, task)
	if err != nil {
		return 0, false, err
	}
	_, begun, err := l.Store.Find(ctx, task.Window, task.Kind)
	if err != nil {
		return 0, false, err
	}
	if begun.At.Before(freshSince(task.Window)) {
		return requestsFor(task, rows), known, nil
	}

	requests := requestsFor(task, rows-begun.Offset)
	if task.Kind != store.Visitors {
		requests = min(requests, max(1, l.Pages-begun.Pages))
	}
	return requests, known, nil
}

func requestsFor(task Task, rows int) int {
	size := pageSizes[task.Kind]
	return max(1, (rows+size-1)/size)
}

// rows returns how many rows an export has, as far as the database knows. If it does not, rows returns the
// most that are asked for of a list, and one page of visitors.
func (l *Loader) rows(ctx context.Context, task Task) (rows int, known bool, err error) {
	if task.Kind == store.FeedbackByPage {
		return 1, true, nil
	}

	rows, known, err = l.Store.Size(ctx, task.Project, task.Kind, task.Span())
	switch {
	case err != nil, known:
	case task.Kind == store.Visitors:
		rows = pageSizes[task.Kind]
	default:
		rows = l.Pages * pageSizes[task.Kind]
	}
	return rows, known, err
}

package exports

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Plan says what Load would do, and what it will do night by night. It sends requests only if the
// database does not know how large the site is: one request for a site of up to 250 pages.
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
	if l.Requests > 0 {
		lines = append(lines, fmt.Sprintf("To find out how large the site is took %s.", plural(l.Requests, "request")))
	}
	return strings.Join(lines, "\n"), nil
}

// costs counts exports and the requests that load them.
type costs struct{ exports, visitors, lists int }

func (l *Loader) costs(ctx context.Context, tasks []Task) (costs, error) {
	c := costs{exports: len(tasks)}
	for _, task := range tasks {
		requests, err := l.cost(ctx, task)
		if err != nil {
			return c, err
		}

		if task.Kind == store.Visitors {
			c.visitors += requests
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
		month := tasksOf(newest(project, store.Month), append(lists(l.Texts), store.Visitors))

		for _, brought := range []struct {
			tasks []Task
			days  float64
		}{{day, 1}, {week, 7}, {month, daysOfMonth}} {
			requests, err := l.costAnew(ctx, brought.tasks)
			if err != nil {
				return 0, err
			}
			total += float64(requests) / brought.days
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
	requests, err := l.knownCost(ctx, task)
	if err != nil {
		return false, err
	}
	left, err := l.Store.Left(ctx, l.Budget)
	return requests <= left, err
}

// knownCost is cost without asking the service: visitors of a site whose size the database does not
// know cost one request.
func (l *Loader) knownCost(ctx context.Context, task Task) (int, error) {
	rows, known, err := l.size(ctx, task)
	if err != nil {
		return 0, err
	}
	if !known && task.Kind != store.Visitors {
		rows = l.mostRows(task.Kind)
	}
	return l.costOf(ctx, task, rows)
}

// cost estimates how many requests a task still takes: a run that was interrupted may have
// loaded some pages already.
func (l *Loader) cost(ctx context.Context, task Task) (int, error) {
	rows, err := l.estimate(ctx, task)
	if err != nil {
		return 0, err
	}
	return l.costOf(ctx, task, rows)
}

func (l *Loader) costOf(ctx context.Context, task Task, rows int) (int, error) {
	_, progress, err := l.Store.Find(ctx, task.Window, task.Kind)
	if err != nil {
		return 0, err
	}
	if progress.At.Before(freshSince(task.Window)) {
		return requestsFor(task, rows), nil
	}

	requests := requestsFor(task, rows-progress.Rows)
	if task.Kind != store.Visitors {
		requests = min(requests, max(1, l.Pages-progress.Pages))
	}
	return requests, nil
}

// costAnew estimates how many requests tasks take from their beginning.
func (l *Loader) costAnew(ctx context.Context, tasks []Task) (int, error) {
	requests := 0
	for _, task := range tasks {
		rows, err := l.estimate(ctx, task)
		if err != nil {
			return 0, err
		}

		requests += requestsFor(task, rows)
	}
	return requests, nil
}

func requestsFor(task Task, rows int) int {
	size := pageSizes[task.Kind]
	return max(1, (rows+size-1)/size)
}

// size returns how many rows an export has, as far as the database knows.
func (l *Loader) size(ctx context.Context, task Task) (rows int, known bool, err error) {
	if task.Kind == store.FeedbackByPage || task.Kind == store.Callers {
		return 1, true, nil
	}
	return l.Store.Size(ctx, task.Project, task.Kind, task.Span())
}

// estimate returns how many rows an export has. For a list that the database does not know yet,
// it returns the maximum.
func (l *Loader) estimate(ctx context.Context, task Task) (int, error) {
	rows, known, err := l.size(ctx, task)
	switch {
	case err != nil, known:
		return rows, err
	case task.Kind == store.Visitors:
		return l.probe(ctx, task.Window)
	}
	return l.mostRows(task.Kind), nil
}

func (l *Loader) mostRows(kind store.Kind) int { return l.Pages * pageSizes[kind] }

// probe returns how many pages a site has at most, within a quarter. The service does not
// tell, so probe asks for rows further and further down, and then in between.
func (l *Loader) probe(ctx context.Context, w store.Window) (int, error) {
	client, err := l.Client.ForProject(w.Project)
	if err != nil {
		return 0, err
	}

	params := mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To, PageSize: pageSizes[store.Visitors]}
	low := 0
	high := math.MaxInt
	for at := 0; float64(high) > 1.25*float64(low); at = between(low, high) {
		params.Offset = at
		page, err := client.Analytics.GetVisitorPage(ctx, params)

		switch {
		case err != nil:
			return 0, l.orBlock(ctx, err)
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

// orBlock returns err, or the quota's error if the service responded 429.
func (l *Loader) orBlock(ctx context.Context, err error) error {
	if !errors.Is(err, mintlify.ErrRateLimited) {
		return err
	}
	wait, _ := mintlify.RetryAfter(err)
	return l.block(ctx, wait)
}

// between returns the offset to ask for next: four times the last offset, until one is beyond the
// end.
func between(low, high int) int {
	if high == math.MaxInt {
		return 4 * low
	}
	return int(math.Sqrt(float64(low) * float64(high)))
}

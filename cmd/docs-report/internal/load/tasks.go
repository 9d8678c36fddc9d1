package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	settle = 24 * time.Hour // counts are final this long after the end of their days
	maxAge = 6 * time.Hour  // until then, they are loaded again when older than this
	extras = 6              // exports of a project that a run adds to its days, weeks and months; the rest waits for the next run
)

// Task is an export to have up to date.
type Task struct {
	store.Window
	Kind store.Kind
}

func (t Task) String() string { return fmt.Sprintf("%v, %s", t.Window, t.Kind) }

// SettledDay returns the day before which all counts are final.
func SettledDay(now time.Time) mintlify.Date { return mintlify.DayOf(now.Add(-settle).UTC()) }

// IsFinal reports whether counts that were asked for at a time will not change.
func IsFinal(at time.Time, w store.Window) bool { return !at.Before(w.To.Time().Add(settle)) }

// isFresh reports whether counts of a time need not be asked for again.
func isFresh(at time.Time, w store.Window) bool {
	return IsFinal(at, w) || time.Since(at) < maxAge
}

// Range is what a run keeps up to date: the last whole weeks and those before them, their
// lists, and each day, week and month since From.
type Range struct {
	Projects []string
	From     mintlify.Date
	Weeks    int // of a report
}

func (r Range) lastWeeks(project string) store.Window {
	return store.LastWeeks(project, r.Weeks, SettledDay(time.Now()))
}

// Tasks returns what is not up to date, what the report shows first, then the newest
// windows first, the projects in turn.
func (l *Loader) Tasks(ctx context.Context, r Range) ([]Task, error) {
	var tasks, rest []Task
	l.Later = 0
	for _, project := range r.Projects {
		extra, err := l.extraTasks(ctx, project, r)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, extra...)
		for _, span := range []store.Span{store.Day, store.Week, store.Month} {
			for _, w := range store.Windows(project, span, r.From, mintlify.DayOf(time.Now().UTC())) {
				rest = append(rest, Task{w, store.Visitors})
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b Task) int {
		return cmp.Or(
			b.To.Time().Compare(a.To.Time()),
			b.From.Time().Compare(a.From.Time()), // the shorter first
			cmp.Compare(slices.Index(r.Projects, a.Project), slices.Index(r.Projects, b.Project)))
	})
	missing, _, err := l.missing(ctx, rest)
	return append(tasks, missing...), err
}

// extraTasks returns what is missing of a project's last whole weeks, of those before, and
// of the lists, newest first. Lists that the service has refused come last.
func (l *Loader) extraTasks(ctx context.Context, project string, r Range) ([]Task, error) {
	period := r.lastWeeks(project)
	var wanted []Task
	for _, w := range []store.Window{period, period.Before()} {
		if w.Span() != store.Week { // else it is loaded anyway
			wanted = append(wanted, Task{w, store.Visitors})
		}
	}
	months := store.Windows(project, store.Month, r.From, SettledDay(time.Now()))
	slices.Reverse(months)
	kinds := []store.Kind{store.Searches, store.Conversations, store.FeedbackByPage, store.Views}
	if l.Texts { // without them, the counts by page tell more
		kinds = append(kinds, store.Feedback)
	}
	for _, w := range append([]store.Window{period}, months...) {
		for _, kind := range kinds {
			wanted = append(wanted, Task{w, kind})
		}
	}
	wanted = slices.DeleteFunc(wanted, func(t Task) bool { return t.From.Time().Before(r.From.Time()) })
	missing, refused, err := l.missing(ctx, wanted)
	l.Later += max(0, len(missing)-extras)
	all := slices.Concat(missing, refused)
	return all[:min(extras, len(all))], err
}

// missing returns the tasks that are not up to date, and the lists that the service refused.
func (l *Loader) missing(ctx context.Context, tasks []Task) (missing, refused []Task, err error) {
	for _, task := range tasks {
		complete, _, err := l.Store.Find(ctx, task.Window, task.Kind)
		switch {
		case err != nil:
			return nil, nil, err
		case complete.Problem != "":
			refused = append(refused, task)
		case !l.isUpToDate(complete):
			missing = append(missing, task)
		}
	}
	return missing, refused, nil
}

func (l *Loader) isUpToDate(e store.Export) bool {
	if e.At.IsZero() || e.Problem != "" {
		return false
	}
	hasTexts := e.Kind == store.Conversations || e.Kind == store.Feedback
	return isFresh(e.At, e.Window) && (e.Texts || !l.Texts || !hasTexts)
}

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

package exports

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const maxAge = 6 * time.Hour // counts that are not final are loaded again when they are older

// Task is an export to bring up to date.
type Task struct {
	store.Window
	Kind store.Kind
}

func (t Task) String() string { return fmt.Sprintf("%v, %s", t.Window, t.Kind) }

// Range is what a run keeps up to date: the last whole weeks and those before them, their
// lists, each day, week and month since From, and the last months.
type Range struct {
	Projects []string
	From     mintlify.Date
	Weeks    int // how many weeks a report shows
	Months   int // how many of the last months to load, even if they are before From

	// KeepFrom deletes the rows of lists that ended by this day, and KeepDaysFrom the pages of days, but
	// of those that stand out and those that they are compared with. The zero Date keeps all.
	KeepFrom, KeepDaysFrom mintlify.Date
}

// night has the exports that are not up to date, in the order in which a run loads them.
type night struct {
	// final are over, and their counts will not change. The lists of the last weeks are among them even before: if
	// one begins to fail, a run says so on the Monday, and asks for no older list in vain.
	final []Task

	// failed are those of the final ones that the last runs could not load. They come after the
	// others: they must not keep anything from being loaded.
	failed []Task

	open []Task // may still change

	known []store.Export // are all that the database has of the projects, the newest first
}

func (l *Loader) plan(ctx context.Context, r Range) (night, error) {
	var n night
	for _, project := range r.Projects {
		all, err := l.Store.Exports(ctx, project)
		if err != nil {
			return n, err
		}
		n.known = append(n.known, all...)
	}

	complete := map[Task]store.Export{}
	failedAt := map[Task]time.Time{}
	for _, e := range n.known {
		task := Task{e.Window, e.Kind}
		if e.State != store.Begun {
			complete[task] = e
		}
		if e.HasFailed() {
			failedAt[task] = slices.MaxFunc([]time.Time{failedAt[task], e.At, e.FailedAt}, time.Time.Compare)
		}
	}

	now := time.Now()
	seen := map[Task]bool{}
	for _, task := range r.tasks(now, l.Texts) {
		_, hasFailed := failedAt[task]

		switch {
		case seen[task], l.isUpToDate(complete[task]):
		case r.isNewestList(task, now) && !hasFailed:
			n.final = append(n.final, task)
		case !IsFinal(now, task.Window):
			n.open = append(n.open, task)
		case hasFailed:
			n.failed = append(n.failed, task)
		default:
			n.final = append(n.final, task)
		}

		seen[task] = true
	}

	slices.SortStableFunc(n.failed, func(a, b Task) int { return failedAt[a].Compare(failedAt[b]) })
	return n, nil
}

func (l *Loader) isUpToDate(e store.Export) bool {
	switch {
	case e.State == store.Expired:
		return true
	case e.State != store.Loaded, e.Kind.HasTexts() && l.Texts && !e.Texts:
		return false
	}
	return IsFinal(e.At, e.Window) || time.Since(e.At) < maxAge
}

// tasks returns all exports of the range in a night's order, some of them again: what a report shows, what a
// report compares with, then each day, week and month, the newest first, and the last months.
func (r Range) tasks(now time.Time, texts bool) []Task {
	today := mintlify.DayOf(now.UTC())
	settled := SettledDay(now)

	var all []Task
	for _, project := range r.Projects { // before a week is final, there are two reports
		all = append(all, r.report(project, today, texts)...)
		all = append(all, r.report(project, settled, texts)...)
	}
	for _, project := range r.Projects {
		all = append(all, r.comparison(project, settled)...)
		all = append(all, r.comparison(project, today)...)
	}
	all = append(all, r.backlog(today, texts)...)
	all = slices.DeleteFunc(all, r.isTooOld)
	return append(all, r.months(today)...)
}

// isTooOld reports whether a task begins before the range, or loads a list that is not kept.
func (r Range) isTooOld(t Task) bool {
	isNotKept := t.Kind != store.Visitors && !t.To.Time().After(r.KeepFrom.Time()) // the zero Date is long ago
	return isNotKept || r.isEarlier(t)
}

func (r Range) isEarlier(t Task) bool { return t.From.Time().Before(r.From.Time()) }

// compared is what a report shows the change of.
var compared = []store.Kind{store.Visitors, store.Searches, store.Conversations, store.FeedbackByPage}

func kinds(texts bool) []store.Kind {
	if texts { // feedback without its texts says less than the counts by page
		return append(slices.Clone(compared), store.Feedback)
	}
	return compared
}

// report returns the last whole weeks that have ended by a day, and the last of these weeks.
func (r Range) report(project string, day mintlify.Date, texts bool) []Task {
	period := store.LastWeeks(project, r.Weeks, day)
	week := store.LastWeeks(project, 1, day)
	return append(tasksOf(period, kinds(texts)...), tasksOf(week, store.Visitors, store.FeedbackByPage)...)
}

// isNewestList reports whether a task is a list of the last weeks that have ended.
func (r Range) isNewestList(task Task, now time.Time) bool {
	return task.Kind != store.Visitors &&
		task.Window == store.LastWeeks(task.Project, r.Weeks, mintlify.DayOf(now.UTC()))
}

// comparison returns the weeks that a report compares with.
func (r Range) comparison(project string, day mintlify.Date) []Task {
	return tasksOf(store.LastWeeks(project, r.Weeks, day).Before(), compared...)
}

// backlog returns each day, week and month with its lists, the newest first, the projects in turn.
func (r Range) backlog(today mintlify.Date, texts bool) []Task {
	return r.newestFirst(slices.Concat(
		r.each(store.Day, r.From, today, store.Visitors),
		r.each(store.Week, r.From, today, store.Visitors, store.FeedbackByPage),
		r.each(store.Month, r.From, today, kinds(texts)...)))
}

func (r Range) months(today mintlify.Date) []Task {
	return r.newestFirst(r.each(store.Month, r.firstMonth(today), today, store.Visitors))
}

// each returns the exports of each window of a span.
func (r Range) each(span store.Span, from, to mintlify.Date, kinds ...store.Kind) []Task {
	var all []Task
	for _, project := range r.Projects {
		for _, w := range store.Windows(project, span, from, to) {
			all = append(all, tasksOf(w, kinds...)...)
		}
	}
	return all
}

func (r Range) newestFirst(tasks []Task) []Task {
	slices.SortStableFunc(tasks, func(a, b Task) int {
		return cmp.Or(
			b.To.Time().Compare(a.To.Time()),
			b.From.Time().Compare(a.From.Time()), // the shorter first
			cmp.Compare(slices.Index(r.Projects, a.Project), slices.Index(r.Projects, b.Project)))
	})
	return tasks
}

func (r Range) firstMonth(today mintlify.Date) mintlify.Date {
	return mintlify.Day(today.Time().Year(), today.Time().Month()-time.Month(r.Months), 1)
}

func tasksOf(w store.Window, kinds ...store.Kind) []Task {
	all := make([]Task, len(kinds))
	for i, kind := range kinds {
		all[i] = Task{w, kind}
	}
	return all
}

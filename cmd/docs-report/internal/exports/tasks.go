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
	final []Task // are over, and their counts will not change

	// failed are those of the final tasks that the last runs could not load. They come after the
	// others: they must not keep anything from being loaded.
	failed []Task

	open []Task // may still change
}

func (l *Loader) plan(ctx context.Context, r Range) (night, error) {
	var n night
	tried := map[Task]time.Time{}
	for _, task := range r.tasks(time.Now(), l.Texts) {
		complete, begun, err := l.Store.Find(ctx, task.Window, task.Kind)
		if err != nil {
			return n, err
		}

		hasFailed := complete.State == store.Refused || begun.Problem != ""
		switch {
		case l.isUpToDate(complete):
		case !IsFinal(time.Now(), task.Window):
			n.open = append(n.open, task)
		case hasFailed:
			tried[task] = slices.MaxFunc([]time.Time{complete.At, begun.FailedAt}, time.Time.Compare)
			n.failed = append(n.failed, task)
		default:
			n.final = append(n.final, task)
		}
	}

	slices.SortStableFunc(n.failed, func(a, b Task) int { return tried[a].Compare(tried[b]) })
	return n, nil
}

func (l *Loader) isUpToDate(e store.Export) bool {
	switch {
	case e.State == store.Expired:
		return true
	case e.State != store.Loaded, e.Kind.HasTexts() && l.Texts && !e.Texts:
		return false
	}
	return isFresh(e.At, e.Window)
}

// isFresh reports whether counts that were loaded at a time need not be loaded again.
func isFresh(at time.Time, w store.Window) bool {
	return IsFinal(at, w) || time.Since(at) < maxAge
}

// tasks returns all exports of the range in a night's order: what a report shows, what a
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
	return firsts(append(all, r.months(today)...))
}

// isTooOld reports whether a task begins before the range, or loads a list that is not kept.
func (r Range) isTooOld(t Task) bool {
	isNotKept := t.Kind != store.Visitors && !t.To.Time().After(r.KeepFrom.Time()) // the zero Date is long ago
	return isNotKept || t.From.Time().Before(r.From.Time())
}

// firsts returns each task once, where it comes first.
func firsts(tasks []Task) []Task {
	seen := map[Task]bool{}
	return slices.DeleteFunc(tasks, func(t Task) bool {
		isAgain := seen[t]
		seen[t] = true
		return isAgain
	})
}

// compared are the lists of which a report shows the change.
var compared = []store.Kind{store.Searches, store.Conversations, store.FeedbackByPage}

func lists(texts bool) []store.Kind {
	if texts { // feedback without its texts says less than the counts by page
		return append(slices.Clone(compared), store.Feedback)
	}
	return compared
}

// report returns the last whole weeks that have ended by a day, their lists, and the last of
// these weeks.
func (r Range) report(project string, day mintlify.Date, texts bool) []Task {
	period := store.LastWeeks(project, r.Weeks, day)
	week := store.LastWeeks(project, 1, day)

	all := []Task{{period, store.Visitors}}
	all = append(all, tasksOf(period, lists(texts))...)
	return append(all, Task{week, store.Visitors}, Task{week, store.FeedbackByPage})
}

// comparison returns the weeks that a report compares with, and their lists.
func (r Range) comparison(project string, day mintlify.Date) []Task {
	before := store.LastWeeks(project, r.Weeks, day).Before()
	return append([]Task{{before, store.Visitors}}, tasksOf(before, compared)...)
}

// backlog returns each day, week and month with its lists, the newest first, the projects in turn.
func (r Range) backlog(today mintlify.Date, texts bool) []Task {
	var all []Task
	for _, project := range r.Projects {
		for _, w := range store.Windows(project, store.Day, r.From, today) {
			all = append(all, Task{w, store.Visitors})
		}

		for _, w := range store.Windows(project, store.Week, r.From, today) {
			all = append(all, Task{w, store.Visitors}, Task{w, store.FeedbackByPage})
		}

		for _, w := range store.Windows(project, store.Month, r.From, today) {
			all = append(all, Task{w, store.Visitors})
			all = append(all, tasksOf(w, lists(texts))...)
		}
	}
	slices.SortStableFunc(all, r.newestFirst)
	return all
}

func (r Range) newestFirst(a, b Task) int {
	return cmp.Or(
		b.To.Time().Compare(a.To.Time()),
		b.From.Time().Compare(a.From.Time()), // the shorter first
		cmp.Compare(slices.Index(r.Projects, a.Project), slices.Index(r.Projects, b.Project)))
}

func (r Range) months(today mintlify.Date) []Task {
	var all []Task
	for _, project := range r.Projects {
		for _, w := range store.Windows(project, store.Month, r.firstMonth(today), today) {
			all = append(all, Task{w, store.Visitors})
		}
	}
	slices.SortStableFunc(all, r.newestFirst)
	return all
}

func (r Range) firstMonth(today mintlify.Date) mintlify.Date {
	thisMonth := mintlify.Day(today.Time().Year(), today.Time().Month(), 1)
	return mintlify.DayOf(thisMonth.Time().AddDate(0, -r.Months, 0))
}

func tasksOf(w store.Window, kinds []store.Kind) []Task {
	var all []Task
	for _, kind := range kinds {
		all = append(all, Task{w, kind})
	}
	return all
}

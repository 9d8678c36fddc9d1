package load

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	settle = 24 * time.Hour // counts are final this long after the end of their days
	maxAge = 6 * time.Hour  // until then, counts older than this are loaded again

	// In addition to the days, weeks and months of a project, a run loads at most this many
	// exports. The rest waits for the next run.
	extras = 6
)

// Task is an export to bring up to date.
type Task struct {
	store.Window
	Kind store.Kind
}

func (t Task) String() string { return fmt.Sprintf("%v, %s", t.Window, t.Kind) }

// SettledDay returns the day before which all counts are final.
func SettledDay(now time.Time) mintlify.Date { return mintlify.DayOf(now.Add(-settle).UTC()) }

// IsFinal reports whether counts that were asked for at a time will not change.
func IsFinal(at time.Time, w store.Window) bool { return !at.Before(w.To.Time().Add(settle)) }

// isFresh reports whether counts that were loaded at a time need not be loaded again.
func isFresh(at time.Time, w store.Window) bool {
	return IsFinal(at, w) || time.Since(at) < maxAge
}

// Range is what a run keeps up to date: the last whole weeks and those before them, their
// lists, and each day, week and month since From.
type Range struct {
	Projects []string
	From     mintlify.Date
	Weeks    int // how many weeks a report shows

	// KeepFrom deletes the rows of lists that ended by this day. The zero Date keeps all.
	KeepFrom mintlify.Date
}

func (r Range) lastWeeks(project string) store.Window {
	return store.LastWeeks(project, r.Weeks, SettledDay(time.Now()))
}

// Tasks returns the exports that are not up to date. The exports of the report come first, then
// the newest windows, each project in turn, and the thumbs of weeks last.
func (l *Loader) Tasks(ctx context.Context, r Range) ([]Task, error) {
	l.Later = 0
	var first, last []Task
	for _, project := range r.Projects {
		extra, err := l.extraTasks(ctx, project, r)
		if err != nil {
			return nil, err
		}

		for _, task := range extra {
			if task.isThumbs(r) {
				last = append(last, task)
			} else {
				first = append(first, task)
			}
		}
	}

	missing, _, err := l.missing(ctx, r.calendar())
	if err != nil {
		return nil, err
	}
	return slices.Concat(first, missing, last), nil
}

// calendar returns each day, week and month, the newest first, the projects in turn.
func (r Range) calendar() []Task {
	var all []Task
	today := mintlify.DayOf(time.Now().UTC())
	for _, project := range r.Projects {
		for _, span := range []store.Span{store.Day, store.Week, store.Month} {
			for _, w := range store.Windows(project, span, r.From, today) {
				all = append(all, Task{w, store.Visitors})
			}
		}
	}

	slices.SortStableFunc(all, func(a, b Task) int {
		return cmp.Or(
			b.To.Time().Compare(a.To.Time()),
			b.From.Time().Compare(a.From.Time()), // the shorter first
			cmp.Compare(slices.Index(r.Projects, a.Project), slices.Index(r.Projects, b.Project)))
	})
	return all
}

// isThumbs reports whether only a report of one page shows the task's list.
func (t Task) isThumbs(r Range) bool {
	return t.Kind == store.FeedbackByPage && t.Span() == store.Week && r.Weeks != 1
}

// extraTasks returns the missing exports of a project's last whole weeks, of the weeks before,
// and of the lists, newest first. Lists that the service has refused come last.
func (l *Loader) extraTasks(ctx context.Context, project string, r Range) ([]Task, error) {
	period := r.lastWeeks(project)
	var wanted []Task
	for _, w := range []store.Window{period, period.Before()} {
		if w.Span() != store.Week { // calendar has a single week already
			wanted = append(wanted, Task{w, store.Visitors})
		}
	}

	settled := SettledDay(time.Now())
	wanted = append(wanted, l.lists(period, store.Windows(project, store.Month, r.From, settled))...)
	wanted = append(wanted, thumbsOf(store.Windows(project, store.Week, r.From, settled), wanted)...)
	wanted = slices.DeleteFunc(wanted, func(t Task) bool {
		isOld := t.Kind != store.Visitors && !t.To.Time().After(r.KeepFrom.Time()) // the zero Date is long ago
		return isOld || t.From.Time().Before(r.From.Time())
	})

	missing, refused, err := l.missing(ctx, wanted)
	if err != nil {
		return nil, err
	}

	l.Later += max(0, len(missing)-extras)
	all := slices.Concat(missing, refused)
	return all[:min(extras, len(all))], nil
}

// lists returns the lists of a period, the lists that the report compares with them, and the
// lists of months, newest first.
func (l *Loader) lists(period store.Window, months []store.Window) []Task {
	compared := []store.Kind{store.Searches, store.Conversations, store.FeedbackByPage}
	kinds := append(slices.Clone(compared), store.Views)
	if l.Texts { // feedback without its texts says less than the counts by page
		kinds = append(kinds, store.Feedback)
	}

	all := tasksOf(period, kinds)
	all = append(all, tasksOf(period.Before(), compared)...)
	for _, month := range slices.Backward(months) {
		all = append(all, tasksOf(month, kinds)...)
	}
	return all
}

// thumbsOf returns the feedback by page of weeks, newest first. A report of one page shows its
// thumbs from them.
func thumbsOf(weeks []store.Window, wanted []Task) []Task {
	var all []Task
	for _, week := range slices.Backward(weeks) {
		if task := (Task{week, store.FeedbackByPage}); !slices.Contains(wanted, task) {
			all = append(all, task)
		}
	}
	return all
}

func tasksOf(w store.Window, kinds []store.Kind) []Task {
	var all []Task
	for _, kind := range kinds {
		all = append(all, Task{w, kind})
	}
	return all
}

// missing returns the tasks that are not up to date, and separately the lists that the service
// refused.
func (l *Loader) missing(ctx context.Context, tasks []Task) (missing, refused []Task, err error) {
	for _, task := range tasks {
		complete, _, err := l.Store.Find(ctx, task.Window, task.Kind)
		switch {
		case err != nil:
			return nil, nil, err
		case complete.Problem != "" && !complete.Expired:
			refused = append(refused, task)
		case !l.isUpToDate(complete):
			missing = append(missing, task)
		}
	}
	return missing, refused, nil
}

func (l *Loader) isUpToDate(e store.Export) bool {
	if e.Expired {
		return true
	}
	if e.At.IsZero() || e.Problem != "" {
		return false
	}
	hasTexts := e.Kind == store.Conversations || e.Kind == store.Feedback
	return isFresh(e.At, e.Window) && (e.Texts || !l.Texts || !hasTexts)
}

package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Span is how long a window is. Weeks begin on Monday.
type Span string

// The spans.
const (
	ByDay   Span = "day"
	ByWeek  Span = "week"
	ByMonth Span = "month"
)

// ParseSpans reads spans with commas between them.
func ParseSpans(text string) ([]Span, error) {
	var spans []Span
	for name := range strings.SplitSeq(text, ",") {
		span := Span(strings.TrimSpace(name))
		if span != ByDay && span != ByWeek && span != ByMonth {
			return nil, fmt.Errorf("%q is no span: want day, week or month, with commas between them", span)
		}
		if !slices.Contains(spans, span) {
			spans = append(spans, span)
		}
	}
	return spans, nil
}

// start returns the first day of the span that day is in.
func (s Span) start(day mintlify.Date) mintlify.Date {
	switch t := day.Time(); s {
	case ByWeek:
		return day.AddDays(-(int(t.Weekday()) + 6) % 7)
	case ByMonth:
		return mintlify.Day(t.Year(), t.Month(), 1)
	}
	return day
}

// end returns the first day after the span that begins on start.
func (s Span) end(start mintlify.Date) mintlify.Date {
	switch t := start.Time(); s {
	case ByWeek:
		return start.AddDays(7)
	case ByMonth:
		return mintlify.Day(t.Year(), t.Month()+1, 1)
	}
	return start.AddDays(1)
}

// Windows returns project's windows of a span that lie wholly in the days from from to
// before to, oldest first: part of a week would look like a fall.
func Windows(project string, s Span, from, to mintlify.Date) []store.Window {
	var all []store.Window
	start := s.start(from)
	if start.Time().Before(from.Time()) {
		start = s.end(start)
	}
	for end := s.end(start); !end.Time().After(to.Time()); start, end = end, s.end(end) {
		all = append(all, store.Window{Project: project, From: start, To: end})
	}
	return all
}

// SyncTasks returns the tasks of a nightly run: all windows that have ended by now,
// newest first, the projects in turn.
func SyncTasks(projects []string, spans []Span, from mintlify.Date, now time.Time) []Task {
	var tasks []Task
	for _, span := range spans {
		for _, project := range projects {
			for _, w := range Windows(project, span, from, mintlify.DayOf(now.UTC())) {
				tasks = append(tasks, Task{Window: w})
			}
		}
	}
	slices.SortStableFunc(tasks, func(a, b Task) int {
		return cmp.Or(
			b.To.Time().Compare(a.To.Time()),
			b.From.Time().Compare(a.From.Time()), // the shorter first
			cmp.Compare(slices.Index(projects, a.Project), slices.Index(projects, b.Project)))
	})
	return tasks
}

package store

import (
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Span is how long a window is. Weeks begin on Monday.
type Span string

// The spans that the calendar gives. [Weeks] gives the rolling ones.
const (
	Day   Span = "day"
	Week  Span = "week"
	Month Span = "month"
	other Span = "other"
)

// Weeks is the span of n whole weeks.
func Weeks(n int) Span {
	if n == 1 {
		return Week
	}
	return Span(fmt.Sprintf("%d weeks", n))
}

// Window names the days that one export covers: from From until the day before To. Unique visitors
// do not add up, so each window is an export of its own.
type Window struct {
	Project  string
	From, To mintlify.Date
}

func (w Window) String() string {
	last := w.To.AddDays(-1)
	if last == w.From {
		return fmt.Sprintf("%s %v", w.Project, w.From)
	}
	return fmt.Sprintf("%s %v to %v", w.Project, w.From, last)
}

// Days returns how many days w has.
func (w Window) Days() int { return int(w.To.Time().Sub(w.From.Time()).Hours() / 24) }

// Has reports whether a time is within w.
func (w Window) Has(t time.Time) bool { return !t.Before(w.From.Time()) && t.Before(w.To.Time()) }

// Span returns w's span. Four weeks from the first of a February are a month.
func (w Window) Span() Span {
	for _, span := range []Span{Day, Week, Month} {
		if span.start(w.From) == w.From && span.end(w.From) == w.To {
			return span
		}
	}

	if w.Days()%7 == 0 && w.From.Time().Weekday() == time.Monday {
		return Weeks(w.Days() / 7)
	}
	return other
}

// Before returns as many days right before w.
func (w Window) Before() Window { return Window{w.Project, w.From.AddDays(-w.Days()), w.From} }

// MonthBefore returns the month before w.
func (w Window) MonthBefore() Window {
	return Window{w.Project, Month.start(w.From.AddDays(-1)), w.From}
}

// LastWeeks returns the last n whole weeks that have ended by the day.
func LastWeeks(project string, n int, day mintlify.Date) Window {
	to := Week.start(day)
	return Window{project, to.AddDays(-7 * n), to}
}

// WeekOf returns the week of a day.
func WeekOf(day mintlify.Date) Window {
	start := Week.start(day)
	return Window{From: start, To: Week.end(start)}
}

// Windows returns project's windows of a span, oldest first. Each lies completely between from and
// the day before to: part of a week would look like a loss of visitors.
func Windows(project string, s Span, from, to mintlify.Date) []Window {
	var all []Window
	start := s.start(from)
	if start.Time().Before(from.Time()) {
		start = s.end(start)
	}

	for {
		end := s.end(start)
		if end.Time().After(to.Time()) {
			return all
		}
		all = append(all, Window{Project: project, From: start, To: end})
		start = end
	}
}

// start returns the first day of the span that day is in.
func (s Span) start(day mintlify.Date) mintlify.Date {
	switch t := day.Time(); s {
	case Week:
		return day.AddDays(-(int(t.Weekday()) + 6) % 7)
	case Month:
		return mintlify.Day(t.Year(), t.Month(), 1)
	}
	return day
}

// end returns the first day after the span that begins on start.
func (s Span) end(start mintlify.Date) mintlify.Date {
	switch t := start.Time(); s {
	case Week:
		return start.AddDays(7)
	case Month:
		return mintlify.Day(t.Year(), t.Month()+1, 1)
	}
	return start.AddDays(1)
}

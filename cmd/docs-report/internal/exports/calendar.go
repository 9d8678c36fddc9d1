package exports

import (
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	settle = 24 * time.Hour // counts are final this long after the end of their days
	late   = 48 * time.Hour // nights without a week that has ended are too many
)

// SettledDay returns the day before which all counts are final.
func SettledDay(now time.Time) mintlify.Date { return mintlify.DayOf(now.Add(-settle).UTC()) }

// IsFinal reports whether counts that were asked for at a time will not change.
func IsFinal(at time.Time, w store.Window) bool { return !at.Before(w.To.Time().Add(settle)) }

// MissingWeek returns the newest week that has ended, if the weeks that a report shows end
// before it. isOld reports that the report has lacked a week for 48 hours: a night was left out.
func MissingWeek(shown store.Window, now time.Time) (week store.Window, isOld, ok bool) {
	newest := store.LastWeeks(shown.Project, 1, mintlify.DayOf(now.UTC()))
	if !shown.To.Time().Before(newest.To.Time()) {
		return store.Window{}, false, false
	}

	lacksSince := shown.To.AddDays(7).Time()
	return newest, now.Sub(lacksSince) > late, true
}

// NotOver says when a window begins or ends. It returns "" for a window that has ended: sync can
// load it.
func NotOver(w store.Window, now time.Time) string {
	const day = "2 January"
	switch {
	case !now.Before(w.To.Time()):
		return ""
	case now.Before(w.From.Time()):
		return fmt.Sprintf("%s begins on %s", nameOf(w), w.From.Time().Format(day))
	}
	return fmt.Sprintf("%s is not over: it ends on %s and is final on %s",
		nameOf(w), w.To.AddDays(-1).Time().Format(day), w.To.Time().Add(settle).Format(day))
}

// nameOf returns what people call a window.
func nameOf(w store.Window) string {
	from := w.From.Time()
	switch w.Span() {
	case store.Day:
		return from.Format("2 January 2006")
	case store.Week:
		return "The week of " + from.Format("2 January")
	case store.Month:
		return from.Format("January 2006")
	}
	last := w.To.AddDays(-1).Time()
	return fmt.Sprintf("The period from %s to %s", from.Format("2 January"), last.Format("2 January"))
}

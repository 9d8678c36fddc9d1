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

// MissingWeeks returns the weeks that have ended since those that a report shows. isOld reports that the report has
// lacked a week for 48 hours, or that no sync has ended for as long: a night was left out.
func MissingWeeks(shown store.Window, lastSync, now time.Time) (weeks store.Window, isOld, ok bool) {
	newest := store.LastWeeks(shown.Project, 1, mintlify.DayOf(now.UTC()))
	if !shown.To.Time().Before(newest.To.Time()) {
		return store.Window{}, false, false
	}

	lacksSince := shown.To.AddDays(7).Time()
	newest.From = shown.To
	return newest, now.Sub(lacksSince) > late || now.Sub(lastSync) > late, true
}

// NotOver says when a month begins or ends. It returns "" for a month that has ended: sync can
// load it.
func NotOver(month store.Window, now time.Time) string {
	const day = "2 January"
	name := month.From.Time().Format("January 2006")
	switch {
	case !now.Before(month.To.Time()):
		return ""
	case now.Before(month.From.Time()):
		return fmt.Sprintf("%s begins on %s", name, month.From.Time().Format(day))
	}
	return fmt.Sprintf("%s is not over: it ends on %s and is final on %s",
		name, month.To.AddDays(-1).Time().Format(day), month.To.Time().Add(settle).Format(day))
}

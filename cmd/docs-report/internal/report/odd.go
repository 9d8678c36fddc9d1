package report

import (
	"math"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// A day of bots, or of a link from a large site, would make every comparison with it wrong. It has
// regular readers, too. So what it has beyond the nearest usual day of its weekday is taken out
// before anything is compared or ranked. Counts keep it, and say so.

// history has the days and months of a site or of a page, oldest first, and what days have more than usual.
type history struct {
	days, months []store.Point
	odd          events.Surpluses

	site     *events.Site // nil: nothing is known by day
	silences []events.Silence
}

func newHistory(days, months []store.Point, site *events.Site) history {
	h := history{days: days, months: months, odd: events.Find(days), site: site}
	if site != nil {
		h.silences = site.Silences()
	}
	return h
}

// silenceOf says how much of two windows has visitors of a kind.
func (h history) silenceOf(k events.Kind, now, before store.Window) silence {
	if len(h.silences) == 0 {
		return silence{ratio: 1}
	}

	units, silent := h.site.Units(k, now, h.silences)
	unitsBefore, silentBefore := h.site.Units(k, before, h.silences)
	is := units / float64(now.Days())
	was := unitsBefore / float64(before.Days())
	return silence{
		isAny:  silent+silentBefore > 0,
		isMost: 2*silent > now.Days() || 2*silentBefore > before.Days() || was == 0,
		ratio:  is / max(was, 1e-9),
	}
}

// silencesOf returns those of a kind that reach into windows.
func (h history) silencesOf(k kind, windows ...store.Window) []events.Silence {
	return slices.DeleteFunc(slices.Clone(h.silences), func(s events.Silence) bool {
		isIn := func(w store.Window) bool {
			return s.To.Time().After(w.From.Time()) && s.From.Time().Before(w.To.Time())
		}
		return s.Kind != k.Kind || !slices.ContainsFunc(windows, isIn)
	})
}

// absent counts the days of a window that are not known.
func (h history) absent(w store.Window) int {
	absent := w.Days()
	for _, day := range h.days {
		if isWithin(day.Window, w) {
			absent--
		}
	}
	return absent
}

// usual returns the counts of a window without what its days have more than usual.
func (h history) usual(w store.Window, counts mintlify.VisitorTotals) mintlify.VisitorTotals {
	for _, k := range events.Kinds {
		counts = k.Without(counts, h.odd.More(w, k.Of(counts), k))
	}
	return counts
}

// note says how much of a window's count is more than usual, and on which days, or returns "".
func (h history) note(w store.Window, counted int64, kinds ...events.Kind) string {
	more := h.odd.More(w, counted, kinds...)
	if more == 0 {
		return ""
	}

	var days []string
	for _, one := range h.odd.Within(w) {
		if one.More > 0 && slices.Contains(kinds, one.Kind) {
			days = append(days, one.Day.Time().Format("Mon "+shortDay))
		}
	}
	return number(more) + " more than usual on " + firstFew(slices.Compact(days))
}

const byDays = math.MaxInt64 // is the count of what is added up by days

// kind is a kind of visitors, and how to speak of it.
type kind struct {
	events.Kind
	Title string
	name  string // within a sentence
	Class string // is its color

	ifSilent string // is what to look at if nobody comes any more

	meaning
}

var (
	humans = kind{
		Kind:  events.Humans,
		Title: "Humans",
		name:  "humans",
		Class: "human",

		ifSilent: "Does the site still load the script that counts them? Humans are counted in the browser.",
		meaning:  isGood,
	}
	ais = kind{
		Kind:  events.AIs,
		Title: "AIs",
		name:  "AIs",
		Class: "ai",

		ifSilent: "Does something in front of the site keep them out? AIs are counted at the server.",
		meaning:  isNeither,
	}
	kinds = []kind{humans, ais} // in the order of events.Kinds
)

// firstVisitor returns the index of the first day or month with a visitor, or -1.
func firstVisitor(points []store.Point) int {
	return slices.IndexFunc(points, func(p store.Point) bool { return p.Counts != (mintlify.VisitorTotals{}) })
}

// opening returns the day or month of the first visitor, if it is within a window, after its first day:
// what came before and after cannot be compared. What is not loaded is not an opening.
func (h history) opening(w store.Window) (string, bool) {
	day := firstVisitor(h.days)
	month := firstVisitor(h.months)

	switch {
	case month >= 0 && !h.months[month].To.Time().After(w.From.Time()):
		return "", false
	case day >= 0 && !h.days[day].From.Time().After(w.From.Time()):
		return "", false
	case day > 0 && h.days[day-1].To == h.days[day].From:
		first := h.days[day].From.Time()
		return first.Format("2 January"), first.Before(w.To.Time())
	case month > 0 && h.months[month-1].To == h.months[month].From: // the days are not loaded
		first := h.months[month].From.Time()
		return first.Format("January 2006"), first.Before(w.To.Time())
	}
	return "", false
}

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

// history has the days and months of a site or of a page, oldest first, and which days stand out.
type history struct {
	days, months []store.Point
	odd          []oddDay

	site     *events.Site // nil: nothing is known by day
	silences []events.Silence
}

type oddDay = events.Day

func newHistory(days, months []store.Point, site *events.Site) history {
	h := history{days: days, months: months, odd: events.Find(days), site: site}
	if site != nil {
		h.silences = site.Silences()
	}
	return h
}

// silenceOf says how much of two windows has visitors of a kind.
func (h history) silenceOf(k events.Kind, now, before store.Window) silence {
	isAny := func(w store.Window) bool { return events.SilentDays(k, w, h.silences) > 0 }
	if !isAny(now) && !isAny(before) {
		return silence{ratio: 1}
	}

	isMost := func(w store.Window) bool { return 2*events.SilentDays(k, w, h.silences) > w.Days() }
	is := h.site.Units(k, now, h.silences) / float64(now.Days())
	was := h.site.Units(k, before, h.silences) / float64(before.Days())
	return silence{isAny: true, isMost: isMost(now) || isMost(before) || was == 0, ratio: is / max(was, 1e-9)}
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

// within returns the days of a window that stand out.
func (h history) within(w store.Window) []oddDay {
	var all []oddDay
	for _, d := range h.odd {
		if w.Has(d.Day.Time()) {
			all = append(all, d)
		}
	}
	return all
}

// usual returns the counts of a window without what its days have more than usual.
func (h history) usual(w store.Window, counts mintlify.VisitorTotals) mintlify.VisitorTotals {
	human := h.more(w, counts.Human, humans.odd)
	ai := h.more(w, counts.AI, ais.odd)
	counts.Human -= human
	counts.AI -= ai
	counts.Total = max(0, counts.Total-human-ai)
	return counts
}

// more returns how much of a window's count is more than usual. Visitors are unique: if it is less than
// its days have more, the same ones came on several days. If it is less than one day has more, it was
// counted without that day.
func (h history) more(w store.Window, counted int64, count func(oddDay) int64) int64 {
	var sum, largest int64
	for _, d := range h.within(w) {
		sum += count(d)
		largest = max(largest, count(d))
	}

	switch {
	case sum <= counted:
		return sum
	case largest <= counted:
		return largest
	}
	return 0
}

// note says how much of a window's count is more than usual, and on which days, or returns "".
func (h history) note(w store.Window, counted int64, count func(oddDay) int64) string {
	var days []string
	for _, d := range h.within(w) {
		if count(d) > 0 {
			days = append(days, d.Day.Time().Format("Mon "+shortDay))
		}
	}

	more := h.more(w, counted, count)
	if more == 0 {
		return ""
	}
	return number(more) + " more than usual on " + firstFew(days)
}

func moreOfAll(d oddDay) int64 { return d.Human + d.AI }

const byDays = math.MaxInt64 // is the count of what is added up by days

// kind is a kind of visitors.
type kind struct {
	kind  events.Kind
	Title string
	name  string // within a sentence
	Class string // is its color
	count func(mintlify.VisitorTotals) int64
	odd   func(oddDay) int64 // is what a day has more than usual
	isOdd func(oddDay) bool

	ifSilent string // is what to look at if nobody comes any more

	meaning
}

var (
	humans = kind{
		Title: "Humans",
		name:  "humans",
		Class: "human",
		count: func(t mintlify.VisitorTotals) int64 { return t.Human },
		odd:   func(d oddDay) int64 { return d.Human },
		isOdd: func(d oddDay) bool { return d.OfHumans },

		ifSilent: "Does the site still load the script that counts them? Humans are counted in the browser.",
		meaning:  isGood,
	}
	ais = kind{
		kind:  events.AIs,
		Title: "AIs",
		name:  "AIs",
		Class: "ai",
		count: func(t mintlify.VisitorTotals) int64 { return t.AI },
		odd:   func(d oddDay) int64 { return d.AI },
		isOdd: func(d oddDay) bool { return d.OfAIs },

		ifSilent: "Does something in front of the site keep them out? AIs are counted at the server.",
		meaning:  isNeither,
	}
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

package report

import (
	"math"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/outliers"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// A day of bots, or of a link from a large site, would make every comparison with it wrong. It has
// regular readers, too. So what it has beyond the nearest usual day of its weekday is taken out
// before anything is compared or ranked. Counts keep it, and say so.

// history has the days and months of a site or of a page, oldest first, and which days stand out.
type history struct {
	days, months []store.Point
	odd          []oddDay
}

type oddDay = outliers.Day

func newHistory(days, months []store.Point) history {
	return history{days: days, months: months, odd: outliers.Find(days)}
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
	return number(more) + " more than usual on " + firstFew(days, ", ")
}

const byDays = math.MaxInt64 // is the count of what is added up by days

// kind is a kind of visitors.
type kind struct {
	Title string
	Class string // is its color
	count func(mintlify.VisitorTotals) int64
	odd   func(oddDay) int64 // is what a day has more than usual
	isOdd func(oddDay) bool
	meaning
}

var (
	everybody = kind{
		Title:   "All visitors",
		count:   func(t mintlify.VisitorTotals) int64 { return t.Total },
		odd:     func(d oddDay) int64 { return d.Human + d.AI },
		meaning: isNeither,
	}
	humans = kind{
		Title:   "Humans",
		Class:   "human",
		count:   func(t mintlify.VisitorTotals) int64 { return t.Human },
		odd:     func(d oddDay) int64 { return d.Human },
		isOdd:   func(d oddDay) bool { return d.OfHumans },
		meaning: isGood,
	}
	ais = kind{
		Title:   "AIs",
		Class:   "ai",
		count:   func(t mintlify.VisitorTotals) int64 { return t.AI },
		odd:     func(d oddDay) int64 { return d.AI },
		isOdd:   func(d oddDay) bool { return d.OfAIs },
		meaning: isNeither,
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

// usualRows returns a period's pages without what its days have more than usual, by path.
func (in Input) usualRows(p Period) map[string]mintlify.VisitorTotals {
	all := byPath(p.Rows)
	for _, d := range in.within(p.Window) {
		usual := byPath(in.Moved.visitors(in.DayRows[d.Usual]))
		for path, day := range byPath(in.Moved.visitors(in.DayRows[d.Day])) {
			if page, isThere := all[path]; isThere {
				all[path] = takeOut(d, page, day, usual[path])
			}
		}
	}
	return all
}

func byPath(rows []mintlify.Visitor) map[string]mintlify.VisitorTotals {
	all := map[string]mintlify.VisitorTotals{}
	for _, row := range rows {
		all[row.Path] = mintlify.VisitorTotals{Human: row.Human, AI: row.AI, Total: row.Total}
	}
	return all
}

// takeOut returns a page without what it has on that day beyond its usual day. If that is more than the
// page has left, the same ones came on a day before, too.
func takeOut(d oddDay, page, day, usual mintlify.VisitorTotals) mintlify.VisitorTotals {
	if human := day.Human - usual.Human; d.Human > 0 && human > 0 && human <= page.Human {
		page.Human -= human
		page.Total -= human
	}
	if ai := day.AI - usual.AI; d.AI > 0 && ai > 0 && ai <= page.AI {
		page.AI -= ai
		page.Total -= ai
	}
	page.Total = max(0, page.Total)
	return page
}

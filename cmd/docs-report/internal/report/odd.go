package report

import (
	"fmt"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/outliers"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// A day of bots, or of a link from a large site, would make every comparison with it wrong. It has
// regular readers, too. So what it has beyond the nearest usual day of its weekday is taken out
// before anything is compared or ranked. Counts keep it, and say so.

// odd has the days of a site or of a page, and which of them stand out.
type odd struct {
	days  []store.Point // oldest first
	found []oddDay
}

type oddDay = outliers.Day

func findOdd(points []store.Point) odd {
	days, found := outliers.Find(points)
	return odd{days: days, found: found}
}

// absent counts the days of a window that are not known.
func (o odd) absent(w store.Window) int {
	absent := w.Days()
	for _, day := range o.days {
		if isWithin(day.Window, w) {
			absent--
		}
	}
	return absent
}

// withoutUsual returns a day of a window that stands out and cannot be compared with a usual one.
func (o odd) withoutUsual(w store.Window) (mintlify.Date, bool) {
	for _, d := range o.found {
		if !d.HasUsual && isAt(d.Day.Time(), w) {
			return d.Day, true
		}
	}
	return mintlify.Date{}, false
}

// within returns the days of a window that stand out.
func (o odd) within(w store.Window) []oddDay {
	var all []oddDay
	for _, d := range o.found {
		if isAt(d.Day.Time(), w) {
			all = append(all, d)
		}
	}
	return all
}

// usual returns the counts of a window without what its days have more than usual.
func (o odd) usual(w store.Window, counts mintlify.VisitorTotals) mintlify.VisitorTotals {
	for _, d := range o.within(w) {
		human := min(d.Human, counts.Human)
		ai := min(d.AI, counts.AI)
		counts.Human -= human
		counts.AI -= ai
		counts.Total = max(0, counts.Total-human-ai)
	}
	return counts
}

// note says how much of a window's count is more than usual, and on which days, or returns "".
func (o odd) note(w store.Window, count func(oddDay) int64) string {
	sum := int64(0)
	var days []string
	for _, d := range o.within(w) {
		if n := count(d); n > 0 {
			sum += n
			days = append(days, d.Day.Time().Format("Mon "+shortDay))
		}
	}

	const named = 3
	if len(days) > named {
		days = append(days[:named], fmt.Sprintf("%d more days", len(days)-named))
	}
	if sum == 0 {
		return ""
	}
	return number(sum) + " more than usual on " + strings.Join(days, ", ")
}

func oddHumans(d oddDay) int64 { return d.Human }
func oddAIs(d oddDay) int64    { return d.AI }
func oddAll(d oddDay) int64    { return d.Human + d.AI }

// OddDates returns the days that stand out and those that they are compared with: a report needs
// their pages.
func OddDates(days []store.Point, within ...store.Window) []mintlify.Date {
	var all []mintlify.Date
	o := findOdd(days)
	for _, w := range within {
		for _, d := range o.within(w) {
			if d.HasUsual {
				all = append(all, d.Day, d.Usual)
			}
		}
	}
	return all
}

// usualRows returns a period's pages without what its days have more than usual, by path.
func (in Input) usualRows(p Period) map[string]mintlify.Visitor {
	all := map[string]mintlify.Visitor{}
	for _, row := range p.Rows {
		all[row.Path] = row
	}

	for _, d := range in.odd.within(p.Window) {
		usual := map[string]mintlify.Visitor{}
		for _, row := range in.Moved.visitors(in.DayRows[d.Usual]) {
			usual[row.Path] = row
		}

		for _, row := range in.Moved.visitors(in.DayRows[d.Day]) {
			page, isThere := all[row.Path]
			if !isThere {
				continue
			}
			human, ai := int64(0), int64(0)
			if d.Human > 0 {
				human = min(page.Human, max(0, row.Human-usual[row.Path].Human))
			}
			if d.AI > 0 {
				ai = min(page.AI, max(0, row.AI-usual[row.Path].AI))
			}
			page.Human -= human
			page.AI -= ai
			page.Total = max(0, page.Total-human-ai)
			all[row.Path] = page
		}
	}
	return all
}

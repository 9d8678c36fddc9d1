package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const monthsShown = 12

type growth struct {
	Summary string
	Empty   string // is why there is nothing to show
	Broken  string // says why the lines break
	Chart   trend
}

func newGrowth(in Input) growth {
	opened := in.openedWithin()
	in.Months = sinceFirstVisitor(in.Months)
	g := growth{Empty: "No whole month with visitors is in the database yet."}
	p := plot{unit: store.Month, buckets: monthBuckets(in.Months, lastMonth(in))}
	known := p.known()
	if len(known) == 0 {
		return g
	}

	for len(p.buckets) > 1 && p.buckets[0].Now == nil { // the site may be younger
		p.buckets = p.buckets[1:]
	}

	g.Empty = ""
	g.Chart = p.draw()
	g.Chart.Before = slices.ContainsFunc(p.buckets, func(b bucket) bool { return b.Before != nil })
	g.Broken = brokenAt(p.buckets)
	g.Summary = sentences(in.growthSummary(p.buckets, opened), opened.note)
	return g
}

// sinceFirstVisitor leaves out the months before the site existed: the service counts nobody there.
func sinceFirstVisitor(months []store.Point) []store.Point {
	for i, m := range months {
		if m.Counts != (mintlify.VisitorTotals{}) {
			return months[i:]
		}
	}
	return nil
}

// lastMonth returns the first day of the last month that has ended with the period.
func lastMonth(in Input) mintlify.Date {
	end := in.Period.To.Time()
	for _, m := range slices.Backward(in.Months) {
		if !m.To.Time().After(end) {
			return m.From
		}
	}
	return mintlify.Day(end.Year(), end.Month()-1, 1)
}

// monthBuckets returns the twelve months up to the last, each with the same month a year before if
// the service has not redefined in between what it counts.
func monthBuckets(points []store.Point, last mintlify.Date) []bucket {
	known := byDay(points)
	var all []bucket
	for i := range monthsShown {
		day := last.Time()
		from := mintlify.Day(day.Year(), day.Month()+time.Month(i+1-monthsShown), 1)
		b := bucket{Window: monthOf(from), Now: known[from]}

		yearBefore := mintlify.Day(from.Time().Year()-1, from.Time().Month(), 1)
		if breakWithin(yearBefore, b.To) == "" {
			b.Before = known[yearBefore]
		}

		if i > 0 {
			b.isCut = breakWithin(all[i-1].From, b.To) != ""
		}
		all = append(all, b)
	}
	return all
}

// brokenAt says why the lines break.
func brokenAt(months []bucket) string {
	from := months[0].From
	to := months[len(months)-1].To
	var days []string
	for _, day := range slices.Backward(redefinitions) {
		if isInside(day, from, to) {
			days = append(days, day.Time().Format(longDay))
		}
	}

	if len(days) == 0 {
		return ""
	}
	return "The lines break where the service redefined what counts as human and as AI: " +
		strings.Join(days, " and ") + "."
}

// opening is the month in which the first visitor came, if it was not on its first day.
type opening struct {
	month mintlify.Date // zero: not known
	note  string
}

// openedWithin finds a month that is not whole: in the one before, there was nobody.
func (in Input) openedWithin() opening {
	first := slices.IndexFunc(in.Months, func(m store.Point) bool {
		return m.Counts != (mintlify.VisitorTotals{})
	})
	if first < 1 || in.Months[first-1].To != in.Months[first].From {
		return opening{}
	}

	month := in.Months[first].Window
	since := bucketDays(month)
	hasFirstDay := false
	for _, day := range in.odd.days {
		hasFirstDay = hasFirstDay || day.From == month.From
		if !hasFirstDay || day.Counts == (mintlify.VisitorTotals{}) {
			continue
		}

		if day.From == month.From {
			return opening{}
		}
		since = day.From.Time().Format(longDay)
		break
	}
	return opening{month: month.From, note: "There are visitors from " + since + " on."}
}

// growthSummary compares the last month with the first that is shown and can be compared, and with
// the same month a year before.
func (in Input) growthSummary(months []bucket, opened opening) string {
	i := len(months) - 1
	for months[i].Now == nil {
		i--
	}

	last := months[i]
	usual := in.odd.usual(last.Window, *last.Now)
	text := fmt.Sprintf("%s: %s and %s; AIs are %s of the visitors.", bucketDays(last.Window),
		plural(last.Now.Human, "human", "humans"), plural(last.Now.AI, "AI", "AIs"),
		shareText(usual.Human, usual.AI))
	if note := in.odd.note(last.Window, oddAll); note != "" {
		text += " That is " + note + ", which no change has."
	}

	if last.From == opened.month {
		return text
	}

	first := i
	for at := i; at > 0 && !months[at].isCut; at-- {
		if months[at-1].Now != nil && months[at-1].From != opened.month {
			first = at - 1
		}
	}
	if first < i {
		text += " Since " + bucketDays(months[first].Window) + ": " +
			in.grown(last.Window, usual, months[first].Window, *months[first].Now)
	}

	yearBefore := monthOf(mintlify.Day(last.From.Time().Year()-1, last.From.Time().Month(), 1))
	hasYear := last.Before != nil && yearBefore.From != opened.month
	if hasYear {
		text += " Against a year before: " + in.grown(last.Window, usual, yearBefore, *last.Before)
	}
	if first == i && !hasYear {
		text += " There is no earlier month to compare it with."
	}
	return text
}

// grown compares two months.
func (in Input) grown(
	now store.Window, usual mintlify.VisitorTotals, then store.Window, counts mintlify.VisitorTotals,
) string {
	for _, w := range []store.Window{now, then} {
		if day, isUnknown := in.odd.withoutUsual(w); isUnknown {
			return day.Time().Format(longDay) + " stands out, and there is no usual day to compare it with."
		}
	}

	l := lengthsOf(now, then)
	was := in.odd.usual(then, counts)
	return fmt.Sprintf("humans %s, AIs %s.",
		l.humans(usual.Human, was.Human).words(), l.visitors(usual.AI, was.AI).words())
}

// words writes a change, and says if it may be chance.
func (c change) words() string {
	if c.Verdict == same && c.Number != 0 {
		return c.Text + " (" + same + ")"
	}
	return c.Text
}

func monthOf(first mintlify.Date) store.Window {
	return store.Windows("", store.Month, first, mintlify.Day(first.Time().Year(), first.Time().Month()+1, 1))[0]
}

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
	g.Summary = growthSummary(p.buckets)
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

// growthSummary compares the last month with the one before, and with the first that is shown and
// can be compared.
func growthSummary(months []bucket) string {
	i := len(months) - 1
	for months[i].Now == nil {
		i--
	}

	last := months[i]
	name := bucketDays(last.Window)
	text := fmt.Sprintf("%s: %s and %s; AIs are %s of the visitors.", name,
		plural(last.Now.Human, "human", "humans"), plural(last.Now.AI, "AI", "AIs"),
		shareText(last.Now.Human, last.Now.AI))

	first := i
	for at := i; at > 0 && !months[at].isCut; at-- {
		if months[at-1].Now != nil {
			first = at - 1
		}
	}
	if first < i {
		was := months[first]
		text += fmt.Sprintf(" Since %s: humans %s, AIs %s.", bucketDays(was.Window),
			changeOfCount(last.Now.Human, was.Now.Human).words(), changeOfCount(last.Now.AI, was.Now.AI).words())
	}

	if last.Before != nil {
		text += fmt.Sprintf(" Against a year before: humans %s, AIs %s.",
			changeOfCount(last.Now.Human, last.Before.Human).words(),
			changeOfCount(last.Now.AI, last.Before.AI).words())
	}
	if first == i && last.Before == nil {
		text += " There is no earlier month to compare it with."
	}
	return text
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

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
	months := sinceFirstVisitor(in.months)
	if len(months) == 0 {
		return growth{Empty: "No whole month with visitors is in the database yet."}
	}

	p := plot{unit: store.Month, buckets: monthBuckets(months)}
	for len(p.buckets) > 1 && p.buckets[0].Now == nil { // the site may be younger
		p.buckets = p.buckets[1:]
	}

	g := growth{Summary: in.growthSummary(p.buckets), Broken: brokenAt(p.buckets)}
	if len(p.buckets) > 1 {
		g.Chart = p.draw()
	}
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

// monthBuckets returns the twelve months up to the last, each with the same month a year before if
// the service has not redefined in between what it counts.
func monthBuckets(points []store.Point) []bucket {
	known := byDay(points)
	last := points[len(points)-1].From.Time()

	var all []bucket
	for i := range monthsShown {
		b := bucket{Window: monthOf(last.Year(), last.Month()+time.Month(i+1-monthsShown))}
		b.Now = known[b.From]

		yearBefore := b.yearBefore()
		if breakWithin(yearBefore.From, b.To) == "" {
			b.Before = known[yearBefore.From]
		}
		if i > 0 {
			b.isCut = breakWithin(all[i-1].From, b.To) != ""
		}
		all = append(all, b)
	}
	return all
}

func (b bucket) yearBefore() store.Window {
	return monthOf(b.From.Time().Year()-1, b.From.Time().Month())
}

func monthOf(year int, month time.Month) store.Window {
	return store.Window{From: mintlify.Day(year, month, 1), To: mintlify.Day(year, month+1, 1)}
}

func brokenAt(months []bucket) string {
	from := months[0].From
	to := months[len(months)-1].To
	var newest time.Time
	var days []string
	for _, day := range slices.Backward(redefinitions) {
		if isInside(day, from, to) {
			newest = day.Time()
			days = append(days, day.Time().Format(longDay))
		}
	}

	if len(days) == 0 {
		return ""
	}
	return fmt.Sprintf("The lines break where the service redefined what counts as human and as AI: %s. "+
		"So no month before %s is compared with later ones.", strings.Join(days, " and "),
		bucketDays(monthOf(newest.Year(), newest.Month()+1)))
}

// growthSummary compares the last month with the first that is shown and can be compared, and with
// the same month a year before.
func (in Input) growthSummary(months []bucket) string {
	last := months[len(months)-1]
	usual := in.usual(last.Window, *last.Now)
	share := "; "
	if note := in.note(last.Window, last.Now.Human+last.Now.AI, oddAll); note != "" && usual != *last.Now {
		share = ", of which " + note + ". Without these, "
	}
	text := fmt.Sprintf("%s: %s and %s%sAIs are %s of the visitors.", bucketDays(last.Window),
		plural(last.Now.Human, "human", "humans"), plural(last.Now.AI, "AI", "AIs"), share,
		shareText(usual.Human, usual.AI))

	since := ""
	for _, first := range months[:len(months)-1] {
		if since == "" {
			since = in.grown("Since "+bucketDays(first.Window), last, first.Window, first.Now)
		}
	}
	yearBefore := in.grown("Against "+bucketDays(last.yearBefore()), last, last.yearBefore(), last.Before)

	opened := ""
	if day, isOpening := in.opening(store.Window{From: months[0].From, To: last.To}); isOpening {
		opened = "There are visitors from " + day + " on."
	}
	if since == "" && yearBefore == "" {
		since = "There is no earlier month to compare it with."
	}
	return sentences(text, since, yearBefore, opened)
}

// grown compares a month with an earlier one, or returns "".
func (in Input) grown(when string, last bucket, then store.Window, counts *mintlify.VisitorTotals) string {
	compared := in.compare(last.Window, then)
	if counts == nil || compared.missing != "" {
		return ""
	}

	now := in.usual(last.Window, *last.Now)
	was := in.usual(then, *counts)
	return fmt.Sprintf("%s: humans %s, AIs %s.", when,
		compared.humans(now.Human, was.Human).words(), compared.visitors(now.AI, was.AI).words())
}

package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const monthsShown = 12

type growth struct {
	Summary string
	Empty   string // is why there is nothing to show
	Broken  string // says which months are not compared
}

func newGrowth(in Input) growth {
	first := firstVisitor(in.months) // before the site existed, the service counts nobody
	if first < 0 {
		return growth{Empty: "No whole month with visitors is in the database yet."}
	}

	year := monthBuckets(in.months[first:])
	for len(year) > 1 && year[0].Now == nil { // the site may be younger
		year = year[1:]
	}

	return growth{Summary: in.growthSummary(year), Broken: brokenAt(year)}
}

// monthBuckets returns the twelve months up to the last, each with the same month a year before if
// the service has not redefined in between what it counts.
func monthBuckets(points []store.Point) []bucket {
	last := points[len(points)-1].From.Time()
	first := mintlify.Day(last.Year(), last.Month()+1-monthsShown, 1)
	all := buckets(store.Window{From: first, To: points[len(points)-1].To}, store.Month, points)

	known := byDay(points)
	for i, b := range all {
		yearBefore := b.yearBefore()
		if breakWithin(yearBefore.From, b.To) == "" {
			all[i].Before = known[yearBefore.From]
		}
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
	return fmt.Sprintf("The service redefined what counts as human and as AI on %s, "+
		"so no month before %s is compared with later ones.", strings.Join(days, " and "),
		bucketDays(monthOf(newest.Year(), newest.Month()+1)))
}

// growthSummary compares the last month with the first that is shown and can be compared, and with
// the same month a year before.
func (in Input) growthSummary(months []bucket) string {
	last := months[len(months)-1]
	usual := in.usual(last.Window, *last.Now)

	share := "; "
	if note := in.note(last.Window, last.Now.Human+last.Now.AI, events.Kinds...); note != "" && usual != *last.Now {
		share = ", of which " + note + ". Without these, "
	}
	text := fmt.Sprintf("%s: %s and %s%sAIs are %s of the visitors.", bucketDays(last.Window),
		plural(last.Now.Human, "human", "humans"), plural(last.Now.AI, "AI", "AIs"), share,
		shareOfAIs(usual))

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
		compared.visitors(humans, only(now), only(was)).words(), compared.visitors(ais, only(now), only(was)).words())
}

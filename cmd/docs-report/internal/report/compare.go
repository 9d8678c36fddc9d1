package report

import (
	"fmt"
	"math"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// A difference is said and coloured only if it is more than chance, and large enough to matter.
const (
	mostByChance = 2.0  // standard errors
	mostInClumps = 3.0  // standard errors of searches: a reader tries five in a row
	leastOfCount = 0.05 // of the count before
	leastOfMonth = 0.10 // of the count before: months have eight to ten weekend days
	leastOfShare = 0.02 // 2 percentage points
	leastOnASide = 10   // votes, searches or questions, to compare shares
)

// lengths are the days of two windows that are compared.
type lengths struct {
	now, before float64
	least       float64 // of the count before
}

func lengthsOf(now, before store.Window) lengths {
	l := lengths{now: float64(now.Days()), before: float64(before.Days()), least: leastOfCount}
	if now.Span() == store.Month && before.Span() == store.Month {
		l.least = leastOfMonth
	}
	return l
}

func (in Input) lengths() lengths { return lengthsOf(in.Period.Window, in.Before.Window) }

// visitors compares unique visitors. More is neither good nor bad, as of AIs.
func (l lengths) visitors(now, before int64) change {
	was := l.nearest(now, before)
	c := ratio(now, was)
	c.Direction = flat
	c.verdict = compareCounts(now, was, l.least)
	if c.verdict == aboutTheSame {
		c.Verdict = same
	}
	return c
}

// humans compares humans: more is good.
func (l lengths) humans(now, before int64) change {
	return l.visitors(now, before).colored(good, bad)
}

// nearest returns the count before that now is compared with. In a window of another length it would
// lie between the count itself, if the same readers come every day, and the count by days, if each
// comes once. A count between the two is not a change.
func (l lengths) nearest(now, before int64) int64 {
	byDays := int64(math.Round(float64(before) * l.now / l.before))
	return min(max(now, min(before, byDays)), max(before, byDays))
}

// trouble compares counts of what is not unique, by days: more is bad. errors is how many standard
// errors are chance.
func (l lengths) trouble(now, before int64, errors float64) change {
	difference := now - int64(math.Round(float64(before)*l.now/l.before))
	c := change{Text: signedCount(difference), Number: float64(difference), Direction: flat}
	if difference == 0 {
		c.Text = "±0"
	}
	c.verdict = compareRates(rateOf{float64(now), l.now}, rateOf{float64(before), l.before}, errors)
	return c.judged()
}

// troubleShare compares shares of trouble, in points: less is better.
func troubleShare(now, before part, errors float64) change {
	if now.all < leastOnASide || before.all < leastOnASide {
		return change{Text: "too few to compare", Verdict: same, Direction: flat}
	}
	c := pointsOf(now.share(), before.share())
	c.verdict = compareShares(now, before, errors)
	return c.judged()
}

// shareOfAIs compares shares of AIs. More is neither good nor bad.
func shareOfAIs(now, before mintlify.VisitorTotals) change {
	a := part{now.AI, now.AI + now.Human}
	b := part{before.AI, before.AI + before.Human}
	c := pointsOf(a.share(), b.share())
	if compareShares(a, b, mostByChance) == aboutTheSame {
		c.Verdict = same
	}
	return c
}

// verdict says how a number differs from the one before.
type verdict int

const (
	aboutTheSame verdict = iota
	more
	less
)

// compareCounts compares two counts of independent events: the standard error of their difference
// is about √(a+b). least is the share of the count before that matters.
func compareCounts(now, before int64, least float64) verdict {
	difference := float64(now) - float64(before)
	chance := mostByChance * math.Sqrt(float64(now)+float64(before))

	isChance := math.Abs(difference) <= chance
	isSmall := math.Abs(difference) < least*float64(before)
	return verdictOf(difference, isChance || isSmall)
}

// part is how many of all are something, such as thumbs that point down.
type part struct{ some, all int64 }

func (p part) share() float64 {
	if p.all <= 0 {
		return 0
	}
	return float64(p.some) / float64(p.all)
}

func (p part) plus(other part) part { return part{p.some + other.some, p.all + other.all} }

// compareShares compares two shares with the pooled standard error.
func compareShares(now, before part, errors float64) verdict {
	if now.all < leastOnASide || before.all < leastOnASide {
		return aboutTheSame
	}

	pooled := now.plus(before).share()
	chance := errors * math.Sqrt(pooled*(1-pooled)*(1/float64(now.all)+1/float64(before.all)))
	difference := now.share() - before.share()

	isChance := math.Abs(difference) <= chance
	isSmall := math.Abs(difference) < leastOfShare-1e-9 // 0.22 - 0.20 is a little less than 0.02
	return verdictOf(difference, isChance || isSmall)
}

func verdictOf(difference float64, isNone bool) verdict {
	switch {
	case isNone || difference == 0:
		return aboutTheSame
	case difference > 0:
		return more
	}
	return less
}

// rateOf is a count of a number of days or weeks.
type rateOf struct{ count, units float64 }

func (r rateOf) mean() float64 { return r.count / max(r.units, 1) }

// compareRates compares two counts that may be of a different number of days or weeks.
func compareRates(now, before rateOf, errors float64) verdict {
	if now.units == 0 || before.units == 0 {
		return aboutTheSame
	}

	// Pooled, because a week without any says little: it may be one of few.
	pooled := (now.count + before.count) / (now.units + before.units)
	difference := now.mean() - before.mean()
	chance := errors * math.Sqrt(pooled*(1/now.units+1/before.units))

	isChance := math.Abs(difference) <= chance
	isSmall := math.Abs(difference) < leastOfCount*before.mean()
	return verdictOf(difference, isChance || isSmall)
}

// missing says why the two periods cannot be compared, or returns "".
func (in Input) missing() string {
	now := in.Period
	before := in.Before
	redefined := breakWithin(before.From, now.To)

	switch {
	case !before.Known:
		return fmt.Sprintf("%s is not in the database, so there is no comparison. To load it: %s",
			span(before.Window), syncOf(before.Window))
	case redefined != "":
		return "There is no comparison: " + redefined + "."
	case before.Totals == (mintlify.VisitorTotals{}) && len(before.Rows) == 0 && now.Totals.Total > 0:
		return fmt.Sprintf("Nobody came from %s, so there is no comparison.", span(before.Window))
	}

	both := store.Window{Project: now.Project, From: before.From, To: now.To}
	if absent := in.odd.absent(both); absent > 0 {
		return fmt.Sprintf("%s from %s are not in the database, so there is no comparison. To load them: %s",
			plural(int64(absent), "day", "days"), span(both), syncOf(before.Window))
	}
	if first, isOpening := in.opening(both); isOpening {
		return "There are visitors from " + first.Time().Format("2 January") + " on, so there is no comparison yet."
	}
	if day, isUnknown := in.odd.withoutUsual(both); isUnknown {
		return fmt.Sprintf("%s stands out, and the database has no usual %s, so there is no comparison.",
			day.Time().Format("Mon "+shortDay), day.Time().Format("Monday"))
	}
	return ""
}

// opening returns the day of the first visitor, if it is within a window: what came before and after it
// cannot be compared. What is not loaded is not an opening.
func (in Input) opening(w store.Window) (mintlify.Date, bool) {
	for _, month := range in.Months {
		if month.Counts.Total > 0 && !month.To.Time().After(w.From.Time()) {
			return w.From, false
		}
	}

	for _, day := range in.odd.days {
		switch {
		case day.Counts == (mintlify.VisitorTotals{}):
		case day.From.Time().After(w.From.Time()):
			return day.From, true
		default:
			return day.From, false
		}
	}
	return w.From, false
}

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// A difference is said and coloured only if it is more than chance, and large enough to matter.
const (
	mostByChance = 2.0  // standard errors
	mostInClumps = 3.0  // standard errors of searches: a reader tries five in a row
	mostOfRates  = 3.0  // standard errors of the three rates: at two, a calm site told of one on each tenth Monday
	leastOfCount = 0.05 // of the count before
	leastOfMonth = 0.10 // of the count before: months have eight to ten weekend days
	leastOfShare = 0.02 // 2 percentage points
	leastOnASide = 10   // votes, searches or questions, to compare shares
)

// windows are two windows that are compared. Nothing else subtracts: a number of windows that cannot be
// compared has no change.
type windows struct {
	now, before store.Window
	missing     string // is why they cannot be compared, or ""

	nowUnits, beforeUnits float64 // are days, or weeks whose visitors are added up
	isByWeek              bool    // as many weeks are compared as are known
	least                 float64 // of the count before, that matters
	errors                float64 // are how many standard errors are chance

	silence [2]silence // by kind
}

// silence says how much of the windows has visitors of a kind.
type silence struct {
	isAny, isMost bool    // some days of the windows are silent, or over half of one
	ratio         float64 // of the days that are not: those now to those before
}

// extent is what a count may be: the readers of two names of a page, or of a day that is not known, may be the
// same or not.
type extent struct{ low, high float64 }

func exactly(n int64) extent { return extent{float64(n), float64(n)} }

// widened returns an extent whose ends are multiplied by a factor, or not.
func (e extent) widened(factor float64) extent {
	return extent{math.Round(e.low * min(1, factor)), math.Round(e.high * max(1, factor))}
}

// nearest returns the ends of two extents that are nearest to each other. They are equal if the extents overlap.
func (e extent) nearest(other extent) (float64, float64) {
	switch {
	case e.low > other.high:
		return e.low, other.high
	case e.high < other.low:
		return e.high, other.low
	}
	middle := max(e.low, other.low)
	return middle, middle
}

// compare returns two windows to compare. Those that the service counted in different ways cannot be
// compared, nor those in which the first visitor came.
func (h history) compare(now, before store.Window) windows {
	w := windows{
		now:         now,
		before:      before,
		nowUnits:    float64(now.Days()),
		beforeUnits: float64(before.Days()),
		least:       leastOfCount,
		errors:      mostByChance,
		silence:     [2]silence{h.silenceOf(events.Humans, now, before), h.silenceOf(events.AIs, now, before)},
	}
	if now.Span() == store.Month && before.Span() == store.Month {
		w.least = leastOfMonth
	}

	both := store.Window{From: before.From, To: now.To}
	if redefined := breakWithin(both.From, both.To); redefined != "" {
		w.missing = "There is no comparison: " + redefined + "."
		return w
	}

	if since, isOpening := h.opening(both); isOpening {
		w.missing = "There are visitors from " + since + " on, so there is no comparison yet."
		return w
	}

	for _, one := range slices.Concat(h.odd.Within(now), h.odd.Within(before)) {
		if day := one.Day.Time(); one.Usual.IsZero() {
			w.missing = fmt.Sprintf("%s stands out, and the database has no usual %s, so there is no comparison.",
				day.Format("Mon "+shortDay), day.Format("Monday"))
		}
	}
	return w
}

// windows compares the period with the one before. All that is compared must be in the database.
func (in Input) windows() windows {
	w := in.compare(in.Period.Window, in.Before.Window)
	both := store.Window{From: in.Before.From, To: in.Period.To}

	absent := int64(in.absent(both))
	isNobody := in.Before.Totals == (mintlify.VisitorTotals{}) && len(in.Before.Rows) == 0

	switch {
	case !in.Before.Known:
		w.missing = fmt.Sprintf("%s is not in the database, so there is no comparison. To load it: %s",
			span(in.Before.Window), syncOf(in.Before.Window))
	case w.missing != "" && breakWithin(both.From, both.To) != "":
	case absent > 0:
		w.missing = fmt.Sprintf("%s from %s are not in the database, so there is no comparison. To load them: %s",
			plural(absent, "day", "days"), span(both), syncOf(in.Before.Window))
	case w.missing == "" && isNobody && in.Period.Totals.Total > 0:
		w.missing = fmt.Sprintf("Nobody came from %s, so there is no comparison.", span(in.Before.Window))
	}
	return w
}

// ofMany returns the windows for a list of so many rows: of many rows, some change by more than two standard errors
// by chance.
func (w windows) ofMany(rows int) windows {
	w.errors = max(mostByChance, math.Sqrt(2*math.Log(float64(max(rows, 1)))))
	return w
}

// visitors compares visitors of a kind.
func (w windows) visitors(k kind, now, before counted) change {
	if w.silence[k.Kind].isMost {
		return change{}
	}

	was := before.extent(k).widened(w.nowUnits / w.beforeUnits).widened(w.silence[k.Kind].ratio)
	nowCount, beforeCount := now.extent(k).nearest(was)
	return w.means(rateOf{nowCount, w.nowUnits}, rateOf{beforeCount, w.nowUnits}, k.meaning)
}

// means compares counts of visitors by their means.
func (w windows) means(now, before rateOf, m meaning) change {
	if w.missing != "" {
		return change{}
	}

	c := ratio(now.count*before.units, before.count*now.units)
	c.Gain = int64(math.Round(now.count - before.mean()*now.units))
	return c.judged(compareRates(now, before, w.errors, w.least), m)
}

// trouble compares counts of what is not unique, by days: more is bad. errors is how many standard
// errors are chance. On days on which no human was counted, readers may have searched all the same.
func (w windows) trouble(now, before int64, errors float64) change {
	ofHumans := w.silence[events.Humans]
	if ofHumans.isMost {
		return change{}
	}

	is := rateOf{float64(now), w.nowUnits}
	was := rateOf{float64(before), w.beforeUnits}
	if ofHumans.isAny {
		byDays := extent{was.mean() * is.units, was.mean() * is.units}
		is.count, was.count = exactly(now).nearest(byDays.widened(ofHumans.ratio))
		was.units = is.units
	}
	return w.troubles(is, was, errors)
}

// troubles compares two counts of which more is bad.
func (w windows) troubles(now, before rateOf, errors float64) change {
	if w.missing != "" {
		return change{}
	}

	c := change{Number: math.Round(now.count - before.mean()*now.units)}
	c.Text = signedCount(int64(c.Number))
	if w.isByWeek && now.units != before.units {
		c.Number = round(now.mean() - before.mean())
		c.Text = signed(c.Number, 1) + " a week"
	}
	if c.Number == 0 {
		c.Text = "±0"
	}
	return c.judged(compareRates(now, before, errors, w.least), isTrouble)
}

// shareOfAIs compares how many of the visitors are AIs. If a kind is silent for a while, the other one's share says
// nothing.
func (w windows) shareOfAIs(now, before mintlify.VisitorTotals) change {
	if w.silence[events.Humans].isAny || w.silence[events.AIs].isAny {
		return change{}
	}
	return w.shares(ofAIs(now), ofAIs(before), mostByChance, isNeither)
}

// shares compares shares, in points.
func (w windows) shares(now, before part, errors float64, m meaning) change {
	switch {
	case w.missing != "" || now.all == 0 || before.all == 0:
		return change{}
	case now.all < leastOnASide || before.all < leastOnASide:
		return change{Text: "too few to compare", Verdict: same, Direction: flat}
	}

	c := change{Text: "±0 points"}
	if difference := 100 * (now.share() - before.share()); math.Abs(difference) >= 0.05 {
		c.Number = difference
		c.Text = signed(difference, 1) + " points"
	}
	return c.judged(compareShares(now, before, errors), m)
}

// verdict says how a number differs from the one before.
type verdict int

const (
	less verdict = iota - 1
	aboutTheSame
	more
)

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

	return verdictOf(difference, chance, leastOfShare)
}

func verdictOf(difference, chance, least float64) verdict {
	const rounded = 1e-9 // 0.22 - 0.20 is a little less than 0.02
	size := math.Abs(difference)
	if size <= chance+rounded || size < least-rounded {
		return aboutTheSame
	}
	return verdict(cmp.Compare(difference, 0))
}

// rateOf is a count of a number of days or weeks.
type rateOf struct{ count, units float64 }

func (r rateOf) mean() float64 { return r.count / max(r.units, 1) }

// compareRates compares two counts of independent events, of as many days or weeks or not: of equal
// ones, the standard error of their difference is about √(a+b). least is the share of the count before
// that matters.
func compareRates(now, before rateOf, errors, least float64) verdict {
	if now.units == 0 || before.units == 0 {
		return aboutTheSame
	}

	// Pooled, because a week without any says little: it may be one of few.
	pooled := (now.count + before.count) / (now.units + before.units)
	difference := now.mean() - before.mean()
	chance := errors * math.Sqrt(pooled*(1/now.units+1/before.units))

	return verdictOf(difference, chance, least*before.mean())
}

// change compares a number with the one before. The zero value is a change that is not known.
type change struct {
	Text      string  // is the change as people read it
	Number    float64 // is the change that Text writes: in percent, in points, or a count
	Gain      int64   // is how many visitors more
	Verdict   string  // is "worse", "better", "about the same", or "" for a change that is neither
	Direction string  // is the color: good, bad or flat
}

// Says returns the verdict, unless the text says it.
func (c change) Says() string {
	if c.Number == 0 {
		return ""
	}
	return c.Verdict
}

// IsSame reports whether a change is about the same.
func (c change) IsSame() bool { return c.Verdict == same }

// isTold reports whether a change is known, and more than about the same.
func (c change) isTold() bool { return c.Text != "" && c.Verdict != same }

// Short returns the change, or only that it is about the same.
func (c change) Short() string {
	if c.Verdict == same {
		return same
	}
	return c.Text
}

// words writes a change, and says if it may be chance.
func (c change) words() string {
	if c.Says() == same {
		return c.Text + " (" + same + ")"
	}
	return c.Text
}

const (
	good = "good"
	bad  = "bad"
	flat = "flat"

	same   = "about the same"
	better = "better"
	worse  = "worse"
)

// meaning says how more and less of a number are colored, and what they are called.
type meaning struct{ more, less, ifMore, ifLess string }

var (
	isNeither = meaning{more: flat, less: flat}
	isGood    = meaning{more: good, less: bad}
	isTrouble = meaning{more: bad, less: good, ifMore: worse, ifLess: better}
)

func (c change) judged(v verdict, m meaning) change {
	switch v {
	case aboutTheSame:
		c.Direction = flat
		c.Verdict = same
	case more:
		c.Direction = m.more
		c.Verdict = m.ifMore
	case less:
		c.Direction = m.less
		c.Verdict = m.ifLess
	}
	return c
}

// ratio compares two numbers as people do.
func ratio(now, before float64) change {
	percent := 100 * (now/before - 1)

	switch {
	case now == before:
		return change{Text: "±0%"}
	case before <= 0:
		return change{Text: "new", Number: math.Inf(1)}
	case percent >= 900:
		return change{Text: "×" + number(int64(now/before)), Number: percent}
	case math.Abs(percent) < 9.95: // a small change must not look like no change
		return change{Text: signed(percent, 1) + "%", Number: percent}
	}
	return change{Text: signed(percent, 0) + "%", Number: percent}
}

// signed writes a number with its sign. The minus is as wide as a plus.
func signed(x float64, decimals int) string {
	return strings.Replace(fmt.Sprintf("%+.*f", decimals, x), "-", "−", 1)
}

func signedCount(n int64) string {
	if n > 0 {
		return "+" + number(n)
	}
	return strings.Replace(number(n), "-", "−", 1)
}

// redefinitions are the days on which the service changed what counts as human and as AI. In June
// it redefined an agent's HTML views, in July its Markdown views.
var redefinitions = []mintlify.Date{mintlify.Day(2026, time.July, 31), mintlify.Day(2026, time.June, 12)}

// breakWithin says that the service changed what counts as human and as AI within a comparison, and on which days,
// or returns "".
func breakWithin(from, to mintlify.Date) string {
	var days []string
	for _, day := range slices.Backward(redefinitions) {
		if isInside(day, from, to) {
			days = append(days, day.Time().Format(longDay))
		}
	}
	if len(days) == 0 {
		return ""
	}
	return "human and AI redefined on " + strings.Join(days, " and on ")
}

// isInside reports whether a day is after the first day and before the end.
func isInside(day, from, to mintlify.Date) bool {
	return day.Time().After(from.Time()) && day.Time().Before(to.Time())
}

// syncOf returns the command that loads a window's visitors and lists.
func syncOf(w store.Window) string { return syncWeeks(w) + fmt.Sprintf(" -from %v", w.From) }

// syncLists returns the command that loads the lists of the newest weeks, or of a month.
func syncLists(w store.Window) string {
	if w.Span() == store.Month {
		return syncOf(w)
	}
	return syncWeeks(w)
}

func syncWeeks(w store.Window) string {
	const defaultWeeks = 4
	weeks := w.Days() / 7
	if w.Span() == store.Weeks(weeks) && weeks != defaultWeeks {
		return fmt.Sprintf("docs-report sync -weeks %d", weeks)
	}
	return "docs-report sync"
}

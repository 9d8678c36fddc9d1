package report

import (
	"fmt"
	"math"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const weeksCompared = 4

// beforeAfter compares the weeks before and after a date.
type beforeAfter struct {
	Since, Before, After string
	Notes                []string
	Rows                 []measure
}

type measure struct {
	Name, Before, After string
	Change              change
}

// compare leaves out the week of the date, unless the date is a Monday: the week is partly before
// and partly after. Until a later week is known, it is better than nothing.
func (in PageInput) compare() *beforeAfter {
	week := store.WeekOf(in.Since)
	before := store.Window{From: week.From.AddDays(-7 * weeksCompared), To: week.From}
	after := store.Window{From: week.To, To: week.To.AddDays(7 * weeksCompared)}

	isMonday := week.From == in.Since
	isProvisional := !isMonday && in.weekly(after).weeks == 0 && in.weekly(week).weeks == 1
	switch {
	case isMonday:
		after = store.Window{From: week.From, To: week.From.AddDays(7 * weeksCompared)}
	case isProvisional:
		after = week
	}

	c := &beforeAfter{
		Since:  in.Since.Time().Format(longDay),
		Before: span(before),
		After:  span(after),
	}
	if isProvisional {
		c.Notes = append(c.Notes, "The week of the change is partly before it. The first whole week after it ends on "+
			week.To.AddDays(6).Time().Format(longDay)+".")
	}

	redefined := breakWithin(before.From, after.To)
	if redefined != "" {
		c.Notes = append(c.Notes, redefined+": these visitors cannot be compared.")
	}
	if out := in.odd.note(store.Window{From: before.From, To: after.To}, oddAll); out != "" {
		c.Notes = append(c.Notes, "These means are without "+out+".")
	}

	visitors := [2]weekly{in.weekly(before), in.weekly(after)}
	c.Rows = []measure{
		in.visitorsMeasure("Humans a week", visitors, weekly.humans, true),
		in.visitorsMeasure("AIs a week", visitors, weekly.ais, false),
		in.thumbsMeasure(before, after),
		in.questionsMeasure(before, after),
		in.commentsMeasure(before, after),
	}
	return c
}

// notKnown says why the database has nothing of some weeks: they may not be over.
func (in PageInput) notKnown(w store.Window) string {
	firstEnds := w.From.AddDays(7)
	switch now := in.Generated; {
	case now.Before(w.From.Time()):
		return "begins on " + w.From.Time().Format("2 January")
	case now.Before(firstEnds.Time()):
		return "its first week ends on " + firstEnds.AddDays(-1).Time().Format("2 January")
	}
	return "not in the database"
}

// weekly has the visitors of a number of weeks. They do not add up, but their mean tells something.
type weekly struct {
	store.Window
	weeks     int64
	human, ai int64
}

func (w weekly) humans() rateOf { return rateOf{float64(w.human), float64(w.weeks)} }
func (w weekly) ais() rateOf    { return rateOf{float64(w.ai), float64(w.weeks)} }

func (in PageInput) weekly(w store.Window) weekly {
	sum := weekly{Window: w}
	for _, week := range in.Weeks {
		if isWithin(week.Window, w) {
			usual := in.odd.usual(week.Window, week.Counts)
			sum.weeks++
			sum.human += usual.Human
			sum.ai += usual.AI
		}
	}
	return sum
}

func isWithin(w, days store.Window) bool {
	return !w.From.Time().Before(days.From.Time()) && !w.To.Time().After(days.To.Time())
}

// visitorsMeasure compares the weeks before with those after.
func (in PageInput) visitorsMeasure(
	name string, weeks [2]weekly, of func(weekly) rateOf, moreIsGood bool,
) measure {
	was := of(weeks[0])
	now := of(weeks[1])

	m := measure{
		Name:   name,
		Before: in.ofWeeks(number(int64(was.mean())), weeks[0].weeks, weeks[0].Window),
		After:  in.ofWeeks(number(int64(now.mean())), weeks[1].weeks, weeks[1].Window),
	}
	isRedefined := breakWithin(weeks[0].From, weeks[1].To) != ""
	if was.units == 0 || now.units == 0 || isRedefined {
		return m
	}

	m.Change = ratio(int64(now.mean()), int64(was.mean()))
	m.Change.Direction = flat

	m.Change.verdict = compareRates(now, was, mostByChance)
	if m.Change.verdict == aboutTheSame {
		m.Change.Verdict = same
	}
	if moreIsGood {
		m.Change = m.Change.colored(good, bad)
	}
	return m
}

// ofWeeks says how many weeks a number is of, if it is not of all, or why it is of none.
func (in PageInput) ofWeeks(text string, weeks int64, w store.Window) string {
	if weeks == 0 {
		return in.notKnown(w)
	}
	if all := int64(w.Days() / 7); weeks < all {
		return fmt.Sprintf("%s (%d of %d weeks)", text, weeks, all)
	}
	return text
}

func (in PageInput) thumbsMeasure(before, after store.Window) measure {
	was := in.thumbsWithin(before)
	now := in.thumbsWithin(after)

	m := measure{
		Name:   "Thumbs down",
		Before: in.ofWeeks(was.text(), was.weeks, before),
		After:  in.ofWeeks(now.text(), now.weeks, after),
	}
	if was.up+was.down > 0 && now.up+now.down > 0 {
		m.Change = troubleShare(part{now.down, now.up + now.down}, part{was.down, was.up + was.down}, mostByChance)
	}
	return m
}

// thumbsWithin adds up the thumbs of the weeks that are known.
func (in PageInput) thumbsWithin(w store.Window) thumbs {
	var sum thumbs
	for _, week := range store.Windows("", store.Week, w.From, w.To) {
		sum = sum.plus(in.thumbsIn(week))
	}
	return sum
}

func (in PageInput) questionsMeasure(before, after store.Window) measure {
	rows, known := rowsOnce(in.Conversations, func(row mintlify.Conversation) time.Time { return row.Timestamp })
	var times []time.Time
	for _, row := range rows {
		if row.ResolutionStatus == mintlify.ResolutionUnanswered && in.is(row.PageURL) {
			times = append(times, row.Timestamp)
		}
	}
	return in.countMeasure("Unanswered questions", times, known, before, after)
}

func (in PageInput) commentsMeasure(before, after store.Window) measure {
	rows, known := rowsOnce(in.Comments, func(row mintlify.Feedback) time.Time { return row.CreatedAt })
	var times []time.Time
	for _, row := range rows {
		if isCriticism(row) && in.is(row.Path) { // also what is settled: a rewrite settles complaints
			times = append(times, row.CreatedAt)
		}
	}

	m := in.countMeasure("Written complaints", times, known, before, after)
	if len(known) == 0 {
		m.Before = "not kept without sync -texts"
		m.After = m.Before
	}
	return m
}

// countMeasure compares counts of trouble, of the weeks whose days are all known.
func (in PageInput) countMeasure(
	name string, times []time.Time, known map[mintlify.Date]bool, before, after store.Window,
) measure {
	was := countWithin(times, known, before)
	now := countWithin(times, known, after)
	m := measure{
		Name:   name,
		Before: in.ofWeeks(number(int64(was.count)), int64(was.units), before),
		After:  in.ofWeeks(number(int64(now.count)), int64(now.units), after),
	}
	if was.units == 0 || now.units == 0 {
		return m
	}

	l := lengths{now: now.units, before: was.units}
	m.Change = l.trouble(int64(now.count), int64(was.count), mostByChance)
	if difference := now.mean() - was.mean(); was.units != now.units && math.Abs(difference) >= 0.05 {
		m.Change.Number = difference
		m.Change.Text = signed(difference, 1) + " a week"
	}
	return m
}

// countWithin counts the times in those weeks of a window whose days are all known.
func countWithin(times []time.Time, known map[mintlify.Date]bool, w store.Window) rateOf {
	var sum rateOf
	for _, week := range store.Windows("", store.Week, w.From, w.To) {
		if !isCovered(week, known) {
			continue
		}

		sum.units++
		for _, t := range times {
			if isAt(t, week) {
				sum.count++
			}
		}
	}
	return sum
}

func isAt(t time.Time, w store.Window) bool {
	return !t.Before(w.From.Time()) && t.Before(w.To.Time())
}

func isCovered(w store.Window, known map[mintlify.Date]bool) bool {
	for day := w.From; day != w.To; day = day.AddDays(1) {
		if !known[day] {
			return false
		}
	}
	return true
}

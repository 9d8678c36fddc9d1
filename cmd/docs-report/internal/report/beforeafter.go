package report

import (
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const weeksCompared = 4

// beforeAfter compares the weeks before and after a date.
type beforeAfter struct {
	Since, Before, After string
	Note                 string
	Rows                 []measure
}

// measure is a number before and after.
type measure struct {
	Name, Before, After string
	Change              change
}

// compare leaves out the week of the date, unless the date is a Monday: the week is partly before
// and partly after.
func (in PageInput) compare() *beforeAfter {
	week := store.WeekOf(in.Since)
	before := store.Window{From: week.From.AddDays(-7 * weeksCompared), To: week.From}
	after := store.Window{From: week.To, To: week.To.AddDays(7 * weeksCompared)}
	if week.From == in.Since {
		after = store.Window{From: week.From, To: week.From.AddDays(7 * weeksCompared)}
	}

	c := &beforeAfter{
		Since:  in.Since.Time().Format(longDay),
		Before: span(before),
		After:  span(after),
	}
	if text := breakWithin(before.From, after.To); text != "" {
		c.Note = text + ": these visitors cannot be compared."
	}
	isRedefined := c.Note != ""

	visitors := [2]weekly{in.weekly(before), in.weekly(after)}

	c.Rows = []measure{
		visitors[0].measure("Humans a week", visitors[1], weekly.humans, !isRedefined),
		visitors[0].measure("AIs a week", visitors[1], weekly.ais, false),
		in.thumbsMeasure(before, after),
		in.questionsMeasure(before, after),
		in.commentsMeasure(before, after),
	}
	return c
}

const notKnown = "not in the database"

// weekly has the visitors of a number of weeks. They do not add up, but their mean tells something.
type weekly struct {
	weeks      int64
	human, ai  int64
	isComplete bool
}

func (w weekly) humans() int64 { return w.human / max(w.weeks, 1) }
func (w weekly) ais() int64    { return w.ai / max(w.weeks, 1) }

func (in PageInput) weekly(w store.Window) weekly {
	var sum weekly
	for _, week := range in.Weeks {
		if isWithin(week.Window, w) {
			sum.weeks++
			sum.human += week.Totals.Human
			sum.ai += week.Totals.AI
		}
	}

	sum.isComplete = sum.weeks == weeksCompared
	return sum
}

func isWithin(w, days store.Window) bool {
	return !w.From.Time().Before(days.From.Time()) && !w.To.Time().After(days.To.Time())
}

func (w weekly) measure(name string, after weekly, mean func(weekly) int64, moreIsGood bool) measure {
	m := measure{Name: name, Before: w.text(mean), After: after.text(mean)}
	if w.weeks == 0 || after.weeks == 0 {
		return m
	}

	m.Change = change{ratio(mean(after), mean(w)), "flat"}
	switch {
	case !moreIsGood || mean(after) == mean(w):
	case mean(after) > mean(w):
		m.Change.Direction = "good"
	default:
		m.Change.Direction = "bad"
	}
	return m
}

func (w weekly) text(mean func(weekly) int64) string {
	switch {
	case w.weeks == 0:
		return notKnown
	case !w.isComplete:
		return fmt.Sprintf("%s (%d of %d weeks)", number(mean(w)), w.weeks, weeksCompared)
	}
	return number(mean(w))
}

func (in PageInput) thumbsMeasure(before, after store.Window) measure {
	thumbsOf := func(w store.Window) thumbs {
		var sum thumbs
		for _, week := range store.Windows("", store.Week, w.From, w.To) {
			sum = sum.plus(in.thumbsIn(week))
		}
		return sum
	}

	was := thumbsOf(before)
	now := thumbsOf(after)

	m := measure{Name: "Thumbs down", Before: was.inWeeks(), After: now.inWeeks()}
	if was.up+was.down > 0 && now.up+now.down > 0 {
		m.Change = troublePoints(share(now.up, now.down), share(was.up, was.down))
	}
	return m
}

func (t thumbs) inWeeks() string {
	text := t.text()
	switch {
	case t.weeks == 0:
		return notKnown
	case t.weeks < weeksCompared:
		return fmt.Sprintf("%s (%d of %d weeks)", text, t.weeks, weeksCompared)
	}
	return text
}

func (in PageInput) questionsMeasure(before, after store.Window) measure {
	rows, known := rowsOnce(in.Conversations, func(row mintlify.Conversation) time.Time { return row.Timestamp })
	count := func(w store.Window) (int64, bool) {
		n := int64(0)
		for _, row := range rows {
			isUnanswered := row.ResolutionStatus == mintlify.ResolutionUnanswered
			if isUnanswered && in.is(row.PageURL) && isAt(row.Timestamp, w) {
				n++
			}
		}
		return n, isCovered(w, known)
	}
	return countMeasure("Unanswered questions", count, before, after)
}

func (in PageInput) commentsMeasure(before, after store.Window) measure {
	rows, known := rowsOnce(in.Comments, func(row mintlify.Feedback) time.Time { return row.CreatedAt })
	count := func(w store.Window) (int64, bool) {
		n := int64(0)
		for _, row := range rows {
			if isComplaint(row) && in.is(row.Path) && isAt(row.CreatedAt, w) {
				n++
			}
		}
		return n, isCovered(w, known)
	}
	return countMeasure("Written complaints", count, before, after)
}

// countMeasure compares a count of trouble. count reports false if it does not know all days.
func countMeasure(name string, count func(store.Window) (int64, bool), before, after store.Window) measure {
	m := measure{Name: name, Before: notKnown, After: notKnown}
	was, isKnownBefore := count(before)
	now, isKnownAfter := count(after)

	if isKnownBefore {
		m.Before = number(was)
	}
	if isKnownAfter {
		m.After = number(now)
	}

	if isKnownBefore && isKnownAfter {
		m.Change = changeOfTrouble(now, was)
	}
	return m
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

package report

import (
	"fmt"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const weeksCompared = 4

type beforeAfter struct {
	Since, Before, After string
	Notes                []string
	Rows                 []measure
}

type measure struct {
	Name, Before, After string
	Change              change
}

// changed compares the four weeks before and after the day. It leaves out the week of the day, unless the
// day is a Monday: that week is partly before and partly after.
func (in PageInput) changed() *beforeAfter {
	week := store.WeekOf(in.Since)
	from := week.To
	if week.From == in.Since {
		from = week.From
	}
	before := store.Window{From: week.From.AddDays(-7 * weeksCompared), To: week.From}
	after := store.Window{From: from, To: from.AddDays(7 * weeksCompared)}

	both := in.compare(after, before)
	both.isSum = true
	for _, week := range in.Weeks {
		isCompared := isWithin(week.Window, before) || isWithin(week.Window, after)
		if isCompared && both.missing == "" && in.absent(week.Window) > 0 {
			both.missing = fmt.Sprintf("The database does not have this page's days from %s: "+
				"what stands out on them is not known, so there is no comparison.", span(week.Window))
		}
	}

	c := &beforeAfter{
		Since:  in.Since.Time().Format(longDay),
		Before: span(before),
		After:  span(after),
	}

	if both.missing != "" {
		c.Notes = append(c.Notes, both.missing)
	}
	if out := in.note(store.Window{From: before.From, To: after.To}, byDays, oddAll); out != "" {
		c.Notes = append(c.Notes, "These means are without "+out+".")
	}

	wasHuman, wasAI := in.weekly(before)
	human, ai := in.weekly(after)
	c.Rows = []measure{
		in.measure(both, "Humans a week", human, wasHuman, windows.humans),
		in.measure(both, "AIs a week", ai, wasAI, windows.visitors),
		in.thumbsMeasure(both),
		in.measure(both, "Unanswered questions", in.unanswered(after), in.unanswered(before), byChance),
		in.measure(both, "Written complaints", in.criticisms(after), in.criticisms(before), byChance),
	}
	if len(in.Comments) == 0 {
		complaints := &c.Rows[len(c.Rows)-1]
		complaints.Before = "not kept without sync -texts"
		complaints.After = complaints.Before
	}
	return c
}

func byChance(w windows, now, before int64) change { return w.trouble(now, before, mostByChance) }

// measure compares two counts of weeks. Visitors of weeks do not add up, but their mean tells something.
func (in PageInput) measure(
	w windows, name string, now, before rateOf, compare func(w windows, now, before int64) change,
) measure {
	shown := func(r rateOf) string {
		if strings.HasSuffix(name, " a week") {
			return number(int64(r.mean()))
		}
		return number(int64(r.count))
	}

	m := measure{
		Name:   name,
		Before: in.ofWeeks(shown(before), before.units, w.before),
		After:  in.ofWeeks(shown(now), now.units, w.now),
	}
	if now.units > 0 && before.units > 0 {
		w.nowUnits = now.units
		w.beforeUnits = before.units
		m.Change = compare(w, int64(now.count), int64(before.count))
	}
	return m
}

// ofWeeks says how many weeks a number is of, if it is not of all, or why it is of none.
func (in PageInput) ofWeeks(text string, weeks float64, w store.Window) string {
	firstEnds := w.From.AddDays(7)
	all := w.Days() / 7
	switch known := int(weeks); {
	case known == all:
		return text
	case known > 0:
		return fmt.Sprintf("%s (%d of %d weeks)", text, known, all)
	case in.Generated.Before(firstEnds.Time()):
		return "its first week ends on " + firstEnds.AddDays(-1).Time().Format("2 January")
	}
	return "not in the database"
}

// weekly adds up the usual visitors of the weeks that are known.
func (in PageInput) weekly(w store.Window) (humans, ais rateOf) {
	for _, week := range in.Weeks {
		if isWithin(week.Window, w) {
			usual := in.usual(week.Window, week.Counts)
			humans.units++
			humans.count += float64(usual.Human)
			ais.count += float64(usual.AI)
		}
	}
	ais.units = humans.units
	return humans, ais
}

func (in PageInput) thumbsMeasure(w windows) measure {
	was := in.thumbsWithin(w.before)
	now := in.thumbsWithin(w.now)
	return measure{
		Name:   "Thumbs down",
		Before: in.ofWeeks(was.text(), float64(was.weeks), w.before),
		After:  in.ofWeeks(now.text(), float64(now.weeks), w.now),
		Change: w.troubleShare(now.part, was.part, mostByChance),
	}
}

// unanswered counts the questions of this page that the assistant could not answer.
func (in PageInput) unanswered(w store.Window) rateOf {
	at := func(row mintlify.Conversation) (time.Time, bool) {
		return row.Timestamp, row.ResolutionStatus == mintlify.ResolutionUnanswered && in.is(row.PageURL)
	}
	return countWithin(in.Conversations, at, w)
}

// criticisms counts the complaints about this page, also what is settled: a rewrite settles complaints.
func (in PageInput) criticisms(w store.Window) rateOf {
	at := func(row mintlify.Feedback) (time.Time, bool) {
		return row.CreatedAt, isCriticism(row) && in.is(row.Path)
	}
	return countWithin(in.Comments, at, w)
}

// countWithin counts rows in those weeks of a window whose days are all known.
func countWithin[T any](lists []List[T], at func(T) (time.Time, bool), w store.Window) rateOf {
	rows, known := rowsOnce(lists, func(row T) time.Time { t, _ := at(row); return t })
	var sum rateOf
	for _, week := range store.Windows("", store.Week, w.From, w.To) {
		if !isCovered(week, known) {
			continue
		}

		sum.units++
		for _, row := range rows {
			if t, isCounted := at(row); isCounted && week.Has(t) {
				sum.count++
			}
		}
	}
	return sum
}

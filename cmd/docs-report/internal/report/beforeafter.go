package report

import (
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const weeksCompared = 4

// beforeAfter compares the weeks before and after a day.
type beforeAfter struct {
	Since, Before, After, Note string
	LeftOut                    string // says which week is in neither
	Rows                       []headline
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

	if humans, ais := both.silence[events.Humans], both.silence[events.AIs]; humans.isAny || ais.isAny {
		both.missing = "On some days of these weeks nobody came to the whole site, so there is no comparison."
	}
	for _, week := range in.Weeks {
		isCompared := isWithin(week.Window, before) || isWithin(week.Window, after)
		if isCompared && both.missing == "" && in.absent(week.Window) > 0 {
			both.missing = fmt.Sprintf("The database does not have this page's days from %s: "+
				"what stands out on them is not known, so there is no comparison.", span(week.Window))
		}
	}

	without := ""
	if out := in.note(store.Window{From: before.From, To: after.To}, byDays, events.Kinds...); out != "" {
		without = "These means are without " + out + "."
	}

	c := &beforeAfter{
		Since:  in.Since.Time().Format(longDay),
		Before: span(before),
		After:  span(after),
		Note:   sentences(both.missing, without),
	}

	if from != week.From {
		c.LeftOut = "The week from " + span(week) + " is left out: it is partly before the day and partly after."
	}

	wasHuman, wasAI := in.weekly(in.Weeks, before)
	human, ai := in.weekly(in.Weeks, after)
	site := in
	site.history = newHistory(in.SiteDays, nil, nil)
	siteWasHuman, siteWasAI := site.weekly(in.SiteWeeks, before)
	siteHuman, siteAI := site.weekly(in.SiteWeeks, after)

	c.Rows = []headline{
		in.measure(both, "Humans a week", human, wasHuman, isGood),
		in.measure(both, "Humans a week, all pages of the site", siteHuman, siteWasHuman, isNeither),
		in.measure(both, "AIs a week", ai, wasAI, isNeither),
		in.measure(both, "AIs a week, all pages of the site", siteAI, siteWasAI, isNeither),
		in.thumbsMeasure(both),
		in.measure(both, "Unanswered questions", in.unanswered(after), in.unanswered(before), isTrouble),
		in.measure(both, "Written complaints", in.criticisms(after), in.criticisms(before), isTrouble),
	}
	if len(in.Comments) == 0 {
		complaints := &c.Rows[len(c.Rows)-1]
		complaints.Before = "not kept without sync -texts"
		complaints.Value = complaints.Before
	}
	return c
}

// measure compares two counts of weeks. Visitors of weeks do not add up, but their mean tells something.
func (in PageInput) measure(w windows, name string, now, before rateOf, m meaning) headline {
	w.nowUnits = now.units
	w.beforeUnits = before.units

	h := headline{Label: name}
	if m == isTrouble {
		h.Value = number(int64(now.count))
		h.Before = number(int64(before.count))
		h.Change = w.trouble(int64(now.count), int64(before.count), mostByChance)
	} else {
		h.Value = number(int64(now.mean()))
		h.Before = number(int64(before.mean()))
		h.Change = w.counts(m, extent{now.count, now.count}, extent{before.count, before.count})
	}
	return in.ofWeeks(h, w)
}

// ofWeeks says how many weeks the numbers are of, and compares them only if both are known.
func (in PageInput) ofWeeks(h headline, w windows) headline {
	h.Value = in.knownWeeks(h.Value, int(w.nowUnits), w.now)
	h.Before = in.knownWeeks(h.Before, int(w.beforeUnits), w.before)
	if w.nowUnits == 0 || w.beforeUnits == 0 {
		h.Change = change{}
	}
	return h
}

// knownWeeks says how many weeks a number is of, if it is not of all, or why it is of none.
func (in PageInput) knownWeeks(text string, known int, w store.Window) string {
	firstEnds := w.From.AddDays(7)

	switch all := w.Days() / 7; {
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
func (in PageInput) weekly(weeks []store.Point, w store.Window) (humans, ais rateOf) {
	for _, week := range weeks {
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

func (in PageInput) thumbsMeasure(w windows) headline {
	was := in.thumbsWithin(w.before)
	now := in.thumbsWithin(w.now)
	w.nowUnits = float64(now.weeks)
	w.beforeUnits = float64(was.weeks)
	c := w.shares(now.part, was.part, mostByChance, isTrouble)
	return in.ofWeeks(headline{Label: "Thumbs down", Value: now.text(), Before: was.text(), Change: c}, w)
}

// unanswered counts the questions of this page that the assistant could not answer.
func (in PageInput) unanswered(w store.Window) rateOf {
	return countWithin(in.Conversations, AskedAt, w, func(row mintlify.Conversation) bool {
		return row.ResolutionStatus == mintlify.ResolutionUnanswered && in.is(row.PageURL)
	})
}

// criticisms counts the complaints about this page, also what is settled: a rewrite settles complaints.
func (in PageInput) criticisms(w store.Window) rateOf {
	return countWithin(in.Comments, WrittenAt, w, func(row mintlify.Feedback) bool {
		return isCriticism(row) && in.is(row.Path)
	})
}

// countWithin counts rows in those weeks of a window whose days are all known.
func countWithin[T any](lists []List[T], at func(T) time.Time, w store.Window, isCounted func(T) bool) rateOf {
	rows, known := rowsOnce(lists, at)
	var sum rateOf
	for _, week := range store.Windows("", store.Week, w.From, w.To) {
		if !isCovered(week, known) {
			continue
		}

		sum.units++
		for _, row := range rows {
			if isCounted(row) && week.Has(at(row)) {
				sum.count++
			}
		}
	}
	return sum
}

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
	both := in.weeksAround(after, before)

	site := newHistory(in.SiteDays, nil, nil)
	c := &beforeAfter{
		Since:  in.Since.Time().Format(longDay),
		Before: span(before),
		After:  span(after),
		Note:   in.leftOut(both, site),
	}
	if from != week.From {
		c.LeftOut = "The week from " + span(week) + " is left out: it is partly before the day and partly after."
	}

	for _, k := range kinds {
		c.Rows = append(c.Rows, in.visitors(both, k, site)...)
	}
	c.Rows = append(c.Rows, in.votes(both)...)
	if len(in.Comments) == 0 {
		complaints := &c.Rows[len(c.Rows)-1]
		complaints.Before = "not kept without sync -texts"
		complaints.Value = complaints.Before
	}
	return c
}

// weeksAround returns the windows to compare. If a week of one lacks days of the page, there is no comparison.
func (in PageInput) weeksAround(after, before store.Window) windows {
	both := in.compare(after, before)
	both.isByWeek = true

	for _, week := range in.Weeks {
		isCompared := isWithin(week.Window, before) || isWithin(week.Window, after)
		if isCompared && both.missing == "" && in.absent(week.Window) > 0 {
			both.missing = fmt.Sprintf("The database does not have this page's days from %s: "+
				"what stands out on them is not known, so there is no comparison.", span(week.Window))
		}
	}
	return both
}

// votes compares the thumbs, the questions and, last, the complaints.
func (in PageInput) votes(w windows) []headline {
	troubles := func(label string, count func(store.Window) sample) headline {
		return in.measure(w, label, count, sample.count, func(now, before sample) change {
			if w.silence[events.Humans].isAny {
				return change{}
			}
			return w.troubles(now.rate(), before.rate(), mostByChance)
		})
	}

	return []headline{
		in.measure(w, "Thumbs down", in.thumbsWithin, sample.text, func(now, before sample) change {
			return w.shares(now.part, before.part, mostByChance, isTrouble)
		}),
		troubles("Unanswered questions", in.unanswered),
		troubles("Written complaints", in.criticisms),
	}
}

// leftOut says what the windows are compared without.
func (in PageInput) leftOut(w windows, site history) string {
	notes := []string{w.missing}
	for _, k := range kinds {
		if silences := in.silencesOf(k, w.before, w.now); len(silences) > 0 {
			notes = append(notes, fmt.Sprintf("No %s: %s are not compared.", daysWithout(k, silences), k.name))
		}
	}

	compared := store.Window{From: w.before.From, To: w.now.To}
	if out := in.note(compared, byDays, events.Kinds...); out != "" {
		notes = append(notes, "The page's means are without "+out+".")
	}
	if out := site.note(compared, byDays, events.Kinds...); out != "" {
		notes = append(notes, "The means of all pages are without "+out+".")
	}
	return sentences(notes...)
}

// visitors compares the visitors of a kind a week, those of the page and those of all pages. What
// changed as much as all pages is neither good nor bad.
func (in PageInput) visitors(w windows, k kind, site history) []headline {
	ofPage := func(days store.Window) sample { return in.weekly(in.Weeks, k, days) }
	ofSite := func(days store.Window) sample { return site.weekly(in.SiteWeeks, k, days) }
	compare := func(now, before sample, m meaning) change {
		if w.silence[k.Kind].isAny {
			return change{}
		}
		return w.means(now.rate(), before.rate(), m)
	}

	page := in.measure(w, k.Title+" a week", ofPage, sample.mean, func(now, before sample) change {
		c := compare(now, before, k.meaning)
		asSite := before.rate()
		asSite.count *= ofSite(w.now).rate().mean() / max(ofSite(w.before).rate().mean(), 1)
		if c.isTold() && compareRates(now.rate(), asSite, w.errors, w.least) == aboutTheSame {
			c.Verdict = "as all pages"
			c.Direction = flat
		}
		return c
	})
	title := k.Title + " a week, all pages of the site"
	all := in.measure(w, title, ofSite, sample.mean, func(now, before sample) change {
		return compare(now, before, isNeither)
	})
	return []headline{page, all}
}

// sample is what was counted in the weeks that are known: visitors, thumbs, questions or complaints.
type sample struct {
	part
	weeks  int64
	isPart bool // of no week all rows are known, but some
}

func (s sample) rate() rateOf  { return rateOf{float64(s.some), float64(s.weeks)} }
func (s sample) count() string { return number(s.some) }

// mean is of the visitors a week. Those of weeks do not add up, but their mean tells something.
func (s sample) mean() string { return number(int64(s.rate().mean())) }

// text writes thumbs.
func (s sample) text() string {
	switch {
	case s.weeks == 0:
		return "–"
	case s.all == 0:
		return "none"
	}
	return s.of()
}

// measure compares what was counted after and before the day, if both are known, and says of how many weeks it is.
func (in PageInput) measure(
	w windows, label string,
	count func(store.Window) sample, text func(sample) string, compare func(now, before sample) change,
) headline {
	now := count(w.now)
	before := count(w.before)
	h := headline{
		Label:  label,
		Value:  in.knownWeeks(text(now), now, w.now),
		Before: in.knownWeeks(text(before), before, w.before),
	}
	if now.weeks > 0 && before.weeks > 0 {
		h.Change = compare(now, before)
	}
	return h
}

// knownWeeks says how many weeks a number is of, if it is not of all, or why it is of none.
func (in PageInput) knownWeeks(text string, known sample, w store.Window) string {
	firstEnds := w.From.AddDays(7)

	switch all := int64(w.Days() / 7); {
	case known.weeks == all:
		return text
	case known.weeks > 0:
		return fmt.Sprintf("%s (%d of %d weeks)", text, known.weeks, all)
	case known.isPart:
		return text + ", of the rows that are loaded"
	case in.Generated.Before(firstEnds.Time()):
		return "its first week ends on " + firstEnds.AddDays(-1).Time().Format("2 January")
	}
	return "not in the database"
}

// weekly adds up the usual visitors of a kind of the weeks that are known.
func (h history) weekly(weeks []store.Point, k kind, w store.Window) sample {
	var sum sample
	for _, week := range weeks {
		if isWithin(week.Window, w) {
			sum.weeks++
			sum.some += k.Of(h.usual(week.Window, week.Counts))
		}
	}
	return sum
}

// unanswered counts the questions of this page that the assistant could not answer.
func (in PageInput) unanswered(w store.Window) sample {
	return countWithin(in.Conversations, AskedAt, w, func(row mintlify.Conversation) bool {
		return row.ResolutionStatus == mintlify.ResolutionUnanswered && in.is(row.PageURL)
	})
}

// criticisms counts the complaints about this page, also what is settled: a rewrite settles complaints.
func (in PageInput) criticisms(w store.Window) sample {
	return countWithin(in.Comments, WrittenAt, w, func(row mintlify.Feedback) bool {
		return isCriticism(row) && in.is(row.Path)
	})
}

// countWithin counts rows in those weeks of a window whose days are all known, or, if there are none, in the others.
func countWithin[T any](lists []List[T], at func(T) time.Time, w store.Window, isCounted func(T) bool) sample {
	rows, known := rowsOnce(lists, at)
	var whole, cut sample
	for _, week := range store.Windows("", store.Week, w.From, w.To) {
		sum := &cut
		if isCovered(week, known) {
			sum = &whole
			sum.weeks++
		} else if _, isListed := known[week.To.AddDays(-1)]; isListed {
			sum.isPart = true
		}

		for _, row := range rows {
			if isCounted(row) && week.Has(at(row)) {
				sum.some++
			}
		}
	}

	if whole.weeks == 0 {
		return cut
	}
	return whole
}

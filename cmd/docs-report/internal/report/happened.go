package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	mostEvents = 5
	fullDay    = "Mon 2 January"
)

// event is an item of what happened. It is yellow if there is something to do.
type event struct{ What, Details, Do string }

func (e event) String() string { return sentences(e.What, e.Details, e.Do) }

// happened is what happened, the worst first.
type happened struct {
	Events []event
	Note   string // says what was not looked for, or that nothing happened

	urgency int           // is the place of the first kind with something to do
	waves   []events.Wave // of the period
}

const (
	nothingHappened = "Nothing that stands out: no move, wave, spike or silence."
	noComparison    = "No comparison."
)

// Lines are the digest's. Its title says that there is no comparison.
func (h happened) Lines() []string {
	var all []string
	for _, e := range h.Events {
		if e.What != noComparison {
			all = append(all, e.String())
		}
	}
	return all
}

// whatHappened finds the events of the two periods, the worst kind first.
func (in Input) whatHappened() happened {
	h := happened{waves: in.waves()}
	kinds := [][]event{in.gaps(), in.failing(), in.silent(), in.told(h.waves), in.moves(), in.firstVisitors(),
		in.withoutComparison(), in.spiked()}
	h.urgency = len(kinds)
	for i, all := range kinds {
		for _, e := range all {
			if e.Do != "" {
				h.urgency = min(h.urgency, i)
			}
			h.Events = append(h.Events, e)
		}
	}
	h.Events = h.Events[:min(mostEvents, len(h.Events))]

	both := store.Window{From: in.Before.From, To: in.Period.To}
	switch {
	case !in.ByDay.HasPages(both):
		h.Note = "Of single pages nothing was looked for: the database does not have the pages of these days."
	case len(h.Events) == 0:
		h.Note = nothingHappened
	}
	return h
}

// lateWeeks names the weeks that are not loaded yet, or returns "".
func (in Input) lateWeeks() string {
	switch weeks := in.NotLoaded.Days() / 7; weeks {
	case 0:
		return ""
	case 1:
		return "The week of " + in.NotLoaded.From.Time().Format("2 January") + " is not loaded yet"
	default:
		return fmt.Sprintf("The %d weeks from %s are not loaded yet", weeks, span(in.NotLoaded))
	}
}

// gaps says which weeks are missing that should have been loaded long ago.
func (in Input) gaps() []event {
	if !in.Old {
		return nil
	}

	weeks := plural(int64(in.NotLoaded.Days()/7), "week is", "weeks are")
	e := event{
		What: fmt.Sprintf("Old: %s not loaded, %s.", weeks, span(in.NotLoaded)),
		Do:   "Look at docs-report status, and at sync's log.",
	}
	if !in.LastSync.IsZero() {
		e.Details = "The last sync ended on " + in.LastSync.UTC().Format("2 January, 15:04 MST") + "."
	}
	return []event{e}
}

// failing names the lists that the last syncs could not load.
func (in Input) failing() []event {
	var all []event
	for _, list := range in.Failing {
		all = append(all, event{
			What: fmt.Sprintf("The list of %s could not be loaded in %d syncs in a row.",
				list.Kind.Name(), list.Times),
			Details: textOf(list.Problem) + ".",
			Do:      "Look at docs-report status.",
		})
	}
	return all
}

// withoutComparison says why there is no comparison.
func (in Input) withoutComparison() []event {
	if in.Missing() == "" {
		return nil
	}

	details, command, hasCommand := strings.Cut(in.Missing(), " To load ")
	e := event{What: noComparison, Details: details}
	if hasCommand {
		e.Do = "To load " + command
	}
	return []event{e}
}

// silent names the days on which nobody of a kind came.
func (in Input) silent() []event {
	if len(in.silences) == 0 {
		return nil
	}

	var all []event
	end := in.days[len(in.days)-1].To
	for _, k := range kinds {
		silences := in.silencesOf(k, store.Window{From: in.Before.From, To: end})
		if len(silences) == 0 {
			continue
		}

		last := silences[len(silences)-1]
		e := event{
			What:    "No " + daysWithout(k, silences) + ".",
			Details: fmt.Sprintf("About %s a day are usual. Changes allow for it.", number(last.Usual)),
		}
		if last.To == end {
			e.Do = k.ifSilent
		}
		all = append(all, e)
	}
	return all
}

// daysWithout names the days on which nobody of a kind came.
func daysWithout(k kind, silences []events.Silence) string {
	var when []string
	for _, s := range silences {
		when = append(when, daysOf(s.Window))
	}
	return k.name + " " + firstFew(when)
}

// daysOf names days: on one, or from one to another.
func daysOf(w store.Window) string {
	first := w.From.Time().Format(fullDay)
	if w.Days() == 1 {
		return "on " + first
	}
	return "from " + first + " to " + w.To.AddDays(-1).Time().Format(fullDay)
}

// told says how many bad votes the waves have.
func (in Input) told(waves []events.Wave) []event {
	var all []event
	for _, wave := range waves {
		when := "in the week of " + wave.From.Time().Format("2 January")
		if wave.Days() > 7 {
			when = daysOf(wave.Window)
		}

		e := event{
			What: fmt.Sprintf("A wave of bad votes on %s.", textOf(cmp.Or(wave.Page, "the site"))),
			Details: fmt.Sprintf("%s %s, against %s in the %s before.",
				number(wave.Votes), when, number(wave.Before), plural(int64(wave.Weeks), "week", "weeks")),
			Do: "It is the page to fix first.",
		}
		if wave.Page == "" {
			e.Do = "Read what readers ask and complain about."
		}
		all = append(all, e)
	}
	return all
}

// waves finds the waves that reach into the period.
func (in Input) waves() []events.Wave {
	weeks := store.Windows(in.Period.Project, store.Week, in.Before.From, in.Period.To)
	if len(weeks) < 2 {
		return nil
	}

	thumbs := events.NewVotes(len(weeks))
	questions := events.NewVotes(len(weeks))
	complaints := events.NewVotes(len(weeks))
	for i, week := range weeks {
		p := in.Before
		if isWithin(week, in.Period.Window) {
			p = in.Period
		}

		list := p.thumbsIn(week)
		thumbs.IsCut[i] = !isKnown(list.Export) || list.Truncated
		questions.IsCut[i] = !isWithin(week, p.Conversations.whole(AskedAt))
		complaints.IsCut[i] = !isWithin(week, p.Comments.whole(WrittenAt))
		for page, s := range in.saidIn(p, list.Rows, week) {
			thumbs.Add(page, i, s.Down)
			questions.Add(page, i, s.Unanswered)
			complaints.Add(page, i, s.Complaints+s.settled)
		}
	}

	found := in.ByDay.Waves(weeks, []events.Votes{thumbs, questions, complaints})
	return slices.DeleteFunc(found, func(w events.Wave) bool { return !w.To.Time().After(in.Period.From.Time()) })
}

// thumbsIn returns the thumbs of one of a period's weeks.
func (p Period) thumbsIn(week store.Window) List[mintlify.FeedbackCount] {
	for _, list := range p.Weeks {
		if list.From == week.From && list.To == week.To {
			return list
		}
	}
	return List[mintlify.FeedbackCount]{}
}

// waveOf returns the place of a page's wave, or the number of waves: the pages of waves are the first to fix.
func (in Input) waveOf(c comparison) int {
	for i, wave := range in.happened.waves {
		if wave.Page != "" && wave.Page == pagePath(c.raw) {
			return i
		}
	}
	return len(in.happened.waves)
}

// moves names the pages that were found under new names, those of a folder together.
func (in Input) moves() []event {
	pages := map[string][]events.Move{}
	for _, one := range in.Moved.found {
		if !one.Day.Time().Before(in.Before.From.Time()) {
			f := events.FoldersOf(one.From, one.To)
			when := one.Day.Time().Format(fullDay)
			what := fmt.Sprintf("pages moved from %s to %s on %s.", textOf(f.From), textOf(f.To), when)
			pages[what] = append(pages[what], one)
		}
	}
	order := slices.SortedFunc(maps.Keys(pages), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(pages[b]), len(pages[a])), cmp.Compare(a, b))
	})

	var all []event
	for _, what := range order {
		if n := len(pages[what]); n > 1 {
			all = append(all, event{What: fmt.Sprint(n, " ", what), Details: "They count under their new names."})
			continue
		}

		one := pages[what][0]
		from := textOf(one.From)
		all = append(all, event{
			What:    fmt.Sprintf("%s moved to %s on %s.", from, textOf(one.To), one.Day.Time().Format(fullDay)),
			Details: fmt.Sprintf("It counts under its new name. If it has not moved: -moved %s=%s", from, from),
		})
	}
	return all
}

// firstVisitors says who came since the first visitor, if that was after the period.
func (in Input) firstVisitors() []event {
	first, since, isThere := in.ByDay.FirstVisitor()
	if !isThere || first.Time().Before(in.Period.To.Time()) {
		return nil
	}

	days := store.Window{From: first, To: in.days[len(in.days)-1].To}
	return []event{{
		What: fmt.Sprintf("The first visitor came on %s.", first.Time().Format(fullDay)),
		Details: fmt.Sprintf("%s and %s came by day since, in %s. The first page with them comes on %s.",
			plural(since.Human, "human", "humans"), plural(since.AI, "AI", "AIs"),
			plural(int64(days.Days()), "day", "days"), store.WeekOf(first).To.Time().Format("Monday, 2 January")),
	}}
}

// spiked says which days stand out, and on which page.
func (in Input) spiked() []event {
	var all []event
	for _, spike := range in.spikes.Told(in.Period.Window) {
		var days []string
		for _, day := range spike.Days {
			days = append(days, day.Time().Format(fullDay))
		}

		what := number(spike.More) + " more " + kinds[spike.Kind].name + " than usual on "
		others := ""
		if spike.Page != "" {
			what += textOf(spike.Page) + ", on "
		}
		what += firstFew(days)
		if spike.Mostly != "" {
			what += ", " + number(spike.OfMostly) + " of them on " + textOf(spike.Mostly)
		}
		if spike.Others > 0 {
			others = fmt.Sprintf("And more on %s.", plural(int64(spike.Others), "other page", "other pages"))
		}
		all = append(all, event{What: what + ".", Details: sentences(others, "Changes and shares are without them.")})
	}
	return all
}

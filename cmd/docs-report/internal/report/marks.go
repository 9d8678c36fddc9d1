package report

import (
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Mark is a day on which something happened, such as a launch.
type Mark struct {
	Day  mintlify.Date
	Text string
}

type markView struct {
	Name, Day, Text string
	Effect          string
}

// markName names the first mark A.
func markName(i int) string { return string(rune('A' + i%26)) }

func (in Input) marked() []markView {
	var all []markView
	for i, mark := range in.Marks {
		all = append(all, markView{
			Name:   markName(i),
			Day:    mark.Day.Time().Format("Monday, 2 January"),
			Text:   textOf(mark.Text),
			Effect: in.effectOf(mark),
		})
	}
	return all
}

const weekOfMark = 7

// effectOf compares the mean of the seven days from a mark on with the mean of the seven days before, by
// the weekdays that both have, without what stands out.
func (in Input) effectOf(mark Mark) string {
	days := byDay(in.days)
	var now, before mintlify.VisitorTotals
	paired := int64(0)

	for i := range weekOfMark {
		after := in.usualDay(days, mark.Day.AddDays(i))
		same := in.usualDay(days, mark.Day.AddDays(i-weekOfMark)) // the same weekday
		if after != nil && same != nil {
			paired++
			now = sum(now, *after)
			before = sum(before, *same)
		}
	}

	compared := in.compare(
		store.Window{From: mark.Day, To: mark.Day.AddDays(weekOfMark)},
		store.Window{From: mark.Day.AddDays(-weekOfMark), To: mark.Day})

	switch {
	case paired == 0:
		return "The days around it are not known yet."
	case compared.missing != "":
		return compared.missing
	}

	text := fmt.Sprintf("Humans %s a day, %s; AIs %s a day, %s; against the seven days before",
		number(now.Human/paired), compared.visitors(humans, only(now), only(before)).words(),
		number(now.AI/paired), compared.visitors(ais, only(now), only(before)).words())
	if paired < weekOfMark {
		text += fmt.Sprintf(" (%d of 7 days)", paired)
	}
	both := store.Window{From: compared.before.From, To: compared.now.To}
	if out := in.note(both, byDays, events.Kinds...); out != "" {
		text += ", without " + out
	}
	return text + "."
}

// usualDay returns a day's counts without what stands out, or nil if they are not known.
func (in Input) usualDay(days map[mintlify.Date]*mintlify.VisitorTotals, day mintlify.Date) *mintlify.VisitorTotals {
	counts := days[day]
	w := store.Window{From: day, To: day.AddDays(1)}
	hasNoUsual := func(one events.Surplus) bool { return one.Usual.IsZero() }
	if counts == nil || slices.ContainsFunc(in.odd.Within(w), hasNoUsual) {
		return nil
	}
	usual := in.usual(w, *counts)
	return &usual
}

// CheckMarks refuses marks outside of the window.
func (in Input) CheckMarks() error {
	for _, mark := range in.Marks {
		if !in.Period.Window.Has(mark.Day.Time()) {
			return fmt.Errorf("-mark %v is outside of the report's days, %s", mark.Day, span(in.Period.Window))
		}
	}
	return nil
}

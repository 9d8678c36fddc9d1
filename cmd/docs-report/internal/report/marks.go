package report

import (
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
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

// effectOf compares the mean of the seven days from a mark on with the mean of the seven days before, by
// the weekdays that both have.
func (in Input) effectOf(mark Mark) string {
	const week = 7
	days := byDay(in.Days)

	var now, before mintlify.VisitorTotals
	var compared []bucket
	paired := int64(0)
	for i := range week {
		after := days[mark.Day.AddDays(i)]
		same := days[mark.Day.AddDays(i-week)] // the same weekday
		if after == nil || same == nil {
			continue
		}

		paired++
		for _, day := range []mintlify.Date{mark.Day.AddDays(i), mark.Day.AddDays(i - week)} {
			compared = append(compared, bucket{Window: store.Window{From: day, To: day.AddDays(1)}, Now: days[day]})
		}

		now.Human += after.Human
		now.AI += after.AI
		before.Human += same.Human
		before.AI += same.AI
	}

	switch text := breakWithin(mark.Day.AddDays(-week), mark.Day.AddDays(week)); {
	case paired == 0:
		return "The days around it are not known yet."
	case text != "":
		return "The days around it cannot be compared: " + text + "."
	}

	text := fmt.Sprintf("Humans %s a day, %s; AIs %s a day, %s; against the seven days before",
		number(now.Human/paired), changeOfCount(now.Human, before.Human).words(),
		number(now.AI/paired), changeOfCount(now.AI, before.AI).words())
	if paired < week {
		text += fmt.Sprintf(" (%d of 7 days)", paired)
	}
	return sentences(text+".", standingOut(compared))
}

// standingOut names the days that are far beyond the others: they may be the only reason for a
// change.
func standingOut(days []bucket) string {
	p := plot{unit: store.Day, buckets: days}
	var all []string
	for _, panel := range p.panels() {
		all = append(all, panel.outlierSentence(p))
	}
	return sentences(all...)
}

// CheckMarks refuses marks outside of the window.
func (in Input) CheckMarks() error {
	for _, mark := range in.Marks {
		if !isAt(mark.Day.Time(), in.Period.Window) {
			return fmt.Errorf("-mark %v is outside of the report's days, %s", mark.Day, span(in.Period.Window))
		}
	}
	return nil
}

package report

import (
	"fmt"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const monthsShown = 12

type growth struct {
	Summary string
	Empty   string // is why there is nothing to show
	Broken  string // says which months are not compared
}

// newGrowth compares the last month with the first of a year that can be compared, and with the same month a year
// before.
func newGrowth(in Input) growth {
	first := firstVisitor(in.months) // before the site existed, the service counts nobody
	if first < 0 {
		return growth{Empty: "No whole month with visitors is in the database yet."}
	}

	months := in.months[first:]
	last := months[len(months)-1]
	since := ""
	yearBefore := ""
	for _, month := range months {
		switch apart := monthsBetween(month, last); {
		case apart == monthsShown:
			yearBefore = in.grown("Against", last, month)
		case apart > 0 && apart < monthsShown && since == "":
			since = in.grown("Since", last, month)
		}
	}

	year := store.Window{From: months[max(0, len(months)-monthsShown)].From, To: last.To}
	opened := ""
	if day, isOpening := in.opening(year); isOpening {
		opened = "There are visitors from " + day + " on."
	}
	if since == "" && yearBefore == "" {
		since = "There is no earlier month to compare it with."
	}

	g := growth{Summary: sentences(in.lastMonth(last), since, yearBefore, opened)}
	if redefined := breakWithin(year.From, year.To); redefined != "" {
		g.Broken = "No month is compared across a redefinition: " + redefined + "."
	}
	return g
}

func monthsBetween(a, b store.Point) int {
	from := a.From.Time()
	to := b.From.Time()
	return 12*(to.Year()-from.Year()) + int(to.Month()-from.Month())
}

func (in Input) lastMonth(last store.Point) string {
	usual := in.usual(last.Window, last.Counts)
	share := "; "
	note := in.note(last.Window, last.Counts.Human+last.Counts.AI, events.Kinds...)
	if note != "" && usual != last.Counts {
		share = ", of which " + note + ". Without these, "
	}
	return fmt.Sprintf("%s: %s and %s%sAIs are %s of the visitors.", span(last.Window),
		plural(last.Counts.Human, "human", "humans"), plural(last.Counts.AI, "AI", "AIs"), share, shareOfAIs(usual))
}

// grown compares a month with an earlier one, or returns "".
func (in Input) grown(when string, last, then store.Point) string {
	compared := in.compare(last.Window, then.Window)
	if compared.missing != "" {
		return ""
	}

	now := only(in.usual(last.Window, last.Counts))
	was := only(in.usual(then.Window, then.Counts))
	return fmt.Sprintf("%s %s: humans %s, AIs %s.", when, span(then.Window),
		compared.visitors(humans, now, was).words(), compared.visitors(ais, now, was).words())
}

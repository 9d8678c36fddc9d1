package report

import (
	"fmt"
	"slices"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const monthsShown = 12

// growth is the share of AI by month.
func growth(in Input) section {
	var rows []finding
	for i, m := range slices.Backward(in.Months) {
		row := growthOf(m)
		if i > 0 {
			row.Change = monthChange(m, in.Months[i-1])
		}
		rows = append(rows, row)
	}

	shown := min(monthsShown, len(rows))
	list := findings{Rows: rows[:shown], More: rows[shown:]}
	if len(rows) == 0 {
		list.Empty = "No whole month is in the database yet: docs-report sync -from loads more."
	}
	return section{
		ID:      "growth",
		Title:   "Is AI traffic growing?",
		Summary: growthSummary(in, rows),
		Best:    list,
	}
}

// monthChange does not know the change if a month in between is missing, or if the service
// redefined what it counts.
func monthChange(month, before store.Export) change {
	if before.To != month.From || breakWithin(before.From, month.To) != "" {
		return change{}
	}
	return pointsOf(share(month.Totals.Human, month.Totals.AI), share(before.Totals.Human, before.Totals.AI))
}

func growthOf(m store.Export) finding {
	f := finding{
		Text:  m.From.Time().Format("January 2006"),
		Much:  shareText(m.Totals.Human, m.Totals.AI),
		Quiet: number(m.Totals.AI) + " AIs, " + number(m.Totals.Human) + " humans",
		Width: round(100 * share(m.Totals.Human, m.Totals.AI)),
		Class: "ai",
	}
	if text := breakWithin(m.From, m.To); text != "" {
		f.Quiet += "; " + text
	}
	return f
}

// growthSummary compares the newest month, which comes first, with the oldest.
func growthSummary(in Input, rows []finding) string {
	if len(rows) == 0 {
		return ""
	}

	last := rows[0]
	first := rows[len(rows)-1]

	if len(rows) == 1 {
		return fmt.Sprintf("AIs were %s of the visitors in %s, the only whole month in the database.",
			last.Much, last.Text)
	}

	text := fmt.Sprintf("AIs were %s of the visitors in %s", last.Much, last.Text)
	if last.Change.Text != "" {
		text += ", " + last.Change.Text + " from the month before"
	}
	text += fmt.Sprintf(", and %s in %s, the first month in the database.", first.Much, first.Text)

	if redefined := breakWithin(in.Months[0].From, in.Months[len(rows)-1].To); redefined != "" {
		text += " The first and the last month cannot be compared: " + redefined + "."
	}
	return text
}

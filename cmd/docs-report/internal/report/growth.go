package report

import (
	"fmt"
	"slices"
)

// growth is the share of AI by month.
func growth(in Input) section {
	s := section{ID: "growth", Title: "Is AI traffic growing?"}
	var rows []finding
	for _, m := range slices.Backward(in.Months) {
		f := finding{Text: m.From.Time().Format("January 2006"), Much: shareText(m.Totals.Human, m.Totals.AI), Class: "ai",
			Quiet: number(m.Totals.AI) + " AIs, " + number(m.Totals.Human) + " humans", Width: round(100 * share(m.Totals.Human, m.Totals.AI))}
		if text := breakWithin(m.From, m.To); text != "" {
			f.Quiet += "; " + text
		}
		rows = append(rows, f)
	}
	const year = 12
	list := findings{Rows: rows[:min(year, len(rows))], More: rows[min(year, len(rows)):]}
	if len(rows) == 0 {
		list.Empty = "No whole month is in the database yet: docs-report sync -from loads more."
	} else {
		last, first := rows[0], rows[len(rows)-1]
		s.Summary = fmt.Sprintf("AIs were %s of the visitors in %s, and %s in %s, the first month in the database.", last.Much, last.Text, first.Much, first.Text)
		if text := breakWithin(in.Months[0].From, in.Months[len(rows)-1].To); text != "" {
			s.Summary += " These do not compare: " + text + "."
		}
	}
	s.Lists = []findings{list}
	return s
}

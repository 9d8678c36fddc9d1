package report

import "fmt"

// searches are those that led nowhere.
func (in Input) searches() section {
	s := section{ID: "searches", Title: "What readers search for and do not find"}
	var rows []finding
	var inVain int64
	for _, term := range in.Searches.Rows { // most hits first
		if term.CTR > 0 && term.TopClickedPage != "" {
			continue
		}
		inVain += term.Hits
		rows = append(rows, finding{Text: textOf(term.Query), Much: number(term.Hits) + " searches", Class: "bad", Width: float64(term.Hits)})
		if !term.LastSearchedAt.IsZero() {
			rows[len(rows)-1].Quiet = "last on " + term.LastSearchedAt.Format(longDay)
		}
	}
	if total := in.Searches.Totals.Total; total > 0 {
		s.Summary = fmt.Sprintf("%s of %s searches led to no click.", number(inVain), number(total))
	}
	s.Lists = []findings{newFindings("", in.Searches.Export, rows, "Every search led to a page.")}
	return s
}

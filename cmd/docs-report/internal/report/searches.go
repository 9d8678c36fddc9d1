package report

import (
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// searches are those that led nowhere.
func (in Input) searches() section {
	var rows []finding
	var inVain int64
	for _, term := range in.Searches.Rows { // most hits first
		if isFound(term) {
			continue
		}
		inVain += term.Hits
		rows = append(rows, searchedInVain(term))
	}

	s := section{ID: "searches", Title: "What readers search for and do not find"}
	if total := in.Searches.Totals.Total; total > 0 {
		s.Summary = fmt.Sprintf("%s of %s searches led to no click.", number(inVain), number(total))
	}
	s.Lists = []findings{newFindings("", in.Searches.Export, rows, "Every search led to a page.")}
	return s
}

// isFound reports whether somebody clicked a result of the term.
func isFound(term mintlify.SearchTerm) bool { return term.CTR > 0 && term.TopClickedPage != "" }

func searchedInVain(term mintlify.SearchTerm) finding {
	f := finding{
		Text:  textOf(term.Query),
		Much:  number(term.Hits) + " searches",
		Width: float64(term.Hits),
		Class: "bad",
	}
	if !term.LastSearchedAt.IsZero() {
		f.Quiet = "last on " + term.LastSearchedAt.Format(longDay)
	}
	return f
}

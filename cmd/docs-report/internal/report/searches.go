package report

import (
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// searches are those that led nowhere.
func (in Input) searches() section {
	list := in.Period.Searches
	before := earlier{list: in.Before.Searches.Export, counts: map[string]int64{}}
	for _, term := range in.Before.Searches.Rows {
		before.counts[term.Query] = 0
		if !isFound(term) {
			before.counts[term.Query] = term.Hits
		}
	}

	var rows []finding
	for _, term := range list.Rows { // most hits first
		if isFound(term) {
			continue
		}

		row := searchedInVain(term)
		row.Change = before.changeOf(term.Query, term.Hits)
		rows = append(rows, row)
	}

	s := section{ID: "searches", Title: "What readers search for and do not find"}
	if r := searchRate(list); r.all > 0 {
		s.Summary = fmt.Sprintf("%s of %s searches led to no click.", number(r.trouble), number(r.all))
	}
	s.Best = newFindings("", list.Export, rows, "Every search led to a page.")
	s.Best.Note = sentences(s.Best.Note, in.note(before.list))
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

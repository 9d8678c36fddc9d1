package report

import (
	"fmt"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// searched are the search terms of a period, those with the most hits first.
type searched struct {
	terms, typed []term
	rate         rate // of searches without a click, without those that were typed on the way
}

func searchedIn(list List[mintlify.SearchTerm], hasForgotten bool) searched {
	var s searched
	s.terms, s.typed = splitTyped(foldTerms(list.Rows))
	s.rate.Export = list.Export

	for _, t := range s.terms {
		s.rate.all += t.Hits
		if !t.isFound() {
			s.rate.some += t.Hits
		}
	}

	onTheWay := int64(0)
	for _, t := range s.typed {
		onTheWay += t.Hits
	}
	if onTheWay > 0 {
		s.rate.note = "without " + number(onTheWay) + " unfinished"
	}
	if hasForgotten && list.Kept > 0 {
		s.rate.note = strings.TrimPrefix(s.rate.note+", without terms that were forgotten", ", ")
	}
	if !list.Truncated { // the service counts all searches, also those that its list leaves out
		s.rate.all = max(s.rate.all, list.Totals.Total-onTheWay)
	}
	return s
}

// searches are those that led nowhere.
func (in Input) searches() section {
	now := in.Period.searched
	before := in.Before.searched

	hitsBefore := map[string]int64{}
	for _, t := range slices.Concat(before.terms, before.typed) {
		if !t.isFound() {
			hitsBefore[t.key] = t.Hits
		}
	}

	changeOf := in.changes(now.rate.Export, before.rate.Export, mostInClumps)
	var inVain []finding
	for _, t := range now.terms {
		if !t.isFound() {
			row := t.finding("")
			row.Change = changeOf(t.Hits, hitsBefore[t.key])
			inVain = append(inVain, row)
		}
	}

	s := section{
		ID:        "searches",
		Title:     "What readers search for and do not find",
		ListTitle: "Without a click",
	}
	if r := now.rate; r.all > 0 {
		s.Summary = fmt.Sprintf("%s of %s went to terms that nobody clicked%s.",
			number(r.some), plural(r.all, "search", "searches"), r.loaded())
		if r.note != "" {
			s.Summary += " These numbers are " + r.note + "."
		}
	}

	for _, t := range now.typed[:min(mostFindings, len(now.typed))] {
		s.Folded = append(s.Folded, finding{Text: textOf(t.Text), Quiet: plural(t.Hits, "search", "searches")})
	}
	s.FoldedTitle = plural(int64(len(s.Folded)), "unfinished term", "unfinished terms")
	return s.with(now.rate.Export, inVain, "Each term was clicked.", in.listBefore(before.rate.Export))
}

func (t term) finding(quiet string) finding {
	return finding{
		Text:  textOf(t.Text),
		Much:  plural(t.Hits, "search", "searches"),
		Quiet: quiet,
		Width: float64(t.Hits),
	}
}

package report

import (
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

type searches struct{ now, before searched }

type searched struct {
	terms, typed []term
	rate         rate // of searches without a click, without those that were typed on the way
}

func newSearches(in Input) searches {
	return searches{
		now:    searchedIn(in.Period.Searches),
		before: searchedIn(in.Before.Searches),
	}
}

func searchedIn(list List[mintlify.SearchTerm]) searched {
	var s searched
	s.terms, s.typed = splitTyped(foldTerms(list.Rows))
	s.rate = rate{isKnown: list.isKnown(), isPartial: list.Truncated}

	for _, t := range s.terms {
		s.rate.all += t.Hits
		if !t.isFound() {
			s.rate.some += t.Hits
		}
	}

	onTheWay := hitsOf(s.typed)
	if onTheWay > 0 {
		s.rate.note = "without " + number(onTheWay) + " unfinished"
	}
	if !list.Truncated { // the service counts all searches, also those that its list leaves out
		s.rate.all = max(s.rate.all, list.Totals.Total-onTheWay)
	}
	return s
}

func hitsOf(terms []term) int64 {
	sum := int64(0)
	for _, t := range terms {
		sum += t.Hits
	}
	return sum
}

// searches are those that led nowhere, and where the others led.
func (in Input) searches(all searches) section {
	list := in.Period.Searches
	before := in.earlier(list.Export, in.Before.Searches.Export, mostInClumps, all.before.inVain())

	var inVain []finding
	for _, t := range all.now.terms { // most hits first
		if t.isFound() {
			continue
		}
		row := t.finding("")
		row.Change = before.changeOf(t.key, t.Hits)
		inVain = append(inVain, row)
	}

	s := section{ID: "searches", Title: "What readers search for and do not find"}
	if r := all.now.rate; r.all > 0 {
		s.Summary = fmt.Sprintf("%s of %s went to terms that nobody clicked%s.",
			number(r.some), plural(r.all, "search", "searches"), r.loaded())
		if r.note != "" {
			s.Summary += " These numbers are " + r.note + "."
		}
	}

	best := newFindings("Without a click", list.Export, inVain, "Each term was clicked.")
	best.Note = sentences(best.Note, in.listBefore(in.Before.Searches.Export))
	s.Lists = []findings{best}

	for _, t := range all.now.typed {
		s.Typed = append(s.Typed, finding{Text: textOf(t.Text), Quiet: plural(t.Hits, "search", "searches")})
	}
	s.Typed = s.Typed[:min(mostFindings, len(s.Typed))]
	return s
}

// inVain returns the hits of each term that nobody clicked, 0 for those that somebody did.
func (s searched) inVain() map[string]int64 {
	counts := map[string]int64{}
	for _, t := range slices.Concat(s.terms, s.typed) {
		counts[t.key] = 0
		if !t.isFound() {
			counts[t.key] = t.Hits
		}
	}
	return counts
}

// isFound reports whether somebody clicked a result of the term.
func isFound(row mintlify.SearchTerm) bool { return row.CTR > 0 && row.TopClickedPage != "" }

func (t term) finding(quiet string) finding {
	return finding{
		Text:  textOf(t.Text),
		Much:  plural(t.Hits, "search", "searches"),
		Quiet: quiet,
		Width: float64(t.Hits),
	}
}

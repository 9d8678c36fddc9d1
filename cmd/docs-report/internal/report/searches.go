package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
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
	return s.with(now.rate.Export, inVain, "Each term was clicked.",
		sentences(in.Period.Searches.partly(), in.listBefore(before.rate.Export)))
}

func (t term) finding(quiet string) finding {
	return finding{
		Text:  textOf(t.Text),
		Much:  plural(t.Hits, "search", "searches"),
		Quiet: quiet,
		Width: float64(t.Hits),
	}
}

// term is a search term in all its spellings.
type term struct {
	key  string // is what the spellings have in common
	Text string // is the spelling with the most hits

	Hits   int64
	clicks float64
	Page   string // is the page that readers clicked most; "" if nobody clicked

	mostClicked float64
}

// isFound reports whether somebody clicked a result of the term, in any of its spellings.
func (t term) isFound() bool { return t.Page != "" }

// clicked returns how many of 100 searches ended with a click.
func (t term) clicked() float64 { return t.clicks / max(float64(t.Hits), 1) }

// foldTerms adds the spellings of each term up: case, blanks and final punctuation make no
// difference. The terms with the most hits come first.
func foldTerms(rows []mintlify.SearchTerm) []term {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b mintlify.SearchTerm) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.Query, b.Query))
	})

	byKey := map[string]term{}
	for _, row := range rows {
		key := store.FoldTerm(row.Query)
		t, isKnown := byKey[key]
		if !isKnown {
			t = term{key: key, Text: row.Query}
		}
		byKey[key] = t.with(row)
	}

	return slices.SortedFunc(maps.Values(byKey), func(a, b term) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.key, b.key))
	})
}

func (t term) with(row mintlify.SearchTerm) term {
	clicks := float64(row.Hits) * row.CTR
	if clicks > 0 && row.TopClickedPage != "" {
		t.clicks += clicks
		if clicks > t.mostClicked {
			t.mostClicked = clicks
			t.Page = row.TopClickedPage
		}
	}

	t.Hits += row.Hits
	return t
}

// splitTyped takes out the terms that readers typed on the way to another term.
func splitTyped(terms []term) (whole, typed []term) {
	for _, t := range terms {
		if slices.ContainsFunc(terms, t.isTypedFor) {
			typed = append(typed, t)
		} else {
			whole = append(whole, t)
		}
	}
	return whole, typed
}

// isTypedFor reports whether readers typed t on the way to another term: nobody clicked t, and it begins a
// term of more hits. One or two Latin letters may begin any term; in other scripts two characters are a word.
func (t term) isTypedFor(other term) bool {
	isLonger := len(other.key) > len(t.key) && strings.HasPrefix(other.key, t.key)
	if !isLonger || t.isFound() || t.key == "" {
		return false
	}
	isLatin := !strings.ContainsFunc(t.key, func(r rune) bool { return r < 'a' || r > 'z' })
	return other.Hits > t.Hits || isLatin && len(t.key) <= 2
}

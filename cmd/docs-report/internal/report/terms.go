package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

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

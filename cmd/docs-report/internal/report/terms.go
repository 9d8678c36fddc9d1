package report

import (
	"cmp"
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

	mostHits, mostClicked float64
}

// isFound reports whether somebody clicked a result of the term, in any of its spellings.
func (t term) isFound() bool { return t.Page != "" }

// clicked returns how many of 100 searches ended with a click.
func (t term) clicked() float64 { return t.clicks / max(float64(t.Hits), 1) }

// foldTerms adds the spellings of each term up: case, blanks and final punctuation make no
// difference. The terms with the most hits come first.
func foldTerms(rows []mintlify.SearchTerm) []term {
	byKey := map[string]*term{}
	for _, row := range rows {
		key := store.FoldTerm(row.Query)
		if byKey[key] == nil {
			byKey[key] = &term{key: key, mostHits: -1}
		}
		byKey[key].add(row)
	}

	all := make([]term, 0, len(byKey))
	for _, t := range byKey {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.key, b.key))
	})
	return all
}

func (t *term) add(row mintlify.SearchTerm) {
	hits := float64(row.Hits)
	if hits > t.mostHits || hits == t.mostHits && row.Query < t.Text {
		t.mostHits = hits
		t.Text = row.Query
	}

	if clicks := hits * row.CTR; clicks > 0 && row.TopClickedPage != "" {
		t.clicks += clicks
		if clicks > t.mostClicked {
			t.mostClicked = clicks
			t.Page = row.TopClickedPage
		}
	}
	t.Hits += row.Hits
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

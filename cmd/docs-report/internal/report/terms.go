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

	if isFound(row) {
		if clicks := hits * row.CTR; clicks > t.mostClicked || t.Page == "" {
			t.mostClicked = clicks
			t.Page = row.TopClickedPage
		}
		t.clicks += hits * row.CTR
	}
	t.Hits += row.Hits
}

// splitTyped takes out the terms that readers typed on the way to another term: nobody clicked
// them, and a term of more hits begins with them, or they are one or two Latin letters with which
// any other term begins.
func splitTyped(terms []term) (whole, typed []term) {
	byKey := slices.Clone(terms)
	slices.SortFunc(byKey, func(a, b term) int { return cmp.Compare(a.key, b.key) })

	isTyped := map[string]bool{}
	for i, t := range byKey {
		isTyped[t.key] = t.beginsAnotherOf(byKey[i+1:])
	}

	for _, t := range terms {
		if isTyped[t.key] {
			typed = append(typed, t)
		} else {
			whole = append(whole, t)
		}
	}
	return whole, typed
}

// beginsAnotherOf reports whether readers typed t on the way to one of the terms that follow it in
// the order of their keys. Terms that begin alike stand together there.
func (t term) beginsAnotherOf(following []term) bool {
	if t.isFound() || t.key == "" {
		return false
	}

	isShort := isOneOrTwoLetters(t.key)
	for _, longer := range following {
		if !strings.HasPrefix(longer.key, t.key) {
			return false
		}
		if isShort || longer.Hits > t.Hits {
			return true
		}
	}
	return false
}

// isOneOrTwoLetters is only true for Latin letters: in other scripts two characters are a word.
func isOneOrTwoLetters(text string) bool {
	letters := 0
	for _, r := range text {
		if r < 'a' || r > 'z' {
			return false
		}
		letters++
	}
	return letters == 1 || letters == 2
}

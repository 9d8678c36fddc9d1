package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestSpellingsAreOneTerm(t *testing.T) {
	terms := foldTerms([]mintlify.SearchTerm{
		{Query: "rate limit", Hits: 10},
		{Query: "Rate  Limit?", Hits: 30, CTR: 50, TopClickedPage: "/limits"},
		{Query: " RATE LIMIT", Hits: 5, CTR: 100, TopClickedPage: "/other"},
		{Query: "limit", Hits: 44},
	})

	require.Len(t, terms, 2)
	assert.Equal(t, "Rate  Limit?", terms[0].Text, "as most readers spell it")
	assert.Equal(t, int64(45), terms[0].Hits)
	assert.Equal(t, "/limits", terms[0].Page, "of the most clicks")
	assert.InDelta(t, (30*50+5*100)/45.0, terms[0].clicked(), 0.01)
	assert.True(t, terms[0].isFound(), "in one of its spellings")
	assert.False(t, terms[1].isFound())
}

func TestTypedOnTheWay(t *testing.T) {
	_, typed := splitTyped(foldTerms([]mintlify.SearchTerm{
		{Query: "webhooks", Hits: 90, CTR: 50, TopClickedPage: "/webhooks"},
		{Query: "webho", Hits: 89},
		{Query: "WE", Hits: 400},
		{Query: "w.", Hits: 200},
		{Query: "web", Hits: 300},
		{Query: "webh", Hits: 90},
		{Query: "webhoo", Hits: 20, CTR: 10, TopClickedPage: "/webhooks"},
		{Query: "go", Hits: 9},
		{Query: "日本", Hits: 4},
		{Query: "日本語", Hits: 3},
		{Query: "3d", Hits: 5},
		{Query: "3d models", Hits: 4},
		{Query: "", Hits: 5},
	}))

	var texts []string
	for _, t := range typed {
		texts = append(texts, t.Text)
	}
	assert.Equal(t, []string{"WE", "w.", "webho"}, texts,
		"not what has more hits than any term it begins, what was clicked, words of other scripts, or the beginning of nothing")
}

package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// What readers type on the way to a term is neither the first search in vain nor in the rate.
func TestSearchesAreFolded(t *testing.T) {
	in := quiet(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	end := in.Period.To.Time()
	in.Period.Searches.Kept = 9
	in.Period.Searches.Totals.Total = 1000
	in.Period.Searches.Rows = []mintlify.SearchTerm{
		{Query: "webhooks", Hits: 300, CTR: 50, TopClickedPage: "https://docs.example.com/webhooks/"},
		{Query: "we", Hits: 250},
		{Query: "webho", Hits: 150},
		{Query: "Terraform", Hits: 60, LastSearchedAt: end.Add(-8 * 24 * time.Hour)},
		{Query: "terraform ?", Hits: 50, LastSearchedAt: end.Add(-9 * 24 * time.Hour)},
		{Query: "okta", Hits: 1, LastSearchedAt: end.Add(-6 * 24 * time.Hour)},
	}

	text := words(write(t, in))
	assert.Contains(t, text, "111 of 600 searches went to terms that nobody clicked. "+
		"These numbers are without 400 half-typed."+
		" Without a click Terraform 110 searches · last on 28 February 2027 +110 okta 1 search +1"+
		" 2 half-typed terms we 250 searches webho 150 searches")
	assert.Contains(t, text, "Searches for terms nobody clicked 18.5% 111 of 600, without 400 half-typed")
}

// The page says from where the assistant is asked.
func TestWhereTheAssistantIsAsked(t *testing.T) {
	in := quiet(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	in.Period.Callers = report.List[mintlify.CallerStats]{
		Export: store.Export{State: store.Loaded, Kept: 1},
		Rows:   []mintlify.CallerStats{{Web: 80, API: 15, Other: 5, Total: 100}},
	}

	text := words(write(t, in))
	assert.Contains(t, text, "Asked from: the documentation 80.0%, the API 15.0%, elsewhere 5.0%.")
	assert.Contains(t, text, "The service does not tell who sends the traffic")
}

// Sections that have nothing to show are one line, which says when to look again.
func TestNothingToShow(t *testing.T) {
	in := quiet(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	text := words(write(t, in))
	assert.Contains(t, text, "Nothing to show. Growth by month: No whole month with visitors is in the database yet."+
		" Gains and losses: No page gained or lost more than chance. What readers search for and do not find: The service has nothing in these dates."+
		" What readers ask the assistant and get no answer to: The service has nothing in these dates."+
		" What readers complain about: The service has nothing in these dates. Look again on Monday, 15 March.")

	in.NotLoaded = in.Period.To
	assert.Contains(t, words(write(t, in)), "Look again after the next docs-report sync.")
}

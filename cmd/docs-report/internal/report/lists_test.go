package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// What readers type on the way to a term is neither the first search in vain nor in the rate.
func TestSearchesAreFolded(t *testing.T) {
	in := quiet(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	in.Period.Searches.Kept = 9
	in.Period.Searches.Totals.Total = 1000
	in.Period.Searches.Rows = []mintlify.SearchTerm{
		{Query: "webhooks", Hits: 300, CTR: 50, TopClickedPage: "https://docs.example.com/webhooks/"},
		{Query: "we", Hits: 250},
		{Query: "webho", Hits: 150},
		{Query: "Terraform", Hits: 60},
		{Query: "terraform ?", Hits: 50},
		{Query: "okta", Hits: 1},
	}

	text := words(write(t, in))
	assert.Contains(t, text, "111 of 600 searches went to terms that nobody clicked. "+
		"These numbers are without 400 unfinished."+
		" Without a click Terraform 110 searches +110 okta 1 search about the same"+
		" 2 unfinished terms we 250 searches webho 150 searches")
	assert.Contains(t, text, "Searches for terms nobody clicked 18.5% 111 of 600, without 400 unfinished")
}

// Sections that have nothing to show are one line.
func TestNothingToShow(t *testing.T) {
	in := quiet(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	text := words(write(t, in))
	assert.Contains(t, text, "Nothing to show. Growth by month: No whole month with visitors is in the database yet."+
		" Gains and losses: No page gained or lost more than chance. What readers search for and do not find;"+
		" what readers ask the assistant and get no answer to; what readers complain about: The service has nothing in these dates.")
}

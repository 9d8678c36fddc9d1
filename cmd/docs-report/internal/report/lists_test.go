package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
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
	assert.Contains(t, text, "Searches for terms nobody clicked 18.5% 111 of 600, without 400 unfinished Questions")

	in.HasForgotten = true
	assert.Contains(t, words(write(t, in)), " without 400 unfinished, without terms that were forgotten Questions")
}

// Sections that have nothing to show are one line.
func TestNothingToShow(t *testing.T) {
	in := quiet(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	text := words(write(t, in))
	assert.Contains(t, text, "Nothing to show. Growth by month: No whole month with visitors is in the database yet."+
		" Gains and losses: No page gained or lost more than chance."+
		" What readers search for and do not find: The service has nothing in these dates."+
		" What readers ask the assistant and get no answer to: The same. What readers complain about: The same.")
}

// A list of one page that begins late says since when it is known, and one that is cut that it has more rows.
func TestListsOfOnePageThatBeginLate(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, 8, 24), mintlify.Day(2026, 11, 16))
	list := in.Period.Conversations
	list.Window = store.Window{From: mintlify.Day(2026, 9, 28), To: in.Period.To}
	list.Rows = []mintlify.Conversation{{Query: "Why?", PageURL: "/start", Timestamp: mintlify.Day(2026, 10, 1).Time()}}
	lists := []report.List[mintlify.Conversation]{list}
	onePage := func() string {
		page, err := report.OnePage(report.PageInput{
			Input: report.Input{Project: "docs"}, Path: "/start", Weeks: in.Trend,
			Conversations: lists,
		})
		require.NoError(t, err)
		return words(string(page))
	}

	assert.Contains(t, onePage(), "Why? 1 question · 0 unanswered Known since 28 September.")
	assert.NotContains(t, onePage(), "The service has more")

	earlier := list
	earlier.Window = store.Window{From: mintlify.Day(2026, 8, 31), To: mintlify.Day(2026, 9, 28)}
	earlier.Truncated = true
	lists = append(lists, earlier)
	assert.NotContains(t, onePage(), "Known since", "an earlier list is cut")

	lists = lists[:1]
	lists[0].Truncated = true
	assert.Contains(t, onePage(), "Why? 1 question · 0 unanswered The service has more than these first 1 rows.")
	assert.NotContains(t, onePage(), "Known since")

	lists[0].Window = store.Window{From: in.Period.From, To: mintlify.Day(2026, 11, 2)}
	lists[0].Truncated = false
	lists = append(lists, earlier)
	lists[1].Window = in.Period.Before()
	assert.Contains(t, onePage(), "Why? 1 question · 0 unanswered Nothing is loaded from 2 November on.", "a list that fails")
}

// A list that is cut has all rows after its oldest one: the weeks after it are counted. What is shown is not missing.
func TestTheWholeWeeksOfAListThatIsCut(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, 9, 28), mintlify.Day(2026, 11, 23))
	list := in.Period.Comments
	list.Export = store.Export{Window: in.Period.Window, State: store.Loaded, Truncated: true, Texts: true}
	for _, day := range []int{4, 12} {
		list.Rows = append(list.Rows, mintlify.Feedback{
			Path: "/start", Comment: "No.", CreatedAt: mintlify.Day(2026, 11, day).Time().Add(time.Hour),
		})
	}
	page, err := report.OnePage(report.PageInput{
		Input: report.Input{Project: "docs", Generated: in.Period.To.Time()}, Path: "/start", Weeks: in.Trend,
		Since: mintlify.Day(2026, 11, 9), Comments: []report.List[mintlify.Feedback]{list},
	})
	require.NoError(t, err)
	assert.Contains(t, words(string(page)),
		"Written complaints Before: 1, of the rows that are loaded After: 1 (2 of 4 weeks) –")
}

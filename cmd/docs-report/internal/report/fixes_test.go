package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Pages are ranked by humans times the share of bad votes that is at least likely.
func TestWhatToFixFirst(t *testing.T) {
	totals := mintlify.VisitorTotals{Human: 100, AI: 100, Total: 200}
	in := two(totals, totals)

	in.Period.Rows = []mintlify.Visitor{
		{Path: "/praised", Human: 9000, Total: 9000},
		{Path: "/busy/", Human: 6000, AI: 2117, Total: 8117},
		{Path: "/bad", Human: 500, Total: 500},
		{Path: "/fine", Human: 9000, Total: 9000},
		{Path: "/once", Human: 1000, Total: 1000},
		{Path: "/sixty", Human: 1000, Total: 1000},
		{Path: "/bots", AI: 90_000, Total: 90_000},
		{Path: "/asked", Human: 3000, Total: 3000},
		{Path: "/one", Human: 1, Total: 1},
	}
	in.Period.ByPage.Rows = []mintlify.FeedbackCount{
		{Path: "/bad", ThumbsDown: 9},
		{Path: "https://docs.example.com/busy/?x#y", ThumbsUp: 3, ThumbsDown: 4},
		{Path: "/busy", ThumbsDown: 1},
		{Path: "/fine", ThumbsUp: 30},
		{Path: "/unread", ThumbsDown: 3},
		{Path: "/praised", ThumbsUp: 99, ThumbsDown: 1},
		{Path: "/once", ThumbsDown: 1},
		{Path: "/sixty", ThumbsUp: 40, ThumbsDown: 60},
		{Path: "/bots", ThumbsDown: 50},
		{Path: "/one", ThumbsDown: 1},
	}

	no := false
	yes := true
	in.Period.Comments.Rows = []mintlify.Feedback{
		{Path: "/busy", Comment: "Why?", Helpful: &no}, // counts as its thumb
		{Path: "/busy", Comment: "How?"},
		{Path: "/busy", Comment: "Settled.", Status: mintlify.FeedbackResolved},
		{Path: "/busy", Comment: "Dropped.", Status: mintlify.FeedbackDismissed},
		{Path: "/busy", Comment: "Thanks.", Helpful: &yes},
	}
	in.Period.Conversations.Rows = []mintlify.Conversation{
		{PageURL: "https://docs.example.com/busy", ResolutionStatus: mintlify.ResolutionUnanswered},
		{PageURL: "https://docs.example.com/asked?q", ResolutionStatus: mintlify.ResolutionAnswered},
		{PageURL: "https://docs.example.com/asked", ResolutionStatus: mintlify.ResolutionUnanswered},
		{ResolutionStatus: mintlify.ResolutionUnanswered},
	}

	page := write(t, in)
	_, table, _ := strings.Cut(words(page), "Bad votes ")
	table, _, _ = strings.Cut(table, " Ranked by")
	for i, want := range []string{
		"/busy 6,000 humans 5 of 8 down 1 of 1 unanswered 1 complaint 7 of 10 votes are bad",
		"/unread unknown visitors 3 of 3 down – – 3 of 3 votes are bad few votes", // as the page in the middle
		"/sixty 1,000 humans 60 of 100 down – – 60 of 100 votes are bad",
		"/bad 500 humans 9 of 9 down – – 9 of 9 votes are bad",
		"/asked 3,000 humans – 1 of 2 unanswered – 1 of 2 votes are bad few votes",
		"/once 1,000 humans 1 of 1 down – – 1 of 1 votes are bad few votes",
		"/praised 9,000 humans 1 of 100 down – – 1 of 100 votes are bad",
		"/one 1 human 1 of 1 down – – 1 of 1 votes are bad few votes",
		"/bots 0 humans 50 of 50 down – – 50 of 50 votes are bad",
	} {
		row, rest, found := strings.Cut(table, want)
		assert.True(t, found && strings.TrimSpace(row) == "", "%d: want %q, got %q", i, want, table)
		table = rest
	}
	assert.Empty(t, strings.TrimSpace(table))

	digest := strings.Join(report.Digest([]report.Input{in}), "\n")
	assert.Contains(t, digest, "\nFix first: /busy (6,000 humans, 5 of 8 thumbs down, 1 of 1 question unanswered, 1 complaint)\n")
}

func TestTheListOfFixesEnds(t *testing.T) {
	in := two(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	in.Period.Comments.Rows = nil
	in.Period.ByPage.Rows = nil
	for i := range 15 {
		path := fmt.Sprint("/p", i)
		in.Period.Rows = append(in.Period.Rows, mintlify.Visitor{Path: path, Human: 5, Total: 5})
		in.Period.ByPage.Rows = append(in.Period.ByPage.Rows, mintlify.FeedbackCount{Path: path, ThumbsDown: 1})
	}
	assert.Equal(t, 10, strings.Count(words(write(t, in)), "1 of 1 down"), "after ten")

	in.Period.Conversations.Rows = nil
	in.Period.ByPage.Rows = nil
	text := words(write(t, in))
	assert.Contains(t, text, "No page has a thumb down, an unanswered question or an open complaint.")

	in.Period.ByPage = report.List[mintlify.FeedbackCount]{}
	text = words(write(t, in))
	assert.Regexp(t, `What to fix first This list is not in the database: docs-report sync loads it.`, text)

	in.Period.ByPage.Window = store.Window{
		From: mintlify.Day(2026, 5, 1),
		To:   mintlify.Day(2026, 6, 1),
	}
	assert.Contains(t, words(write(t, in)), "This list is not in the database: docs-report sync -from 2026-05-01 loads it.")
}

// The list of a window ends after 100 pages, and the lists of its weeks may have them all.
func TestThumbsOfAllPages(t *testing.T) {
	withWeeks := func(change func(weeks []report.List[mintlify.FeedbackCount])) report.Input {
		in := demoInput(5)
		in.Period.Project = "docs"
		in.Period.ByPage.Truncated = true
		for _, w := range store.Windows("docs", store.Week, in.Period.From, in.Period.To) {
			in.Period.Weeks = append(in.Period.Weeks, report.List[mintlify.FeedbackCount]{
				Export: store.Export{Window: w, State: store.Loaded, Kept: 2},
				Rows: []mintlify.FeedbackCount{
					{Path: "/a", ThumbsUp: 10, ThumbsDown: 5},
					{Path: "https://docs.example.com/a", ThumbsDown: 1},
				},
			})
		}
		change(in.Period.Weeks)
		return in
	}

	in := withWeeks(func([]report.List[mintlify.FeedbackCount]) {})
	text := words(write(t, in))
	assert.Contains(t, text, "24 of 64 thumbs point down (37.5%).", "4 · (5 + 1)")
	assert.NotContains(t, text, "rows that are loaded")

	for name, change := range map[string]func([]report.List[mintlify.FeedbackCount]){
		"a week is truncated": func(weeks []report.List[mintlify.FeedbackCount]) { weeks[2].Truncated = true },
		"a week is missing":   func(weeks []report.List[mintlify.FeedbackCount]) { weeks[2].State = store.Missing },
		"a week is refused":   func(weeks []report.List[mintlify.FeedbackCount]) { weeks[2].State = store.Refused },
		"a week is expired":   func(weeks []report.List[mintlify.FeedbackCount]) { weeks[2].State = store.Expired },
	} {
		in := withWeeks(change)
		text := words(write(t, in))
		assert.Contains(t, text, "Thumbs down 72.5% 174 of 240, of the rows that are loaded", name)
		assert.Contains(t, text, "174 of 240 thumbs point down (72.5%), of the rows that are loaded.", name)
		digest := strings.Join(report.Digest([]report.Input{in}), "\n")
		assert.Contains(t, digest, "Thumbs down 72.5%, 174 of 240, of the rows that are loaded", name)
	}

	in = withWeeks(func([]report.List[mintlify.FeedbackCount]) {})
	in.Period.ByPage.Truncated = false
	assert.Contains(t, words(write(t, in)), "174 of 240 thumbs", "its own list is complete")
}

// What somebody has settled is no news.
func TestComplaintsThatAreSettled(t *testing.T) {
	in := demoInput(5)
	in.Period.Comments.Rows[0].Status = mintlify.FeedbackResolved
	in.Period.Comments.Rows[1].Status = mintlify.FeedbackDismissed
	in.Period.Comments.Rows[2].Source = mintlify.FeedbackFromAgent

	text := words(write(t, in))
	assert.NotContains(t, text, "Nothing on terraform")
	assert.NotContains(t, text, "Nothing on graphql")
	assert.Contains(t, text, "Nothing on kubernetes on /guides/kubernetes, 17 November 2026, sent by an AI agent")
	assert.Contains(t, text, "Left out: 2 complaints that are resolved or dismissed, as of 17 November 2026.")
}

// A page that was fixed does not stay first: the votes of the newest week count double. It says that they got better.
func TestAPageThatWasFixed(t *testing.T) {
	votes := func(export store.Export, fixed, stays int64, all int64) report.List[mintlify.FeedbackCount] {
		return report.List[mintlify.FeedbackCount]{Export: export, Rows: []mintlify.FeedbackCount{
			{Path: "/fixed", ThumbsDown: fixed, ThumbsUp: all - fixed},
			{Path: "/stays", ThumbsDown: stays, ThumbsUp: all - stays},
		}}
	}
	in := demoInput(0)
	loaded := store.Export{State: store.Loaded, Kept: 2}
	in.Period.Rows = visitorsOf("/fixed", "/stays")
	in.Before.Rows = in.Period.Rows
	in.Period.Comments.Rows = nil
	in.Period.Conversations.Rows = nil
	in.Period.ByPage = votes(loaded, 20, 20, 40)
	in.Before.ByPage = votes(loaded, 30, 22, 40)

	fixes := func() string {
		_, text, _ := strings.Cut(words(write(t, in)), "Bad votes ")
		text, _, _ = strings.Cut(text, " Ranked by")
		return text
	}
	assert.Equal(t, "/fixed 100 humans 20 of 40 down 20 of 40 votes are bad better: 50.0% bad from 75.0%"+
		" /stays 100 humans 20 of 40 down 20 of 40 votes are bad", fixes(), "in the order of their names")

	newest := loaded
	newest.Window = store.Window{From: in.Period.To.AddDays(-7), To: in.Period.To}
	in.Period.Weeks = []report.List[mintlify.FeedbackCount]{votes(newest, 0, 10, 10)}
	assert.True(t, strings.HasPrefix(fixes(), "/stays "), "all votes of its last week are bad")

	in.Before.ByPage.Truncated = true
	assert.NotContains(t, fixes(), "better")
}

package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// daysOf returns days of 100 humans, 200 from a day on.
func daysOf(from, to, since mintlify.Date) []store.Point {
	var all []store.Point
	for _, w := range store.Windows("docs", store.Day, from, to) {
		counts := mintlify.VisitorTotals{Human: 100, AI: 70, Total: 170}
		if !w.From.Time().Before(since.Time()) {
			counts.Human = 200
		}
		all = append(all, store.Point{Window: w, Counts: counts})
	}
	return all
}

// A mark compares the week from it on with the week before, by the weekdays that both have.
func TestMarks(t *testing.T) {
	launch := mintlify.Day(2026, time.November, 3)
	in := demoInput(5)
	in.Marks = []report.Mark{
		{Day: launch, Text: "Launch <of> v2"},
		{Day: mintlify.Day(2026, time.November, 13), Text: "Webinar"},
		{Day: mintlify.Day(2026, time.October, 20), Text: "Rename"},
	}
	in.Days = daysOf(in.Period.From, in.Period.To, launch)
	assert.NoError(t, in.CheckMarks())

	page := write(t, in)
	text := words(page)
	assert.Contains(t, text, "A Launch &lt;of&gt; v2 · Tuesday, 3 November · "+
		"Humans 200 a day, +100%; AIs 70 a day, ±0%; against the seven days before.")
	assert.Contains(t, text, "B Webinar · Friday, 13 November · "+
		"Humans 200 a day, ±0%; AIs 70 a day, ±0%; against the seven days before (3 of 7 days).")
	assert.Contains(t, text, "C Rename · Tuesday, 20 October · "+
		"Humans 100 a day, ±0%; AIs 70 a day, ±0%; against the seven days before (1 of 7 days).",
		"the day before the mark is the only one that is known")
	assert.Contains(t, page, `class="mark-line"`)
	assert.Contains(t, report.Digest([]report.Input{in})[2], "Launch <of> v2 (Tuesday, 3 November): Humans 200 a day, +100%")

	in.Days[17].Counts.AI = 9000 // a day of bots
	assert.Contains(t, words(write(t, in)), "AIs 70 a day, ±0%; against the seven days before,"+
		" without 8,930 more than usual on Thu 5 Nov.")

	in.Days = nil
	assert.Contains(t, words(write(t, in)), "The days around it are not known yet.")

	for _, day := range []mintlify.Date{in.Period.From.AddDays(-1), in.Period.To} {
		in.Marks = []report.Mark{{Day: day, Text: "Outside"}}
		assert.ErrorContains(t, in.CheckMarks(), "is outside of the report's days, 19 October to 15 November 2026")
	}
}

func TestAMarkBesideARedefinition(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, time.July, 20), mintlify.Day(2026, time.August, 17))
	in.Marks = []report.Mark{{Day: mintlify.Day(2026, time.August, 3), Text: "Launch"}}
	in.Days = daysOf(in.Before.From, in.Period.To, in.Period.To)
	assert.Contains(t, words(write(t, in)), "Launch · Monday, 3 August · There is no comparison: human and AI redefined on 31 July 2026.")
}

// The readers of a page's old name are the new one's.
func TestPagesThatMoved(t *testing.T) {
	totals := mintlify.VisitorTotals{Human: 100, AI: 100, Total: 200}
	in := two(totals, totals)
	in.Period.Rows = []mintlify.Visitor{
		{Path: "/new", Human: 50, AI: 5, Total: 55},
		{Path: "/old", Human: 30, AI: 3, Total: 33},
		{Path: "/old", Human: 31, AI: 3, Total: 34},
		{Path: "https://docs.example.com/other", Human: 7, Total: 7},
		{Path: "/other", Human: 8, Total: 8},
	}
	in.Before.Rows = []mintlify.Visitor{{Path: "/older", Human: 90, AI: 9, Total: 99}}
	in.Period.ByPage.Rows = []mintlify.FeedbackCount{{Path: "/new", ThumbsDown: 1}, {Path: "/older/", ThumbsUp: 2}}
	in.Period.Comments.Rows = nil

	moved, err := report.ParseMoved([]string{"/older=/old", "/old=/new"})
	assert.NoError(t, err)
	in.Moved = moved

	text := words(write(t, in))
	assert.Contains(t, text, "/new 81 8 9.0% about the same 1 of 3 /other 8 0 0.0%", "a path that comes twice counts once, an old name is added")
	assert.NotContains(t, text, "/older 9")
	assert.Contains(t, text, "Pages that moved: the old page's numbers are added to the new one's."+
		" A visitor who read both may count twice, and a change says so little as that allows. 2 moved /old → /new, /older → /new")
	assert.Contains(t, text, "/new 81 humans 1 of 3 down")

	csv, err := report.CSV([]report.Input{in})
	assert.NoError(t, err)
	assert.Contains(t, string(csv), ",/new,81,8,89,90,9,99\n")
	assert.NotContains(t, string(csv), "/old")
}

func TestPagesThatNobodyVisited(t *testing.T) {
	in := demoInput(5)
	in.Period.Rows[1].Human = 0
	paths := []string{"/", "/gone", in.Period.Rows[0].Path, in.Period.Rows[1].Path, "/old"}
	in.Sitemap = paths
	moved, err := report.ParseMoved([]string{"/old=" + in.Period.Rows[0].Path})
	assert.NoError(t, err)
	in.Moved = moved
	text := words(write(t, in))
	assert.Contains(t, text, "Pages that no human visited 3 of the sitemap's 4 pages. The pages / /gone "+in.Period.Rows[1].Path)

	in.Sitemap = paths[2:3]
	assert.Contains(t, words(write(t, in)), "Humans visited each of the sitemap's 1 page.")

	in.Sitemap = []string{"/elsewhere", "/nowhere"}
	assert.Contains(t, words(write(t, in)), "None of the sitemap's 2 pages is among the visited pages: is it the sitemap of this site?")

	in.Sitemap = nil
	assert.NotContains(t, words(write(t, in)), "no human visited")
}

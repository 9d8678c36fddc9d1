package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

func visitorsOf(paths ...string) []mintlify.Visitor {
	var all []mintlify.Visitor
	for _, path := range paths {
		all = append(all, mintlify.Visitor{Path: path, Human: 100, Total: 100})
	}
	return all
}

// Equal complaints are one line; what most readers wrote comes first, then the newest.
func TestEqualComplaintsAreOneLine(t *testing.T) {
	in := demoInput(5)
	in.Period.Comments.Rows = nil
	add := func(day int, path, text string) {
		row := mintlify.Feedback{Path: path, Comment: text, CreatedAt: in.Period.From.AddDays(day).Time()}
		in.Period.Comments.Rows = append(in.Period.Comments.Rows, row)
	}
	add(27, "/other", "Newest")
	add(5, "/other", "Oldest")
	for i := range 9 {
		add(10+i%3, "/install", "It fails!")
	}
	add(20, "/quickstart", "it  fails")

	assert.Contains(t, words(write(t, in)), "In their words it fails on /quickstart, /install, 10 times, last 8 November 2026"+
		" Newest on /other, 15 November 2026 Oldest on /other")
}

// The index begins with the worst project, and says in red what got worse.
func TestTheIndexBeginsWithTheWorst(t *testing.T) {
	same := mintlify.VisitorTotals{Human: 1000, AI: 10, Total: 1010}
	fine := quiet(same, same)
	fine.Project = "fine"
	fewer := quiet(mintlify.VisitorTotals{Human: 500, AI: 10, Total: 510}, same)
	fewer.Project = "fewer"

	index, err := report.Index([]report.Input{fine, fewer}, map[string]string{"fine": "a.html", "fewer": "b.html"})
	require.NoError(t, err)
	assert.Regexp(t, `fewer 1 March to 7 March 2027 Got worse: Humans −50% Humans 500 −50% .* fine 1 March to 7 March 2027 Got worse: nothing Humans 1,000`, words(string(index)))
	assert.Contains(t, string(index), `<span class="worse">Humans −50%</span>`)
	assert.Contains(t, string(index), `<a href="b.html">fewer</a>`)
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

package report_test

import (
	"fmt"
	"strings"
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

// Pages that vanish while others with the same ends appear have moved: the page says how many, from where
// to where, and which flag to pass.
func TestPagesThatSeemToHaveMoved(t *testing.T) {
	in := two(mintlify.VisitorTotals{Human: 100, Total: 100}, mintlify.VisitorTotals{Human: 100, Total: 100})
	in.Before.Rows = visitorsOf("/docs/a", "/docs/b/c", "/docs/d", "/docs/e", "/docs/f", "/gone", "/start")
	in.Period.Rows = visitorsOf("/learn/a", "/learn/b/c", "/learn/d", "/learn/e", "/learn/f", "/start", "/new")

	const text = "5 pages seem to have moved: 6 vanished, while pages with the same ends appeared, 5 from /docs/ to /learn/."
	assert.Contains(t, words(write(t, in)), "Pages moved? "+text+
		" They count as new pages, unless you tell docs-report: -moved /docs/=/learn/ Humans")
	assert.Contains(t, report.Digest([]report.Input{in})[0], text+" To add their numbers up: -moved /docs/=/learn/")

	in.Period.ByPage = thumbs(4, 5)
	in.Period.ByPage.Rows[0].Path = "/docs/a"
	page := words(write(t, in))
	assert.Contains(t, page, "What to fix first Page Humans Thumbs down Other complaints Bad votes /docs/a unknown visitors 4 of 5 down – 4 of 5 votes are bad",
		"votes on a page that moved count as those of a page in the middle")
	assert.Contains(t, page, "The old names of pages that seem to have moved rank by the visitors of a page in the middle")
	assert.Contains(t, page, "Gains and losses More than chance, compared with 22 February to 28 February 2027."+
		" 5 pages that seem to have moved are left out, by their old and new names.")

	moved, err := report.ParseMoved([]string{"/docs/=/learn/"})
	require.NoError(t, err)
	in.Moved = moved
	page = words(write(t, in))
	assert.NotContains(t, page, "Pages moved?")
	assert.Contains(t, page, "/learn 5 500 0 500 0.0% 4 of 5 /learn/a 100 0 100 0.0% about the same 4 of 5")
	assert.Contains(t, page, "1 moved /docs/ → /learn/")

	in.Moved = report.Moved{}
	in.Period.Rows = append(in.Period.Rows, visitorsOf("/docs/stayed")...)
	assert.Contains(t, words(write(t, in)), "docs-report: -moved /docs/a=/learn/a -moved /docs/b/c=/learn/b/c"+
		" -moved /docs/d=/learn/d and 2 more", "a folder of which some have stayed")

	in.Before.Rows = append(in.Before.Rows, visitorsOf("/1", "/2", "/3", "/4", "/5")...)
	assert.NotContains(t, words(write(t, in)), "Pages moved?", "less than half of those that vanished")

	in.Before.Rows = in.Before.Rows[:4]
	assert.NotContains(t, words(write(t, in)), "Pages moved?", "four")
}

// A site under a new root, and folders whose pages have the same names.
func TestFoldersThatSeemToHaveMoved(t *testing.T) {
	in := two(mintlify.VisitorTotals{Human: 100, Total: 100}, mintlify.VisitorTotals{Human: 100, Total: 100})
	var before, now []string
	for i := range 6 {
		before = append(before, fmt.Sprintf("/s%d/overview", i), fmt.Sprintf("/page $(%d)", i))
		now = append(now, fmt.Sprintf("/docs/s%d/overview", i), fmt.Sprintf("/docs/page $(%d)", i))
	}
	in.Before.Rows = visitorsOf(before...)
	in.Period.Rows = visitorsOf(now...)
	page := words(write(t, in))
	assert.Contains(t, page, "12 pages seem to have moved: 12 vanished, while pages with the same ends appeared, 12 from / to /docs/.")
	assert.Contains(t, page, "-moved /=/docs/ Humans")

	in.Period.Rows = append(in.Period.Rows, visitorsOf("/stayed")...)
	assert.Contains(t, report.Digest([]report.Input{in})[0], "-moved '/page $(0)=/docs/page $(0)'", "for a shell")
}

// A name that no page has may be misspelled.
func TestNamesThatNoPageHas(t *testing.T) {
	in := two(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	in.Before.Rows = visitorsOf("/docs/a", "/old")
	in.Period.Rows = visitorsOf("/learn/a", "/new")
	moved, err := report.ParseMoved([]string{"/docs/=/learn/", "/old=/new", "/odl=/new", "/doc/=/learn/"})
	require.NoError(t, err)
	assert.Equal(t, []string{"/odl", "/doc/"}, moved.UnknownNames([]report.Input{in}))
}

// Equal complaints are one line, the newest first, and the page says in which week there began to be more.
func TestComplaintsOfAWave(t *testing.T) {
	in := demoInput(5)
	in.Period.Comments.Rows = nil
	in.Period.Comments.Texts = true
	in.Period.Comments.Window = in.Period.Window
	in.Before.Comments = in.Period.Comments
	in.Before.Comments.Window = in.Before.Window
	add := func(day int, path, text string) {
		at := in.Before.From.AddDays(day).Time()
		row := mintlify.Feedback{Path: path, Comment: text, CreatedAt: at}
		if day < 28 {
			in.Before.Comments.Rows = append(in.Before.Comments.Rows, row)
		} else {
			in.Period.Comments.Rows = append(in.Period.Comments.Rows, row)
		}
	}
	for week := range 8 {
		add(7*week, "/other", fmt.Sprint("Steady ", week))
	}
	for i := range 9 {
		add(42+i%3, "/install", "It fails!")
	}
	add(50, "/quickstart", "it  fails")

	text := words(write(t, in))
	assert.Contains(t, text, "A wave began in the week of 2 November: 10 complaints, against 1 a week before on average.")
	assert.Contains(t, text, "In their words it fails on /quickstart, /install, 10 times, last 10 November 2026"+
		" Steady 7 on /other, 9 November 2026 Steady 6")

	in.Period.Comments.Truncated = true
	assert.NotContains(t, words(write(t, in)), "A wave", "part of a list does not compare")
}

// The rows of a list that is cut are shown, without changes.
func TestListsThatAreCut(t *testing.T) {
	in := demoInput(5)
	in.Period.Searches.Truncated = true
	in.Period.Conversations.Truncated = true
	in.Period.ByPage.Truncated = true
	text := words(write(t, in))
	assert.Contains(t, text, " searches went to terms that nobody clicked, of the rows that are loaded.")
	assert.Contains(t, text, "The assistant could not answer 78 of 79 questions, of the rows that are loaded.")
	assert.Contains(t, text, "174 of 240 thumbs point down (72.5%), of the rows that are loaded.")
	assert.Contains(t, text, "terraform 100 searches graphql 95 searches")
	assert.Contains(t, text, "How do I use terraform? 12 unanswered · of 12 How")
	_, lists, _ := strings.Cut(text, "What readers search for")
	lists, _, _ = strings.Cut(lists, "All pages")
	assert.NotRegexp(t, `[+−]\d|±0`, lists)
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

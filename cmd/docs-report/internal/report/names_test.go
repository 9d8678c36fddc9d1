package report_test

import (
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

// A name that no page has may be misspelled.
func TestNamesThatNoPageHas(t *testing.T) {
	in := two(mintlify.VisitorTotals{}, mintlify.VisitorTotals{})
	in.Before.Rows = visitorsOf("/docs/a", "/old")
	in.Period.Rows = visitorsOf("/learn/a", "/new")
	moved, err := report.ParseMoved([]string{"/docs/=/learn/", "/old=/new", "/odl=/new", "/doc/=/learn/"})
	require.NoError(t, err)
	assert.Equal(t, []string{"/odl", "/doc/"}, moved.UnknownNames([]report.Input{in}))
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

package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func sentenceOf(t *testing.T, in report.Input) string {
	t.Helper()
	page := write(t, in)
	found := regexp.MustCompile(`<p class="sentence">([^<]*)</p>`).FindStringSubmatch(page)
	if !assert.NotNil(t, found) {
		return ""
	}
	before, _, _ := strings.Cut(page, "<h2")
	assert.Contains(t, before, found[0], "before the first h2")
	return strings.NewReplacer("&#43;", "+").Replace(found[1])
}

// thumbs returns a list of thumbs.
func thumbs(down, all int64) report.List[mintlify.FeedbackCount] {
	return report.List[mintlify.FeedbackCount]{
		Export: store.Export{State: store.Loaded, Kept: 1},
		Rows:   []mintlify.FeedbackCount{{Path: "/a", ThumbsUp: all - down, ThumbsDown: down}},
	}
}

// quiet returns a report whose lists are empty.
func quiet(now, before mintlify.VisitorTotals) report.Input {
	in := two(now, before)
	empty := store.Export{State: store.Loaded}
	for _, p := range []*report.Period{&in.Period, &in.Before} {
		p.Searches = report.List[mintlify.SearchTerm]{Export: empty}
		p.Conversations = report.List[mintlify.Conversation]{Export: empty}
		p.Comments = report.List[mintlify.Feedback]{Export: empty}
		p.ByPage = report.List[mintlify.FeedbackCount]{Export: empty}
	}
	return in
}

// The sentence is what a docs lead can tell the boss.
func TestTheSentence(t *testing.T) {
	in := quiet(
		mintlify.VisitorTotals{Human: 10_070, AI: 11_655, Total: 20_000},
		mintlify.VisitorTotals{Human: 10_000, AI: 10_500, Total: 19_000})
	in.Period.ByPage = thumbs(50, 100)
	in.Before.ByPage = thumbs(20, 100)
	assert.Equal(t, "Humans +0.7% (about the same), AIs +11%; AIs are 54% of the visitors (51% before)."+
		" Thumbs down got worse: 50% from 20%.", sentenceOf(t, in))

	in.Period.ByPage = thumbs(62, 376)
	in.Before.ByPage = thumbs(41, 389)
	assert.Contains(t, sentenceOf(t, in), " Thumbs down: about the same.", "one of three rates does that on calm sites")

	in.Before.ByPage = thumbs(20, 100)
	in.Period.ByPage = thumbs(1, 1)
	assert.Contains(t, sentenceOf(t, in), " Thumbs down: about the same.", "one thumb proves nothing")

	in.Period.ByPage = thumbs(20, 100)
	in.Before.ByPage = thumbs(50, 100)
	assert.Contains(t, sentenceOf(t, in), " Thumbs down got better: 20% from 50%.")

	in.Period.Searches.Rows = []mintlify.SearchTerm{{Query: "a", Hits: 60}, {Query: "b", Hits: 40, CTR: 9, TopClickedPage: "/b"}}
	in.Before.Searches.Rows = []mintlify.SearchTerm{{Query: "a", Hits: 20}, {Query: "b", Hits: 80, CTR: 9, TopClickedPage: "/b"}}
	assert.Contains(t, sentenceOf(t, in), "(51% before). Searches for terms nobody clicked got worse: 60% from 20%."+
		" Thumbs down got better: 20% from 50%.", "the worse first")

	in.Before.Known = false
	assert.Contains(t, sentenceOf(t, in), "10,070 humans and 11,655 AIs; AIs are 54% of the visitors.")

	assert.Equal(t, "Humans 9 (none before), no AIs.", sentenceOf(t,
		quiet(mintlify.VisitorTotals{Human: 9, Total: 9}, mintlify.VisitorTotals{Total: 1})))
	assert.Equal(t, "1 human and 1 AI; AIs are 50% of the visitors.", func() string {
		in := quiet(mintlify.VisitorTotals{Human: 1, AI: 1, Total: 2}, mintlify.VisitorTotals{})
		in.Before.Known = false
		return sentenceOf(t, in)
	}())
}

// What a day of bots has more than usual is not in the sentence.
func TestTheSentenceLeavesOutWhatStandsOut(t *testing.T) {
	in := demoInput(5)
	usual := sentenceOf(t, in)
	assert.Contains(t, usual, "AIs +6.7%; AIs are 27% of the visitors (26% before, about the same).")
	assert.Equal(t, usual, sentenceOf(t, withBots(in)))
}

// A day stands out above five times the median of the days around it that are not 0, if it has at
// least 50 more.
func TestWhatAnOutlierIs(t *testing.T) {
	for name, tc := range map[string]struct {
		usual, odd int64
		want       bool
	}{
		"five times":          {100, 500, false},
		"above five times":    {100, 501, true},
		"49 more":             {10, 59, false},
		"50 more":             {10, 60, true},
		"few, and many times": {1, 50, false},
		"50 more than one":    {1, 51, true},
	} {
		in := demoInput(5)
		for i := range in.Days {
			in.Days[i].Counts = mintlify.VisitorTotals{Human: tc.usual, AI: tc.usual}
			if i%3 == 0 {
				in.Days[i].Counts.Human = 0
			}
		}
		in = withDay(in, 7, mintlify.VisitorTotals{Human: tc.odd})
		isNamed := strings.Contains(words(write(t, in)), " more humans than usual on Mon 26 October.")
		assert.Equal(t, tc.want, isNamed, name)
	}

	in := demoInput(5)
	for i := range 5 {
		in = withDay(in, 3*i, mintlify.VisitorTotals{Human: int64(100_000 + i)})
	}
	assert.Contains(t, words(write(t, in)), " more humans than usual on"+
		" Mon 19 October, Thu 22 October, Sun 25 October and 2 more. Changes and shares are without them.")
}

// The digest of several projects has a line for each, the worst first.
func TestTheDigestOfSeveralProjects(t *testing.T) {
	same := mintlify.VisitorTotals{Human: 1000, AI: 10, Total: 1010}
	fine := quiet(same, same)
	fine.Project = "fine"
	worse := quiet(same, same)
	worse.Project = "worse"
	worse.Period.ByPage = thumbs(50, 100)
	worse.Before.ByPage = thumbs(20, 100)
	fewer := quiet(mintlify.VisitorTotals{Human: 500, AI: 10, Total: 510}, same)
	fewer.Project = "fewer"
	fewer.Period.ByPage = thumbs(50, 100)
	fewer.Before.ByPage = thumbs(20, 100)
	fewer.Final = false

	lines := report.Digest([]report.Input{fine, worse, fewer})
	if assert.Len(t, lines, 3) {
		assert.Regexp(t, `^fewer: 1 March to 7 March 2027 · Not final · Humans −50%, .*Fix first: /a \(visitors unknown, 50 of 100 thumbs down\)$`, lines[0])
		assert.Regexp(t, `^worse: .*Thumbs down got worse: 50% from 20%\.`, lines[1])
		assert.Regexp(t, `^fine: `, lines[2])
	}

	var many []report.Input
	for range 15 {
		many = append(many, fine)
	}
	lines = report.Digest(append(many, worse))
	if assert.Len(t, lines, 12) {
		assert.Regexp(t, `^worse: `, lines[0])
		assert.Equal(t, "5 more projects: docs-report report -o FOLDER shows them.", lines[11])
	}
}

// The digest of everything has twelve lines.
func TestTheDigestHasTwelveLines(t *testing.T) {
	in := demoInput(60)
	in.Final = false
	in.Old = true
	in.NotLoaded = store.Window{From: in.Period.To, To: in.Period.To.AddDays(7)}
	in.Sitemap = []string{"/never", "/quickstart"}
	lines := report.Digest([]report.Input{in})
	assert.Len(t, lines, 12)
	for i, begin := range []string{"Old. docs: ", "Humans ", "Humans ", "Searches for terms nobody clicked ",
		"Fix first: ", "What happened: ", "Humans: ", "AIs: ", "Nobody visited: ", "Searched without result: ",
		"Asked without answer: ", "Most complaints: "} {
		assert.True(t, strings.HasPrefix(lines[i], begin), "%q, want %q", lines[i], begin)
	}
	assert.Equal(t, "Nobody visited: 1 of the sitemap's 2 pages, such as /never", lines[8])
}

// A site with something to do stands before one that only got worse, in the order of what happened.
func TestTheDigestBeginsWithWhatIsToDo(t *testing.T) {
	same := mintlify.VisitorTotals{Human: 1000, AI: 10, Total: 1010}
	named := func(name string, do func(*report.Input)) report.Input {
		in := quiet(same, same)
		in.Project = name
		do(&in)
		return in
	}

	lines := report.Digest([]report.Input{
		named("fewer", func(in *report.Input) { in.Period.Totals.Human = 500 }),
		named("fails", func(in *report.Input) { in.Failing = []store.FailingList{{Kind: store.Searches, Times: 2}} }),
		named("dead", func(in *report.Input) {
			in.Old = true
			in.NotLoaded = store.Window{From: in.Period.To, To: in.Period.To.AddDays(14)}
		}),
	})
	assert.Regexp(t, `^Old. dead: .* · The 2 weeks from 8 March to 21 March 2027 are not loaded yet`, lines[0])
	assert.Regexp(t, `^fails: `, lines[1])
	assert.Regexp(t, `^fewer: `, lines[2])
}

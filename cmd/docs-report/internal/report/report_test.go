package report_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/docstest"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

var words = docstest.Words

func write(t *testing.T, in report.Input) string {
	t.Helper()
	page, err := report.Page(in)
	require.NoError(t, err)
	return string(page)
}

// two returns a report of two periods of a week, with one page each.
func two(now, before mintlify.VisitorTotals) report.Input {
	in := inputOf(0, mintlify.Day(2027, time.March, 1), mintlify.Day(2027, time.March, 8))
	in.Demo = false
	in.Period.Totals = now
	in.Period.Rows = nil

	in.Before.Totals = before
	in.Before.Rows = nil
	return in
}

func TestHeadlines(t *testing.T) {
	for name, tc := range map[string]struct {
		now, before mintlify.VisitorTotals
		want        []string
	}{
		"growth and fall": {
			now:    mintlify.VisitorTotals{Human: 970, AI: 1220, Total: 2150},
			before: mintlify.VisitorTotals{Human: 1000, AI: 1000, Total: 2000},
			want: []string{
				"Humans 970 −3.0% about the same, from 1,000",
				"AIs 1,220 +22% from 1,000",
				"Share of AI 55.7% +5.7 points from 50.0%",
			},
		},
		"nothing before": {
			now: mintlify.VisitorTotals{Human: 9, AI: 1, Total: 10},
			want: []string{
				"No comparison. Nobody came from 22 February to 28 February 2027, so there is no comparison.",
				"9 humans and 1 AI; AIs are 10% of the visitors.",
			},
		},
		"nothing at all": {
			want: []string{"The service counts no visitors in these dates."},
		},
		"the same": {
			now:    mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10},
			before: mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10},
			want:   []string{"±0%", "±0 points"},
		},
		"far more": {
			now:    mintlify.VisitorTotals{Human: 5, AI: 500, Total: 600},
			before: mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10},
			want:   []string{"AIs 500 ×100"},
		},
		"far less": {
			now:    mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10},
			before: mintlify.VisitorTotals{Human: 5, AI: 500, Total: 600},
			want:   []string{"AIs 5 −99% from 500"},
		},
		"beyond a double": {
			now:    mintlify.VisitorTotals{Human: 1 << 61, AI: 1 << 61, Total: 1 << 61},
			before: mintlify.VisitorTotals{Human: 1, AI: 1, Total: 1},
			want:   []string{"Share of AI 50.0%"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := words(write(t, two(tc.now, tc.before)))
			for _, want := range tc.want {
				assert.Contains(t, text, want)
			}

			assert.NotContains(t, text, " %")
		})
	}
}

func TestListsOfPages(t *testing.T) {
	totals := mintlify.VisitorTotals{Human: 100, AI: 100, Total: 200}
	in := two(totals, totals)

	in.Period.Rows = []mintlify.Visitor{
		{Path: "/few", AI: 3, Total: 3},
		{Path: "/guides/ais", Human: 10, AI: 90, Total: 95},
		{Path: "/guides/humans", Human: 300, AI: 10, Total: 310},
		{Path: "/twice", Human: 30, Total: 30},
		{Path: "/twice", Human: 50, Total: 50},
		{Path: "/llms.txt", AI: 900, Total: 900},
	}

	in.Before.Rows = []mintlify.Visitor{
		{Path: "/guides/humans", Human: 100, AI: 40, Total: 140},
		{Path: "/twice", Human: 60, Total: 60},
		{Path: "/gone", Human: 70, Total: 70},
		{Path: "/llms.txt", AI: 600, Total: 600},
	}

	page := write(t, in)
	text := words(page)

	assert.Contains(t, text, "What AIs read most"+
		" /llms.txt 900 AIs · a file for machines +50% /guides/ais 90 AIs new /guides/humans 10 AIs −75% /few 3 AIs about the same What")

	assert.Contains(t, text, "Gains and losses More than chance, compared with 22 February to 28 February 2027."+
		" Humans: gained /guides/humans +200, now 300 +200% /guides/ais +10, now 10 new"+
		" Humans: lost /gone −70, now 0 −100%"+
		" AIs: gained /llms.txt +300, now 900 +50% /guides/ais +90, now 90 new What", "without what may be chance, and AIs that are gone")

	assert.Contains(t, text, "/guides 2 86.1% 24.4% 186 of 252 /guides/humans 300 10 3.2% +200% –"+
		" /guides/ais 10 90 90.0% new –"+
		" pages without a section 3 13.9% 5.7% – /twice 50 0 0.0% about the same – /few 0 3 100.0% about the same –"+
		" /gone 0 0 – −100% –"+
		" Machine files 1 0.0% 100.0% – /llms.txt 0 900 100.0% about the same – On paper")

	_, ais, _ := strings.Cut(page, `id="ais-title"`)
	ais, _, _ = strings.Cut(ais, "</section>")
	assert.NotRegexp(t, `change (good|bad)`, ais, "a rise of AIs is neither")

	_, ais, _ = strings.Cut(page, "<h3>AIs: gained</h3>")
	ais, _, _ = strings.Cut(ais, "</section>")
	assert.NotRegexp(t, `change (good|bad)`, ais)

	assert.Regexp(t, `change good">&#43;200%`, page)
}

// Each list has its change against the period before, if that is known.
func TestChangesOfLists(t *testing.T) {
	in := demoInput(5)
	text := words(write(t, in))
	assert.Contains(t, text, "terraform 100 searches about the same graphql 95 searches −100 kubernetes 90 searches +90")
	for _, chip := range []string{`flat same">about the same<`, `good">−100<`, `bad">&#43;90<`} {
		assert.Contains(t, write(t, in), `<span class="change `+chip, "12 more may be chance")
	}

	assert.NotContains(t, text, "By category", "there are texts")
	assert.Contains(t, text, "How do I use terraform? 12 unanswered · of 12 +11")

	assert.Contains(t, text, "Searches for terms nobody clicked 71.9% 870 of 1,210 +43.6 points worse, from 28.3%")
	assert.Contains(t, text, "Thumbs down 72.5% 174 of 240 −15.5 points about the same, from 88.0%", "of 25 thumbs before")
	assert.Contains(t, strings.Join(report.Digest([]report.Input{in}), "\n"), "Searched without result: terraform (100 searches, about the same)")

	in.Before.Searches.Truncated = true
	in.Before.Conversations.Texts = false
	in.Before.ByPage = report.List[mintlify.FeedbackCount]{}

	text = words(write(t, in))
	assert.Contains(t, text, "terraform 100 searches graphql 95 searches kubernetes 90 searches okta", "part of a list does not compare")
	assert.Contains(t, text, "How do I use terraform? 12 unanswered · of 12 How", "what was asked is not known")
	assert.Contains(t, text, "Searches for terms nobody clicked 71.9% 870 of 1,210")

	in.Period.Conversations.Truncated = true
	in.Before.Conversations.Texts = true
	text = words(write(t, in))
	assert.Contains(t, text, "How do I use terraform? 12 unanswered · of 12 How", "part of a list does not compare")
	assert.Contains(t, text, "The assistant could not answer 78 of 79 questions, of the rows that are loaded.")
}

func TestListsSayWhatTheyAreOf(t *testing.T) {
	in := demoInput(5)
	text := words(write(t, in))
	assert.Contains(t, text, "870 of 1,210 searches went to terms that nobody clicked. Without a click terraform 100 searches")

	assert.Contains(t, text, "The assistant could not answer 78 of 79 questions. Asked most How do I use terraform? 12 unanswered · of 12")

	assert.Contains(t, text, "In their words Nothing on terraform on /guides/terraform, 17 November 2026")

	assert.NotContains(t, text, "The service has more")
	assert.NotContains(t, text, "is not kept")

	in.Period.Searches.Truncated = true
	in.Period.Searches.Kept = 500
	in.Period.Conversations.Texts = false
	in.Period.ByPage.Rows = nil
	in.Period.ByPage.Kept = 0

	text = words(write(t, in))
	assert.Contains(t, text, " searches went to terms that nobody clicked, of the rows that are loaded.")
	assert.Contains(t, text, "The service has more than these first 500 rows.")
	assert.Contains(t, text, "What readers asked is not kept; docs-report sync -texts keeps it.")
	assert.NotContains(t, text, "How do I use")
	assert.Contains(t, text, "By category category: terraform 33 unanswered · of 34")

	in.Period.Searches.Rows = in.Period.Searches.Rows[12:]
	in.Period.ByPage.Export = store.Export{}
	in.Period.Conversations.Export = store.Export{At: in.Generated, State: store.Refused, Problem: "403 Forbidden"}
	in.Period.Conversations.Rows = nil

	text = words(write(t, in))
	assert.Contains(t, text, "Nothing in the rows that are loaded.")
	assert.Contains(t, text, "Nothing to show. What readers ask the assistant and get no answer to:"+
		" The service refused this list: 403 Forbidden")
}

// A page can be mailed, also of a large site whose paths are links.
func TestThePageIsSmall(t *testing.T) {
	for pages, most := range map[int]int{1000: 300_000, 15_000: 800_000} {
		in := demoInput(pages)
		in.Site = "https://docs.example.com"
		page := write(t, in)
		t.Logf("%d pages: %d bytes", pages, len(page))
		assert.Less(t, len(page), most)

		_, table, _ := strings.Cut(page, `<table id="pages"`)
		assert.Equal(t, min(pages, 5000), strings.Count(table, `<th scope="row">`))
	}
}

func TestHostilePathsAreEscaped(t *testing.T) {
	in := hostileInput()
	page := write(t, in)
	assert.Equal(t, 1, strings.Count(page, "<script"))
	assert.NotContains(t, page, "<img")
	assert.NotContains(t, page, "\u202e")
	assert.Contains(t, page, "/ txt.exe", "a character that turns text around is left out")
	assert.Contains(t, page, "&lt;img")
}

func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	page := write(t, demoInput(50))
	assert.NotRegexp(t, `(?i)\b(src|href|srcset|data)\s*=`, page)
	assert.NotRegexp(t, `https?:`, page)
	assert.NotContains(t, page, "@import")
	assert.Contains(t, page, `content="default-src &#39;none&#39;; base-uri &#39;none&#39;;`+
		` form-action &#39;none&#39;; style-src &#39;sha256-`)
	assert.NotContains(t, page, "unsafe")
}

func TestATrendOfManyWeeks(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, time.August, 24), mintlify.Day(2026, time.November, 16))
	require.Len(t, in.Trend, 12)
	text := words(write(t, in))
	assert.Contains(t, text, "Visitors by week")
	assert.NotContains(t, text, "are left out")

	in.Trend = in.Trend[3:]
	page := write(t, in)
	assert.Contains(t, words(page),
		"Not in the database: 24 Aug to 30 Aug, 31 Aug to 6 Sep, 7 Sep to 13 Sep. Nothing is drawn there.")
	assert.Contains(t, words(page), "24 Aug to 30 Aug – – ")
}

func TestWeekendsAreShaded(t *testing.T) {
	page := write(t, demoInput(5))

	assert.Equal(t, 8, strings.Count(page, `class="place weekend" data-day=`))
	assert.Equal(t, 8, strings.Count(page, `<tr class="weekend">`))
	for _, day := range []string{"Sat 24 Oct", "Sun 25 Oct", "Sun 15 Nov"} {
		assert.Contains(t, page, `<tr class="weekend"><th scope="row">`+day)
	}

	byWeek := write(t, inputOf(5, mintlify.Day(2026, time.August, 24), mintlify.Day(2026, time.November, 16)))
	assert.NotContains(t, byWeek, `class="place weekend"`)
}

func TestWhatAReaderHasToKnow(t *testing.T) {
	in := demoInput(5)
	text := words(write(t, in))

	assert.Contains(t, text, "Demo. These numbers are made up.")
	assert.Contains(t, text, "This page holds what readers typed: pass it on only to those who may read that.")
	assert.Contains(t, text, "to 18 October 2026 · Final: its counts will not change ")
	assert.NotContains(t, text, "Not final.")
	assert.NotContains(t, text, "from 2,000 human and AI redefined")

	in.Demo = false
	in.Final = false
	text = words(write(t, in))
	assert.NotContains(t, text, "made up")
	assert.NotContains(t, text, "Final:")
	assert.Contains(t, text, "Not final: the newest counts may still change a little, until 24 hours after the last day.")
	assert.NotContains(t, text, "Old.")

	in.Old = true
	in.NotLoaded = store.Window{From: in.Period.To, To: in.Period.To.AddDays(7)}
	index, err := report.Index([]report.Input{in, demoInput(5)}, map[string]string{"docs": "a.html"})
	require.NoError(t, err)
	assert.Contains(t, words(string(index)), "docs Old. 19 October to 15 November 2026. The week of 16 November is not loaded yet. Not final Old: 1 week is not loaded")
	assert.Equal(t, 1, strings.Count(string(index), "Old: "))
}

// A comparison across a change of what is counted says so beside the number, and has no
// colour.
func TestARedefinitionWithinAComparison(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, time.July, 20), mintlify.Day(2026, time.August, 17))
	page := write(t, in)
	text := words(page)

	assert.Contains(t, text, "There is no comparison: human and AI redefined on 31 July 2026.")
	assert.Regexp(t, `[\d,]+ humans and [\d,]+ AIs; AIs are \d+% of the visitors. What`, text)
	assert.NotContains(t, text, "Gains and losses")
	assert.NotRegexp(t, `class="change`, page, "no change stands anywhere")
	assert.NotContains(t, text, "−0.0%")

	assert.NotRegexp(t, `change (good|bad)">[^<]*%<`, page)
	assert.Contains(t, report.Digest([]report.Input{in})[0], "human and AI redefined on 31 July 2026")
	assert.Regexp(t, `class="change good"`, write(t, demoInput(5)))
}

// The axis always begins at 0, and no line leaves the chart.
func TestChartsStayWithinTheirFrame(t *testing.T) {
	for _, highest := range []int64{0, 1, 2, 3, 7, 10, 99, 100, 101, 12_345, 1 << 62} {
		for _, n := range []int{1, 2, 28, 35} {
			in := demoInput(0)
			in.Period.To = in.Period.From.AddDays(n)
			in.Trend = in.Trend[:0]
			in.TrendFrom = nil

			for i := range n {
				from := in.Period.From.AddDays(i)
				in.Trend = append(in.Trend, store.Point{
					Window: store.Window{From: from, To: from.AddDays(1)},
					Counts: mintlify.VisitorTotals{Human: highest, AI: highest / 2},
				})
			}

			page, _, _ := strings.Cut(write(t, in), "<script>")
			require.NotContains(t, page, "NaN", "%d visitors, %d days", highest, n)
			require.NotContains(t, page, "Inf", "%d visitors, %d days", highest, n)
			if highest > 0 {
				require.Contains(t, page, `text-anchor="end">0</text>`)
			} else {
				require.Contains(t, page, "None in these dates.")
			}

			for _, drawn := range regexp.MustCompile(`(?:points|cy)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				for _, point := range strings.Fields(drawn[1]) {
					y, err := strconv.ParseFloat(point[strings.Index(point, ",")+1:], 64)
					require.NoError(t, err)
					require.True(t, y >= 24 && y <= 324, "%s with %d visitors, %d days", point, highest, n)
				}
			}
		}
	}
}

// What is not in the database is not zero: without the period before nothing is new, and
// nothing has gained or lost.
func TestWithoutThePeriodBefore(t *testing.T) {
	in := inputOf(20, mintlify.Day(2026, time.October, 1), mintlify.Day(2026, time.November, 1))
	in.Before = report.Period{Window: in.Before.Window}
	in.TrendFrom = nil

	page := words(write(t, in))
	assert.Contains(t, page, "No comparison. September 2026 is not in the database, so there is no comparison. "+
		"To load it: docs-report sync -from 2026-09-01")
	_, page, _ = strings.Cut(page, "Page Humans")
	page, growth, _ := strings.Cut(page, "By month.")
	_, rest, _ := strings.Cut(growth, "What AIs read most")
	page += rest
	for _, untrue := range []string{" new", "“New”", "Gained", "Lost", "compared with", "Thin:", "±0", "from 0"} {
		assert.NotContains(t, page, untrue)
	}
	assert.Regexp(t, `/quickstart [\d,]+ [\d,]+ [\d.]+% – – /`, page)

	digest := strings.Join(report.Digest([]report.Input{in}), "\n")
	title, _, _ := strings.Cut(digest, "\n")
	assert.Contains(t, title, "docs-report sync -from 2026-09-01", "in the title")
	assert.NotContains(t, digest, "new")
	for line := range strings.Lines(digest) {
		assert.NotContains(t, line, "+")
	}

	csv, err := report.CSV([]report.Input{in})
	require.NoError(t, err)
	for line := range strings.Lines(strings.TrimSpace(string(csv)[strings.Index(string(csv), "\n")+1:])) {
		assert.Regexp(t, `^docs,2026-10-01,2026-11-01,/\S+,\d+,\d+,\d+,,,\s*$`, line)
	}

	in = inputOf(5, mintlify.Day(2026, time.August, 24), mintlify.Day(2026, time.November, 16))
	in.Before = report.Period{Window: in.Before.Window}
	assert.Contains(t, words(write(t, in)), "docs-report sync -weeks 12 -from 2026-06-01")
}

// Of a month as of weeks, a weekday stands beside the same weekday of the period before.
func TestTheThinLinePairsWeekdays(t *testing.T) {
	for _, in := range []report.Input{
		inputOf(5, mintlify.Day(2026, time.October, 1), mintlify.Day(2026, time.November, 1)),
		inputOf(5, mintlify.Day(2026, time.February, 1), mintlify.Day(2026, time.March, 1)),
		demoInput(5),
	} {
		for i := range in.Trend {
			in.Trend[i].Counts.Human = int64(in.Trend[i].From.Time().Weekday()) * 100
		}

		for i := range in.TrendFrom {
			in.TrendFrom[i].Counts.Human = int64(in.TrendFrom[i].From.Time().Weekday()) * 100
		}

		page := write(t, in)
		pointsOf := func(class string) []string { return strings.Fields(strings.Join(linesOf(page, class), " ")) }
		before := pointsOf("human before")
		assert.GreaterOrEqual(t, len(before), 26)
		assert.Subset(t, pointsOf("human"), before, "%v", in.Period.Window)
		assert.Contains(t, words(page), "Thin: the same weekdays 4 weeks before")
	}
}

package report_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

func write(t *testing.T, in report.Input) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, report.Write(&page, in))
	return page.String()
}

// words returns what a page says, without its markup.
func words(page string) string {
	page = page[strings.Index(page, "<body>"):strings.LastIndex(page, "<script>")]
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	return strings.Join(strings.Fields(strings.NewReplacer("&#43;", "+", "&#39;", "'", "&amp;", "&").Replace(page)), " ")
}

// two returns a report of two periods of a week, with one page each.
func two(now, before mintlify.VisitorTotals) report.Input {
	in := inputOf(0, mintlify.Day(2027, time.March, 1), mintlify.Day(2027, time.March, 8), load.ByDay)
	in.Demo = false
	in.Period.Totals, in.Before.Totals = now, before
	in.Period.Rows, in.Before.Rows = nil, nil
	return in
}

func TestTheNumbersInWords(t *testing.T) {
	for name, tc := range map[string]struct {
		now, before mintlify.VisitorTotals
		want        []string
	}{
		"growth and fall": {mintlify.VisitorTotals{Human: 970, AI: 1220, Total: 2150}, mintlify.VisitorTotals{Human: 1000, AI: 1000, Total: 2000}, []string{
			"2,150 visitors read the documentation in these 7 days, 7.5 % more than in the 7 days before.",
			"AI visitors grew by 22 % to 1,220; human visitors fell by 3.0 % to 970.",
			"All visitors 2,150 +7.5 % from 2,000", "AIs 1,220 +22 % from 1,000", "Share of AI 55.7 % +5.7 points from 50.0 %"}},
		"nothing before": {mintlify.VisitorTotals{Human: 9, AI: 1, Total: 10}, mintlify.VisitorTotals{}, []string{
			"there are no counts of the 7 days before to compare with. 9 were humans and 1 were AIs.", "Humans 9 new from 0"}},
		"nothing at all":  {mintlify.VisitorTotals{}, mintlify.VisitorTotals{}, []string{"The service counts no visitors on 1 March to 7 March 2027."}},
		"the same":        {mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10}, mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10}, []string{"exactly as many as in the 7 days before", "AI visitors stayed at 5", "±0 points"}},
		"far more":        {mintlify.VisitorTotals{Human: 5, AI: 500, Total: 600}, mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10}, []string{"60 times as many as in", "AI visitors grew to 500, 100 times as many", "AIs 500 ×100"}},
		"from none":       {mintlify.VisitorTotals{Human: 5, AI: 5, Total: 10}, mintlify.VisitorTotals{Human: 5, Total: 5}, []string{"AI visitors grew from none to 5"}},
		"beyond a double": {mintlify.VisitorTotals{Human: 1 << 62, AI: 1 << 62, Total: 1 << 62}, mintlify.VisitorTotals{Human: 1, AI: 1, Total: 1}, []string{"Share of AI 50.0 %"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(words(write(t, two(tc.now, tc.before))), "\u00a0", " ")
			for _, want := range tc.want {
				assert.Contains(t, text, want)
			}
		})
	}
}

func TestListsOfPages(t *testing.T) {
	in := two(mintlify.VisitorTotals{Human: 100, AI: 100, Total: 200}, mintlify.VisitorTotals{Human: 100, AI: 100, Total: 200})
	in.Period.Rows = []mintlify.Visitor{
		{Path: "/few", AI: 3, Total: 3},
		{Path: "/ais", Human: 10, AI: 90, Total: 95},
		{Path: "/humans", Human: 300, AI: 10, Total: 310},
		{Path: "/twice", Human: 30, Total: 30}, {Path: "/twice", Human: 50, Total: 50},
	}
	in.Before.Rows = []mintlify.Visitor{
		{Path: "/humans", Human: 100, Total: 100},
		{Path: "/twice", Human: 60, Total: 60},
		{Path: "/gone", Human: 70, Total: 70},
	}
	text := strings.ReplaceAll(words(write(t, in)), "\u00a0", " ")
	assert.Contains(t, text, "/humans gained the most visitors (+210), /gone lost the most (−70).")
	assert.Contains(t, text, "Most read pages Unique visitors of each page. /humans 300 humans · 10 AIs /ais 10 humans · 90 AIs /twice 50 humans · 0 AIs /few")
	assert.Contains(t, text, "among a page’s visitors. /ais 90.0 % · 90 AIs, 10 humans /humans 3.2 %", "a page of 3 visitors says nothing")
	assert.Contains(t, text, "Gained the most visitors /humans +210 to 310 +210 % /ais +95 to 95 new /few +3 to 3 new Lost")
	assert.Contains(t, text, "Lost the most visitors /gone −70 to 0 −100 % /twice −10 to 50 −17 % All pages")
	assert.Equal(t, 1, strings.Count(text, "/twice 50 0 50 0.0 % −17 %"), "unique visitors do not add up")
}

func TestAThousandPagesAreUnder300KB(t *testing.T) {
	page := write(t, demoInput(1000))
	t.Logf("%d bytes", len(page))
	assert.Less(t, len(page), 300_000)
	assert.Equal(t, 1000+28, strings.Count(page, `<th scope="row">`))
}

func TestHostilePathsAreEscaped(t *testing.T) {
	in := hostileInput()
	page := write(t, in)
	assert.Equal(t, 1, strings.Count(page, "<script"))
	assert.NotContains(t, page, "<img")
	assert.NotContains(t, page, "\u202e")
	assert.Contains(t, page, `\u202e`, "shown, not obeyed")
	assert.Contains(t, page, "&lt;img")
}

func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	page := write(t, demoInput(50))
	assert.NotRegexp(t, `(?i)(src|href|srcset|data)\s*=`, page)
	assert.NotRegexp(t, `https?:`, page)
	assert.NotContains(t, page, "@import")
	assert.Contains(t, page, `content="default-src &#39;none&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;; style-src &#39;sha256-`)
	assert.NotContains(t, page, "unsafe")
}

func TestWeeksAreWhole(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, time.October, 1), mintlify.Day(2026, time.November, 1), load.ByWeek)
	require.Len(t, in.Trend, 3)
	text := words(write(t, in))
	assert.Contains(t, text, "Visitors by week")
	assert.Contains(t, text, "Only whole weeks are shown")
	assert.Contains(t, text, "5 Oct to 11 Oct")
	assert.NotContains(t, text, "28 Sep to 4 Oct", "it begins before the period")
	assert.NotContains(t, words(write(t, demoInput(5))), "Only whole")
}

func TestWeekendsAreShaded(t *testing.T) {
	page := write(t, demoInput(5))
	wide := page[strings.Index(page, `class="chart wide"`):strings.Index(page, `class="chart narrow"`)]
	assert.Equal(t, 4, strings.Count(wide, `<rect class="weekend"`), "one for both days")
	assert.Equal(t, 8, strings.Count(page, `<tr class="weekend">`))
	for _, day := range []string{"Sat 24 Oct", "Sun 25 Oct", "Sun 15 Nov"} {
		assert.Contains(t, page, `<tr class="weekend"><th scope="row">`+day)
	}
	byWeek := write(t, inputOf(5, mintlify.Day(2026, time.October, 5), mintlify.Day(2026, time.November, 2), load.ByWeek))
	assert.NotContains(t, byWeek, `<rect class="weekend"`)
}

func TestWhatAReaderHasToKnow(t *testing.T) {
	in := demoInput(5)
	text := words(write(t, in))
	assert.Contains(t, text, "Demo. These visitors are made up.")
	assert.NotContains(t, text, "Not final.")
	assert.NotContains(t, text, "changed what counts")
	in.Demo, in.Final = false, false
	text = words(write(t, in))
	assert.NotContains(t, text, "made up")
	assert.Contains(t, text, "Not final.")
	in = inputOf(5, mintlify.Day(2026, time.July, 20), mintlify.Day(2026, time.August, 17), load.ByDay)
	text = words(write(t, in))
	assert.Contains(t, text, "On 31 July 2026 the service changed what counts as human and as AI")
	assert.NotContains(t, text, "12 June 2026")
}

// The axis begins at 0, whatever the counts, and no line leaves the chart.
func TestChartsStayWithinTheirFrame(t *testing.T) {
	for _, highest := range []int64{0, 1, 2, 3, 7, 10, 99, 100, 101, 12_345, 1 << 62} {
		for _, n := range []int{1, 2, 28, 366} {
			in := demoInput(0)
			in.Trend = in.Trend[:0]
			for i := range n {
				from := in.Period.From.AddDays(i)
				in.Trend = append(in.Trend, report.Bucket{From: from, To: from.AddDays(1), Totals: mintlify.VisitorTotals{Human: highest, AI: highest / 2}})
			}
			page, _, _ := strings.Cut(write(t, in), "<script>")
			require.NotContains(t, page, "NaN", "%d visitors, %d days", highest, n)
			require.NotContains(t, page, "Inf", "%d visitors, %d days", highest, n)
			require.Contains(t, page, `text-anchor="end">0</text>`)
			for _, y := range regexp.MustCompile(`cy="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				var at float64
				_, err := fmt.Sscan(y[1], &at)
				require.NoError(t, err)
				require.True(t, at >= 12 && at <= 272, "%s with %d visitors, %d days", y[1], highest, n)
			}
		}
	}
}

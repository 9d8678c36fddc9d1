package report_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// months returns months of 1,000 humans and 500 AIs, each with 10 % more than the one before.
func months(first mintlify.Date, n int) []store.Point {
	var all []store.Point
	human := 1000.0
	end := first.Time().AddDate(0, n, 0)
	for _, w := range store.Windows("docs", store.Month, first, mintlify.DayOf(end)) {
		all = append(all, store.Point{
			Window: w,
			Counts: mintlify.VisitorTotals{Human: int64(human), AI: int64(human / 2), Total: int64(human)},
		})
		human *= 1.1
	}
	return all
}

// growthOf returns what a page of March 2028 says about growth, and the lines of humans.
func growthOf(t *testing.T, all []store.Point) (text string, lines, before []string) {
	t.Helper()
	in := inputOf(5, mintlify.Day(2028, time.March, 6), mintlify.Day(2028, time.April, 3))
	in.Months = all
	page := write(t, in)
	_, page, _ = strings.Cut(page, `id="growth-title"`)
	page, _, _ = strings.Cut(page, "</section>")

	return words("<body>" + page + "<script>"), linesOf(page, "human"), linesOf(page, "human before")
}

// linesOf returns the points of a chart's lines.
func linesOf(chart, class string) []string {
	var all []string
	for _, line := range regexp.MustCompile(`class="line `+class+`" points="([^"]*)"`).FindAllStringSubmatch(chart, -1) {
		all = append(all, line[1])
	}
	return all
}

func TestTwelveMonthsOfGrowth(t *testing.T) {
	text, lines, before := growthOf(t, months(mintlify.Day(2026, time.September, 1), 19))
	assert.Contains(t, text, "March 2028: 5,559 humans and 2,779 AIs; AIs are 33.3% of the visitors."+
		" Since April 2027: humans +176%, AIs +176%. Against March 2027: humans +214%, AIs +214%.")
	assert.Contains(t, text, "Thin: the same month a year before")
	assert.NotContains(t, text, "break")

	if assert.Len(t, lines, 1) && assert.Len(t, before, 1) {
		assert.Len(t, strings.Fields(lines[0]), 12)
		assert.Len(t, strings.Fields(before[0]), 7, "September to March of the year before")
	}
}

// A month that is missing is not drawn, and the months around it are not joined.
func TestAMonthThatIsMissing(t *testing.T) {
	all := months(mintlify.Day(2027, time.April, 1), 12)
	text, lines, before := growthOf(t, append(all[:4:4], all[5:]...))
	assert.Contains(t, text, "Not in the database: August 2027.")
	assert.Empty(t, before)
	if assert.Len(t, lines, 2) {
		assert.Len(t, strings.Fields(lines[0]), 4)
		assert.Len(t, strings.Fields(lines[1]), 7)
	}
}

// Before the site existed, the service counts nobody: that is no month to grow from.
func TestMonthsBeforeTheSite(t *testing.T) {
	all := months(mintlify.Day(2027, time.April, 1), 12)
	for i := range 9 {
		all[i].Counts = mintlify.VisitorTotals{}
	}
	text, lines, _ := growthOf(t, all)
	assert.Contains(t, text, "Since February 2028: humans +2.9% (about the same), AIs +3.0% (about the same)."+
		" There are visitors from January 2028 on.", "January may not be whole")
	assert.NotContains(t, text, "December 2027")
	assert.NotContains(t, text, "Not in the database")
	if assert.Len(t, lines, 1) {
		assert.Len(t, strings.Fields(lines[0]), 3)
	}

	in := demoInput(5)
	in.Months = all[:9]
	assert.Contains(t, words(write(t, in)), "Nothing to show. Growth by month: No whole month with visitors is in the database yet.")

	text, _, _ = growthOf(t, all[11:])
	assert.Contains(t, text, "There is no earlier month to compare it with.")
}

// The service redefined what it counts on two days of 2026: the line breaks there.
func TestGrowthBreaksAtRedefinitions(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, time.October, 19), mintlify.Day(2026, time.November, 16))
	in.Months = months(mintlify.Day(2025, time.October, 1), 13)
	page := write(t, in)
	text := words(page)
	assert.Contains(t, text, "Since August 2026: humans +21%, AIs +21%. Line chart", "no year before")
	assert.Contains(t, text, "The lines break where the service redefined what counts as human and as AI:"+
		" 12 June 2026 and 31 July 2026. So no month before August 2026 is compared with later ones.")

	_, growth, _ := strings.Cut(page, `id="growth-title"`)
	growth, _, _ = strings.Cut(growth, "</section>")
	if lines := linesOf(growth, "human"); assert.Len(t, lines, 2) {
		assert.Len(t, strings.Fields(lines[0]), 7, "November to May")
		assert.Len(t, strings.Fields(lines[1]), 3, "August to October")
	}
	assert.Equal(t, 4, strings.Count(growth, " alone\""), "June and July")
	assert.NotContains(t, growth, "before\" points")

	digest := strings.Join(report.Digest([]report.Input{in}), "\n")
	assert.Contains(t, digest, "\nGrowth: October 2026: 3,138 humans and 1,569 AIs; AIs are 33.3% of the visitors.")
}

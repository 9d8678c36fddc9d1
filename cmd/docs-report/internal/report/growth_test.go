package report_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"

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

// growthOf returns what a page of March 2028 says about growth.
func growthOf(t *testing.T, all []store.Point) string {
	t.Helper()
	in := inputOf(5, mintlify.Day(2028, time.March, 6), mintlify.Day(2028, time.April, 3))
	in.Months = all
	_, page, _ := strings.Cut(write(t, in), `<p class="growth">`)
	page, _, _ = strings.Cut(page, "</p>")
	return words("<body>" + page + "<script>")
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
	assert.Equal(t, "By month. March 2028: 5,559 humans and 2,779 AIs; AIs are 33.3% of the visitors."+
		" Since April 2027: humans +176%, AIs +176%. Against March 2027: humans +214%, AIs +214%.",
		growthOf(t, months(mintlify.Day(2026, time.September, 1), 19)))
}

// Before the site existed, the service counts nobody: that is no month to grow from.
func TestMonthsBeforeTheSite(t *testing.T) {
	all := months(mintlify.Day(2027, time.April, 1), 12)
	for i := range 9 {
		all[i].Counts = mintlify.VisitorTotals{}
	}
	text := growthOf(t, all)
	assert.Contains(t, text, "Since February 2028: humans +2.9% (about the same), AIs +3.0% (about the same)."+
		" There are visitors from January 2028 on.", "January may not be whole")
	assert.NotContains(t, text, "December 2027")

	in := demoInput(5)
	in.Months = all[:9]
	assert.Contains(t, words(write(t, in)), "Nothing to show. Growth by month: No whole month with visitors is in the database yet.")

	assert.Contains(t, growthOf(t, all[11:]), "There is no earlier month to compare it with.")
}

// The service redefined what it counts on two days of 2026: no month before is compared.
func TestGrowthBreaksAtRedefinitions(t *testing.T) {
	in := inputOf(5, mintlify.Day(2026, time.October, 19), mintlify.Day(2026, time.November, 16))
	in.Months = months(mintlify.Day(2025, time.October, 1), 13)
	assert.Contains(t, words(write(t, in)), "Since August 2026: humans +21%, AIs +21%."+
		" No month is compared across a redefinition: human and AI redefined on 12 June 2026 and on 31 July 2026.", "no year before")
}

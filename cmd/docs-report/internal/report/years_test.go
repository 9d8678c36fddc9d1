package report_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// flatSite never changes: some readers come every day, others once, and fewer at weekends.
type flatSite struct {
	daily, once float64 // on a weekday
	opens       mintlify.Date
	bots        map[mintlify.Date]int64
}

var yearOf = mintlify.Day(2027, time.January, 4) // a Monday

func (s flatSite) counts(w store.Window) mintlify.VisitorTotals {
	once := 0.0
	daily := 0.0
	bots := int64(0)
	for _, day := range store.Windows("docs", store.Day, w.From, w.To) {
		if day.From.Time().Before(s.opens.Time()) {
			continue
		}
		share := 1.0
		if weekday := day.From.Time().Weekday(); weekday == time.Saturday || weekday == time.Sunday {
			share = 0.4
		}
		once += s.once * share
		daily = max(daily, s.daily*share)
		bots += s.bots[day.From]
	}

	human := int64(once + daily)
	ai := int64(once+daily)/2 + bots
	return mintlify.VisitorTotals{Human: human, AI: ai, Total: human + ai}
}

func (s flatSite) points(span store.Span, from, to mintlify.Date) []store.Point {
	var all []store.Point
	for _, w := range store.Windows("docs", span, from, to) {
		all = append(all, store.Point{Window: w, Counts: s.counts(w)})
	}
	return all
}

func (s flatSite) rows(w store.Window) []mintlify.Visitor {
	c := s.counts(w)
	return []mintlify.Visitor{{Path: "/start", Human: c.Human, AI: c.AI, Total: c.Total}}
}

// report returns what the program reads for a window.
func (s flatSite) report(w, before store.Window) report.Input {
	period := func(w store.Window) report.Period {
		return report.Period{Window: w, Known: true, Totals: s.counts(w), Rows: s.rows(w)}
	}
	first := mintlify.Day(w.From.Time().Year()-1, w.From.Time().Month()-1, 1)

	in := report.Input{
		Project:   "docs",
		Final:     true,
		Generated: w.To.AddDays(1).Time(),
		Period:    period(w),
		Before:    period(before),
		Trend:     s.points(report.Unit(w), w.From, w.To),
		TrendFrom: s.points(report.Unit(w), before.From, before.To),
		Days:      s.points(store.Day, first, w.To),
		Months:    s.points(store.Month, first, w.To),
	}
	in.ByDay = events.NewSite(in.Days, func(store.Point) bool { return true })
	for _, day := range in.Days {
		in.ByDay.AddDay(day.From, s.rows(day.Window))
	}
	return in
}

// windows are those of each Monday of a year, and of its months.
func windows() [][2]store.Window {
	var all [][2]store.Window
	for week := range 53 {
		for _, weeks := range []int{1, 4} {
			w := store.LastWeeks("docs", weeks, yearOf.AddDays(7*week))
			all = append(all, [2]store.Window{w, w.Before()})
		}
	}
	for _, month := range store.Windows("docs", store.Month, mintlify.Day(2027, 1, 1), mintlify.Day(2028, 4, 1)) {
		all = append(all, [2]store.Window{month, month.MonthBefore()})
	}
	return all
}

var aChange = regexp.MustCompile(`[+−][\d.,]+%( \(about the same\)|,? about the same)?|×\d+|[+−][\d,]+ (to|points)\S*`)

// outputs are all that the program writes about a window: the page, the digest, what goes to Slack, the
// index, and the report of one page.
func (s flatSite) outputs(t *testing.T, in report.Input) []string {
	t.Helper()
	digest := strings.Join(report.Digest([]report.Input{in}), "\n")
	index, err := report.Index([]report.Input{in, in}, nil)
	require.NoError(t, err)

	end := in.Days[len(in.Days)-1].To
	one, err := report.OnePage(report.PageInput{
		Input: report.Input{Project: "docs", Generated: in.Generated, Days: in.Days, Months: in.Months},
		Path:  "/start",
		Since: in.Before.From,
		Weeks: s.points(store.Week, in.Days[0].From, end),
	})
	require.NoError(t, err)
	return []string{write(t, in), digest, report.Slack(digest), string(index), string(one)}
}

// changesOf returns the changes of all outputs that are more than "about the same".
func (s flatSite) changesOf(t *testing.T, in report.Input) []string {
	t.Helper()
	var all []string
	for _, text := range s.outputs(t, in) {
		all = append(all, regexp.MustCompile(`change (good|bad)[^<]*<`).FindAllString(text, -1)...)
		if strings.Contains(text, "<body>") {
			text = words(text)
		}
		for _, found := range aChange.FindAllString(text, -1) {
			if !strings.Contains(found, "about the same") {
				all = append(all, found)
			}
		}
	}
	return all
}

// The numbers of a site that never changes never change, in no week and no month, whoever reads it.
func TestAFlatSiteIsFlatAllYear(t *testing.T) {
	for name, s := range map[string]flatSite{
		"readers who come every day": {daily: 4000},
		"readers who come once":      {once: 900},
		"both":                       {daily: 1500, once: 500},
	} {
		for _, w := range windows() {
			in := s.report(w[0], w[1])
			require.Empty(t, s.changesOf(t, in), "%s, %v", name, w[0])
			require.Contains(t, sentenceOf(t, in), "Humans ", name)
			require.NotContains(t, words(write(t, in)), "No comparison", "%s, %v", name, w[0])
		}
	}
}

// A day of bots has regulars, too: what it has more is in no change, before and after it.
func TestADayOfBotsIsInNoChange(t *testing.T) {
	s := flatSite{daily: 300, once: 500, bots: map[mintlify.Date]int64{
		mintlify.Day(2027, time.March, 10):    9000,
		mintlify.Day(2027, time.November, 23): 41_250,
	}}
	for _, w := range windows() {
		in := s.report(w[0], w[1])
		require.Empty(t, s.changesOf(t, in), "%v", w[0])

		if at := mintlify.Day(2027, time.March, 10).Time(); !at.Before(w[0].From.Time()) && at.Before(w[0].To.Time()) {
			text := words(write(t, in))
			require.Contains(t, text, "of which 9,000 more than usual on Wed 10 Mar", "the count keeps it")
			require.Contains(t, text, "9,000 more AIs than usual on Wed 10 March, 9,000 of them on /start. Changes and shares are without them.")
			require.NotContains(t, text, "×")
		}
	}
}

// The same bots may come on two days: a month counts each of them once, and no month has fewer AIs than none.
func TestBotsOfTwoDaysAreTakenOutOnce(t *testing.T) {
	monday := mintlify.Day(2027, time.March, 8)
	s := flatSite{once: 500, bots: map[mintlify.Date]int64{monday: 40_000, monday.AddDays(1): 40_000}}
	in := s.report(store.LastWeeks("docs", 4, mintlify.Day(2027, time.April, 5)), store.LastWeeks("docs", 4, monday))
	for i, month := range in.Months {
		if month.From == mintlify.Day(2027, time.March, 1) {
			in.Months[i].Counts.AI -= 40_000
		}
	}
	in.Period.Totals.AI -= 40_000
	in.Period.Totals.Total -= 40_000
	in.Period.Rows[0].AI -= 40_000
	in.Period.Rows[0].Total -= 40_000

	text := words(write(t, in))
	assert.Contains(t, text, "AIs 45,800 of which 40,000 more than usual on Mon 8 Mar, Tue 9 Mar ±0% from 5,800")
	assert.Contains(t, text, "March 2027: 13,100 humans and 46,550 AIs, of which 40,000 more than usual on Mon 8 Mar, Tue 9 Mar."+
		" Without these, AIs are 33.3% of the visitors.")
	assert.Regexp(t, `/start [\d,]+ 45,800 of which 40,000 more than usual 33\.\d% about the same`, text, "of a page, too")
	assert.NotContains(t, text, "−100%")
	assert.NotContains(t, text, "AIs: gained")

	csv, err := report.CSV([]report.Input{in})
	require.NoError(t, err)
	assert.Contains(t, string(csv), ",/start,11600,45800,57400,11600,5800,17400\n", "the CSV keeps the counts")

	for i := range in.Months {
		in.Months[i].Counts.AI = min(in.Months[i].Counts.AI, 13_000)
	}
	assert.Contains(t, words(write(t, in)), "13,000 AIs; AIs are 49.8%", "a month that was counted without the bots")
}

// While the day of the first visitor is within the two windows, nothing is compared with it.
func TestASiteThatOpensInMidMonth(t *testing.T) {
	opens := mintlify.Day(2027, time.March, 18)
	s := flatSite{daily: 500, once: 500, opens: opens}
	for _, w := range windows() {
		if !w[0].To.Time().After(opens.Time()) {
			continue
		}

		in := s.report(w[0], w[1])
		require.Empty(t, s.changesOf(t, in), "%v", w[0])

		text := words(write(t, in))
		isWithin := w[1].From.Time().Before(opens.Time()) && w[1].To.Time().After(opens.Time())
		if isWithin {
			require.Contains(t, text, "There are visitors from 18 March on", "%v", w[0])
			require.NotContains(t, text, "Thin: the same weekdays", "nothing is compared")
			require.LessOrEqual(t, strings.Count(text, "loads it."), 2, "of all lists at once")
		}
		if !w[1].From.Time().Before(opens.Time()) {
			require.NotContains(t, text, "No comparison.", "%v", w[0])
		}
	}
}

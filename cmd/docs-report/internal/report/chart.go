package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const mostByDay = 35 // days that are drawn one by one

// trend is the chart, drawn for a wide and for a narrow page, and its numbers.
type trend struct {
	Unit    string
	Charts  []chart
	Rows    []store.Export
	Summary string // is for readers who do not see the chart
	LeftOut bool   // days or weeks are missing
	Before  bool   // the period before is drawn too

	WeeksApart int // is how much later the period before is drawn
}

// Unit says whether a window's trend is drawn by day or by week.
func Unit(w store.Window) store.Span {
	if w.Days() > mostByDay {
		return store.Week
	}
	return store.Day
}

// plot has the data of a trend.
type plot struct {
	store.Window
	unit        store.Span
	now, before []store.Export // days or weeks
	since       mintlify.Date  // is marked, unless it is zero
}

func newTrend(in Input) trend {
	return plot{
		Window: in.Period.Window,
		unit:   Unit(in.Period.Window),
		now:    in.Trend,
		before: in.TrendFrom,
	}.draw()
}

func (p plot) draw() trend {
	t := trend{
		Unit:       string(p.unit),
		Rows:       p.now,
		Before:     len(p.before) > 0,
		WeeksApart: p.weeksApart(),
	}
	if len(p.now) == 0 {
		return t
	}

	wanted := store.Windows("", p.unit, p.From, p.To)
	t.LeftOut = len(p.now) < len(wanted) || p.now[0].From != p.From

	t.Charts = []chart{
		p.chart(chart{Class: "wide", Width: 1000, Height: 300}),
		p.chart(chart{Class: "narrow", Width: 340, Height: 230}),
	}

	first := p.now[0].Totals
	last := p.now[len(p.now)-1].Totals
	t.Summary = fmt.Sprintf("Line chart of visitors by %s. "+
		"Humans: %s at first, %s at last. AIs: %s at first, %s at last. The table below has all numbers.",
		p.unit, number(first.Human), number(last.Human), number(first.AI), number(last.AI))
	return t
}

func bucketDays(b store.Export) string {
	if last := b.To.AddDays(-1); last != b.From {
		return b.From.Time().Format(shortDay) + " to " + last.Time().Format(shortDay)
	}
	return b.From.Time().Format("Mon " + shortDay)
}

// chart is a drawing of a size, in its own units.
type chart struct {
	Class         string
	Width, Height float64

	Left, Right, Top, Bottom float64 // bound the plot
	Step                     float64 // is the way from point to point
	highest                  float64 // is the count at the top
	days                     int     // from point to point

	Ticks        []tick // are the counts
	Labels       []tick // are the dates
	Weekends     []float64
	Points       []point
	Since        float64 // is the marked day; 0: there is none
	Lines        lines
	LinesBefore  lines
	HasComparing bool
}

type tick struct {
	At   float64
	Text string
}

type point struct{ X, Human, AI float64 }

// lines are the points of two lines.
type lines struct{ Humans, AIs string }

// chart draws a chart of a class and size.
func (p plot) chart(c chart) chart {
	c.Left = 46
	c.Right = c.Width - 24
	c.Top = 12
	c.Bottom = c.Height - 28
	c.days = 1
	if p.unit == store.Week {
		c.days = 7
	}

	if last := p.Days()/c.days - 1; last > 0 {
		c.Step = (c.Right - c.Left) / float64(last)
	}

	c.drawCounts(p)
	c.drawDates(p)

	for _, b := range p.now {
		c.Points = append(c.Points, c.point(p.From, b))
	}

	c.Lines = linesOf(c.Points)

	var before []point
	for _, b := range p.before {
		if at := c.point(p.From.AddDays(-7*p.weeksApart()), b); c.Left <= at.X && at.X <= c.Right {
			before = append(before, at)
		}
	}

	c.HasComparing = len(before) > 0
	c.LinesBefore = linesOf(before)
	return c
}

// weeksApart returns how many weeks later the period before is drawn, so that each weekday is
// beside the same weekday of the period before, in months as in whole weeks.
func (p plot) weeksApart() int { return p.Days() / 7 }

// drawCounts draws the axis of counts, which begins at 0.
func (c *chart) drawCounts(p plot) {
	highest := int64(0)
	for _, b := range slices.Concat(p.now, p.before) {
		highest = max(highest, b.Totals.Human, b.Totals.AI)
	}

	step := tickStep(highest)
	c.highest = step * math.Max(1, math.Ceil(float64(highest)/step))
	for n := 0.0; n <= c.highest; n += step {
		c.Ticks = append(c.Ticks, tick{At: c.y(int64(n)), Text: number(int64(n))})
	}
}

func (c *chart) drawDates(p plot) {
	apart := int(math.Max(1, math.Ceil(64/math.Max(c.Step, 1)))) // room for a label
	for i, b := range p.now {
		x := c.x(p.From, b.From)
		if i%apart == (len(p.now)-1)%apart { // the last point has a label
			c.Labels = append(c.Labels, tick{x, b.From.Time().Format(shortDay)})
		}
		if isWeekend(b) {
			c.Weekends = append(c.Weekends, x)
		}
	}

	if !p.since.IsZero() {
		c.Since = c.x(p.From, p.since)
	}
}

func (c *chart) point(first mintlify.Date, b store.Export) point {
	return point{c.x(first, b.From), c.y(b.Totals.Human), c.y(b.Totals.AI)}
}

// x returns the place of a day. The place of a missing day or week stays empty.
func (c *chart) x(first, day mintlify.Date) float64 {
	since := float64(store.Window{From: first, To: day}.Days()) / float64(c.days)
	return round(c.Left + c.Step*since)
}

func (c *chart) y(n int64) float64 {
	return round(c.Bottom - (c.Bottom-c.Top)*float64(max(n, 0))/c.highest)
}

func linesOf(points []point) lines {
	var humans, ais strings.Builder
	for _, p := range points {
		fmt.Fprintf(&humans, "%g,%g ", p.X, p.Human)
		fmt.Fprintf(&ais, "%g,%g ", p.X, p.AI)
	}
	return lines{strings.TrimSpace(humans.String()), strings.TrimSpace(ais.String())}
}

// tickStep returns a round number that is about a fifth of highest.
func tickStep(highest int64) float64 {
	rough := math.Max(float64(highest)/5, 1)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 2.5, 5, 10} {
		if step := power * factor; step >= rough && step == math.Trunc(step) {
			return step
		}
	}
	return power * 10
}

func round(x float64) float64 { return math.Round(10*x) / 10 }

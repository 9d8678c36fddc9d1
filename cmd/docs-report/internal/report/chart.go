package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const mostByDay = 35 // days that are drawn one by one

// trend is the chart, drawn for a wide and for a narrow page, and its numbers.
type trend struct {
	Unit    string
	Charts  []chart
	Rows    []store.Export
	Summary string // for who does not see the chart
	LeftOut bool   // days or weeks are missing
	Before  bool   // the period before is drawn too
}

// chart is a drawing of a size, in its own units.
type chart struct {
	Class                               string
	Width, Height                       float64
	Left, Right, Top, Bottom            float64 // of the plot
	Ticks, Labels                       []tick  // of the counts and of the dates
	Weekends                            []float64
	Humans, AIs, HumansBefore, AIBefore string // points of the lines
	Points                              []point
	Step                                float64 // from point to point
}

type tick struct {
	At   float64
	Text string
}

type point struct{ X, Human, AI float64 }

// Unit is what a window's trend is drawn by.
func Unit(w store.Window) store.Span {
	if w.Days() > mostByDay {
		return store.Week
	}
	return store.Day
}

func newTrend(in Input) trend {
	unit := Unit(in.Period.Window)
	t := trend{Unit: string(unit), Rows: in.Trend, Before: len(in.TrendFrom) > 0}
	if len(in.Trend) == 0 {
		return t
	}
	t.LeftOut = len(in.Trend) < len(store.Windows("", unit, in.Period.From, in.Period.To)) || in.Trend[0].From != in.Period.From
	t.Charts = []chart{drawChart(in, "wide", 1000, 300), drawChart(in, "narrow", 340, 230)}
	first, last := in.Trend[0].Totals, in.Trend[len(in.Trend)-1].Totals
	t.Summary = fmt.Sprintf("Line chart of visitors by %s. Humans: %s at first, %s at last. AIs: %s at first, %s at last. The table beneath has all numbers.",
		unit, number(first.Human), number(last.Human), number(first.AI), number(last.AI))
	return t
}

func bucketDays(b store.Export) string {
	if last := b.To.AddDays(-1); last != b.From {
		return b.From.Time().Format(shortDay) + " to " + last.Time().Format(shortDay)
	}
	return b.From.Time().Format("Mon " + shortDay)
}

func drawChart(in Input, class string, width, height float64) chart {
	unit := Unit(in.Period.Window)
	c := chart{Class: class, Width: width, Height: height, Left: 46, Right: width - 24, Top: 12, Bottom: height - 28}
	highest := int64(0)
	for _, b := range slices.Concat(in.Trend, in.TrendFrom) {
		highest = max(highest, b.Totals.Human, b.Totals.AI)
	}
	step := tickStep(highest)
	top := step * math.Max(1, math.Ceil(float64(highest)/step)) // the axis begins at 0
	y := func(n int64) float64 { return round(c.Bottom - (c.Bottom-c.Top)*float64(max(n, 0))/top) }
	for n := 0.0; n <= top; n += step {
		c.Ticks = append(c.Ticks, tick{At: y(int64(n)), Text: number(int64(n))})
	}
	length := map[store.Span]int{store.Day: 1, store.Week: 7}[unit]
	if last := in.Period.Days()/length - 1; last > 0 {
		c.Step = (c.Right - c.Left) / float64(last)
	}
	at := func(w store.Window, b store.Export) float64 { // a missing day leaves its place empty
		return round(c.Left + c.Step*float64(store.Window{From: w.From, To: b.From}.Days()/length))
	}
	apart := int(math.Max(1, math.Ceil(64/math.Max(c.Step, 1)))) // room for a label
	for i, b := range in.Trend {
		x := at(in.Period.Window, b)
		c.Points = append(c.Points, point{x, y(b.Totals.Human), y(b.Totals.AI)})
		if from := (len(in.Trend) - 1) % apart; i%apart == from { // the last has one
			c.Labels = append(c.Labels, tick{x, b.From.Time().Format(shortDay)})
		}
		if isWeekend(b) {
			c.Weekends = append(c.Weekends, x)
		}
	}
	var before []point
	for _, b := range in.TrendFrom {
		if x := at(in.Before.Window, b); x <= c.Right { // a month may be longer
			before = append(before, point{x, y(b.Totals.Human), y(b.Totals.AI)})
		}
	}
	human, ai := func(p point) float64 { return p.Human }, func(p point) float64 { return p.AI }
	c.Humans, c.AIs, c.HumansBefore, c.AIBefore = line(c.Points, human), line(c.Points, ai), line(before, human), line(before, ai)
	return c
}

// line returns the points of a line.
func line(points []point, y func(point) float64) string {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%g,%g ", p.X, y(p))
	}
	return strings.TrimSpace(b.String())
}

// tickStep returns a round number that goes into highest some five times.
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

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const mostByDay = 35 // days that are drawn one by one

// Unit says whether a window's trend is drawn by day or by week.
func Unit(w store.Window) store.Span {
	if w.Days() > mostByDay {
		return store.Week
	}
	return store.Day
}

// chart is a drawing of visitors by day or week, as wide as its card, and its numbers. Horizontal
// positions are in percent of its width, vertical ones in pixels.
type chart struct {
	Unit  store.Span
	Rows  []bucket
	odd   events.Surpluses // are those of days, beside which all others would be a flat line
	weeks int              // is how much later the period before is drawn
	since mintlify.Date    // is a day that is marked, or zero

	Summary string // is for readers who do not see the chart
	LeftOut string // says which days or weeks are missing
	Before  bool   // the period before is drawn too

	Panels      []panel // none: nothing is known
	Height      float64
	Top, Bottom float64 // bound all panels
	Band        float64 // is the width of a bucket
	Places      []place
}

// bucket is a day or week. What is not known is nil.
type bucket struct {
	store.Window
	Now, Before *mintlify.VisitorTotals
}

// place is where a bucket is.
type place struct {
	bucket
	X       float64
	Date    string // is written below it, or ""
	IsSince bool   // the marked day is in it
}

// label is a text beside a position.
type label struct {
	X, Y         float64
	Text, Anchor string
}

// panel is the numbers of a kind of visitors, and how they are drawn.
type panel struct {
	kind
	Empty string // says that there are none

	Top, Bottom float64
	Ticks       []label
	Lines       []string // are points
	Areas       []string
	LinesBefore []string
	Dots        []point // are numbers without neighbors
	Flags       []label

	now, before []float64 // by bucket
	highest     float64   // is the number at the top
}

const unknown = -1.0 // is the number of a bucket that is not known

type point struct{ X, Y float64 }

func newChart(in Input) chart {
	window := in.Period.Window
	c := chart{Unit: Unit(window), weeks: window.Days() / 7}
	c.Rows = buckets(window, c.Unit, in.Trend)
	if c.Unit == store.Day {
		c.odd = in.odd
	}

	before := byDay(in.TrendFrom)
	for i, b := range c.Rows {
		c.Rows[i].Before = before[b.From.AddDays(-7*c.weeks)]
	}
	return c.drawn()
}

// buckets returns the days or weeks of a window, with the counts of those that are known.
func buckets(w store.Window, unit store.Span, points []store.Point) []bucket {
	known := byDay(points)
	var all []bucket
	for _, part := range store.Windows(w.Project, unit, w.From, w.To) {
		all = append(all, bucket{Window: part, Now: known[part.From]})
	}
	return all
}

func byDay(points []store.Point) map[mintlify.Date]*mintlify.VisitorTotals {
	all := map[mintlify.Date]*mintlify.VisitorTotals{}
	for _, point := range points {
		all[point.From] = &point.Counts
	}
	return all
}

func (c chart) drawn() chart {
	var missing []string
	var known []*mintlify.VisitorTotals

	for _, b := range c.Rows {
		c.Before = c.Before || b.Before != nil
		if b.Now == nil {
			missing = append(missing, bucketDays(b.Window))
		} else {
			known = append(known, b.Now)
		}
	}

	if len(missing) > 0 {
		c.LeftOut = "Not in the database: " + firstFew(missing) + "."
	}
	if len(known) == 0 {
		return c
	}

	first := known[0]
	last := known[len(known)-1]

	c.Summary = fmt.Sprintf("Line chart of visitors by %s, humans above and AIs below. "+
		"Humans: %s at first, %s at last. AIs: %s at first, %s at last.",
		c.Unit, number(first.Human), number(last.Human), number(first.AI), number(last.AI))
	c.drawPanels()
	c.drawPlaces()
	return c
}

func bucketDays(w store.Window) string {
	if last := w.To.AddDays(-1); last != w.From {
		return w.From.Time().Format(shortDay) + " to " + last.Time().Format(shortDay)
	}
	return w.From.Time().Format("Mon " + shortDay)
}

const (
	panelHeight = 110
	emptyHeight = 14
	panelGap    = 36 // has the title of the lower panel
	titleRoom   = 24
	dateRoom    = 28
	mostDates   = 5 // fit on a narrow screen
)

func (c *chart) drawPanels() {
	c.Band = math.Floor(1e5/float64(len(c.Rows))) / 1000
	c.Top = titleRoom
	top := c.Top
	for _, p := range []panel{{kind: humans}, {kind: ais}} {
		p.read(*c)

		p.Top = top
		p.Bottom = top + panelHeight
		if p.Empty != "" {
			p.Bottom = top + emptyHeight
		} else {
			p.draw(*c)
		}

		c.Panels = append(c.Panels, p)
		c.Bottom = p.Bottom
		top = p.Bottom + panelGap
	}

	c.Height = c.Bottom + dateRoom
}

// drawPlaces names the Mondays. If there are many, it leaves some out.
func (c *chart) drawPlaces() {
	weeks := c.Rows[0].Days() * len(c.Rows) / 7
	apart := 1 + weeks/(mostDates+1)
	for i, b := range c.Rows {
		p := place{bucket: b, X: round2(c.Band * float64(i)), IsSince: b.Window.Has(c.since.Time())}
		since := store.Window{From: c.Rows[0].From, To: b.From}.Days()
		if b.From.Time().Weekday() == time.Monday && since/7%apart == 0 {
			p.Date = b.From.Time().Format(shortDay)
		}
		c.Places = append(c.Places, p)
	}
}

func (c chart) Apart() string        { return plural(int64(c.weeks), "week", "weeks") }
func (c chart) Body() float64        { return c.Bottom - c.Top }
func (c chart) middle(i int) float64 { return round2(c.Band * (float64(i) + 0.5)) }

// read takes the numbers of a kind. Days that stand out do not count for the height.
func (p *panel) read(c chart) {
	read := func(t *mintlify.VisitorTotals, day mintlify.Date) float64 {
		if t == nil {
			return unknown
		}

		n := float64(max(p.Of(*t), 0))
		isOdd := func(one events.Surplus) bool { return one.StandsOut && one.Kind == p.Kind && one.Day == day }
		if !slices.ContainsFunc(c.odd, isOdd) {
			p.highest = max(p.highest, n)
		}
		return n
	}

	for _, b := range c.Rows {
		p.now = append(p.now, read(b.Now, b.From))
		p.before = append(p.before, read(b.Before, b.From.AddDays(-7*c.weeks)))
	}
	if p.highest == 0 && slices.Max(p.now) <= 0 {
		p.Empty = "None in these dates."
	}
}

// draw draws the numbers. What is not known is not drawn: lines and areas end there.
func (p *panel) draw(c chart) {
	step := tickStep(p.highest)
	p.highest = step * math.Max(1, math.Ceil(p.highest/step))
	for n := 0.0; n <= p.highest; n += step {
		p.Ticks = append(p.Ticks, label{Y: p.y(n), Text: tickText(n)})
	}

	for _, run := range p.runs(c, p.now) {
		if len(run) == 1 {
			p.Dots = append(p.Dots, run[0])
			continue
		}

		line := lineOf(run)
		p.Lines = append(p.Lines, line)
		p.Areas = append(p.Areas, fmt.Sprintf("%g,%g %s %g,%g", run[0].X, p.Bottom, line, run[len(run)-1].X, p.Bottom))
	}
	for _, run := range p.runs(c, p.before) {
		if len(run) > 1 {
			p.LinesBefore = append(p.LinesBefore, lineOf(run))
		}
	}

	for i, n := range p.now {
		if n <= p.highest {
			continue
		}
		f := label{X: c.middle(i), Y: p.Top, Text: "▲ " + number(int64(n)), Anchor: "start"}
		if f.X > 50 { // the number stands beside the day, within the chart
			f.Text = number(int64(n)) + " ▲"
			f.Anchor = "end"
		}
		p.Flags = append(p.Flags, f)
	}
}

// runs returns the points of what is known, those beside each other together.
func (p *panel) runs(c chart, numbers []float64) [][]point {
	var all [][]point
	for i, n := range numbers {
		if n == unknown {
			continue
		}
		if i == 0 || numbers[i-1] == unknown {
			all = append(all, nil)
		}
		last := len(all) - 1
		all[last] = append(all[last], point{c.middle(i), p.y(n)})
	}
	return all
}

func lineOf(run []point) string {
	var points []string
	for _, at := range run {
		points = append(points, fmt.Sprintf("%g,%g", at.X, at.Y))
	}
	return strings.Join(points, " ")
}

// y returns the height of a number. What is larger than the chart ends at its top.
func (p *panel) y(n float64) float64 {
	return round(p.Bottom - (p.Bottom-p.Top)*min(n/p.highest, 1))
}

// tickText stays within the margin of the chart.
func tickText(n float64) string {
	const million = 1e6
	if n >= million {
		return fmt.Sprintf("%gm", n/million)
	}
	return number(int64(n))
}

// tickStep returns a round number that is about a third of highest.
func tickStep(highest float64) float64 {
	rough := math.Max(highest/3, 1)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 2.5, 5, 10} {
		if step := power * factor; step >= rough && step == math.Trunc(step) {
			return step
		}
	}
	return power * 10
}

func round(x float64) float64  { return math.Round(10*x) / 10 }
func round2(x float64) float64 { return math.Round(100*x) / 100 }

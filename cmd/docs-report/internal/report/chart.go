package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/outliers"
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

// trend is a chart, drawn for a wide and for a narrow page, and its numbers.
type trend struct {
	Unit     string
	Chart    *chart // nil: nothing is known
	Rows     []bucket
	Summary  string // is for readers who do not see the chart
	LeftOut  string // says which days, weeks or months are missing
	Outliers string // names the days that are larger than the chart
	Before   bool   // the period before is drawn too
	Apart    string // is how much later the period before is drawn
}

// bucket is a day, week or month of a chart. What is not known is nil.
type bucket struct {
	store.Window
	Now, Before *mintlify.VisitorTotals
	isCut       bool // its numbers cannot be compared with those of the bucket before
}

// plot has what a trend draws.
type plot struct {
	unit    store.Span
	buckets []bucket
	marks   []markedDay
	odd     odd // is for days
}

type markedDay struct {
	day  mintlify.Date
	name string
}

func newTrend(in Input) trend {
	window := in.Period.Window
	unit := Unit(window)
	apart := window.Days() / 7

	p := plot{unit: unit, buckets: buckets(window, unit, in.Trend), odd: in.odd}

	before := byDay(in.TrendFrom)
	hasBefore := false
	for i, b := range p.buckets {
		p.buckets[i].Before = before[b.From.AddDays(-7*apart)]
		hasBefore = hasBefore || p.buckets[i].Before != nil
	}

	for i, mark := range in.Marks {
		p.marks = append(p.marks, markedDay{mark.Day, markName(i)})
	}

	t := p.draw()
	t.Before = hasBefore
	t.Apart = plural(int64(apart), "week", "weeks")
	return t
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

func (p plot) draw() trend {
	t := trend{Unit: string(p.unit), Rows: p.buckets, LeftOut: p.leftOut()}

	known := p.known()
	if len(known) == 0 {
		return t
	}

	all := p.panels()
	for _, panel := range all {
		t.Outliers = sentences(t.Outliers, panel.outlierSentence(p))
	}
	if t.Outliers != "" {
		t.Outliers += " The chart is cut off there."
	}

	t.Chart = p.chart(all)

	first := known[0].Now
	last := known[len(known)-1].Now
	t.Summary = fmt.Sprintf("Line chart of visitors by %s, humans above and AIs below. "+
		"Humans: %s at first, %s at last. AIs: %s at first, %s at last. The table below has all numbers.",
		p.unit, number(first.Human), number(last.Human), number(first.AI), number(last.AI))
	return t
}

func (p plot) known() []bucket {
	return slices.DeleteFunc(slices.Clone(p.buckets), func(b bucket) bool { return b.Now == nil })
}

// leftOut says how many days are missing, and which if they are few.
func (p plot) leftOut() string {
	var missing []string
	for _, b := range p.buckets {
		if b.Now == nil {
			missing = append(missing, bucketDays(b.Window))
		}
	}

	const named = 3
	count := plural(int64(len(missing)), string(p.unit), string(p.unit)+"s")
	switch {
	case len(missing) == 0:
		return ""
	case len(missing) <= named:
		return fmt.Sprintf("Not in the database: %s.", strings.Join(missing, ", "))
	}
	return fmt.Sprintf("Not in the database: %s between %s and %s.", count, missing[0], missing[len(missing)-1])
}

func bucketDays(w store.Window) string {
	last := w.To.AddDays(-1)
	switch {
	case w.Span() == store.Month:
		return w.From.Time().Format("January 2006")
	case last != w.From:
		return w.From.Time().Format(shortDay) + " to " + last.Time().Format(shortDay)
	}
	return w.From.Time().Format("Mon " + shortDay)
}

// panel is the numbers of a kind of visitors, and how they are drawn.
type panel struct {
	Class string // is human or ai
	Title string
	Empty string // says that there are none

	Top, Bottom float64
	Ticks       []tick
	Lines       []string // are points
	Areas       []string
	LinesBefore []string
	Dots        []dot
	Flags       []flag

	now, before []*float64 // by bucket; nil is not known
	highest     float64    // is the number at the top
	outliers    []int      // buckets
}

type tick struct {
	At   float64
	Text string
}

// dot is a number that is drawn when the reader points at it, or always if it has no neighbors or is
// larger than the chart.
type dot struct {
	At      int // is the bucket
	X, Y    float64
	IsShown bool
}

// flag names a number that is larger than the chart.
type flag struct {
	X, Y         float64
	Text, Anchor string
}

func (p plot) panels() []panel {
	all := []panel{
		{Class: "human", Title: "Humans"},
		{Class: "ai", Title: "AIs"},
	}
	for _, b := range p.buckets {
		all[0].add(b, func(t mintlify.VisitorTotals) int64 { return t.Human })
		all[1].add(b, func(t mintlify.VisitorTotals) int64 { return t.AI })
	}

	all[0].measure(p, func(d oddDay) bool { return d.OfHumans })
	all[1].measure(p, func(d oddDay) bool { return d.OfAIs })
	return all
}

func (p *panel) add(b bucket, count func(mintlify.VisitorTotals) int64) {
	read := func(t *mintlify.VisitorTotals) *float64 {
		if t == nil {
			return nil
		}
		n := float64(max(count(*t), 0))
		return &n
	}
	p.now = append(p.now, read(b.Now))
	p.before = append(p.before, read(b.Before))
}

// measure finds the buckets beside which all others would be a flat line. Days are those that stand
// out everywhere.
func (p *panel) measure(of plot, isOdd func(oddDay) bool) {
	median := outliers.Median(p.now)
	for i, n := range p.now {
		isOut := n != nil && outliers.Is(*n, median)
		if of.unit == store.Day {
			isOut = slices.ContainsFunc(of.odd.within(of.buckets[i].Window), isOdd)
		}

		switch {
		case n == nil:
		case isOut:
			p.outliers = append(p.outliers, i)
		default:
			p.highest = max(p.highest, *n)
		}
	}

	medianBefore := outliers.Median(p.before)
	for _, n := range p.before {
		if n != nil && !outliers.Is(*n, medianBefore) {
			p.highest = max(p.highest, *n)
		}
	}

	if median == 0 && medianBefore == 0 {
		p.Empty = "None in these dates."
	}
}

const outliersNamed = 3

// outlierSentence names the outliers, the largest first.
func (p panel) outlierSentence(of plot) string {
	if len(p.outliers) == 0 {
		return ""
	}

	largest := slices.Clone(p.outliers)
	slices.SortStableFunc(largest, func(a, b int) int { return int(math.Copysign(1, *p.now[b]-*p.now[a])) })

	var named []string
	for _, i := range largest[:min(outliersNamed, len(largest))] {
		named = append(named, fmt.Sprintf("%s (%s)", bucketDays(of.buckets[i].Window), number(int64(*p.now[i]))))
	}

	text := strings.Join(named, ", ")
	if rest := len(largest) - outliersNamed; rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Sprintf("%s far beyond a usual %s: %s.", p.Title, of.unit, text)
}

// chart is a drawing as wide as its card. Horizontal positions are in percent of its width, vertical
// ones in pixels.
type chart struct {
	Height      float64
	Top, Bottom float64 // bound all panels
	Band        float64 // is the width of a bucket
	LabeledBy   string  // is the id of the text that says the same

	unit store.Span

	Labels []dateLabel
	Places []place
	Marks  []markLine
	Panels []panel
}

type dateLabel struct {
	At           float64
	Text, Anchor string
	IsDense      bool // a narrow screen leaves it out
}

type place struct {
	Day       mintlify.Date
	X         float64
	IsWeekend bool
	IsMissing bool
}

type markLine struct {
	X    float64
	Name string
}

const (
	panelGap  = 36 // has the title of the lower panel
	titleRoom = 24
	dateRoom  = 28
)

// chart draws the panels, one below the other.
func (p plot) chart(panels []panel) *chart {
	c := &chart{Top: titleRoom, unit: p.unit}
	c.Band = math.Floor(1e5/float64(len(p.buckets))) / 1000

	height := 110.0
	if p.unit == store.Month { // the year is a small picture
		height = 48
	}

	top := c.Top
	for _, panel := range panels {
		panel.Top = top
		panel.Bottom = top + height
		if panel.Empty != "" {
			panel.Bottom = top + 14
		}

		panel.draw(*c, p.buckets)
		c.Panels = append(c.Panels, panel)
		top = panel.Bottom + panelGap
		c.Bottom = panel.Bottom
	}

	c.Height = c.Bottom + dateRoom
	c.drawDates(p)
	return c
}

func (c *chart) drawDates(p plot) {
	layout := shortDay
	if p.unit == store.Month {
		layout = "Jan 06"
	}

	const labelWidth, wide, narrow = 62, 900, 280 // pixels
	labels := func(width float64) int { return int(width / labelWidth) }
	apart := 1 + (len(p.buckets)-1)/labels(wide)
	apartNarrow := apart * (1 + (len(p.buckets)-1)/(apart*labels(narrow)))

	last := len(p.buckets) - 1
	for i, b := range p.buckets {
		if (last-i)%apart == 0 {
			label := dateLabel{At: c.middle(i), Text: b.From.Time().Format(layout), Anchor: "middle"}
			label.IsDense = (last-i)%apartNarrow != 0
			if i == last { // stays within the card
				label.At = 100
				label.Anchor = "end"
			}
			c.Labels = append(c.Labels, label)
		}

		c.Places = append(c.Places, place{
			Day:       b.From,
			X:         c.left(i),
			IsWeekend: isWeekend(b.Window),
			IsMissing: b.Now == nil,
		})

		for _, mark := range p.marks {
			if isAt(mark.day.Time(), b.Window) {
				c.Marks = append(c.Marks, markLine{X: c.left(i), Name: mark.name})
			}
		}
	}
}

// Body returns the height of all panels.
func (c chart) Body() float64 { return c.Bottom - c.Top }

func (c chart) labeled(id string) chart {
	c.LabeledBy = id
	return c
}

// Attribute names the day of a place, or its month.
func (c chart) Attribute(day mintlify.Date) template.HTMLAttr {
	if c.unit == store.Month {
		return template.HTMLAttr(`data-month="` + day.String() + `"`)
	}
	return template.HTMLAttr(`data-day="` + day.String() + `"`)
}

func (c *chart) left(i int) float64   { return round2(c.Band * float64(i)) }
func (c *chart) middle(i int) float64 { return round2(c.Band * (float64(i) + 0.5)) }

// draw draws the numbers. What is not known is not drawn: lines and areas end there.
func (p *panel) draw(c chart, buckets []bucket) {
	if p.Empty != "" {
		return
	}

	step := tickStep(p.highest)
	p.highest = step * math.Max(1, math.Ceil(p.highest/step))

	p.Ticks = nil
	for n := 0.0; n <= p.highest; n += step {
		p.Ticks = append(p.Ticks, tick{At: p.y(n), Text: number(int64(n))})
	}

	for _, run := range runs(p.now, buckets) {
		p.drawRun(c, run)
	}

	for _, run := range runs(p.before, buckets) {
		if len(run) > 1 {
			p.LinesBefore = append(p.LinesBefore, p.line(c, run, p.before))
		}
	}

	for _, i := range p.outliers {
		p.Flags = append(p.Flags, p.flag(c, i))
	}
}

// drawRun draws neighbors that are known.
func (p *panel) drawRun(c chart, run []int) {
	for _, i := range run {
		isShown := len(run) == 1 || slices.Contains(p.outliers, i)
		p.Dots = append(p.Dots, dot{At: i, X: c.middle(i), Y: p.y(*p.now[i]), IsShown: isShown})
	}
	if len(run) == 1 {
		return
	}

	line := p.line(c, run, p.now)
	p.Lines = append(p.Lines, line)

	first := c.middle(run[0])
	last := c.middle(run[len(run)-1])
	p.Areas = append(p.Areas, fmt.Sprintf("%g,%g %s %g,%g", first, p.Bottom, line, last, p.Bottom))
}

func (p *panel) line(c chart, run []int, numbers []*float64) string {
	var points []string
	for _, i := range run {
		points = append(points, fmt.Sprintf("%g,%g", c.middle(i), p.y(*numbers[i])))
	}
	return strings.Join(points, " ")
}

// flag stands beside the top of an outlier, within the chart.
func (p *panel) flag(c chart, i int) flag {
	f := flag{X: c.middle(i), Y: p.Top, Text: "▲ " + number(int64(*p.now[i])), Anchor: "start"}
	if f.X > 50 {
		f.Text = number(int64(*p.now[i])) + " ▲"
		f.Anchor = "end"
	}
	return f
}

// runs returns the buckets that are known, those beside each other together.
func runs(numbers []*float64, buckets []bucket) [][]int {
	var all [][]int
	var run []int
	for i, n := range numbers {
		if len(run) > 0 && (n == nil || buckets[i].isCut) {
			all = append(all, run)
			run = nil
		}

		if n != nil {
			run = append(run, i)
		}
	}

	if len(run) > 0 {
		all = append(all, run)
	}
	return all
}

// y returns the height of a number. What is larger than the chart ends at its top.
func (p *panel) y(n float64) float64 {
	return round(p.Bottom - (p.Bottom-p.Top)*min(n/p.highest, 1))
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

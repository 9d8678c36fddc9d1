package main

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mintlify-community/mintlify-go/bench/schedule"
)

var (
	ours   = color.RGBA{R: 0xc0, G: 0x20, B: 0x20, A: 0xff}
	theirs = color.RGBA{R: 0x50, G: 0x60, B: 0x70, A: 0xff}
)

func drawPoints(p *plot.Plot, results []schedule.Result) error {
	for _, r := range results {
		at := plotter.XYs{{X: r.GETs, Y: 100 * r.LateShare95}}
		point, err := plotter.NewScatter(at)
		if err != nil {
			return err
		}
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: []string{r.Name}})
		if err != nil {
			return err
		}
		point.GlyphStyle = draw.GlyphStyle{Color: theirs, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		if r.Name == schedule.SDK.Name {
			point.GlyphStyle.Color, point.GlyphStyle.Radius = ours, vg.Points(5)
			label.TextStyle[0].Color = ours
		}
		label.Offset = vg.Point{X: vg.Points(7), Y: vg.Points(-3)}
		if r.Name == schedule.SDK.Name {
			label.Offset.Y = vg.Points(5) // above its neighbour's
		}
		if strings.HasPrefix(r.Name, "every") { // on the other side, where no other label is
			label.TextStyle[0].XAlign, label.Offset.X = text.XRight, vg.Points(-7)
		}
		p.Add(point, label)
	}
	return nil
}

// drawPicture draws what each schedule costs against how late it is.
func drawPicture(results []schedule.Result, path string) error {
	p := plot.New()
	// The title says what the axes are: plot leaves too much room for a label beside a logarithmic one.
	p.Title.Text = "How late a wait is, in % of the job's length (95th percentile), against its GETs"
	p.X.Label.Text = "GETs a job, on average"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = marks{at: []float64{5, 10, 20, 40, 80, 160, 320}}
	p.Y.Tick.Marker = marks{at: []float64{1, 2, 5, 10, 20, 50, 100}, unit: " %"}
	p.Add(plotter.NewGrid())
	if err := drawPoints(p, results); err != nil {
		return err
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 5, 320, 1, 150
	return p.Save(20*vg.Centimeter, 12*vg.Centimeter, path)
}

// marks are the numbers on an axis.
type marks struct {
	at   []float64
	unit string
}

// Ticks implements [plot.Ticker].
func (m marks) Ticks(least, most float64) (ticks []plot.Tick) {
	for _, value := range m.at {
		if value >= least && value <= most {
			ticks = append(ticks, plot.Tick{Value: value, Label: fmt.Sprint(value) + m.unit})
		}
	}
	return ticks
}

package main

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

// drawRatios draws each column's ratio to the loop, a line a row, the first on top.
func drawRatios(set figures.Set, path string) error {
	p := plot.New()
	p.Title.Text = "What the loop's client takes is 1: SDK (large), go-retryablehttp, oapi-codegen, ogen"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = marks{at: []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}}
	var names []string
	least, most := 0.1, 10.0
	for _, r := range slices.Backward(slices.Concat(rows, otherRows, startRows)) {
		if r.drawn == "" {
			continue
		}
		for _, column := range columns.All[1:] {
			ratio, ok := r.ratioOf(set, column.Name)
			if !ok {
				continue
			}
			least, most = min(least, ratio/1.3), max(most, ratio*1.3)
			if err := addPoint(p, ratio, float64(len(names)), column.Name == "sdk"); err != nil {
				return err
			}
		}
		names = append(names, r.drawn)
	}
	p.NominalY(names...)
	line, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -1}, {X: 1, Y: float64(len(names))}})
	if err != nil {
		return err
	}
	line.Color = theirs
	p.Add(line, plotter.NewGrid())
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = least, most, -1, float64(len(names))
	return p.Save(20*vg.Centimeter, 14*vg.Centimeter, path)
}

// ratioOf is a column's median ratio to the loop, run by run.
func (r row) ratioOf(set figures.Set, column string) (float64, bool) {
	if column == "sdk" {
		return figures.Median(r.ratios(set))
	}
	return figures.Median(set.Ratios(r.figure, column, r.figure, "loop"))
}

func addPoint(p *plot.Plot, x, y float64, sdk bool) error {
	point, err := plotter.NewScatter(plotter.XYs{{X: x, Y: y}})
	if err != nil {
		return err
	}
	point.GlyphStyle = draw.GlyphStyle{Color: theirs, Radius: vg.Points(2.5), Shape: draw.RingGlyph{}}
	if sdk {
		point.GlyphStyle = draw.GlyphStyle{Color: ours, Radius: vg.Points(4.5), Shape: draw.CircleGlyph{}}
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{fmt.Sprintf("%.2f", x)}})
		if err != nil {
			return err
		}
		label.TextStyle[0].Color, label.Offset = ours, vg.Point{X: vg.Points(-8), Y: vg.Points(5)}
		p.Add(label)
	}
	p.Add(point)
	return nil
}

// drawExports draws how long an export takes, by how many pages are prefetched.
func drawExports(set figures.Set, path string) error {
	p := plot.New()
	p.Title.Text = "Seconds of an export of 100 pages, 20 ms latency a page"
	subjects := []string{"loop", "sdk", "prefetch", "prefetch4"}
	width := vg.Points(28)
	for i, work := range []struct {
		figure, name string
	}{{"seconds without work", "no work between pages"}, {"seconds with work", "20 ms of work a page"}} {
		var values plotter.Values
		for _, column := range subjects {
			median, ok := set.Median(work.figure, column)
			if !ok {
				return fmt.Errorf("no %s of %s", work.figure, column)
			}
			values = append(values, median)
		}
		bars, err := plotter.NewBarChart(values, width)
		if err != nil {
			return err
		}
		bars.Color, bars.Offset, bars.LineStyle.Width = []color.Color{ours, theirs}[i], vg.Length(2*i-1)*width/2, 0
		p.Add(bars)
		p.Legend.Add(work.name, bars)
	}
	p.Legend.Top, p.Legend.Padding = true, vg.Points(4)
	p.Y.Min = 0
	p.NominalX("loop", "SDK", "WithPrefetch(1)", "WithPrefetch(4)")
	return p.Save(16*vg.Centimeter, 8*vg.Centimeter, path)
}

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/mintlify-community/mintlify-go/bench"
)

// base is the column that the others are compared with.
const base = "byhand"

// figures is what figures.json holds.
type figures struct {
	Go       string    `json:"go"`
	Platform string    `json:"platform"`
	Cores    int       `json:"cores"`
	Runs     int       `json:"runs"`
	Figures  []summary `json:"figures"`
}

// summary is a figure of all runs. Its ratio is to the base's, run by run; it is nil if
// the base has none, or only zeros.
type summary struct {
	Row    string  `json:"row"`
	Column string  `json:"column"`
	Median float64 `json:"median"`
	Ratio  *ratio  `json:"ratio,omitempty"`
}

type ratio struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

type key struct{ row, column string }

// read reads the lines that the measuring programs print.
func read(r io.Reader) (map[key][]float64, error) {
	measured := map[key][]float64{}
	decoder := json.NewDecoder(r)
	for {
		var f bench.Figure
		err := decoder.Decode(&f)
		if err == io.EOF {
			return measured, nil
		}
		if err != nil {
			return nil, err
		}
		name := key{row: f.Row, column: f.Column}
		measured[name] = append(measured[name], f.Value)
	}
}

func summarize(measured map[key][]float64, runs int) figures {
	all := figures{
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Cores:    runtime.NumCPU(),
		Runs:     runs,
	}

	names := slices.SortedFunc(maps.Keys(measured), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.column, b.column))
	})
	for _, name := range names {
		all.Figures = append(all.Figures, summary{
			Row:    name.row,
			Column: name.column,
			Median: median(measured[name]),
			Ratio:  ratioOf(measured[name], measured[key{row: name.row, column: base}]),
		})
	}
	return all
}

// ratioOf compares values with those of the base, run by run. It returns nil if there is
// nothing to compare.
func ratioOf(values, bases []float64) *ratio {
	var ratios []float64
	for i, value := range values {
		if i < len(bases) && bases[i] != 0 {
			ratios = append(ratios, value/bases[i])
		}
	}
	if len(ratios) == 0 {
		return nil
	}
	return &ratio{
		Median: median(ratios),
		Least:  round(slices.Min(ratios)),
		Most:   round(slices.Max(ratios)),
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return round((sorted[middle-1] + sorted[middle]) / 2)
	}
	return round(sorted[middle])
}

// round keeps four digits.
func round(v float64) float64 {
	rounded, _ := strconv.ParseFloat(fmt.Sprintf("%.3e", v), 64)
	return rounded
}

// write writes a line for each figure, so that a diff shows what has changed.
func (f figures) write(path string) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(`{"row"`), []byte("\n  {\"row\""))
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func load(path string) (figures, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return figures{}, err
	}

	var f figures
	if err := json.Unmarshal(text, &f); err != nil {
		return figures{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"runtime"
	"text/template"
	"time"

	"github.com/mintlify-community/mintlify-go/bench/figures"
	"github.com/mintlify-community/mintlify-go/bench/schedule"
)

//go:embed performance.md.tmpl
var page string

// render writes the page. Words that say how much come from the figures.
func render(m *measuring, polling []schedule.Result, runs int, took time.Duration) ([]byte, error) {
	ratio := func(row, column, baseRow, baseColumn string) string {
		median, _ := figures.Median(m.figures.Ratios(row, column, baseRow, baseColumn))
		return fmt.Sprintf("%.2f", median)
	}
	aim := func(r row) string { return r.aim(m.figures) }
	functions := template.FuncMap{
		"percent": func(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) },
		"ratio":   ratio,
		"next":    func(row, column, base string) string { return ratio(next+row, column, next+row, base) },
		"tls":     func(row, column, base string) string { return ratio(overTLS+row, column, overTLS+row, base) },
		"ofTLS":   func(row, column string) string { return ratio(overTLS+row, column, row, column) },
		"median": func(row, column string) string {
			median, _ := m.figures.Median(row, column)
			return fmt.Sprintf("%.0f", median)
		},
		"times":   func(row, column, base string) string { return ratio(row, column, row, base) },
		"seconds": func(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) },
	}
	parsed, err := template.New("page").Funcs(functions).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = parsed.Execute(&b, map[string]any{
		"Cores": runtime.NumCPU(), "Platform": runtime.GOOS + "/" + runtime.GOARCH,
		"Go": runtime.Version(), "Runs": runs, "Batches": batches, "Took": took.Round(time.Minute),
		"Table": table(m.figures, rows, "aim", aim), "Others": table(m.figures, otherRows, "aim", aim), "Starts": table(m.figures, startRows, "aim", aim),
		"TLS": table(m.figures, tlsRows, "SDK over HTTP/1.1, no TLS", func(r row) string { return r.plain(m.figures) }), "Programs": m.programs, "Misses": misses(m.figures), "Polling": polling,
	})
	return b.Bytes(), err
}

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/mintlify-community/mintlify-go/bench/clients"
)

//go:embed performance.md.tmpl
var page string

// units are what the figures are printed in.
var units = map[string]float64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "µs": 1e3, "ms": 1e6}

// render executes the page. Its table, and the figures in its prose, come from f.
func (f figures) render() ([]byte, error) {
	functions := template.FuncMap{"row": f.row, "value": f.value, "ratio": f.ratio, "outage": f.outage}
	parsed, err := template.New("page").Funcs(functions).Parse(page)
	if err != nil {
		return nil, err
	}

	var b bytes.Buffer
	if err := parsed.Execute(&b, f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (f figures) find(row, column string) (summary, error) {
	for _, s := range f.Figures {
		if s.Row == row && s.Column == column {
			return s, nil
		}
	}
	return summary{}, fmt.Errorf("figures.json has no %q of %q", row, column)
}

// value is a median for the prose.
func (f figures) value(row, column, unit string) (string, error) {
	s, err := f.find(row, column)
	if err != nil {
		return "", err
	}
	return number(s.Median / units[unit]), nil
}

// ratio is a median ratio to the base for the prose.
func (f figures) ratio(row, column string) (string, error) {
	s, err := f.find(row, column)
	if err != nil {
		return "", err
	}
	if s.Ratio == nil {
		return "", fmt.Errorf("%q of %q has no ratio", row, column)
	}
	return fmt.Sprintf("%.2f", s.Ratio.Median), nil
}

// row is a line of the table. The column subject stands in the SDK's place. The aim is the
// most that the ratio may be, or the figure itself if it has no ratio; "" means that there is no aim.
func (f figures) row(row, subject, title, unit, aim string) (string, error) {
	cells := []string{title}
	for _, column := range clients.All {
		name := column.Name
		if name == "sdk" {
			name = subject
		}
		value, err := f.value(row, name, unit)
		if err != nil {
			return "", err
		}
		cells = append(cells, value)
	}

	s, err := f.find(row, subject)
	if err != nil {
		return "", err
	}
	missed, err := s.misses(aim)
	if err != nil {
		return "", err
	}
	if missed {
		aim += " **missed**"
	}
	cells = append(cells, s.ratioText(), aim)
	return "| " + strings.Join(cells, " | ") + " |", nil
}

// outage is a line of the table of outages.
func (f figures) outage(title, row string) (string, error) {
	cells := []string{title}
	for _, program := range []string{"once", "create", "retries"} {
		value, err := f.value(row, program, "")
		if err != nil {
			return "", err
		}
		cells = append(cells, value)
	}
	return "| " + strings.Join(cells, " | ") + " |", nil
}

func (s summary) misses(aim string) (bool, error) {
	if aim == "" {
		return false, nil
	}
	most, err := strconv.ParseFloat(aim, 64)
	if err != nil {
		return false, err
	}

	if s.Ratio == nil {
		return s.Median > most, nil
	}
	return s.Ratio.Median >= most+0.005, nil // as printed
}

// ratioText is the median ratio, with the least and most of all runs if they differ.
func (s summary) ratioText() string {
	if s.Ratio == nil {
		return ""
	}
	least := fmt.Sprintf("%.2f", s.Ratio.Least)
	most := fmt.Sprintf("%.2f", s.Ratio.Most)
	if least == most {
		return least
	}
	return fmt.Sprintf("%.2f (%s–%s)", s.Ratio.Median, least, most)
}

// number has one decimal place below 100, if it is not 0.
func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

// table is rows in Markdown. Its last column is what last says of a row.
func table(set figures.Set, rows []row, lastTitle string, last func(row) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| what | loop | retryablehttp | oapi-codegen | ogen | SDK | SDK to loop | %s |\n|---|---|---|---|---|---|---|---|\n", lastTitle)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.title)
		for _, column := range columns.All {
			fmt.Fprintf(&b, " %s |", r.cell(set, column.Name))
		}
		fmt.Fprintf(&b, " %s | %s |\n", r.ratio(set), last(r))
	}
	return b.String()
}

// plain is what the SDK takes of the same without TLS.
func (r row) plain(set figures.Set) string {
	r.figure = strings.TrimPrefix(r.figure, overTLS)
	return r.cell(set, "sdk")
}

// cell is empty for columns that the row does not compare.
func (r row) cell(set figures.Set, column string) string {
	if column == "sdk" {
		column = r.subject()
	} else if r.base != (base{}) {
		return ""
	}
	median, ok := figures.Median(set[r.figure][column])
	if !ok {
		return ""
	}
	return r.unit(median)
}

func (r row) subject() string {
	if r.sdk != "" {
		return r.sdk
	}
	return "sdk"
}

func (r row) ratios(set figures.Set) []float64 {
	if r.base != (base{}) {
		return set.Ratios(r.figure, r.subject(), r.base.figure, r.base.column)
	}
	return set.Ratios(r.figure, r.subject(), r.figure, "loop")
}

// ratio is the median, and the least and most of all runs where they differ.
func (r row) ratio(set figures.Set) string {
	ratios := r.ratios(set)
	median, ok := figures.Median(ratios)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("%.2f", median)
	if least, most := fmt.Sprintf("%.2f", slices.Min(ratios)), fmt.Sprintf("%.2f", slices.Max(ratios)); least != most {
		text += fmt.Sprintf(" (%s to %s)", least, most)
	}
	return text
}

func (r row) target() string {
	switch {
	case r.mostItself != 0:
		return r.unit(r.mostItself)
	case r.most != 0:
		return fmt.Sprintf("%.2f", r.most)
	}
	return ""
}

func (r row) aim(set figures.Set) string {
	if r.misses(set) {
		return r.target() + ", **missed**"
	}
	return r.target()
}

func (r row) misses(set figures.Set) bool {
	itself, _ := set.Median(r.figure, r.subject())
	ratio, _ := figures.Median(r.ratios(set))
	return r.mostItself != 0 && itself > r.mostItself || r.most != 0 && math.Round(100*ratio) > math.Round(100*r.most)
}

// misses lists the rows that miss their aim, each with the reason why it is accepted.
func misses(set figures.Set) (list []string) {
	for _, r := range slices.Concat(rows, otherRows, startRows) {
		if !r.misses(set) {
			continue
		}
		reason := "The reason is not known."
		if r.accepted != nil {
			reason = r.accepted(set)
		}
		list = append(list, fmt.Sprintf("**%s**: %s, a ratio of %s, where %s is aimed at. %s", r.title, r.cell(set, "sdk"), r.ratio(set), r.target(), reason))
	}
	return list
}

func count(v float64) string        { return fmt.Sprintf("%.0f", v) }
func seconds(v float64) string      { return fmt.Sprintf("%.1f s", v) }
func microseconds(v float64) string { return fmt.Sprintf("%.1f µs", v/1000) }
func kibibytes(v float64) string    { return fmt.Sprintf("%.1f KiB", v/(1<<10)) }
func mebibytes(v float64) string    { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }
func milliseconds(v float64) string { return fmt.Sprintf("%.1f ms", v/1e6) }

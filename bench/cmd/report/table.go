package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

// row is a line of the table. What is compared is the SDK's median, run by run as
// a ratio to the loop's, or what compare says instead.
type row struct {
	title, figure string
	unit          func(float64) string
	sdk           string  // the column in the SDK's place; "" is sdk
	most          float64 // the ratio that is aimed at; 0 is none
	toItself      string  // the figure of the same column that it is a ratio to, instead of the loop's
}

var rows = []row{
	{title: "requests for 100,000 rows, page size left alone", figure: "requests", unit: count, most: 0.2},
	{title: "the same, told to ask for 250 rows", figure: "requests when told", unit: count, most: 1},
	{title: "export of 100,000 rows, 20 ms latency and 20 ms of work a page", figure: "export seconds", unit: seconds},
	{title: "the same, the SDK with prefetch", figure: "export seconds", unit: seconds, sdk: "prefetch", most: 0.55},
	{title: "1,000 Gets at once, second wave: new connections", figure: "new connections", unit: count, most: 0.1},
	{title: "peak memory, export of 1,000,000 rows", figure: "peak of many", unit: mebibytes, most: 1.05},
	{title: "the same, the SDK with prefetch", figure: "peak of many", unit: mebibytes, sdk: "prefetch", most: 1.05},
	{title: "the same, to its own peak for 100,000 rows", figure: "peak of many", unit: mebibytes, toItself: "peak of few", most: 1.05},
	{title: "the same, the SDK with prefetch", figure: "peak of many", unit: mebibytes, sdk: "prefetch", toItself: "peak of few", most: 1.05},
	{title: "10,000 waits at once: heap and stack a wait", figure: "bytes a wait", unit: kibibytes},
	{title: "10,000 waits at once: goroutines a wait", figure: "goroutines a wait", unit: count},
	{title: "a page of 250 rows: bytes allocated", figure: "page bytes", unit: kibibytes, most: 0.30},
	{title: "a page of 250 rows: allocations", figure: "page allocations", unit: count},
	{title: "a page of 250 rows: CPU", figure: "page cpu", unit: microseconds, most: 0.95},
	{title: "the same, next Go", figure: next + "page cpu", unit: microseconds},
	{title: "a Get: bytes allocated", figure: "get bytes", unit: kibibytes},
	{title: "a Get: allocations", figure: "get allocations", unit: count, most: 1.4},
	{title: "a Get: CPU", figure: "get cpu", unit: microseconds, most: 1.3},
	{title: "the same, next Go", figure: next + "get cpu", unit: microseconds},
	{title: "a Create: bytes allocated", figure: "create bytes", unit: kibibytes},
	{title: "a Create: allocations", figure: "create allocations", unit: count, most: 1.6},
	{title: "a Create: CPU", figure: "create cpu", unit: microseconds, most: 1.3},
	{title: "the same, next Go", figure: next + "create cpu", unit: microseconds},
	{title: "modules linked besides the program's own", figure: "modules", unit: count},
	{title: "program, stripped", figure: "size", unit: mebibytes},
}

func table(set figures.Set) string {
	var b strings.Builder
	b.WriteString("| what | loop | retryablehttp | oapi-codegen | ogen | SDK | SDK to loop | aim |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.title)
		for _, column := range columns.All {
			fmt.Fprintf(&b, " %s |", r.cell(set, column.Name))
		}
		fmt.Fprintf(&b, " %s | %s |\n", r.ratio(set), r.aim(set))
	}
	return b.String()
}

func (r row) cell(set figures.Set, column string) string {
	if column == "sdk" {
		column = r.subject()
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
	if r.toItself != "" {
		return set.Ratios(r.figure, r.subject(), r.toItself, r.subject())
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

func (r row) aim(set figures.Set) string {
	median, ok := figures.Median(r.ratios(set))
	if !ok || r.most == 0 {
		return ""
	}
	if median > r.most {
		return fmt.Sprintf("%.2f, **missed**", r.most)
	}
	return fmt.Sprintf("%.2f", r.most)
}

func count(v float64) string        { return fmt.Sprintf("%.0f", v) }
func seconds(v float64) string      { return fmt.Sprintf("%.1f s", v) }
func microseconds(v float64) string { return fmt.Sprintf("%.1f µs", v/1000) }
func kibibytes(v float64) string    { return fmt.Sprintf("%.1f KiB", v/(1<<10)) }
func mebibytes(v float64) string    { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }

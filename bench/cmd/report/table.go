package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

// row is a line of the table. What is compared is the SDK's median, run by run as
// a ratio to the loop's of the same figure, or to what base says instead.
type row struct {
	title, figure string
	unit          func(float64) string
	sdk           string // the column in the SDK's place; "" is sdk
	base          base
	most          float64                  // the ratio that is aimed at; 0 is none
	mostItself    float64                  // the figure that is aimed at; 0 is none
	accepted      func(figures.Set) string // why it is left so where it misses its aim
}

type base struct{ figure, column string }

var rows = []row{
	{title: "requests for 100,000 rows, page size left alone", figure: "requests", unit: count, mostItself: 400},
	{title: "the same, with a page size of 250 rows", figure: "requests of largest pages", unit: count, mostItself: 400},
	{title: "export of 100,000 rows, 20 ms latency and 20 ms of work a page", figure: "export seconds", unit: seconds},
	{title: "the same, the SDK with prefetch", figure: "export seconds", unit: seconds, sdk: "prefetch", most: 0.55},
	{title: "1,000 Gets at once, second wave: new connections", figure: "new connections", unit: count, mostItself: 100},
	{title: "what the first wave's keep: heap and stack", figure: "bytes kept", unit: mebibytes},
	{title: "peak memory, export of 1,000,000 rows", figure: "peak of many", unit: mebibytes, most: 1.05, accepted: memoryOf("sdk")},
	{title: "of that, pages of the program's file", figure: "file of many", unit: mebibytes},
	{title: "peak memory, the SDK with prefetch", figure: "peak of many", unit: mebibytes, sdk: "prefetch", most: 1.05, accepted: memoryOf("prefetch")},
	{title: "peak memory, 1,000,000 rows to 100,000", figure: "peak of many", unit: mebibytes, base: base{"peak of few", "sdk"}, most: 1.05},
	{title: "peak memory, 1,000,000 rows to 100,000, with prefetch", figure: "peak of many", unit: mebibytes, sdk: "prefetch", base: base{"peak of few", "prefetch"}, most: 1.05},
	{title: "10,000 waits at once: heap and stack a wait", figure: "bytes a wait", unit: kibibytes, mostItself: 8 << 10},
	{title: "10,000 waits at once: goroutines a wait", figure: "goroutines a wait", unit: count, mostItself: 1},
	{title: "a page of 250 rows: bytes allocated", figure: "page bytes", unit: kibibytes, most: 0.30},
	{title: "a page of 250 rows: allocations", figure: "page allocations", unit: count},
	{title: "a page of 250 rows: CPU", figure: "page cpu", unit: microseconds, most: 0.95},
	{title: "the same, next Go", figure: next + "page cpu", unit: microseconds},
	{title: "a page of 250 rows: CPU on the next Go, to the loop's on this one", figure: next + "page cpu", unit: microseconds, base: base{"page cpu", "loop"}, most: 0.60},
	{title: "a Get: bytes allocated", figure: "get bytes", unit: kibibytes},
	{title: "a Get: allocations", figure: "get allocations", unit: count, most: 1.4},
	{title: "a Get: CPU", figure: "get cpu", unit: microseconds, most: 1.3},
	{title: "the same, next Go", figure: next + "get cpu", unit: microseconds},
	{title: "a Create: bytes allocated", figure: "create bytes", unit: kibibytes},
	{title: "a Create: allocations", figure: "create allocations", unit: count, most: 1.6},
	{title: "a Create: CPU", figure: "create cpu", unit: microseconds, most: 1.3, accepted: createCPU},
	{title: "the same, next Go", figure: next + "create cpu", unit: microseconds},
	{title: "modules linked besides the program's own", figure: "modules", unit: count, mostItself: 3},
	{title: "program, stripped", figure: "size", unit: mebibytes, most: 1.12},
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

func (r row) aim(set figures.Set) string {
	var aim string
	switch {
	case r.mostItself != 0:
		aim = r.unit(r.mostItself)
	case r.most != 0:
		aim = fmt.Sprintf("%.2f", r.most)
	}
	if r.misses(set) {
		aim += ", **missed**"
	}
	return aim
}

func (r row) misses(set figures.Set) bool {
	itself, _ := set.Median(r.figure, r.subject())
	ratio, _ := figures.Median(r.ratios(set))
	return r.mostItself != 0 && itself > r.mostItself || r.most != 0 && math.Round(100*ratio) > math.Round(100*r.most)
}

// misses lists the rows that miss their aim, each with the reason why it is accepted.
func misses(set figures.Set) (list []string) {
	for _, r := range rows {
		if !r.misses(set) {
			continue
		}
		reason := "The reason is not known."
		if r.accepted != nil {
			reason = r.accepted(set)
		}
		list = append(list, fmt.Sprintf("**%s**: %s, a ratio of %s. %s", r.title, r.cell(set, "sdk"), r.ratio(set), reason))
	}
	return list
}

func createCPU(set figures.Set) string {
	ratio, _ := figures.Median(set.Ratios(next+"create cpu", "sdk", next+"create cpu", "loop"))
	return fmt.Sprintf("A trace watches whether the prompt was sent, and its response has a time limit of its own, so that neither is lost or sent twice. On the next Go the ratio is %.2f.", ratio)
}

// memoryOf says what a column's peak is made of.
func memoryOf(column string) func(figures.Set) string {
	return func(set figures.Set) string {
		parts := func(column string) (file, rest string) {
			peak, _ := set.Median("peak of many", column)
			ofFile, _ := set.Median("file of many", column)
			return mebibytes(ofFile), mebibytes(peak - ofFile)
		}
		file, rest := parts(column)
		loopFile, loopRest := parts("loop")
		return fmt.Sprintf("Of the program's file %s are resident, of the loop's %s; all else is %s against %s. "+
			"What makes the file larger is what the SDK is for, retries, logs, and errors that say something, and stays.", file, loopFile, rest, loopRest)
	}
}

func count(v float64) string        { return fmt.Sprintf("%.0f", v) }
func seconds(v float64) string      { return fmt.Sprintf("%.1f s", v) }
func microseconds(v float64) string { return fmt.Sprintf("%.1f µs", v/1000) }
func kibibytes(v float64) string    { return fmt.Sprintf("%.1f KiB", v/(1<<10)) }
func mebibytes(v float64) string    { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }

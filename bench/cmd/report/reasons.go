package main

import (
	"fmt"

	"github.com/mintlify-community/mintlify-go/bench/figures"
)

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

// ofACall says what a call of the SDK has that the loop's has not.
func ofACall(set figures.Set) string {
	ours, _ := set.Median("get allocations", "sdk")
	theirs, _ := set.Median("get allocations", "loop")
	return fmt.Sprintf("What a Get takes beyond the loop's, %.0f allocations, is go-retryablehttp's, the attempt's own clock and context, "+
		"the trace that tells whether a request was sent, and the URL and header that each attempt has to itself.", ours-theirs)
}

// garbage says why a peak differs by some hundred KiB.
func garbage(set figures.Set) string {
	few, _ := set.Median("peak of few", "loop")
	many, _ := set.Median("peak of many", "loop")
	return fmt.Sprintf("What is held does not grow with the rows, but of ten times the garbage the collector "+
		"has more chances to come late; the loop's grows to %.2f.", many/few)
}

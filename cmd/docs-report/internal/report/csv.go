package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
)

const csvHead = "project date_from date_to path human ai total human_before ai_before total_before"

// CSV returns all pages of all inputs.
func CSV(all []Input) ([]byte, error) {
	var buffer bytes.Buffer
	out := csv.NewWriter(&buffer)
	_ = out.Write(strings.Fields(csvHead)) // out.Error returns the error

	for _, in := range all {
		in = in.prepared()
		pages, _ := in.pages()
		for _, c := range pages {
			_ = out.Write(in.csvRow(c))
		}
	}

	out.Flush()
	return buffer.Bytes(), out.Error()
}

func (in Input) csvRow(c comparison) []string {
	row := []string{in.Project, in.Period.From.String(), in.Period.To.String(), notAFormula(c.raw)}
	counts := []int64{c.Now.Human, c.Now.AI, c.Now.Total, c.Before.Human, c.Before.AI, c.Before.Total}
	for i, n := range counts {
		text := strconv.FormatInt(n, 10)
		if in.Missing() != "" && i >= 3 { // what is not known is not zero
			text = ""
		}
		row = append(row, text)
	}
	return row
}

// notAFormula keeps a spreadsheet from running a path as a formula.
func notAFormula(path string) string {
	if path != "" && strings.ContainsAny(path[:1], "=+-@\t\r") {
		return "'" + path
	}
	return path
}

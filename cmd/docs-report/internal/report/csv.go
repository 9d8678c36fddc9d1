package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
)

// CSV returns all pages of all inputs.
func CSV(all []Input) ([]byte, error) {
	var buffer bytes.Buffer
	out := csv.NewWriter(&buffer)
	_ = out.Write(strings.Fields("project date_from date_to path human ai total human_before ai_before total_before")) // Error tells
	for _, in := range all {
		for _, c := range in.compare() {
			row := []string{in.Project, in.Period.From.String(), in.Period.To.String(), c.raw}
			for _, n := range []int64{c.Now.Human, c.Now.AI, c.Now.Total, c.Before.Human, c.Before.AI, c.Before.Total} {
				row = append(row, strconv.FormatInt(n, 10))
			}
			if strings.ContainsAny(row[3][:min(1, len(row[3]))], "=+-@\t\r") { // a spreadsheet would run it
				row[3] = "'" + row[3]
			}
			_ = out.Write(row)
		}
	}
	out.Flush()
	return buffer.Bytes(), out.Error()
}

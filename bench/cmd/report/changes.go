package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/bench/figures"
)

// committed is a row as bench/figures.json keeps it: the ratio of the SDK to the loop, or
// to what else the row compares with. A median without a ratio is of the SDK alone.
type committed struct {
	Row    string  `json:"row"`
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// summary is what is committed of a run. The rows that "the same" begins are told apart
// by their figures.
func summary(set figures.Set) (list []committed) {
	for _, r := range slices.Concat(rows, otherRows, tlsRows, startRows) {
		name := r.figure
		if r.subject() != "sdk" {
			name += " of " + r.subject()
		}
		if r.base != (base{}) {
			name += " to " + r.base.figure + " of " + r.base.column
		}
		values := r.ratios(set)
		if len(values) == 0 {
			values = set[r.figure][r.subject()]
		}
		if median, ok := figures.Median(values); ok {
			list = append(list, committed{name, round(median), round(slices.Min(values)), round(slices.Max(values))})
		}
	}
	return list
}

func round(v float64) float64 {
	var rounded float64
	_, _ = fmt.Sscan(fmt.Sprintf("%.3f", v), &rounded) // the digits are its own
	return rounded
}

// changes says what is not as it was when before was committed, in Markdown. A ratio
// that is beyond all that was measured then stands out.
func changes(before, now []committed) string {
	was := map[string]committed{}
	for _, row := range before {
		was[row.Row] = row
	}
	var b strings.Builder
	for _, row := range now {
		old, ok := was[row.Row]
		delete(was, row.Row)
		switch {
		case !ok:
			fmt.Fprintf(&b, "| %s | | %.2f | new |\n", row.Row, row.Median)
		case fmt.Sprintf("%.2f", old.Median) == fmt.Sprintf("%.2f", row.Median):
		default:
			fmt.Fprintf(&b, "| %s | %.2f (%.2f to %.2f) | %.2f | %s |\n", row.Row, old.Median, old.Least, old.Most, row.Median, row.verdict(old))
		}
	}
	for _, row := range before {
		if _, gone := was[row.Row]; gone {
			fmt.Fprintf(&b, "| %s | %.2f | | gone |\n", row.Row, row.Median)
		}
	}
	if b.Len() == 0 {
		return "Nothing has changed since the committed figures.\n"
	}
	return "| SDK to loop | committed | now | |\n|---|---|---|---|\n" + b.String()
}

func (c committed) verdict(before committed) string {
	switch {
	case c.Median > before.Most:
		return "**more than ever before**"
	case c.Median < before.Least:
		return "less than ever before"
	}
	return "as far as runs differ"
}

// readCommitted returns none where there is no such file.
func readCommitted(path string) (list []committed, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	return list, err
}

func writeCommitted(path string, list []committed) error {
	var b strings.Builder
	b.WriteString("[\n")
	for i, row := range list {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		end := ",\n"
		if i == len(list)-1 {
			end = "\n"
		}
		b.WriteString("  " + string(line) + end)
	}
	return os.WriteFile(path, []byte(b.String()+"]\n"), 0o644)
}

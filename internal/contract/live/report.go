package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// result says how a response compares with what the SDK expects.
type result string

const (
	asExpected result = "as expected"
	differs    result = "**differs**"
	notTried   result = "not tried"
)

// row is an expectation of the SDK and what came of it.
type row struct {
	name expectation
	// text is the expectation in words.
	text string
	// depends names the constant or rule that has to change if the service differs.
	depends string
	result  result
	// came says what came, or why nothing was tried.
	came string
}

// report is what the command prints. It holds the command's own words, numbers, and words that a
// vocabulary allows.
type report struct {
	rows     []*row
	requests []requestLine
}

// requestLine is a call in the table of requests.
type requestLine struct {
	label, status, body, headers string
}

func newReport() *report {
	r := &report{}
	for _, e := range expectations() {
		r.rows = append(r.rows, &row{name: e.name, text: e.text, depends: e.depends, result: notTried, came: e.needs})
	}
	return r
}

func (r *report) row(name expectation) *row {
	i := slices.IndexFunc(r.rows, func(row *row) bool { return row.name == name })
	return r.rows[i]
}

// expected notes that a response is as expected, unless another one was not.
func (r *report) expected(name expectation, came string) {
	row := r.row(name)
	if row.result != differs {
		row.result = asExpected
		row.came = came
	}
}

// differs notes that a response is not as expected. depends replaces the row's own text, unless it
// is "".
func (r *report) differs(name expectation, came, depends string) {
	row := r.row(name)
	row.result = differs
	row.came = came
	if depends != "" {
		row.depends = depends
	}
}

// onlyDiffers notes a response that left nothing else to try.
func (r *report) onlyDiffers(name expectation, came, why string) {
	for _, row := range r.rows {
		row.result = notTried
		row.came = why
	}
	r.differs(name, came, "")
}

// notTried notes why nothing was tried, unless something was.
func (r *report) notTried(name expectation, why string) {
	row := r.row(name)
	if row.result == notTried {
		row.came = why
	}
}

// compare notes a response as expected if ok is true.
func (r *report) compare(name expectation, ok bool, came string) {
	if ok {
		r.expected(name, came)
		return
	}
	r.differs(name, came, "")
}

// count returns how many rows have a result.
func (r *report) count(want result) int {
	n := 0
	for _, row := range r.rows {
		if row.result == want {
			n++
		}
	}
	return n
}

// write prints the report as Markdown.
func (r *report) write(w io.Writer, about string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# mintlify-go meets the service\n\n%s\n\n", about)
	fmt.Fprintf(&b, "**%d as expected, %d differ, %d not tried.**\n\n",
		r.count(asExpected), r.count(differs), r.count(notTried))

	b.WriteString("| | expectation | result | what came, or why not | what depends on it |\n|---|---|---|---|---|\n")
	for i, row := range r.rows {
		depends := row.depends
		if row.result != differs {
			depends = ""
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", i+1, row.text, row.result, row.came, depends)
	}

	b.WriteString("\n## Responses\n\n| request | status | body | headers |\n|---|---|---|---|\n")
	for _, line := range r.requests {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", line.label, line.status, line.body, line.headers)
	}

	_, err := io.WriteString(w, b.String())
	return err
}

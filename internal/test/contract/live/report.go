package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

// result says how a response compares with what the SDK expects.
type result string

const (
	asExpected result = "as expected"
	unlike     result = "differs"
	untried    result = "not tried"
)

// verdict is what came of a row.
type verdict struct {
	result  result
	details string // what came, or why nothing was tried
}

// row is something that the SDK expects of the service, and what came of it.
type row struct {
	expects string
	verdict
}

func expected(details string) verdict { return verdict{result: asExpected, details: details} }
func differs(details string) verdict  { return verdict{result: unlike, details: details} }
func notTried(why string) verdict     { return verdict{result: untried, details: why} }

// judge asks all that can be asked, and returns the rows in the order of the report.
func (c *check) judge() []row {
	var rows []row
	for _, q := range c.requests {
		if q.expects != "" {
			rows = append(rows, row{expects: q.expects, verdict: c.judgeRequest(q)})
		}
	}

	for _, op := range operations.All() {
		what := "`: a good response is as in api/openapi.yaml"
		if op.IsPost() {
			what = "`: the request is accepted, and the response as in api/openapi.yaml"
		}
		if op.Name != mintlify.OpTriggerAutomation { // a run costs credits, and needs an automation
			rows = append(rows, row{expects: "`" + op.Func + what, verdict: c.judgeBody(op)})
		}
	}
	return append(rows, row{expects: "Errors are JSON with the field `error`", verdict: c.judgeErrors()})
}

// judgeRequest judges the response to a request. If it is silent, the row is not tried.
func (c *check) judgeRequest(q *request) verdict {
	r := c.ask(q.label)
	if why := c.silence(r); why != "" {
		return notTried(why)
	}
	return q.judge(c, r)
}

// tally counts verdicts.
func tally(rows []row) map[result]int {
	counts := map[result]int{}
	for _, row := range rows {
		counts[row.result]++
	}
	return counts
}

// write prints the report as Markdown. It holds the command's own words, numbers, and words that
// the vocabulary allows.
func (c *check) write(w io.Writer, rows []row) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# mintlify-go meets the service\n\n%s\n\n", c.about())
	if c.ctx.Err() != nil {
		b.WriteString("**The run was interrupted: it did not ask all it could.**\n\n")
	}

	counts := tally(rows)
	fmt.Fprintf(&b, "**%d as expected, %d differ, %d not tried.**\n\n",
		counts[asExpected], counts[unlike], counts[untried])

	b.WriteString("| | what | verdict | details |\n|---|---|---|---|\n")
	for i, row := range rows {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", i+1, row.expects, row.result, row.details)
	}

	c.writeRequests(&b)
	items, _ := c.leftBehind()
	if len(items) > 0 {
		fmt.Fprintf(&b, "\n## Left behind\n\n- %s\n", strings.Join(items, "\n- "))
	}
	b.WriteString("\nSend this report as an issue:\n" +
		"https://github.com/mintlify-community/mintlify-go/issues/new?template=first-contact.yml\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRequests prints what came of each request that was sent.
func (c *check) writeRequests(b *strings.Builder) {
	b.WriteString("\n## Responses\n\n| request | responses | headers |\n|---|---|---|\n")
	for _, q := range c.requests {
		var said, headers []string
		for _, r := range c.recorder.responses(q) {
			if r.missing == "" {
				said = append(said, r.String())
				headers = append(headers, c.headers(r)...)
			}
		}

		if len(said) > 0 {
			fmt.Fprintf(b, "| %s | %s | %s |\n", q.label, joined(said), joined(headers))
		}
	}
}

// unique returns each text once, sorted.
func unique(texts []string) []string { return slices.Compact(slices.Sorted(slices.Values(texts))) }

func joined(texts []string) string { return strings.Join(unique(texts), ", ") }

// namedHeaders are the headers that the report names: request ids, quotas and times to retry. Their values are
// not shown.
var namedHeaders = regexp.MustCompile(`(?i)request-?id|correlation-?id|trace-?id|traceparent|x-vercel-id|` +
	`rate-?limit|quota|remaining|retry-?after|cf-ray`)

// headers names a response's headers, as the report may show them.
func (c *check) headers(r *response) []string {
	var names []string
	for name := range r.header {
		if namedHeaders.MatchString(name) {
			names = append(names, c.words.showHeader(name))
		}
	}
	return names
}

// judgeErrors judges the form of all errors of the service.
func (c *check) judgeErrors() verdict {
	errors := 0
	var found []string
	for _, r := range c.speaking() {
		if r.status >= http.StatusBadRequest {
			errors++
			found = append(found, c.hold(r)...)
		}
	}

	switch {
	case errors == 0:
		return notTried("no error came")
	case len(found) > 0:
		return differs(strings.Join(unique(found), "; "))
	}
	return expected(fmt.Sprintf("errors: %d", errors))
}

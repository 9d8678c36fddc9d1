package main

import (
	"fmt"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

// conclude fills the rows about all responses.
func (c *check) conclude() {
	c.concludeBodies()
	c.concludeErrors()
	c.concludeHeaders()
}

func (c *check) concludeBodies() {
	for _, op := range operations.All() {
		found := unique(texts(c.findings[op.Name]))
		switch {
		case len(found) > 0:
			c.report.differs(bodyOf(op.Name), strings.Join(found, "; "), c.consequence(op))
		case c.unread[op.Name]:
			c.report.differs(bodyOf(op.Name), "as in the document, but the SDK does not read it", "")
		case c.good[op.Name]:
			c.report.expected(bodyOf(op.Name), "")
		}
	}
}

func texts(findings []finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.String())
	}
	return all
}

// consequence says what the SDK makes of a response that differs.
func (c *check) consequence(op operations.Operation) string {
	subject := "`" + op.Func + "`"
	if c.unread[op.Name] {
		return subject + " fails with `ErrMalformedResponse`"
	}

	var parts []string
	for _, f := range c.findings[op.Name] {
		switch f.rule {
		case ruleMissing:
			parts = append(parts, "reads what is missing as zero")
		case ruleUnknown:
			parts = append(parts, "drops unknown fields")
		case ruleEnum:
			parts = append(parts, "keeps a new value: "+enumAt(op.Name, f.pointer)+" has no constant for it")
		default:
			parts = append(parts, "reads a value of another form as zero, or as it came")
		}
	}

	return subject + " " + strings.Join(unique(parts), "; it ")
}

// enumAt names the type of an enum, and what goes by its values.
func enumAt(op mintlify.Operation, pointer string) string {
	path := strings.Split(pointer, "/")
	switch name := path[len(path)-1]; {
	case name == "status" && op == mintlify.OpGetFeedback:
		return "`FeedbackStatus`"
	case name == "status" && op == mintlify.OpGetDeployment:
		return "`DeploymentStatus`, by whose `IsTerminal` a wait does not end,"
	case name == "status":
		return "`JobStatus`, by whose `IsTerminal` a wait and package once do not take it for the end,"

	case name == "source":
		return "`FeedbackSource`"
	case name == "responseType":
		return "`AnswerType`"
	case name == "resolutionStatus":
		return "`ResolutionStatus`"
	case name == "role":
		return "`MessageRole`"
	}
	return "the SDK"
}

func (c *check) concludeErrors() {
	found := unique(texts(c.errorFindings))
	for _, kind := range unique(c.errorKinds) {
		found = append(found, kind+" instead of JSON")
	}

	switch {
	case c.errors == 0:
		return
	case len(found) > 0:
		c.report.differs(expectErrors, strings.Join(found, "; "), "")
	default:
		c.report.expected(expectErrors, fmt.Sprintf("%d errors", c.errors))
	}
}

func (c *check) concludeHeaders() {
	if c.limited > 0 {
		came := fmt.Sprintf("%d of %d without", c.unannounced, c.limited)
		c.report.compare(expectRetryAfter, c.unannounced == 0, came)
	}

	own := c.headers["X-Request-Id"] > 0
	ids := c.present(requestIDs)
	c.report.compare(expectRequestID, own || ids == "none", ids)

	limits := c.present(rateLimits)
	c.report.compare(expectNoRateLimit, limits == "none", limits)
}

// present lists which of these headers came, with the number of responses.
func (c *check) present(names []string) string {
	var all []string
	for _, name := range names {
		if c.headers[name] > 0 {
			all = append(all, fmt.Sprintf("%s in %d responses", name, c.headers[name]))
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

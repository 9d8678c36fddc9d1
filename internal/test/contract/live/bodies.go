package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/mintlify-community/mintlify-go/internal/test/contract"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

// judgeBody judges all responses to an operation that should be good.
func (c *check) judgeBody(op operations.Operation) verdict {
	var says []string
	good, rows, why := 0, 0, ""

	for _, r := range c.wanted(op) {
		silence := c.silence(r)
		switch {
		case silence != "":
			why = cmp.Or(why, silence)

		case r.isSuccess():
			good++
			rows += rowsOf(r)
			says = append(says, c.hold(r)...)

		case !op.IsPost() || slices.Contains(aboutBody, r.status):
			return differs(r.String())
		default:
			why = cmp.Or(why, r.String())
		}
	}

	switch {
	case len(says) > 0:
		return differs(strings.Join(unique(says), "; "))
	case good == 0:
		return notTried(why)
	case rows == 0:
		return notTried("0 rows")
	}
	return expected(fmt.Sprintf("good responses: %d", good))
}

// aboutBody are the statuses that speak of the body that a POST has sent.
var aboutBody = []int{http.StatusBadRequest, http.StatusLengthRequired, http.StatusUnsupportedMediaType,
	http.StatusUnprocessableEntity}

// wanted returns the responses to an operation that should be good, but for refusals that
// another row judges.
func (c *check) wanted(op operations.Operation) []*response {
	var all []*response
	for _, q := range c.requests {
		if q.operation == op.Name && q.wants == 0 {
			c.ask(q.label)
			all = append(all, c.recorder.responses(q)...)
		}
	}
	return slices.DeleteFunc(all, func(r *response) bool { return r.isJudged && !r.isSuccess() })
}

// rowsOf returns how many rows a page has; 1 for a response that is not a list.
func rowsOf(r *response) int {
	for _, l := range lists() {
		if l.operation == r.operation {
			return len(r.rows(l.field))
		}
	}
	return 1
}

// hold says what api/openapi.yaml does not allow in the body of a response, in declared names and single words
// alone.
func (c *check) hold(r *response) []string {
	if r.kind() == kindNothing {
		return []string{r.String()}
	}

	path := c.document.Paths.Find(r.template())
	all := path.GetOperation(operations.Get(r.operation).Method).Responses.Map()
	documented := all["default"]
	for status, response := range all {
		if r.isSuccess() && strings.HasPrefix(status, "2") {
			documented = response
		}
	}

	schema := documented.Value.Content.Get("application/json").Schema.Value

	var body any
	_ = json.Unmarshal(r.body, &body) // a body that is not JSON is silent, or nothing
	err := schema.VisitJSON(body, openapi3.MultiErrors(), openapi3.VisitAsResponse(), contract.Formats())
	return c.findings(err)
}

// findings returns what the validator's errors say, without their texts: these quote the response.
func (c *check) findings(err error) []string {
	var all []string
	switch err := err.(type) {
	case openapi3.MultiError:
		for _, e := range err {
			all = append(all, c.findings(e)...)
		}
	case *openapi3.SchemaError:
		all = c.findingsOf(err)
	}
	return all
}

func (c *check) findingsOf(err *openapi3.SchemaError) []string {
	at := c.pointer(err.JSONPointer())
	switch err.SchemaField {
	case "required":
		return []string{"`" + at + "` is missing"}
	case "properties":
		return c.unknownFields(at, err)
	case "enum":
		value, _ := err.Value.(string)
		return []string{fmt.Sprintf("`%s` has the new value `%s`", at, cmp.Or(c.words.show(value), "?"))}
	}
	return []string{fmt.Sprintf("`%s` breaks the rule `%s`", at, err.SchemaField)}
}

// unknownFields returns the fields of an object that its schema does not name.
func (c *check) unknownFields(at string, err *openapi3.SchemaError) []string {
	object, _ := err.Value.(map[string]any)

	var found []string
	for name := range object {
		if err.Schema.Properties[name] == nil {
			found = append(found, fmt.Sprintf("unknown field `%s` in `%s`", cmp.Or(c.words.show(name), "?"), at))
		}
	}
	return found
}

// pointer returns a JSON pointer with declared names, and * for each index.
func (c *check) pointer(path []string) string {
	for i, name := range path {
		if !c.words.declared[name] {
			path[i] = "*"
		}
	}
	return "/" + strings.Join(path, "/")
}

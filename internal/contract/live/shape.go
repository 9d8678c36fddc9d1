package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/contract"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

// document is api/openapi.yaml, which every body is held against.
type document struct {
	openapi *openapi3.T
	words   vocabulary
}

func loadDocument(words vocabulary) (*document, error) {
	openapi, err := contract.LoadDocument()
	if err != nil {
		return nil, fmt.Errorf("api/openapi.yaml cannot be read: run the command in a checkout, "+
			"as go run -C internal/contract ./live: %w", err)
	}

	words.declared = map[string]bool{}
	err = openapi.WalkSchemas(func(_ string, schema *openapi3.SchemaRef) error {
		words.declare(schema.Value)
		return nil
	})
	return &document{openapi: openapi, words: words}, err
}

// finding is something that the document does not allow. It holds declared names and single
// words alone.
type finding struct {
	// pointer leads to the value, with * for an index.
	pointer string
	rule    string
	// word is the name of the field, or the value of an enum.
	word string
}

// The rules that have a word.
const (
	ruleMissing = "missing"
	ruleUnknown = "unknown field"
	ruleEnum    = "enum"
)

func (f finding) String() string {
	switch {
	case f.rule == ruleMissing:
		return fmt.Sprintf("`%s` is missing", f.pointer)
	case f.rule == ruleUnknown && f.word != "":
		return fmt.Sprintf("unknown field `%s` in `%s`", f.word, f.pointer)
	case f.rule == ruleUnknown:
		return fmt.Sprintf("unknown fields in `%s`, whose names are not single words", f.pointer)
	case f.rule == ruleEnum && f.word != "":
		return fmt.Sprintf("`%s` has the new value `%s`", f.pointer, f.word)
	case f.rule == ruleEnum:
		return fmt.Sprintf("`%s` has a new value", f.pointer)
	}
	return fmt.Sprintf("`%s` breaks the rule `%s`", f.pointer, f.rule)
}

// checkSuccess holds the body of a 2xx response against the document.
func (d *document) checkSuccess(op mintlify.Operation, body any) []finding {
	for status, response := range d.responses(op) {
		if strings.HasPrefix(status, "2") {
			return d.check(response, body)
		}
	}
	return nil
}

// checkError holds the body of an error against the document.
func (d *document) checkError(op mintlify.Operation, body any) []finding {
	response, ok := d.responses(op)["default"]
	if !ok {
		return nil
	}
	return d.check(response, body)
}

// responses returns the documented responses of an operation by status; nil for a call that the
// SDK does not cover.
func (d *document) responses(op mintlify.Operation) map[string]*openapi3.ResponseRef {
	for _, known := range operations.All() {
		if known.Name == op {
			return d.openapi.Paths.Find(known.Path).GetOperation(known.Method).Responses.Map()
		}
	}
	return nil
}

func (d *document) check(response *openapi3.ResponseRef, body any) []finding {
	schema := response.Value.Content.Get("application/json").Schema.Value
	err := schema.VisitJSON(body, openapi3.MultiErrors(), openapi3.VisitAsResponse(), contract.Formats())
	return d.findings(err)
}

// findings returns what the validator's errors say, without their texts: these quote the
// response.
func (d *document) findings(err error) []finding {
	var all []finding
	switch err := err.(type) {
	case nil:
		return nil
	case openapi3.MultiError:
		for _, e := range err {
			all = append(all, d.findings(e)...)
		}
	case *openapi3.SchemaError:
		all = d.findingsOf(err)
	default:
		all = []finding{{pointer: "/", rule: "another"}}
	}

	slices.SortFunc(all, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return all
}

func (d *document) findingsOf(err *openapi3.SchemaError) []finding {
	at := d.pointer(err.JSONPointer())
	switch err.SchemaField {
	case "required":
		return []finding{{pointer: at, rule: ruleMissing}}
	case "properties":
		return d.unknownFields(at, err)
	case "enum":
		value, _ := err.Value.(string)
		return []finding{{pointer: at, rule: ruleEnum, word: d.words.show(value)}}
	}
	return []finding{{pointer: at, rule: err.SchemaField}}
}

// unknownFields returns the fields of an object that its schema does not name.
func (d *document) unknownFields(at string, err *openapi3.SchemaError) []finding {
	object, _ := err.Value.(map[string]any)

	var found []finding
	for name := range object {
		if err.Schema.Properties[name] == nil {
			found = append(found, finding{pointer: at, rule: ruleUnknown, word: d.words.show(name)})
		}
	}
	return found
}

// pointer returns a JSON pointer with declared names, and * for each index.
func (d *document) pointer(path []string) string {
	for i, name := range path {
		if !d.words.declared[name] {
			path[i] = "*"
		}
	}
	return "/" + strings.Join(path, "/")
}

package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

func loadDocument(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile(Document)
	require.NoError(t, err)
	return doc
}

func TestDocumentIsValidAndSoAreItsExamples(t *testing.T) {
	doc := loadDocument(t)
	assert.True(t, doc.IsOpenAPI31OrLater())
	assert.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableMultiError()))
}

func TestDocumentHasTheOperationsOfTheSDKAndNoOther(t *testing.T) {
	var documented []string
	for path, item := range loadDocument(t).Paths.Map() {
		for method, operation := range item.Operations() {
			documented = append(documented, operation.OperationID+": "+method+" "+path)
		}
	}

	var want []string
	for _, op := range operations.All() {
		want = append(want, idOf(op)+": "+op.Method+" "+op.Path)
	}
	assert.ElementsMatch(t, want, documented, "add what is missing to api/openapi.yaml, or to internal/test/operations")
}

// idOf returns an operation's id in the document: getJob for "get job".
func idOf(op operations.Operation) string {
	words := strings.Fields(op.String())
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// A field that the SDK reads and the document lacks is missing from the document, or the
// other way round. The fields of operations with one result type are taken together.
func TestDocumentHasTheFieldsThatTheSDKReadsAndNoOther(t *testing.T) {
	want := map[string][]string{}       // by type of result
	documented := map[string][]string{} // likewise
	doc := loadDocument(t)
	for _, op := range operations.All() {
		result := fmt.Sprintf("%T", op.Result)
		fields, err := operations.Fields(op.Body)
		require.NoError(t, err, op)
		want[result] = append(want[result], fields...)

		item := doc.Paths.Find(op.Path)
		require.NotNil(t, item, "add %s to api/openapi.yaml", op.Path)
		documented[result] = append(documented[result], successFields(item.GetOperation(op.Method))...)
	}

	for result := range want {
		assert.Subset(t, documented[result], want[result],
			"%s: api/openapi.yaml lacks a field that internal/test/operations has", result)
		assert.Subset(t, want[result], documented[result],
			"%s: internal/test/operations lacks a field that api/openapi.yaml has", result)
	}
}

// successFields returns the fields of an operation's 2xx responses.
func successFields(operation *openapi3.Operation) []string {
	var fields []string
	for status, response := range operation.Responses.Map() {
		if strings.HasPrefix(status, "2") {
			schema := response.Value.Content.Get("application/json").Schema
			fields = append(fields, fieldsOf("", schema)...)
		}
	}
	return fields
}

// fieldsOf is operations.Fields of all that a schema allows.
func fieldsOf(path string, schema *openapi3.SchemaRef) []string {
	var fields []string
	for name, property := range schema.Value.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		fields = append(fields, at)
		fields = append(fields, fieldsOf(at, property)...)
	}
	if schema.Value.Items != nil {
		fields = append(fields, fieldsOf(path+"[]", schema.Value.Items)...)
	}
	for _, either := range schema.Value.AnyOf {
		fields = append(fields, fieldsOf(path, either)...)
	}
	return fields
}

// documentedResponses returns the operations' ids with each status that the
// document has by its own number.
func documentedResponses(t *testing.T) []string {
	var responses []string
	for _, item := range loadDocument(t).Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if status != "default" {
					responses = append(responses, operation.OperationID+" "+status)
				}
			}
		}
	}
	slices.Sort(responses)
	return responses
}

package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/operations"
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
	var documented, want []string
	for path, item := range loadDocument(t).Paths.Map() {
		for method, operation := range item.Operations() {
			documented = append(documented, operation.OperationID+": "+method+" "+path)
		}
	}
	for _, op := range operations.All() {
		want = append(want, idOf(op)+": "+op.Method+" "+op.Path)
	}
	assert.ElementsMatch(t, want, documented, "add what is missing to api/openapi.yaml, or to internal/operations")
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
	want, documented := map[string][]string{}, map[string][]string{} // by type of result
	doc := loadDocument(t)
	for _, op := range operations.All() {
		result := fmt.Sprintf("%T", op.Result)
		fields, err := operations.Fields(op.Body)
		require.NoError(t, err, op)
		want[result] = append(want[result], fields...)
		item := doc.Paths.Find(op.Path)
		require.NotNil(t, item, "add %s to api/openapi.yaml", op.Path)
		for status, response := range item.GetOperation(op.Method).Responses.Map() {
			if strings.HasPrefix(status, "2") {
				documented[result] = append(documented[result], fieldsOf("", response.Value.Content.Get("application/json").Schema)...)
			}
		}
	}
	for result := range want {
		assert.Subset(t, documented[result], want[result], "%s: api/openapi.yaml lacks a field that internal/operations has", result)
		assert.Subset(t, want[result], documented[result], "%s: internal/operations lacks a field that api/openapi.yaml has", result)
	}
}

// fieldsOf is operations.Fields of all that a schema allows.
func fieldsOf(path string, schema *openapi3.SchemaRef) (fields []string) {
	for name, property := range schema.Value.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		fields = append(append(fields, at), fieldsOf(at, property)...)
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

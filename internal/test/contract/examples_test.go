package contract

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// example is a response that the document shows.
type example struct {
	operation string // its id
	status    int
	value     any
}

func examplesOf(t *testing.T) []example {
	var examples []example
	for _, item := range loadDocument(t).Paths.Map() {
		for _, operation := range item.Operations() {
			examples = append(examples, examplesOfOperation(t, operation)...)
		}
	}
	return examples
}

func examplesOfOperation(t *testing.T, operation *openapi3.Operation) []example {
	var examples []example
	for code, response := range operation.Responses.Map() {
		content := response.Value.Content.Get("application/json")
		if code == "default" || content == nil {
			continue
		}

		status, err := strconv.Atoi(code)
		require.NoError(t, err)
		for _, value := range valuesOf(content) {
			examples = append(examples, example{operation.OperationID, status, value})
		}
	}
	return examples
}

func valuesOf(content *openapi3.MediaType) []any {
	var values []any
	if content.Example != nil {
		values = append(values, content.Example)
	}
	for _, named := range content.Examples {
		values = append(values, named.Value.Value)
	}
	return values
}

// operationOf returns the operation with an id in the document.
func operationOf(t *testing.T, id string) operations.Operation {
	for _, op := range operations.All() {
		if idOf(op) == id {
			return op
		}
	}
	t.Fatalf("internal/test/operations lacks %s", id)
	return operations.Operation{}
}

// The body of the table is valid by the document.
func TestDocumentAllowsTheTablesResponses(t *testing.T) {
	for _, op := range operations.All() {
		status := successOf(t, op)
		proxy, baseURL := startProxy(t, fixed{status, "application/json", op.Body})
		require.NoError(t, op.Do(t.Context(), newClient(t, baseURL, mintlifytest.APIKey)), op)
		assert.Equal(t, []string{fmt.Sprint(idOf(op), " ", status)}, proxy.Responses())
	}
}

// successOf returns the status of a success, as the document has it.
func successOf(t *testing.T, op operations.Operation) int {
	item := loadDocument(t).Paths.Find(op.Path)
	require.NotNil(t, item, "add %s to api/openapi.yaml", op.Path)

	for code := range item.GetOperation(op.Method).Responses.Map() {
		if status, _ := strconv.Atoi(code); status/100 == 2 {
			return status
		}
	}
	t.Fatalf("%s has no success", op)
	return 0
}

// The SDK reads every value of every example in the document. The proxy between the two
// checks that the request is one of the example's operation.
func TestTheSDKReadsEveryExampleOfTheDocument(t *testing.T) {
	read := map[mintlify.Operation]int{}
	for _, example := range examplesOf(t) {
		t.Run(fmt.Sprint(example.operation, " ", example.status), func(t *testing.T) {
			body, err := json.Marshal(example.value)
			require.NoError(t, err)
			proxy, baseURL := startProxy(t, fixed{example.status, "application/json", string(body)})

			op := operationOf(t, example.operation)
			result, err := op.Call(t.Context(), newClient(t, baseURL, mintlifytest.APIKey))
			assert.Equal(t, []string{fmt.Sprint(example.operation, " ", example.status)}, proxy.Responses())
			if example.status >= 300 {
				assertSays(t, err, example.value)
				return
			}
			require.NoError(t, err)
			read[op.Name]++

			sent := decoded(t, example.value)
			assert.Empty(t, missing(documentedFields(t, op), op, "", sent, decoded(t, result)))
		})
	}

	for _, op := range operations.All() {
		assert.Positive(t, read[op.Name], "%s has no example", op)
	}
}

// assertSays asserts that err has the words of an error response.
func assertSays(t *testing.T, err error, want any) {
	t.Helper()
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)

	says := map[string]any{"error": apiErr.Message}
	if len(apiErr.Details) > 0 {
		var details []any
		for _, detail := range apiErr.Details {
			details = append(details, map[string]any{"message": detail})
		}
		says["details"] = details
	}
	assert.Equal(t, want, says)
}

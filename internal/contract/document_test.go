package contract_test

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/contract"
)

func loadDocument(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile(contract.Document)
	require.NoError(t, err)
	return doc
}

func TestDocumentIsValidAndSoAreItsExamples(t *testing.T) {
	doc := loadDocument(t)
	assert.True(t, doc.IsOpenAPI31OrLater())
	assert.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableMultiError()))
}

func TestDocumentHasTheOperationsOfTheSDKAndNoOther(t *testing.T) {
	var operations []string
	for path, item := range loadDocument(t).Paths.Map() {
		for method, operation := range item.Operations() {
			operations = append(operations, operation.OperationID+": "+method+" "+path)
		}
	}
	assert.ElementsMatch(t, []string{
		"createJob: POST /v2/agent/{projectId}/job",
		"getJob: GET /v2/agent/{projectId}/job/{id}",
		"sendMessage: POST /v2/agent/{projectId}/job/{id}/message",
		"triggerUpdate: POST /v1/project/update/{projectId}",
		"triggerPreview: POST /v1/project/preview/{projectId}",
		"getDeployment: GET /v1/project/update-status/{id}",
		"triggerAutomation: POST /v1/workflow/{projectId}/{id}/trigger",
		"getVisitors: GET /v1/analytics/{projectId}/visitors",
		"getViews: GET /v1/analytics/{projectId}/views",
		"getSearches: GET /v1/analytics/{projectId}/searches",
		"getFeedback: GET /v1/analytics/{projectId}/feedback",
		"getFeedbackByPage: GET /v1/analytics/{projectId}/feedback/by-page",
		"getConversations: GET /v1/analytics/{projectId}/assistant",
		"getThread: GET /v1/analytics/{projectId}/assistant/threads/{id}",
		"getCallerStats: GET /v1/analytics/{projectId}/assistant/caller-stats",
	}, operations)
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

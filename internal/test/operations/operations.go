// Package operations has one table of the service's operations. Tests of all modules read it:
// of the SDK, its fake and its OpenAPI document. A new operation is one entry here, and the
// tests say what else it needs.
package operations

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Operation is one operation of the service.
type Operation struct {
	Name mintlify.Operation
	// Func is the method of the client that sends it, such as Jobs.Get.
	Func string
	// Method is the method of the request.
	Method string
	// Path is the path of the request, as api/openapi.yaml writes it.
	Path string
	// Body is the body of a good response. It sets all fields of the result that such a
	// response can set.
	Body string
	// Required are the fields of Body that the SDK insists on.
	Required []string
	// Result is the zero value of Call's result.
	Result any

	// Call sends the operation once.
	Call func(context.Context, *mintlify.Client) (any, error)
	// Rows ranges over an export and returns its rows. It is nil if there is no such iterator.
	Rows func(context.Context, *mintlify.Client, ...mintlify.ExportOption) (any, error)
	// Wait polls until what the operation reads is done. It is nil if there is no such method.
	Wait func(context.Context, *mintlify.Client, ...mintlify.WaitOption) (any, error)
	// Poll polls once. It is nil if there is no such method.
	Poll func(context.Context, *mintlify.Client) (any, error)
}

// String returns the operation's name.
func (op Operation) String() string { return string(op.Name) }

// IsPost reports whether the operation changes something.
func (op Operation) IsPost() bool { return op.Method == http.MethodPost }

// Do is Call for a caller that does not need the result.
func (op Operation) Do(ctx context.Context, c *mintlify.Client) error {
	_, err := op.Call(ctx, c)
	return err
}

// Get returns the operation of that name.
func Get(name mintlify.Operation) Operation {
	all := All()
	return all[slices.IndexFunc(all, func(op Operation) bool { return op.Name == name })]
}

// NewService returns a fake that has what the calls of the table ask for.
func NewService() *mintlifytest.Service {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1", mintlifytest.JobStep{Status: mintlify.JobCompleted})
	svc.AddDeployment("deployment_1", mintlifytest.DeploymentStep{
		Status:  mintlify.DeploymentSucceeded,
		Summary: "Deployed",
		Logs:    []string{"Building", "Deployed"},
	})
	svc.AddAutomation("automation_1")

	svc.SetVisitors([]mintlify.Visitor{
		{Path: "/a", Human: 2, AI: 1, Total: 3},
		{Path: "/b", Human: 1, Total: 1},
		{Path: "/c", AI: 2, Total: 2},
	})
	svc.SetViews([]mintlify.View{{Path: "/a", Human: 1, AI: 2, Total: 3}})

	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	svc.SetSearches([]mintlify.SearchTerm{
		{Query: "auth", Hits: 3, CTR: 41.5, TopClickedPage: "/auth", LastSearchedAt: at},
		{Query: "au", LastSearchedAt: at},
	})
	svc.SetFeedback(feedback(at))
	svc.SetConversations(conversations(at))
	svc.SetCallerStats(mintlify.CallerStats{Web: 1, API: 2, Other: 3, Total: 6})
	return svc
}

func feedback(at time.Time) []mintlify.Feedback {
	helpful := true
	return []mintlify.Feedback{
		{
			ID: "f1", Path: "/a", Comment: "c", CreatedAt: at,
			Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending,
			Helpful: &helpful, Contact: "reader@example.com",
		},
		{
			ID: "f2", Path: "/a", CreatedAt: at,
			Source: mintlify.FeedbackFromCodeSnippet, Status: mintlify.FeedbackDismissed,
			Code: "x[0]", Filename: "a.go", Language: "go",
		},
		{
			ID: "f3", Path: "/b",
			Source: mintlify.FeedbackThumbsOnly, Status: mintlify.FeedbackResolved,
		},
	}
}

func conversations(at time.Time) []mintlify.Conversation {
	return []mintlify.Conversation{
		{
			ID: "01JXZ8Q4M6T2V0B3C5D7F9G1HK", Timestamp: at,
			Query: "how?", Response: "so", ResponseType: mintlify.ResponseClarifyingQuestion,
			Sources:          []mintlify.ConversationSource{{Title: "A", URL: "/a"}},
			ResolutionStatus: mintlify.ResolutionUnanswered, PageURL: "/a",
		},
		{
			ID: "01JXZ8Q4M6T2V0B3C5D7F9G1HK", Timestamp: at.Add(time.Minute),
			ResolutionStatus: mintlify.ResolutionAnswered, QueryCategory: "auth",
		},
	}
}

// Fields returns the paths of all fields in a JSON value, such as source.ref and
// visitors[].path, in order and each once.
func Fields(body string) ([]string, error) {
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		return nil, err
	}

	fields := appendFields(nil, "", value)
	slices.Sort(fields)
	return slices.Compact(fields), nil
}

func appendFields(fields []string, path string, value any) []string {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			at := name
			if path != "" {
				at = path + "." + name
			}
			fields = appendFields(append(fields, at), at, v)
		}
	case []any:
		for _, v := range value {
			fields = appendFields(fields, path+"[]", v)
		}
	}
	return fields
}

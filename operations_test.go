package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// call is one call of an operation, whose result matters to no test that ranges over all.
type call func(context.Context, *mintlify.Client) error

// calls has a call of every operation, for promises that all of them keep.
var calls = map[mintlify.Operation]call{
	mintlify.OpCreateJob:   func(ctx context.Context, c *mintlify.Client) error { _, err := create(ctx, c); return err },
	mintlify.OpSendMessage: func(ctx context.Context, c *mintlify.Client) error { _, err := message(ctx, c); return err },
	mintlify.OpGetJob:      func(ctx context.Context, c *mintlify.Client) error { _, err := get(ctx, c); return err },
	mintlify.OpGetVisitors: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetVisitors(ctx, mintlify.VisitorsParams{})
		return err
	},
	mintlify.OpGetViews: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetViews(ctx, mintlify.ViewsParams{})
		return err
	},
	mintlify.OpGetSearches: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetSearches(ctx, mintlify.SearchesParams{})
		return err
	},
	mintlify.OpGetFeedback: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetFeedback(ctx, mintlify.FeedbackParams{})
		return err
	},
	mintlify.OpGetFeedbackByPage: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{})
		return err
	},
	mintlify.OpGetConversations: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetConversations(ctx, mintlify.ConversationsParams{})
		return err
	},
	mintlify.OpGetThread: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetThread(ctx, "thread_1")
		return err
	},
	mintlify.OpGetCallerStats: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Analytics.GetCallerStats(ctx, mintlify.CallerStatsParams{})
		return err
	},
	mintlify.OpTriggerUpdate: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Deployments.TriggerUpdate(ctx)
		return err
	},
	mintlify.OpTriggerPreview: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Deployments.TriggerPreview(ctx, mintlify.PreviewParams{Branch: "docs"})
		return err
	},
	mintlify.OpGetDeployment: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Deployments.Get(ctx, "deployment_1")
		return err
	},
	mintlify.OpTriggerAutomation: func(ctx context.Context, c *mintlify.Client) error {
		_, err := c.Automations.Trigger(ctx, "automation_1")
		return err
	},
}

// exports has a range over the rows of every export.
var exports = map[string]call{
	"Visitors": func(ctx context.Context, c *mintlify.Client) error {
		return failsAtTheStart(c.Analytics.Visitors(ctx, mintlify.VisitorsParams{}))
	},
	"Views": func(ctx context.Context, c *mintlify.Client) error {
		return failsAtTheStart(c.Analytics.Views(ctx, mintlify.ViewsParams{}))
	},
	"Searches": func(ctx context.Context, c *mintlify.Client) error {
		return failsAtTheStart(c.Analytics.Searches(ctx, mintlify.SearchesParams{}))
	},
	"Feedback": func(ctx context.Context, c *mintlify.Client) error {
		return failsAtTheStart(c.Analytics.Feedback(ctx, mintlify.FeedbackParams{}))
	},
	"Conversations": func(ctx context.Context, c *mintlify.Client) error {
		return failsAtTheStart(c.Analytics.Conversations(ctx, mintlify.ConversationsParams{}))
	},
}

// failsAtTheStart returns the error of an export, which is one of its first page.
func failsAtTheStart[R any](rows iter.Seq2[R, error]) error {
	_, err := collect(rows)
	var pageErr *mintlify.PageError
	if err != nil && (!errors.As(err, &pageErr) || pageErr.Offset != 0 || pageErr.Cursor != "") {
		return fmt.Errorf("not a PageError of the first page: %w", err)
	}
	return err
}

// waits has a wait for every kind of what can be waited for.
var waits = map[string]func(context.Context, *mintlify.Client, ...mintlify.WaitOption) error{
	"Jobs.WaitUntilDone": func(ctx context.Context, c *mintlify.Client, opts ...mintlify.WaitOption) error {
		_, err := c.Jobs.WaitUntilDone(ctx, "job_1", opts...)
		return err
	},
	"Deployments.WaitUntilDone": func(ctx context.Context, c *mintlify.Client, opts ...mintlify.WaitOption) error {
		_, err := c.Deployments.WaitUntilDone(ctx, "deployment_1", opts...)
		return err
	},
}

// service is the fake with all that the calls are about.
func service() *mintlifytest.Service {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1", mintlifytest.Step{Status: mintlify.JobCompleted})
	svc.AddDeployment("deployment_1", mintlifytest.DeploymentStep{Status: mintlify.DeploymentSucceeded})
	svc.AddAutomation("automation_1")
	svc.SetVisitors(visitors(3))
	svc.SetViews([]mintlify.View{{Path: "/a", Human: 1, Total: 1}})
	svc.SetSearches([]mintlify.SearchTerm{{Query: "auth", Hits: 1}})
	svc.SetFeedback([]mintlify.Feedback{{ID: "f", Path: "/a"}})
	svc.SetConversations([]mintlify.Conversation{{ID: "thread_1", Query: "how?"}})
	svc.SetCallerStats(mintlify.CallerStats{Web: 1, Total: 1})
	return svc
}

// operationNames are the names of the constants of type Operation and their values, as the
// source has them.
func operationNames(t *testing.T) []mintlify.Operation {
	t.Helper()
	var ops []mintlify.Operation
	for _, typ := range parsePackage(t, ".").Types {
		for _, group := range typ.Consts {
			for _, spec := range group.Decl.Specs {
				if spec := spec.(*ast.ValueSpec); typ.Name == "Operation" {
					value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
					require.NoError(t, err)
					ops = append(ops, mintlify.Operation(value))
				}
			}
		}
	}
	return ops
}

func TestEveryOperationHasACall(t *testing.T) {
	assert.ElementsMatch(t, operationNames(t), slices.Collect(maps.Keys(calls)), "calls has each operation once: add yours")
	for op, call := range calls {
		svc := service()
		require.NoError(t, call(t.Context(), svc.Client()), op)
		requests := svc.Requests()
		require.Len(t, requests, 1, op)
		assert.Equal(t, op, requests[0].Operation)
		assert.Equal(t, isPost(op), requests[0].Method == http.MethodPost, op)
	}
	for name, call := range exports {
		svc := service()
		require.NoError(t, call(t.Context(), svc.Client()), name)
		assert.Len(t, svc.Requests(), 1, name)
	}
	for name, wait := range waits {
		require.NoError(t, wait(t.Context(), service().Client()), name)
	}
}

// isPost reports whether op changes something.
func isPost(op mintlify.Operation) bool {
	switch op {
	case mintlify.OpCreateJob, mintlify.OpSendMessage, mintlify.OpTriggerUpdate, mintlify.OpTriggerPreview, mintlify.OpTriggerAutomation:
		return true
	}
	return false
}

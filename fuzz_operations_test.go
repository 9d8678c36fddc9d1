package mintlify_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// fuzzedOperation is one whose response is decoded by a decoder of its own.
type fuzzedOperation struct {
	required []string // fields, without which there is no success
	call     func(context.Context, *mintlify.Client) (any, error)
	seed     string
}

var fuzzedOperations = []fuzzedOperation{
	{[]string{"totals", "views", "hasMore"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Analytics.GetViews(ctx, mintlify.ViewsParams{Offset: 50})
	}, `{"totals":{"human":1.5},"views":[{"path":"/a","human":12.0,"ai":1.2e1,"total":null}],"hasMore":true}`},
	{[]string{"searches", "totalSearches"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Analytics.GetSearches(ctx, mintlify.SearchesParams{Cursor: "c1"})
	}, `{"searches":[{"searchQuery":"au","hits":3,"ctr":-0.0,"topClickedPage":null,"lastSearchedAt":"9999-12-31T23:59:59-05:00"}],"totalSearches":3,"nextCursor":null}`},
	{[]string{"feedback", "hasMore"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Analytics.GetFeedback(ctx, mintlify.FeedbackParams{})
	}, `{"feedback":[{"id":"f","path":"/a","comment":"no, \"[{\\","createdAt":"0000-01-01T00:00:00+05:00","source":"new","status":"pending","helpful":false,"contact":"r@example.com","code":"x[0]"}],"hasMore":true,"nextCursor":"c2"}`},
	{[]string{"feedback", "hasMore"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Analytics.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{})
	}, `{"feedback":[{"path":"/a","thumbsUp":3,"thumbsDown":-1e300,"code":2,"total":6}],"hasMore":false}`},
	{[]string{"conversations", "hasMore"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Analytics.GetConversations(ctx, mintlify.ConversationsParams{})
	}, `{"conversations":[{"id":"c","timestamp":"2026-03-05","query":"how?","response":"\ud800","sources":[{"title":"A","url":null}],"sources":[]},null],"hasMore":false,"nextCursor":"x"}`},
	{[]string{"messages"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Analytics.GetThread(ctx, "t")
	}, `{"threadId":"t","createdAt":7,"messages":[{"id":"m","role":"tool","content":"<b>","createdAt":null}],"MESSAGES":[]}`},
	{nil, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Analytics.GetCallerStats(ctx, mintlify.CallerStatsParams{})
	}, `{"web":5,"api":2.5,"other":null,"total":9223372036854775807}`},
	{[]string{"status"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Deployments.Get(ctx, "d")
	}, `{"_id":"d","status":"paused","logs":[],"author":"Ann","createdAt":"9999-12-31T23:59:59-05:00","commit":{"filesChanged":{"added":[null],"removed":5}}}`},
	{[]string{"statusId"}, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Deployments.TriggerUpdate(ctx)
	}, `{"statusId":"d","previewUrl":7}`},
	{nil, func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Automations.Trigger(ctx, "a")
	}, `{"schemaId":"s","instanceId":null,"jobId":{}}`},
}

func FuzzOperation(f *testing.F) {
	for i, operation := range fuzzedOperations {
		for _, seed := range []string{operation.seed, "", "null", "{}", "[]", operation.seed[:len(operation.seed)-1], operation.seed + " x", "<html>" + testKey} {
			f.Add(uint8(i), []byte(seed))
		}
		for _, field := range append(operation.required, "nextCursor") {
			f.Add(uint8(i), []byte(`{"`+field+`":[{}]}`))
			f.Add(uint8(i), []byte(strings.Replace(operation.seed, `"`+field+`"`, `"_`+field+`"`, 1)))
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, body []byte) {
		operation := fuzzedOperations[int(i)%len(fuzzedOperations)]
		result, err := operation.call(t.Context(), newClient(t, respondWith(200, string(body))))
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assertReadable(t, err)
			queued, ok := result.(*mintlify.QueuedDeployment)
			require.True(t, reflect.ValueOf(result).IsNil() || ok && queued.ID != "", "no result but a deployment that was queued")
			return
		}
		for _, field := range operation.required {
			require.True(t, hasField(body, field), "a success without %s", field)
		}
		assertIsWhole(t, result)
		encoded, err := json.Marshal(result)
		require.NoError(t, err)
		read := reflect.New(reflect.TypeOf(result).Elem()).Interface()
		require.NoError(t, json.Unmarshal(encoded, read))
		require.Equal(t, result, read)
	})
}

// hasField reports whether an object has a field that is not null.
func hasField(object []byte, name string) bool {
	var fields map[string]any
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	for key, value := range fields {
		if strings.EqualFold(key, name) && value != nil {
			return true
		}
	}
	return false
}

// assertIsWhole asserts what callers rely on in a result.
func assertIsWhole(t *testing.T, result any) {
	switch r := result.(type) {
	case *mintlify.ViewPage:
		require.NotNil(t, r.Views)
		require.Equal(t, []int{50, 100}, []int{r.Offset, r.NextOffset})
	case *mintlify.SearchPage:
		require.NotNil(t, r.Searches)
		require.Equal(t, "c1", r.Cursor)
	case *mintlify.FeedbackPage:
		require.NotNil(t, r.Feedback)
		require.True(t, !r.HasMore || r.NextCursor != "", "a page without a way to the next")
	case *mintlify.FeedbackByPage:
		require.NotNil(t, r.Pages)
	case *mintlify.ConversationPage:
		require.NotNil(t, r.Conversations)
		require.True(t, !r.HasMore || r.NextCursor != "", "a page without a way to the next")
	case *mintlify.Thread:
		require.NotNil(t, r.Messages)
	case *mintlify.Deployment:
		require.NotEmpty(t, r.ID)
		require.NotEmpty(t, r.Status)
	case *mintlify.QueuedDeployment:
		require.NotEmpty(t, r.ID)
	}
}

func TestEveryDecoderIsFuzzed(t *testing.T) {
	var fuzzed []mintlify.Operation
	for _, operation := range fuzzedOperations {
		client := newClient(t, respondWith(400, ""))
		_, err := operation.call(t.Context(), client)
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		fuzzed = append(fuzzed, apiErr.Operation)
	}
	others := []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpSendMessage, mintlify.OpGetJob, mintlify.OpGetVisitors, mintlify.OpTriggerPreview}
	require.ElementsMatch(t, allOperations(t), slices.Concat(fuzzed, others), "FuzzJob and FuzzVisitorPage have the others; a preview is decoded as an update is")
}

// allOperations are the constants of type Operation, as the source has them.
func allOperations(t *testing.T) (all []mintlify.Operation) {
	t.Helper()
	for _, typ := range parsePackage(t, ".").Types {
		for _, group := range typ.Consts {
			for _, spec := range group.Decl.Specs {
				if typ.Name == "Operation" {
					name, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
					require.NoError(t, err)
					all = append(all, mintlify.Operation(name))
				}
			}
		}
	}
	return all
}

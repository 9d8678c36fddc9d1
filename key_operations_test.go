package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// otherCalls make the calls of the operations that fuzzedOperations lacks, and those that
// make many.
var otherCalls = []func(context.Context, *mintlify.Client) (any, error){
	func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Deployments.TriggerPreview(ctx, mintlify.PreviewParams{Branch: "docs"})
	},
	func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Deployments.WaitUntilDone(ctx, "d", mintlify.WithMaxOutage(0))
	},
	func(ctx context.Context, c *mintlify.Client) (any, error) {
		return c.Deployments.Poll(ctx, "d", 0)
	},
	func(ctx context.Context, c *mintlify.Client) (any, error) {
		return collect(c.Analytics.Views(ctx, mintlify.ViewsParams{}))
	},
	func(ctx context.Context, c *mintlify.Client) (any, error) {
		return collect(c.Analytics.Searches(ctx, mintlify.SearchesParams{}, mintlify.WithPrefetch(1)))
	},
	func(ctx context.Context, c *mintlify.Client) (any, error) {
		return collect(c.Analytics.Feedback(ctx, mintlify.FeedbackParams{}))
	},
	func(ctx context.Context, c *mintlify.Client) (any, error) {
		return collect(c.Analytics.Conversations(ctx, mintlify.ConversationsParams{}))
	},
}

// callAll makes all those calls, and hands over the results and the errors.
func callAll(ctx context.Context, client *mintlify.Client, each func(result any, err error)) {
	for _, operation := range fuzzedOperations {
		each(operation.call(ctx, client))
	}
	for _, call := range otherCalls {
		each(call(ctx, client))
	}
}

func TestNoResultOrErrorOfAnyOperationShowsTheKey(t *testing.T) {
	client := newClient(t, echoing(500))
	values := []any{client.Deployments, *client.Deployments, client.Automations, *client.Automations}
	for _, status := range []int{200, 202, 302, 400, 401, 403, 404, 429, 500} {
		callAll(t.Context(), newClient(t, echoing(status), mintlify.WithRetryWait(0, 0)), func(result any, err error) {
			values = append(values, result, err)
			var apiErr *mintlify.APIError
			if errors.As(err, &apiErr) {
				values = append(values, *apiErr)
			}
			var malformed *mintlify.ResponseError
			if errors.As(err, &malformed) {
				values = append(values, *malformed)
			}
			var pageErr *mintlify.PageError
			if errors.As(err, &pageErr) {
				values = append(values, *pageErr)
			}
		})
	}
	// The id is the service's, but what the error says of it is ours.
	_, err := newClient(t, respondWith(202, `{"statusId":"`+testKey+`","previewUrl":`)).Deployments.TriggerUpdate(t.Context())
	require.ErrorContains(t, err, "was queued")
	for _, v := range append(values, err) {
		assert.NotContains(t, leaks(v), testKey[5:], "%T", v)
	}
}

func TestNoLogLineOfAnyOperationShowsTheKey(t *testing.T) {
	lines := new(strings.Builder)
	for _, status := range []int{200, 302, 401, 429, 500} {
		client := newClient(t, echoing(status), mintlify.WithRetryWait(0, 0), mintlify.WithLogger(textLogger(lines)))
		callAll(t.Context(), client, func(any, error) {})
	}
	for _, op := range []mintlify.Operation{mintlify.OpTriggerPreview, mintlify.OpGetConversations, mintlify.OpTriggerAutomation} {
		assert.Contains(t, lines.String(), string(op))
	}
	assert.NotContains(t, lines.String(), testKey[5:])
}

// What readers wrote, and where they can be reached.
const (
	contact = "reader@example.com"
	words   = "I cannot log in since my divorce"
)

// personalPages are responses that hold both, and what is wrong with them.
func personalPages() map[string]string {
	row := `{"id":"1","path":"/a","comment":"` + words + `","contact":"` + contact + `","source":"contextual","searchQuery":"` + words + `","query":"` + words + `","response":"` + words + `","content":"` + words + `","sources":[]}`
	page := func(rest string) string {
		return `{"feedback":[` + row + `],"searches":[` + row + `],"conversations":[` + row + `],"messages":[` + row + `],"totalSearches":1` + rest
	}
	return map[string]string{
		"whole":             page(`,"hasMore":false,"nextCursor":null}`),
		"the same for ever": page(`,"hasMore":true,"nextCursor":"x"}`),
		"no hasMore":        page(`}`),
		"no cursor":         page(`,"hasMore":true,"nextCursor":null}`),
		"not ended":         page(`,"hasMore":`),
		"more behind":       page(`,"hasMore":false} ` + words),
		"no JSON":           words + " " + contact,
		"a list":            `[` + row + `]`,
		"a text":            `"` + words + " " + contact + `"`,
		"wrong types":       strings.NewReplacer(`"`+words+`"`, `["`+words+`"]`, `"`+contact+`"`, `{"`+contact+`":1}`).Replace(page(`,"hasMore":"` + words + `"}`)),
		"HTML":              "<html><title>" + words + "</title>" + contact,
	}
}

func TestNoMessageOrLogLineQuotesWhatReadersWrote(t *testing.T) {
	reads := 0
	for name, body := range personalPages() {
		truncated := transport(func(*http.Request) (*http.Response, error) {
			return pipe(200, func(w *io.PipeWriter) {
				_, _ = io.WriteString(w, body[:len(body)*2/3])
				_ = w.CloseWithError(errors.New("connection reset"))
			}), nil
		})
		for _, rt := range []transport{respondWith(200, body), truncated} {
			lines := new(strings.Builder)
			logger := slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.Level(-100)}))
			client := newClient(t, rt, mintlify.WithRetryWait(0, 0), mintlify.WithMaxRetries(1), mintlify.WithLogger(logger))
			var messages strings.Builder
			callAll(t.Context(), client, func(result any, err error) {
				if err != nil {
					fmt.Fprintf(&messages, "%v\n%+v\n", err, err)
					textLogger(&messages).Error("failed", "error", err)
				} else {
					reads++
				}
			})
			assert.Contains(t, lines.String(), "get feedback", name)
			for _, operation := range []string{"get searches", "get feedback", "get conversations", "get thread"} {
				for _, line := range strings.Split(lines.String()+messages.String(), "\n") {
					if strings.Contains(line, operation) {
						assert.NotContains(t, line, "divorce", "%s, %s", operation, name)
						assert.NotContains(t, line, "reader@", "%s, %s", operation, name)
					}
				}
			}
		}
	}
	assert.Positive(t, reads, "and some of these are read")
}

func TestMessageOfATooLargeResponseDoesNotQuoteIt(t *testing.T) {
	body := `{"conversations":[{"query":"` + words + `","response":"` + strings.Repeat("x", 10<<20) + `"}],"hasMore":false}`
	_, err := newClient(t, respondWith(200, body)).Analytics.GetConversations(t.Context(), mintlify.ConversationsParams{})
	assert.EqualError(t, err, "mintlify: get conversations: malformed response (status 200): larger than 10 MiB [/v1/analytics/proj/assistant]")
}

// The body is there for whoever looks for what was wrong.
func TestMalformedResponseKeepsTheBodyThatItDoesNotQuote(t *testing.T) {
	body := personalPages()["no hasMore"]
	_, err := newClient(t, respondWith(200, body)).Analytics.GetFeedback(t.Context(), mintlify.FeedbackParams{})
	var malformed *mintlify.ResponseError
	require.ErrorAs(t, err, &malformed)
	assert.Equal(t, body, string(malformed.Body))
	assert.EqualError(t, err, "mintlify: get feedback: malformed response (status 200): missing hasMore [/v1/analytics/proj/feedback]")
}

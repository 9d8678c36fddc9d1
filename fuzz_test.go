package mintlify_test

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Each fuzz target goes through a client, as what it feeds in would come.

func FuzzJob(f *testing.F) {
	for _, seed := range []string{
		jobJSON, "", "null", "{}", "[]", `{"id":7,"status":"active"}`, `{"id":"j","status":"paused","prLink":null,"source":{"ref":null}}`,
		`{"id":"j","status":"archived","createdAt":"2024-01-15T12:30:00+02:00","archivedAt":"2024-01-15"}`,
		`{"id":"j","status":"active","createdAt":"9999-12-31T23:59:59-05:00"}`, `{"id":"j","status":"active"} x`, `{"id":"j","sta`, "<html>" + testKey,
		`{"id":"\ud800","status":"\u0000"}`, `{"ID":"j","Status":"active","source":[1]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		job, err := get(t.Context(), newClient(t, respondWith(200, string(body))))
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assertReadable(t, err)
			if job == nil {
				return
			}
		}
		require.NotEmpty(t, job.ID)
		encoded, err := json.Marshal(job)
		require.NoError(t, err)
		var read mintlify.Job
		require.NoError(t, json.Unmarshal(encoded, &read))
		require.Equal(t, *job, read)
	})
}

func FuzzVisitorPage(f *testing.F) {
	for _, seed := range []string{
		emptyPage, "", "null", "{}", `{"totals":{"human":1.5},"visitors":[{"path":"/a","human":12.0,"ai":1.2e1,"total":null}],"hasMore":true}`,
		`{"totals":{},"visitors":[{}],"hasMore":false}`, `{"totals":{"human":1e300},"visitors":[],"hasMore":false}`, `{"totals":{},"visitors":[null],"hasMore":false} `,
		`{"totals":{"human":9223372036854775807},"visitors":[{"human":-0.0}],"hasMore":false}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := newClient(t, respondWith(200, string(body))).Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			require.Nil(t, page)
			assertReadable(t, err)
			return
		}
		require.NotNil(t, page.Visitors)
		encoded, err := json.Marshal(page)
		require.NoError(t, err)
		var read mintlify.VisitorPage
		require.NoError(t, json.Unmarshal(encoded, &read))
		require.Equal(t, *page, read)
	})
}

func FuzzErrorResponse(f *testing.F) {
	f.Add(400, "application/json", "", []byte(`{"error":"no","details":[{"message":"x"}]}`))
	f.Add(502, "text/html", "120", []byte("<html><title>502\nBad</title>"))
	f.Add(429, "text/plain", "Fri, 31 Dec 2999 23:59:59 GMT", []byte("Too many requests"))
	f.Add(401, "application/json", testKey, []byte(`{"error":{"message":"\u006d`+testKey[1:]+` `+testKey+`"}}`))
	f.Add(404, "", "-1", []byte(strings.Repeat("x\x00\n\u202e", 1000)))
	f.Add(302, testKey, "10000000000000000000", []byte(testKey[:5]))
	f.Fuzz(func(t *testing.T, status int, contentType, retryAfter string, body []byte) {
		if status >= 200 && status <= 299 || status < 100 || status > 999 {
			return
		}
		client := newClient(t, respondWith(status, string(body), "Content-Type", contentType, "Retry-After", retryAfter, "X-Request-Id", contentType), mintlify.WithMaxRetries(0))
		_, err := create(t.Context(), client)
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		assertReadable(t, err)
		assert.GreaterOrEqual(t, apiErr.RetryAfter, time.Duration(0))
		assert.LessOrEqual(t, len(apiErr.Details), 10)
		for _, text := range append(apiErr.Details, apiErr.Message, string(apiErr.Body), apiErr.Header.Get("Content-Type"), apiErr.RequestID) {
			assert.NotContains(t, text, testKey)
		}
		assertReadable(t, errors.New(apiErr.Message+strings.Join(apiErr.Details[:min(len(apiErr.Details), 1)], "")))
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"0", "7", "-1", "1.5", "+5", " 3 ", "9223372036", "9223372037", "9223372036854775807", "10000000000000000000", "-99999999999999999999", "soon", "Fri, 31 Dec 9999 23:59:59 GMT", "Monday, 02-Jan-06 15:04:05 GMT", "Mon Jan  2 15:04:05 2006"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		_, err := get(t.Context(), newClient(t, respondWith(429, "", "Retry-After", value), mintlify.WithMaxRetries(0)))
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		require.GreaterOrEqual(t, apiErr.RetryAfter, time.Duration(0))
		digits := strings.TrimLeft(strings.TrimSpace(value), "0")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return
		}
		if len(digits) <= 9 {
			want, err := time.ParseDuration(digits + "s")
			require.NoError(t, err)
			require.Equal(t, want, apiErr.RetryAfter)
		} else {
			require.Greater(t, apiErr.RetryAfter, time.Hour, "a wait too long to write down is a long wait")
		}
	})
}

func FuzzRequestPath(f *testing.F) {
	f.Add("https://api.example.com", "proj", "job_1")
	f.Add("https://api.example.com:8443/pre%2Ffix/", "a/b", "a/b?c#d e")
	f.Add("http://[::1]:80/x/../y", "%2e%2e", "..%2f..")
	f.Add("https://h", "...", "\x00\xff\n\u202e")
	f.Add("https://h//a;b", ";", "//")
	f.Fuzz(func(t *testing.T, baseURL, project, id string) {
		var sent *url.URL
		client, err := mintlify.NewClient(testKey, project, mintlify.WithBaseURL(baseURL), mintlify.WithHTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			sent = r.URL
			return response(200, jobJSON), nil
		})}))
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			assertReadable(t, err)
			return
		}
		if _, err = client.Jobs.Get(t.Context(), id); err != nil {
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			return
		}
		base, err := url.Parse(strings.TrimSpace(baseURL))
		require.NoError(t, err)
		require.Equal(t, []string{base.Scheme, base.Hostname(), base.Port()}, []string{sent.Scheme, sent.Hostname(), sent.Port()})
		require.Nil(t, sent.User)
		rest, ok := strings.CutPrefix(sent.EscapedPath(), strings.TrimRight(base.EscapedPath(), "/")+"/v2/agent/")
		require.True(t, ok, "%q never leaves the prefix of %q", sent, baseURL)
		segments := strings.Split(rest, "/")
		require.Len(t, segments, 3)
		for i, want := range []string{strings.TrimSpace(project), "job", id} {
			got, err := url.PathUnescape(segments[i])
			require.NoError(t, err)
			require.Equal(t, want, got, "it round-trips")
			require.NotContains(t, []string{".", ".."}, segments[i])
		}
		require.Empty(t, sent.RawQuery)
		require.Empty(t, sent.Fragment)
	})
}

func FuzzDate(f *testing.F) {
	for _, seed := range []string{"2024-01-15", "2024-02-30", "2024-01-15T10:30:00Z", "2024-01-15T10:30:00.1239+02:00", "0000-01-01", "9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00Z", "2024-01-15T10:30Z", "2016-12-31T23:59:60Z", "2024-01-15T10:30:00,5Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		date, err := mintlify.ParseDate(text)
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			assertReadable(t, err)
			return
		}
		require.False(t, date.IsZero())
		again, err := mintlify.ParseDate(date.String())
		require.NoError(t, err)
		require.Equal(t, date, again)
		require.Equal(t, date.String(), again.String())
		require.Contains(t, []int{len("2006-01-02"), len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.000Z")}, len(date.String()))
	})
}

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

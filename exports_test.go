package mintlify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

var (
	march = mintlify.Day(2026, 3, 1)
	april = mintlify.Day(2026, 4, 1)
	noon  = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
)

// recordOne is a transport that gives each request the same response, and keeps the last.
func recordOne(status int, body string) (transport, **http.Request) {
	last := new(*http.Request)
	return func(r *http.Request) (*http.Response, error) {
		*last = r
		return response(status, body), nil
	}, last
}

// A read is a GET of the analytics: its request to the letter, and what a response means.
func TestAnalyticsReads(t *testing.T) {
	yes := true
	for name, tc := range map[string]struct {
		call func(context.Context, *mintlify.AnalyticsService) (any, error)
		path string // with its query
		body string
		want any
	}{
		"GetViews": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
				return a.GetViews(ctx, mintlify.ViewsParams{DateFrom: march, DateTo: april, Limit: 250, Offset: 500})
			},
			"/views?dateFrom=2026-03-01&dateTo=2026-04-01&limit=250&offset=500",
			`{"totals":{"human":10,"ai":4,"total":14},"views":[{"path":"/a","human":7.0,"ai":1,"total":8,"new":[]}],"hasMore":true}`,
			&mintlify.ViewPage{Totals: mintlify.ViewTotals{Human: 10, AI: 4, Total: 14}, Views: []mintlify.View{{Path: "/a", Human: 7, AI: 1, Total: 8}}, HasMore: true, Offset: 500, NextOffset: 750},
		},
		"GetSearches": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
				return a.GetSearches(ctx, mintlify.SearchesParams{DateFrom: march, DateTo: april, Limit: 100, Cursor: "a b/"})
			},
			"/searches?cursor=a+b%2F&dateFrom=2026-03-01&dateTo=2026-04-01&limit=100",
			`{"searches":[{"searchQuery":"auth","hits":12,"ctr":41.6,"topClickedPage":"/auth","lastSearchedAt":"2026-03-05T14:00:00+02:00"},{"searchQuery":"au","hits":1.2e1,"ctr":0,"topClickedPage":null,"lastSearchedAt":null}],"totalSearches":99,"nextCursor":"next"}`,
			&mintlify.SearchPage{TotalSearches: 99, Searches: []mintlify.SearchTerm{{Query: "auth", Hits: 12, CTR: 41.6, TopClickedPage: "/auth", LastSearchedAt: noon}, {Query: "au", Hits: 12}}, Cursor: "a b/", NextCursor: "next"},
		},
		"GetSearches, last page": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
				return a.GetSearches(ctx, mintlify.SearchesParams{})
			},
			"/searches", `{"searches":[{"searchQuery":"auth","hits":12,"ctr":41.6,"lastSearchedAt":"2026-03-05T14:00:00+02:00"}],"totalSearches":12,"nextCursor":null}`,
			&mintlify.SearchPage{TotalSearches: 12, Searches: []mintlify.SearchTerm{{Query: "auth", Hits: 12, CTR: 41.6, LastSearchedAt: noon}}},
		},
		"GetFeedback": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
				return a.GetFeedback(ctx, mintlify.FeedbackParams{DateFrom: march, Source: mintlify.FeedbackContextual, Statuses: []mintlify.FeedbackStatus{mintlify.FeedbackPending, mintlify.FeedbackInProgress}})
			},
			"/feedback?dateFrom=2026-03-01&source=contextual&status=pending%2Cin_progress",
			`{"feedback":[
				{"id":"f1","path":"/a","comment":"thanks","createdAt":"2026-03-05T12:00:00.000Z","source":"contextual","status":"pending","helpful":true,"contact":"reader@example.com"},
				{"id":"f2","path":"/b","comment":null,"createdAt":"yesterday","source":"code_snippet","status":"parked","code":"x[0]","filename":null,"lang":"go"}],
				"nextCursor":"c2","hasMore":true}`,
			&mintlify.FeedbackPage{Feedback: []mintlify.Feedback{
				{ID: "f1", Path: "/a", Comment: "thanks", CreatedAt: noon, Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending, Helpful: &yes, Contact: "reader@example.com"},
				{ID: "f2", Path: "/b", Source: mintlify.FeedbackFromCodeSnippet, Status: "parked", Code: "x[0]", Language: "go"},
			}, HasMore: true, NextCursor: "c2"},
		},
		"GetFeedbackByPage": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
				return a.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{DateTo: april, Source: "new_source", Statuses: []mintlify.FeedbackStatus{"resolved"}, Limit: 1})
			},
			"/feedback/by-page?dateTo=2026-04-01&limit=1&source=new_source&status=resolved",
			`{"feedback":[{"path":"/a","thumbsUp":3,"thumbsDown":1.0,"code":2,"total":6}],"hasMore":true}`,
			&mintlify.FeedbackByPage{Pages: []mintlify.PageFeedback{{Path: "/a", ThumbsUp: 3, ThumbsDown: 1, Code: 2, Total: 6}}, HasMore: true},
		},
		"GetConversations": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
				return a.GetConversations(ctx, mintlify.ConversationsParams{DateFrom: march, DateTo: april, Limit: 1000, Cursor: "01H"})
			},
			"/assistant?cursor=01H&dateFrom=2026-03-01&dateTo=2026-04-01&limit=1000",
			`{"conversations":[{"id":"c","timestamp":"2026-03-05T12:00:00Z","query":"how?","response":"so","responseType":"clarifying_question","sources":[{"title":"A","url":"/a"}],"resolutionStatus":"unanswered","queryCategory":null,"pageUrl":"https://docs.example.com/a"},
				{"id":"c","timestamp":"2026-03-05T12:00:00Z","query":"and?","response":"","sources":[],"resolutionStatus":"answered","queryCategory":"auth"}],"nextCursor":"x","hasMore":false}`,
			&mintlify.ConversationPage{Conversations: []mintlify.Conversation{
				{ID: "c", Timestamp: noon, Query: "how?", Response: "so", ResponseType: mintlify.ResponseClarifyingQuestion, Sources: []mintlify.ConversationSource{{Title: "A", URL: "/a"}}, ResolutionStatus: mintlify.ResolutionUnanswered, PageURL: "https://docs.example.com/a"},
				{ID: "c", Timestamp: noon, Query: "and?", Sources: []mintlify.ConversationSource{}, ResolutionStatus: mintlify.ResolutionAnswered, QueryCategory: "auth"},
			}, Cursor: "01H", NextCursor: "x"},
		},
		"GetThread": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) { return a.GetThread(ctx, "01/H") },
			"/assistant/threads/01%2FH",
			`{"threadId":"01/H","createdAt":"2026-03-05T12:00:00Z","messages":[{"id":"m","role":"user","content":"how?","createdAt":"2026-03-05T12:00:00Z"},{"id":"n","role":"tool","content":"","createdAt":null}]}`,
			&mintlify.Thread{ID: "01/H", CreatedAt: noon, Messages: []mintlify.ThreadMessage{{ID: "m", Role: mintlify.RoleUser, Content: "how?", CreatedAt: noon}, {ID: "n", Role: "tool"}}},
		},
		"GetCallerStats": {
			func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
				return a.GetCallerStats(ctx, mintlify.CallerStatsParams{DateFrom: march, DateTo: april})
			},
			"/assistant/caller-stats?dateFrom=2026-03-01&dateTo=2026-04-01",
			`{"web":5,"api":2.0,"other":0,"total":7}`,
			&mintlify.CallerStats{Web: 5, API: 2, Total: 7},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt, sent := recordOne(200, tc.body)
			got, err := tc.call(t.Context(), newClient(t, rt).Analytics)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, http.MethodGet, (*sent).Method)
			path, query, _ := strings.Cut(tc.path, "?")
			assert.Equal(t, "/v1/analytics/proj"+path, (*sent).URL.EscapedPath())
			assert.Equal(t, query, (*sent).URL.RawQuery)
			assertRoundTrip(t, got)

			for what, body := range map[string]string{"empty": "", "an empty object": "{}", "null": "null", "a list": "[]", "HTML": "<html>"} {
				_, err = tc.call(t.Context(), newClient(t, respondWith(200, body)).Analytics)
				assert.ErrorIs(t, err, mintlify.ErrMalformedResponse, what)
			}
			_, err = tc.call(nilContext, newClient(t, rt).Analytics)
			assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
		})
	}
}

// assertRoundTrip asserts that what is behind v marshals to JSON that reads back to it.
func assertRoundTrip(t *testing.T, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	var back any
	switch v.(type) {
	case *mintlify.ViewPage:
		back = new(mintlify.ViewPage)
	case *mintlify.SearchPage:
		back = new(mintlify.SearchPage)
	case *mintlify.FeedbackPage:
		back = new(mintlify.FeedbackPage)
	case *mintlify.FeedbackByPage:
		back = new(mintlify.FeedbackByPage)
	case *mintlify.ConversationPage:
		back = new(mintlify.ConversationPage)
	case *mintlify.Thread:
		back = new(mintlify.Thread)
	case *mintlify.CallerStats:
		back = new(mintlify.CallerStats)
	case *mintlify.Deployment:
		back = new(mintlify.Deployment)
	case *mintlify.QueuedDeployment:
		back = new(mintlify.QueuedDeployment)
	case *mintlify.AutomationRun:
		back = new(mintlify.AutomationRun)
	default:
		t.Fatalf("no round trip for a %T", v)
	}
	require.NoError(t, json.Unmarshal(text, back))
	assert.Equal(t, v, back)
}

func TestPagesOfAnExportByCursorThatAreNotWhatTheInterfacePromises(t *testing.T) {
	for body, reason := range map[string]string{
		`{"feedback":[{"id":"f"}],"hasMore":true}`:                     "missing nextCursor, though hasMore is true",
		`{"feedback":[{"id":"f"}],"hasMore":true,"nextCursor":null}`:   "missing nextCursor, though hasMore is true",
		`{"feedback":[{"id":"f"}],"nextCursor":"c"}`:                   "missing hasMore",
		`{"feedback":null,"hasMore":false}`:                            "missing feedback",
		`{"feedback":{},"hasMore":false}`:                              "expected a JSON array",
		`{"feedback":[],"hasMore":"no"}`:                               "invalid JSON for a page of feedback",
		`{"feedback":[{"helpful":"yes"}],"hasMore":false}`:             "invalid JSON for a page of feedback",
		`{"feedback":[{"id":"f","path":"/a"}],"hasMore":false,"next":`: "invalid JSON for a page of feedback",
	} {
		_, err := newClient(t, respondWith(200, body)).Analytics.GetFeedback(t.Context(), mintlify.FeedbackParams{})
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse, "%.80s", body)
		assert.ErrorContains(t, err, reason)
		assertReadable(t, err)
	}
}

func TestArgumentsOfAnalyticsReadsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	a := newClient(t, transport(func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errors.New("sent")
	})).Analytics
	ctx := t.Context()
	for name, tc := range map[string]struct {
		argument string
		call     func() error
	}{
		"views, limit":    {"limit", func() error { _, err := a.GetViews(ctx, mintlify.ViewsParams{Limit: 251}); return err }},
		"views, offset":   {"offset", func() error { _, err := a.GetViews(ctx, mintlify.ViewsParams{Offset: -1}); return err }},
		"searches, limit": {"limit", func() error { _, err := a.GetSearches(ctx, mintlify.SearchesParams{Limit: 101}); return err }},
		"searches, dates": {"dateFrom", func() error {
			_, err := a.GetSearches(ctx, mintlify.SearchesParams{DateFrom: april, DateTo: march})
			return err
		}},
		"feedback, limit": {"limit", func() error { _, err := a.GetFeedback(ctx, mintlify.FeedbackParams{Limit: -1}); return err }},
		"feedback, comma": {"statuses", func() error {
			_, err := a.GetFeedback(ctx, mintlify.FeedbackParams{Statuses: []mintlify.FeedbackStatus{"a,b"}})
			return err
		}},
		"feedback, iterator, comma": {"statuses", func() error {
			_, err := collect(a.Feedback(ctx, mintlify.FeedbackParams{Statuses: []mintlify.FeedbackStatus{"a,b"}}))
			return err
		}},
		"by page, blank status": {"statuses", func() error {
			_, err := a.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{Statuses: []mintlify.FeedbackStatus{" "}})
			return err
		}},
		"by page, limit": {"limit", func() error {
			_, err := a.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{Limit: 101})
			return err
		}},
		"conversations, limit": {"limit", func() error { _, err := a.GetConversations(ctx, mintlify.ConversationsParams{Limit: 1001}); return err }},
		"thread, empty":        {"id", func() error { _, err := a.GetThread(ctx, " "); return err }},
		"thread, dot":          {"id", func() error { _, err := a.GetThread(ctx, ".."); return err }},
		"caller stats, dates": {"dateFrom", func() error {
			_, err := a.GetCallerStats(ctx, mintlify.CallerStatsParams{DateFrom: march, DateTo: march})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) { requireArgumentError(t, tc.call(), tc.argument) })
	}
}

// feedbackPages is a service of n pages of a row each, by cursors c0, c1 and so on.
func feedbackPages(n int, asked *[]string) transport {
	return func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		*asked = append(*asked, query.Encode())
		i := 0
		fmt.Sscanf(query.Get("cursor"), "c%d", &i)
		return response(200, fmt.Sprintf(`{"feedback":[{"id":"f%d"}],"hasMore":%t,"nextCursor":"c%d"}`, i, i+1 < n, i+1)), nil
	}
}

func TestExportByCursorSendsTheSameDatesWithEachCursor(t *testing.T) {
	for _, prefetch := range []int{0, 1, 3} {
		var asked []string
		rows, err := collect(newClient(t, feedbackPages(3, &asked)).Analytics.Feedback(t.Context(), mintlify.FeedbackParams{DateFrom: march, DateTo: april, Statuses: []mintlify.FeedbackStatus{"pending"}}, mintlify.WithPrefetch(prefetch)))
		require.NoError(t, err)
		require.Len(t, rows, 3)
		assert.Equal(t, "f2", rows[2].ID)
		const same = "dateFrom=2026-03-01&dateTo=2026-04-01&limit=100&status=pending"
		assert.Equal(t, []string{same, "cursor=c1&" + same, "cursor=c2&" + same}, asked, "and none beyond the end, since a cursor is known only from the page before")
	}
}

func TestExportByCursorResumesAtTheCursorOfItsError(t *testing.T) {
	var asked []string
	service := feedbackPages(5, &asked)
	failing := transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("cursor") == "c3" && len(asked) == 3 {
			asked = append(asked, "failed")
			return response(400, ""), nil
		}
		return service(r)
	})
	client := newClient(t, failing)
	rows, err := collect(client.Analytics.Feedback(t.Context(), mintlify.FeedbackParams{}))
	require.Len(t, rows, 3)
	var pageErr *mintlify.PageError
	require.ErrorAs(t, err, &pageErr)
	assert.Equal(t, "c3", pageErr.Cursor)
	assert.Zero(t, pageErr.Offset)
	assert.ErrorContains(t, err, `list stopped at cursor "c3"`)
	rest, err := collect(client.Analytics.Feedback(t.Context(), mintlify.FeedbackParams{Cursor: pageErr.Cursor}))
	require.NoError(t, err)
	require.Len(t, rest, 2)
	assert.Equal(t, "f3", rest[0].ID)
}

func TestExportByCursorThatWouldNeverEndEndsWithAnError(t *testing.T) {
	for name, tc := range map[string]struct{ body, reason string }{
		"the same page for ever": {`{"conversations":[{"id":"c","timestamp":"2026-03-05T12:00:00Z"}],"hasMore":true,"nextCursor":"x"}`, "repeats an earlier page"},
		"empty pages for ever":   {`{"conversations":[],"hasMore":true,"nextCursor":"x"}`, "third consecutive empty page with hasMore"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := collect(newClient(t, respondWith(200, tc.body)).Analytics.Conversations(t.Context(), mintlify.ConversationsParams{}))
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assert.ErrorContains(t, err, tc.reason)
		})
	}
}

func TestTurnsOfOneConversationAreRowsOfTheirOwn(t *testing.T) {
	page := 0
	rt := transport(func(*http.Request) (*http.Response, error) {
		page++ // the same conversation, a minute later
		return response(200, fmt.Sprintf(`{"conversations":[{"id":"c","timestamp":"2026-03-05T12:%02d:00Z","query":"how?"}],"hasMore":%t,"nextCursor":"after-%d"}`, page, page < 4, page)), nil
	})
	rows, err := collect(newClient(t, rt).Analytics.Conversations(t.Context(), mintlify.ConversationsParams{}))
	require.NoError(t, err)
	assert.Len(t, rows, 4)
}

func TestLongCursorIsCutInMessagesAndKeptInTheError(t *testing.T) {
	cursor := strings.Repeat("c", 5000)
	_, err := collect(newClient(t, respondWith(414, "")).Analytics.Searches(t.Context(), mintlify.SearchesParams{Cursor: cursor}))
	var pageErr *mintlify.PageError
	require.ErrorAs(t, err, &pageErr)
	assert.Equal(t, cursor, pageErr.Cursor)
	assertReadable(t, err)
}

// Without it nobody can tell whether this is the last page.
func TestSearchesWithoutANextCursorAreMalformed(t *testing.T) {
	_, err := collect(newClient(t, respondWith(200, `{"totalSearches":9,"searches":[{"searchQuery":"auth"}]}`)).Analytics.Searches(t.Context(), mintlify.SearchesParams{}))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "missing nextCursor")
}

func TestCallerStatsWithoutACountAreMalformed(t *testing.T) {
	for _, missing := range []string{"web", "api", "other", "total"} {
		body := strings.Replace(`{"web":1,"api":2,"other":3,"total":6}`, missing, "new", 1)
		_, err := newClient(t, respondWith(200, body)).Analytics.GetCallerStats(t.Context(), mintlify.CallerStatsParams{})
		assert.ErrorIs(t, err, mintlify.ErrMalformedResponse, body)
	}
}

func TestCursorIsBounded(t *testing.T) {
	for size, ok := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		cursor := strings.Repeat("c", size)
		_, err := newClient(t, respondWith(200, `{"totalSearches":9,"searches":[],"nextCursor":"`+cursor+`"}`)).Analytics.GetSearches(t.Context(), mintlify.SearchesParams{})
		assert.Equal(t, ok, err == nil, "%v", err)
		_, err = newClient(t, respondWith(200, `{"feedback":[],"hasMore":true,"nextCursor":"`+cursor+`"}`)).Analytics.GetFeedback(t.Context(), mintlify.FeedbackParams{})
		assert.Equal(t, ok, err == nil, "%v", err)
	}
}

// Counts move while an export runs: the rows of a page are told apart without them.
func TestPageOrCursorThatComesAgainEndsTheExport(t *testing.T) {
	n := 0
	moving := transport(func(*http.Request) (*http.Response, error) {
		n++
		return response(200, fmt.Sprintf(`{"totals":{},"visitors":[{"path":"/a","human":%d},{"path":"/b"}],"hasMore":true}`, n)), nil
	})
	rows, err := collect(newClient(t, moving).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{Limit: 2}))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "repeats an earlier page")
	assert.Len(t, rows, 2)

	cursors := transport(func(r *http.Request) (*http.Response, error) {
		n++
		next := map[string]string{"": "a", "a": "b", "b": "a"}[r.URL.Query().Get("cursor")]
		return response(200, fmt.Sprintf(`{"totalSearches":9,"searches":[{"searchQuery":"%d"}],"nextCursor":%q}`, n, next)), nil
	})
	_, err = collect(newClient(t, cursors).Analytics.Searches(t.Context(), mintlify.SearchesParams{}))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "repeats an earlier cursor")
}

// Rows shift between the pages of live counts.
func TestSingleRowMayComeAgain(t *testing.T) {
	rt := newRecording(
		respondWith(200, `{"totals":{},"visitors":[{"path":"/a"},{"path":"/b"}],"hasMore":true}`),
		respondWith(200, `{"totals":{},"visitors":[{"path":"/b"},{"path":"/c"}],"hasMore":false}`))
	rows, err := collect(newClient(t, rt).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{Limit: 2}))
	require.NoError(t, err)
	assert.Len(t, rows, 4)
}

package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

var (
	march = mintlify.Day(2026, 3, 1)
	april = mintlify.Day(2026, 4, 1)
)

// exchange is a GET of the analytics to the letter, and what its response means.
type exchange struct {
	call func(context.Context, *mintlify.AnalyticsService) (any, error)
	path string // with its query
	body string
	want any
}

func TestAnalyticsReads(t *testing.T) {
	for name, tc := range map[string]exchange{
		"GetViewPage":         viewsExchange(),
		"GetSearchPage":       searchesExchange(),
		"GetFeedbackPage":     feedbackExchange(),
		"GetFeedbackCounts":   feedbackCountsExchange(),
		"GetConversationPage": conversationsExchange(),
		"GetThread":           threadExchange(),
		"GetCallerStats":      callerStatsExchange(),
	} {
		t.Run(name, func(t *testing.T) {
			rt := kit.NewRecording(kit.RespondWith(200, tc.body))
			got, err := tc.call(t.Context(), kit.NewClient(t, rt).Analytics)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			kit.AssertRoundTrip(t, got)

			path, query, _ := strings.Cut(tc.path, "?")
			assert.Equal(t, http.MethodGet, rt.Last().Method)
			assert.Equal(t, "/v1/analytics/proj"+path, rt.Last().URL.EscapedPath())
			assert.Equal(t, query, rt.Last().URL.RawQuery)

			_, err = tc.call(kit.NilContext, kit.NewClient(t, rt).Analytics)
			assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
		})
	}
}

func viewsExchange() exchange {
	return exchange{
		call: func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
			return a.GetViewPage(ctx, mintlify.ViewsParams{DateFrom: march, DateTo: april, PageSize: 250, Offset: 500})
		},
		path: "/views?dateFrom=2026-03-01&dateTo=2026-04-01&limit=250&offset=500",
		body: `{"totals":{"human":10,"ai":4,"total":14},
			"views":[{"path":"/a","human":7.0,"ai":1,"total":8,"new":[]}],
			"hasMore":true}`,
		want: &mintlify.ViewPage{
			Totals:     mintlify.ViewTotals{Human: 10, AI: 4, Total: 14},
			Views:      []mintlify.View{{Path: "/a", Human: 7, AI: 1, Total: 8}},
			HasMore:    true,
			NextOffset: 501,
		},
	}
}

func searchesExchange() exchange {
	return exchange{
		call: func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
			params := mintlify.SearchesParams{DateFrom: march, DateTo: april, PageSize: 100, Cursor: "a b/"}
			return a.GetSearchPage(ctx, params)
		},
		path: "/searches?cursor=a+b%2F&dateFrom=2026-03-01&dateTo=2026-04-01&limit=100",
		body: `{"searches":[
				{"searchQuery":"auth","hits":12,"ctr":41.6,
					"topClickedPage":"/auth","lastSearchedAt":"2026-03-05T14:00:00+02:00"},
				{"searchQuery":"au","hits":1.2e1,"ctr":0,"topClickedPage":null,"lastSearchedAt":null}],
			"totalSearches":99,"nextCursor":"next"}`,
		want: &mintlify.SearchPage{
			TotalSearches: 99,
			Searches: []mintlify.SearchTerm{
				{Query: "auth", Hits: 12, CTR: 41.6, TopClickedPage: "/auth", LastSearchedAt: kit.Noon},
				{Query: "au", Hits: 12},
			},
			HasMore:    true,
			NextCursor: "next",
		},
	}
}

func feedbackExchange() exchange {
	yes := true
	return exchange{
		call: func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
			return a.GetFeedbackPage(ctx, mintlify.FeedbackParams{
				DateFrom: march,
				Source:   mintlify.FeedbackContextual,
				Statuses: []mintlify.FeedbackStatus{mintlify.FeedbackPending, mintlify.FeedbackInProgress},
			})
		},
		path: "/feedback?dateFrom=2026-03-01&source=contextual&status=pending%2Cin_progress",
		body: `{"feedback":[
				{"id":"f1","path":"/a","comment":"thanks","createdAt":"2026-03-05T12:00:00.000Z","source":"contextual",
					"status":"pending","helpful":true,"contact":"reader@example.com"},
				{"id":"f2","path":"/b","comment":null,"createdAt":"yesterday","source":"code_snippet",
					"status":"parked","code":"x[0]","filename":null,"lang":"go"}],
			"nextCursor":"c2","hasMore":true}`,
		want: &mintlify.FeedbackPage{
			Feedback: []mintlify.Feedback{
				{
					ID: "f1", Path: "/a", Comment: "thanks", CreatedAt: kit.Noon, Source: mintlify.FeedbackContextual,
					Status: mintlify.FeedbackPending, Helpful: &yes, Contact: "reader@example.com",
				},
				{
					ID: "f2", Path: "/b", Source: mintlify.FeedbackFromCodeSnippet,
					Status: "parked", Code: "x[0]", Language: "go",
				},
			},
			HasMore:    true,
			NextCursor: "c2",
		},
	}
}

func feedbackCountsExchange() exchange {
	return exchange{
		call: func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
			return a.GetFeedbackCounts(ctx, mintlify.FeedbackCountsParams{
				DateTo: april, Source: "new_source",
				Statuses: []mintlify.FeedbackStatus{"resolved"}, Limit: 1,
			})
		},
		path: "/feedback/by-page?dateTo=2026-04-01&limit=1&source=new_source&status=resolved",
		body: `{"feedback":[{"path":"/a","thumbsUp":3,"thumbsDown":1.0,"code":2,"total":6}],"hasMore":true}`,
		want: &mintlify.FeedbackCounts{
			Counts:  []mintlify.FeedbackCount{{Path: "/a", ThumbsUp: 3, ThumbsDown: 1, Code: 2, Total: 6}},
			HasMore: true,
		},
	}
}

func conversationsExchange() exchange {
	return exchange{
		call: func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
			params := mintlify.ConversationsParams{DateFrom: march, DateTo: april, PageSize: 1000, Cursor: "01H"}
			return a.GetConversationPage(ctx, params)
		},
		path: "/assistant?cursor=01H&dateFrom=2026-03-01&dateTo=2026-04-01&limit=1000",
		body: `{"conversations":[
				{"id":"c","timestamp":"2026-03-05T12:00:00Z","query":"how?","response":"so",
					"responseType":"clarifying_question","sources":[{"title":"A","url":"/a"}],
					"resolutionStatus":"unanswered","queryCategory":null,"pageUrl":"https://docs.example.com/a"},
				{"id":"c","timestamp":"2026-03-05T12:00:00Z","query":"and?","response":"",
					"sources":[],"resolutionStatus":"answered","queryCategory":"auth"}],
			"nextCursor":"x","hasMore":false}`,
		want: &mintlify.ConversationPage{
			Conversations: []mintlify.Conversation{
				{
					ID: "c", Timestamp: kit.Noon, Query: "how?", Response: "so",
					ResponseType:     mintlify.ResponseClarifyingQuestion,
					Sources:          []mintlify.ConversationSource{{Title: "A", URL: "/a"}},
					ResolutionStatus: mintlify.ResolutionUnanswered,
					PageURL:          "https://docs.example.com/a",
				},
				{
					ID: "c", Timestamp: kit.Noon, Query: "and?",
					Sources:          []mintlify.ConversationSource{},
					ResolutionStatus: mintlify.ResolutionAnswered,
					QueryCategory:    "auth",
				},
			},
		},
	}
}

func threadExchange() exchange {
	return exchange{
		call: func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) { return a.GetThread(ctx, "01/H") },
		path: "/assistant/threads/01%2FH",
		body: `{"threadId":"01/H","createdAt":"2026-03-05T12:00:00Z","messages":[
				{"id":"m","role":"user","content":"how?","createdAt":"2026-03-05T12:00:00Z"},
				{"id":"n","role":"tool","content":"","createdAt":null}]}`,
		want: &mintlify.Thread{
			ID:        "01/H",
			CreatedAt: kit.Noon,
			Messages: []mintlify.ThreadMessage{
				{ID: "m", Role: mintlify.RoleUser, Content: "how?", CreatedAt: kit.Noon},
				{ID: "n", Role: "tool"},
			},
		},
	}
}

func callerStatsExchange() exchange {
	return exchange{
		call: func(ctx context.Context, a *mintlify.AnalyticsService) (any, error) {
			return a.GetCallerStats(ctx, mintlify.CallerStatsParams{DateFrom: march, DateTo: april})
		},
		path: "/assistant/caller-stats?dateFrom=2026-03-01&dateTo=2026-04-01",
		body: `{"web":5,"api":2.0,"other":0,"total":7}`,
		want: &mintlify.CallerStats{Web: 5, API: 2, Total: 7},
	}
}

func TestArgumentsOfAnalyticsReadsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	rt := kit.NewRecording(kit.FailWith(errors.New("nothing may be sent")))
	a := kit.NewClient(t, rt).Analytics
	ctx := t.Context()
	comma := []mintlify.FeedbackStatus{"a,b"}
	blank := []mintlify.FeedbackStatus{" "}

	errorOf := func(_ any, err error) error { return err }
	for name, tc := range map[string]struct {
		err      error
		argument string
	}{
		"views, page size":    {errorOf(a.GetViewPage(ctx, mintlify.ViewsParams{PageSize: 251})), "pageSize"},
		"views, offset":       {errorOf(a.GetViewPage(ctx, mintlify.ViewsParams{Offset: -1})), "offset"},
		"searches, page size": {errorOf(a.GetSearchPage(ctx, mintlify.SearchesParams{PageSize: 101})), "pageSize"},
		"searches, dates": {
			errorOf(a.GetSearchPage(ctx, mintlify.SearchesParams{DateFrom: april, DateTo: march})), "dateFrom",
		},
		"feedback, page size": {errorOf(a.GetFeedbackPage(ctx, mintlify.FeedbackParams{PageSize: -1})), "pageSize"},
		"feedback, comma": {
			errorOf(a.GetFeedbackPage(ctx, mintlify.FeedbackParams{Statuses: comma})), "statuses",
		},
		"feedback, iterator, comma": {
			errorOf(mintlify.Collect(a.Feedback(ctx, mintlify.FeedbackParams{Statuses: comma}))), "statuses",
		},
		"by page, blank status": {
			errorOf(a.GetFeedbackCounts(ctx, mintlify.FeedbackCountsParams{Statuses: blank})), "statuses",
		},
		"by page, limit": {
			errorOf(a.GetFeedbackCounts(ctx, mintlify.FeedbackCountsParams{Limit: 101})), "limit",
		},
		"conversations, page size": {
			errorOf(a.GetConversationPage(ctx, mintlify.ConversationsParams{PageSize: 1001})), "pageSize",
		},
		"thread, empty": {errorOf(a.GetThread(ctx, " ")), "id"},
		"thread, dot":   {errorOf(a.GetThread(ctx, "..")), "id"},
		"caller stats, dates": {
			errorOf(a.GetCallerStats(ctx, mintlify.CallerStatsParams{DateFrom: march, DateTo: march})), "dateFrom",
		},
	} {
		t.Run(name, func(t *testing.T) { kit.RequireArgumentError(t, tc.err, tc.argument) })
	}
	assert.Zero(t, rt.Count())
}

func TestGetVisitorsToTheLetter(t *testing.T) {
	instant := time.Date(2024, 1, 15, 12, 30, 0, 250e6, time.FixedZone("", 7200))
	january := mintlify.Day(2024, 1, 1)
	february := mintlify.Day(2024, 2, 1)
	for query, params := range map[string]mintlify.VisitorsParams{
		"":                                    {},
		"dateFrom=2024-01-15&limit=1":         {DateFrom: mintlify.Day(2024, 1, 15), PageSize: 1},
		"dateTo=2024-01-15T10%3A30%3A00.250Z": {DateTo: mintlify.Instant(instant)},
		"offset=1":                            {Offset: 1},
		"dateFrom=2024-01-01&dateTo=2024-02-01&limit=250&offset=500": {
			DateFrom: january, DateTo: february, PageSize: 250, Offset: 500,
		},
	} {
		rt := kit.NewRecording(kit.RespondWith(200, kit.EmptyPage))
		client, err := kit.NewClient(t, rt, mintlify.WithBaseURL("https://api.example.com/pre")).ForProject("a?b")
		require.NoError(t, err)

		_, err = client.Analytics.GetVisitorPage(t.Context(), params)
		require.NoError(t, err)

		request := rt.Last()
		assert.Equal(t, http.MethodGet, request.Method)
		assert.Equal(t, "/pre/v1/analytics/a%3Fb/visitors", request.URL.EscapedPath())
		assert.Equal(t, query, request.URL.RawQuery)
		assert.Equal(t, http.Header{
			"Authorization": {"Bearer " + kit.Key},
			"Accept":        {"application/json"},
			"User-Agent":    {"mintlify-go/0.1.0"},
		}, request.Header)
		assert.Nil(t, request.Body)
	}
}

func TestGetVisitorsReadsCountsWhateverNumberTheyAre(t *testing.T) {
	const body = `{"totals":{"human":%s,"ai":1},` +
		`"visitors":[{"path":"/a","human":%s,"ai":%s},{"path":null},{}],"hasMore":false}`

	for number, want := range map[string]int64{
		"12":               12,
		"12.5":             13,
		"null":             0,
		"-1":               -1,
		"9007199254740991": 9007199254740991,
	} {
		for _, other := range []string{"1", "1.5"} { // what is beside a count does not change it
			client := kit.NewClient(t, kit.RespondWith(200, fmt.Sprintf(body, number, number, other)))
			page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
			require.NoError(t, err, number)
			assert.Equal(t, mintlify.VisitorTotals{Human: want, AI: 1}, page.Totals, number)

			require.Len(t, page.Visitors, 3)
			assert.Equal(t, want, page.Visitors[0].Human, number)
			assert.Equal(t, mintlify.Visitor{}, page.Visitors[1], "a count that is missing is 0")
			assert.Equal(t, mintlify.Visitor{}, page.Visitors[2])
		}
	}
}

func TestGetVisitorsOfAMalformedPage(t *testing.T) {
	for name, tc := range map[string]struct{ body, reason string }{
		"no visitors":        {`{"totals":{},"hasMore":false}`, "missing visitors"},
		"no hasMore":         {`{"totals":{},"visitors":[]}`, "missing hasMore"},
		"hasMore as text":    {`{"totals":{},"visitors":[],"hasMore":"no"}`, "invalid JSON for a page"},
		"visitors as object": {`{"totals":{},"visitors":{},"hasMore":false}`, "invalid JSON for a page"},
		"count as text": {
			`{"totals":{},"visitors":[{"path":"/a","human":"twelve"}],"hasMore":false}`, "count is not a number",
		},
		"count out of range": {
			`{"totals":{"human":1e19},"visitors":[],"hasMore":false}`, "count is not a number",
		},
		"count just beyond": {
			`{"totals":{"human":9223372036854775808},"visitors":[],"hasMore":false}`, "count is not a number",
		},
		"path as number": {
			`{"totals":{},"visitors":[{"path":5,"human":1}],"hasMore":false}`, "invalid JSON for a page",
		},
		"trailing garbage":   {kit.EmptyPage + "x", "invalid JSON for a page"},
		"truncated":          {kit.EmptyPage[:30], "truncated after 30 bytes"},
		"rounded, no totals": {`{"visitors":[{"human":1.5}],"hasMore":false}`, "missing totals"},
		"rounded, no rows":   {`{"totals":{"human":1.5},"hasMore":false}`, "missing visitors"},
	} {
		t.Run(name, func(t *testing.T) {
			client := kit.NewClient(t, kit.RespondWith(200, tc.body), mintlify.WithMaxRetries(0))
			page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
			assert.Nil(t, page)
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assert.ErrorContains(t, err, "get visitors")
			assert.ErrorContains(t, err, tc.reason)
			kit.AssertReadable(t, err)
		})
	}
}

func TestGetVisitorsVisitorPagesAndVisitorsRefuseParamsBeforeAnythingIsSent(t *testing.T) {
	jan1 := mintlify.Day(2024, 1, 1)
	jan2 := mintlify.Day(2024, 1, 2)
	midday := mintlify.Instant(time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC))
	justAfter := mintlify.Instant(time.Date(2024, 1, 1, 12, 0, 0, 5e8, time.UTC))

	svc := mintlifytest.NewService()
	client := svc.Client()
	for name, tc := range map[string]struct {
		params   mintlify.VisitorsParams
		argument string
	}{
		"page size below":       {mintlify.VisitorsParams{PageSize: -1}, "pageSize"},
		"page size above":       {mintlify.VisitorsParams{PageSize: 251}, "pageSize"},
		"negative offset":       {mintlify.VisitorsParams{Offset: -1}, "offset"},
		"offset that overflows": {mintlify.VisitorsParams{Offset: math.MaxInt}, "offset"},
		"days the wrong way":    {mintlify.VisitorsParams{DateFrom: jan2, DateTo: jan1}, "dateFrom"},
		"the same day":          {mintlify.VisitorsParams{DateFrom: jan1, DateTo: jan1}, "dateFrom"},
		"instants likewise":     {mintlify.VisitorsParams{DateFrom: justAfter, DateTo: midday}, "dateFrom"},
		"year 26":               {mintlify.VisitorsParams{DateFrom: mintlify.Day(26, 8, 1)}, "dateFrom"},
		"year 1969":             {mintlify.VisitorsParams{DateTo: mintlify.Day(1969, 12, 31)}, "dateTo"},
		"year 10000":            {mintlify.VisitorsParams{DateFrom: mintlify.Day(10000, 1, 1)}, "dateFrom"},
		"year -1":               {mintlify.VisitorsParams{DateTo: mintlify.Day(-1, 1, 1)}, "dateTo"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Analytics.GetVisitorPage(t.Context(), tc.params)
			kit.RequireArgumentError(t, err, tc.argument)
			requireArgumentErrors(t.Context(), t, client, tc.params, tc.argument)
		})
	}

	_, err := client.Analytics.GetVisitorPage(kit.NilContext, mintlify.VisitorsParams{})
	kit.RequireArgumentError(t, err, "ctx")
	requireArgumentErrors(kit.NilContext, t, client, mintlify.VisitorsParams{}, "ctx")
	requireArgumentErrors(t.Context(), t, client, mintlify.VisitorsParams{}, "opts", nil)
	assert.Empty(t, svc.Requests())

	for name, params := range map[string]mintlify.VisitorsParams{
		"a day and an instant": {DateFrom: jan2, DateTo: midday}, // not compared
		"instants, just so":    {DateFrom: midday, DateTo: justAfter},
		"limits":               {PageSize: 250},
		"the widest range":     {DateFrom: mintlify.Day(1970, 1, 1), DateTo: mintlify.Day(9999, 12, 31)},
		"the last offset":      {Offset: math.MaxInt - 250},
	} {
		_, err := client.Analytics.GetVisitorPage(t.Context(), params)
		require.NoError(t, err, name)
	}
}

// requireArgumentErrors requires that both sequences begin with an error in the argument.
func requireArgumentErrors(
	ctx context.Context, t *testing.T, client *mintlify.Client,
	params mintlify.VisitorsParams, argument string, opts ...mintlify.ExportOption,
) {
	t.Helper()
	pages, noPages := mintlify.Collect(client.Analytics.VisitorPages(ctx, params, opts...))
	rows, noRows := mintlify.Collect(client.Analytics.Visitors(ctx, params, opts...))
	assert.Empty(t, pages)
	assert.Empty(t, rows)
	kit.RequireArgumentError(t, noPages, argument)
	kit.RequireArgumentError(t, noRows, argument)
	assert.NotErrorAs(t, noPages, new(*mintlify.ExportError), "there is nowhere to resume")
}

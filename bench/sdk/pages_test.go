//go:build !race

package sdk

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const at = "2026-03-05T12:00:00.000Z"

// exports are pages of the other exports: the JSON around the rows, and a row made from its
// number.
var exports = []struct {
	name, around, row string
	get               func(context.Context, *mintlify.AnalyticsService) error
}{
	{
		name:   "views",
		around: `{"totals":{},"views":[%s],"hasMore":true}`,
		row:    `{"path":"/docs/page-%[1]d","human":%[1]d,"ai":3,"total":17}`,
		get: func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetViewPage(ctx, mintlify.ViewsParams{})
			return err
		},
	},
	{
		name:   "searches",
		around: `{"searches":[%s],"totalSearches":9876,"nextCursor":"01HX"}`,
		row: `{"searchQuery":"how to set a key %[1]d","hits":%[1]d,"ctr":41.6,` +
			`"topClickedPage":"/docs/page-%[1]d","lastSearchedAt":"` + at + `"}`,
		get: func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetSearchPage(ctx, mintlify.SearchesParams{})
			return err
		},
	},
	{
		name:   "feedback",
		around: `{"feedback":[%s],"nextCursor":"01HX","hasMore":true}`,
		row: `{"id":"65f1c0a2b3d4e5f60718%04[1]d","path":"/docs/page-%[1]d",` +
			`"comment":"The example does not say what the default is. I had to read the source.",` +
			`"createdAt":"` + at + `","source":"contextual","status":"pending","helpful":false,` +
			`"contact":"reader-%[1]d@example.com"}`,
		get: func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetFeedbackPage(ctx, mintlify.FeedbackParams{})
			return err
		},
	},
	{
		name:   "feedback counts",
		around: `{"feedback":[%s],"hasMore":true}`,
		row:    `{"path":"/docs/page-%[1]d","thumbsUp":%[1]d,"thumbsDown":3,"code":2,"total":17}`,
		get: func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetFeedbackCounts(ctx, mintlify.FeedbackCountsParams{})
			return err
		},
	},
	{
		name:   "conversations",
		around: `{"conversations":[%s],"nextCursor":"01HX","hasMore":true}`,
		row: `{"id":"01HX%[1]d","timestamp":"` + at + `","query":"how do I set a key?",` +
			`"response":"` + strings.Repeat("Set the key in the environment.\\n", 30) + `","responseType":"answer",` +
			`"sources":[{"title":"Keys","url":"/docs/keys"},{"title":"Start","url":"/docs/start"}],` +
			`"resolutionStatus":"answered","queryCategory":"auth","pageUrl":"/page-%[1]d"}`,
		get: func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetConversationPage(ctx, mintlify.ConversationsParams{})
			return err
		},
	},
}

func TestAPageOfAnyExportAllocatesInProportionToItsBody(t *testing.T) {
	const most = 5.0 // for each byte of the body
	for _, export := range exports {
		var rows []string
		for i := range 250 {
			rows = append(rows, fmt.Sprintf(export.row, i))
		}
		body := fmt.Appendf(nil, export.around, strings.Join(rows, ","))

		analytics := New(service.Nowhere, service.Fixed{Status: http.StatusOK, Body: body}).(client).Analytics
		cost, err := bench.Measure(50, func() error { return export.get(t.Context(), analytics) })
		require.NoError(t, err)

		each := cost.Bytes / float64(len(body))
		t.Logf("%s: %.2f bytes for each of %d", export.name, each, len(body))
		assert.LessOrEqual(t, each, most, export.name)
	}
}

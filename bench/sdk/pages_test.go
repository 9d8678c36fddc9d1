//go:build !race

package sdk

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench/calls"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const at = "2026-03-05T12:00:00.000Z"

// exports are pages of the other exports: the JSON around the rows, and a row made from its
// number.
var exports = []struct {
	name, around, row string
	get               func(*testing.T, *mintlify.AnalyticsService) error
}{
	{"views", `{"totals":{},"views":[%s],"hasMore":true}`, `{"path":"/docs/page-%[1]d","human":%[1]d,"ai":3,"total":17}`, func(t *testing.T, a *mintlify.AnalyticsService) error {
		_, err := a.GetViews(t.Context(), mintlify.ViewsParams{})
		return err
	}},
	{"searches", `{"searches":[%s],"totalSearches":9876,"nextCursor":"01HX"}`, `{"searchQuery":"how to set a key %[1]d","hits":%[1]d,"ctr":41.6,"topClickedPage":"/docs/page-%[1]d","lastSearchedAt":"` + at + `"}`, func(t *testing.T, a *mintlify.AnalyticsService) error {
		_, err := a.GetSearches(t.Context(), mintlify.SearchesParams{})
		return err
	}},
	{"feedback", `{"feedback":[%s],"nextCursor":"01HX","hasMore":true}`, `{"id":"65f1c0a2b3d4e5f60718%04[1]d","path":"/docs/page-%[1]d","comment":"The example does not say what the default is. I had to read the source.","createdAt":"` + at + `","source":"contextual","status":"pending","helpful":false,"contact":"reader-%[1]d@example.com"}`, func(t *testing.T, a *mintlify.AnalyticsService) error {
		_, err := a.GetFeedback(t.Context(), mintlify.FeedbackParams{})
		return err
	}},
	{"feedback by page", `{"feedback":[%s],"hasMore":true}`, `{"path":"/docs/page-%[1]d","thumbsUp":%[1]d,"thumbsDown":3,"code":2,"total":17}`, func(t *testing.T, a *mintlify.AnalyticsService) error {
		_, err := a.GetFeedbackByPage(t.Context(), mintlify.FeedbackByPageParams{})
		return err
	}},
	{"conversations", `{"conversations":[%s],"nextCursor":"01HX","hasMore":true}`, `{"id":"01HX%[1]d","timestamp":"` + at + `","query":"how do I set a key?","response":"` + strings.Repeat("Set the key in the environment.\\n", 30) + `","responseType":"answer","sources":[{"title":"Keys","url":"/docs/keys"},{"title":"Start","url":"/docs/start"}],"resolutionStatus":"answered","queryCategory":"auth","pageUrl":"/page-%[1]d"}`, func(t *testing.T, a *mintlify.AnalyticsService) error {
		_, err := a.GetConversations(t.Context(), mintlify.ConversationsParams{})
		return err
	}},
}

func TestAPageOfAnyExportAllocatesInProportionToItsBody(t *testing.T) {
	for _, export := range exports {
		var rows []string
		for i := range 250 {
			rows = append(rows, fmt.Sprintf(export.row, i))
		}
		body := fmt.Appendf(nil, export.around, strings.Join(rows, ","))
		const most = 5.0 // for each byte of the body
		analytics := New(calls.Nowhere, service.Fixed{Status: http.StatusOK, Body: body}).(client).Analytics
		cost, err := calls.Measure(50, func() error { return export.get(t, analytics) })
		require.NoError(t, err)
		t.Logf("%s: %.2f bytes for each of %d", export.name, cost.Bytes/float64(len(body)), len(body))
		assert.LessOrEqual(t, cost.Bytes/float64(len(body)), most, export.name)
	}
}

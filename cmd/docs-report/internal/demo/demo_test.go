package demo_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
)

// Whoever adds the demo's numbers up finds nothing that cannot be.
func TestTheNumbersCanBeTrue(t *testing.T) {
	now := time.Date(2026, time.November, 22, 15, 0, 0, 0, time.UTC)
	transport := &http.Client{Transport: demo.NewService(60, now)}
	client, err := mintlify.NewClient(mintlifytest.APIKey, "demo", mintlify.WithHTTPClient(transport))
	require.NoError(t, err)

	a := client.Analytics
	for _, w := range [][2]mintlify.Date{
		{mintlify.Day(2026, time.November, 21), mintlify.Day(2026, time.November, 22)},
		{mintlify.Day(2026, time.October, 19), mintlify.Day(2026, time.November, 16)},
		{mintlify.Day(2026, time.September, 1), mintlify.Day(2026, time.October, 1)},
		{mintlify.Day(2026, time.November, 22), mintlify.Day(2026, time.November, 23)},
	} {
		visitors := map[string]mintlify.Visitor{}
		page, err := a.GetVisitorPage(t.Context(), mintlify.VisitorsParams{DateFrom: w[0], DateTo: w[1]})
		require.NoError(t, err)

		for row, err := range a.Visitors(t.Context(), mintlify.VisitorsParams{DateFrom: w[0], DateTo: w[1]}) {
			require.NoError(t, err)
			visitors[row.Path] = row
			assert.LessOrEqual(t, row.Total, row.Human+row.AI)
			assert.Less(t, row.Human, page.Totals.Human)
			assert.Less(t, row.AI, page.Totals.AI)
			assert.Less(t, row.Total, page.Totals.Total)
		}

		require.Len(t, visitors, 60)

		terms := 0
		for row, err := range a.Searches(t.Context(), mintlify.SearchesParams{DateFrom: w[0], DateTo: w[1]}) {
			require.NoError(t, err)
			terms++
			assert.False(t, row.LastSearchedAt.Before(w[0].Time()), "%v %s %v", w, row.Query, row.LastSearchedAt)
			assert.True(t, row.LastSearchedAt.Before(w[1].Time()), "%v %s %v", w, row.Query, row.LastSearchedAt)
			assert.False(t, row.LastSearchedAt.After(now), "%v %s %v", w, row.Query, row.LastSearchedAt)
		}
		assert.GreaterOrEqual(t, terms, 5)

		feedback, err := a.GetFeedbackCounts(t.Context(), mintlify.FeedbackCountsParams{
			DateFrom: w[0],
			DateTo:   w[1],
			Limit:    100,
		})
		require.NoError(t, err)
		for _, row := range feedback.Counts {
			assert.LessOrEqual(t, row.Total, visitors[row.Path].Total, "%v %s", w, row.Path)
		}
	}
}

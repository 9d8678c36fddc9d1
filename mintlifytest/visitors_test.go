package mintlifytest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestVisitors(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithMaxRetries(0))
	rows := make([]mintlify.Visitor, 120)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprint("/", i), Human: 1, AI: 2, Total: 3}
	}
	svc.SetVisitors(rows)
	rows[0].Path = "/mine" // the caller's own from here on

	page, err := client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Len(t, page.Visitors, 50, "the service's default")
	assert.Equal(t, mintlify.Visitor{Path: "/0", Human: 1, AI: 2, Total: 3}, page.Visitors[0])
	assert.Equal(t, mintlify.VisitorTotals{Human: 120, AI: 240, Total: 360}, page.Totals)
	assert.True(t, page.HasMore)
	for offset, rest := range map[int]int{100: 20, 120: 0, 5000: 0} {
		page, err = client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{Limit: 50, Offset: offset})
		require.NoError(t, err)
		assert.Len(t, page.Visitors, rest)
		assert.NotNil(t, page.Visitors)
		assert.False(t, page.HasMore)
		assert.EqualValues(t, 120, page.Totals.Human, "of all")
	}

	const url = "https://api.example.com/prefix/v1/analytics/any/visitors"
	for query, status := range map[string]int{
		"": 200, "?limit=1&offset=0": 200, "?limit=250": 200, "?dateFrom=2024-01-01&dateTo=2024-01-02T00:00:00.000Z": 200,
		"?limit=0": 400, "?limit=251": 400, "?limit=x": 400, "?limit=": 400, "?offset=-1": 400, "?offset=1.5": 400,
		"?dateFrom=yesterday": 400, "?dateTo=": 400, "?dateTo=2024-01-01T00:00:00%2B02:00": 400,
	} {
		got, body := send(t, svc, "GET", url+query, mintlifytest.APIKey, "", "")
		assert.Equal(t, status, got, query)
		assert.Equal(t, status == 400, strings.Contains(body, `"details":[{"message":"`), "%s: %s", query, body)
	}
	status, _ := send(t, svc, "POST", url, mintlifytest.APIKey, "", "")
	assert.Equal(t, 404, status)
	status, _ = send(t, svc, "GET", url, "", "", "")
	assert.Equal(t, 401, status)
}

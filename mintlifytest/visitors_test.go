package mintlifytest_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestSetVisitorsFunc(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	type (
		params = mintlify.VisitorsParams
		rows   = []mintlify.Visitor
		totals = mintlify.VisitorTotals
	)
	january := mintlify.Day(2026, time.January, 1)
	february := mintlify.Instant(time.Date(2026, time.February, 1, 12, 0, 0, 5e6, time.UTC))
	var asked []params
	svc.SetVisitorsFunc(func(projectID string, p params) (rows, totals) {
		asked = append(asked, p)
		assert.Len(t, svc.Requests(), len(asked), "it may call the service")
		if projectID != "other" || p.DateFrom != january {
			return nil, totals{}
		}
		return visitorRows(120), totals{Human: 7, AI: 8, Total: 9}
	})

	none, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Empty(t, none.Visitors)
	assert.Zero(t, none.Totals)

	other, err := client.ForProject("other")
	require.NoError(t, err)
	dates := params{DateFrom: january, DateTo: february}
	first, err := other.Analytics.GetVisitorPage(t.Context(), dates)
	require.NoError(t, err)
	assert.Equal(t, visitorRows(120)[:50], first.Visitors, "the service's default")
	assert.True(t, first.HasMore)
	assert.Equal(t, totals{Human: 7, AI: 8, Total: 9}, first.Totals)

	last := params{DateFrom: january, DateTo: february, PageSize: 100, Offset: 100}
	second, err := other.Analytics.GetVisitorPage(t.Context(), last)
	require.NoError(t, err)
	assert.Equal(t, visitorRows(120)[100:], second.Visitors)
	assert.False(t, second.HasMore)
	assert.Equal(t, []params{{}, dates, last}, asked, "as sent")

	_, err = other.Analytics.GetVisitorPage(t.Context(), params{Offset: math.MaxInt - 250, PageSize: 250})
	require.NoError(t, err, "beyond the end")

	svc.SetVisitors(visitorRows(3))
	page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Equal(t, visitorRows(3), page.Visitors, "the latest counts")

	svc.SetVisitorsFunc(nil)
	page, err = client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Empty(t, page.Visitors)
}

func TestPagesOfVisitorsAreCheap(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitorRows(5000))
	client := svc.Client()
	allocations := testing.AllocsPerRun(5, func() {
		for _, err := range client.Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}) {
			require.NoError(t, err)
		}
	})
	t.Logf("%.0f allocations for 5,000 rows, the client's included", allocations)
	assert.LessOrEqual(t, allocations, float64(pageAllocations))
}

// Code that sums rows does not get the totals.
func TestTotalsOfVisitorsAreNotTheSumsOfTheRows(t *testing.T) {
	type row = mintlify.Visitor
	type totals = mintlify.VisitorTotals

	for name, tc := range map[string]struct {
		rows []row
		want totals
	}{
		"none": {
			rows: nil,
			want: totals{},
		},
		"one row": {
			rows: []row{{Human: 3, AI: 2, Total: 4}},
			want: totals{Human: 3, AI: 2, Total: 4},
		},
		"one row of each kind": {
			rows: []row{{Human: 3, Total: 3}, {AI: 2, Total: 2}},
			want: totals{Human: 3, AI: 2, Total: 3},
		},
		"three alike": {
			rows: slices.Repeat([]row{{Human: 10, AI: 20, Total: 30}}, 3),
			want: totals{Human: 10, AI: 20, Total: 30},
		},
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.SetVisitors(tc.rows)
			page, err := svc.Client().Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
			require.NoError(t, err)
			assert.Equal(t, tc.want, page.Totals)
		})
	}
}

func TestSetVisitors(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithMaxRetries(0))
	rows := make([]mintlify.Visitor, 120)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprint("/", i), Human: 1, AI: 2, Total: 3}
	}
	svc.SetVisitors(rows)
	rows[0].Path = "/mine" // the caller's own from here on

	page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Len(t, page.Visitors, 50, "the service's default")
	assert.Equal(t, mintlify.Visitor{Path: "/0", Human: 1, AI: 2, Total: 3}, page.Visitors[0])
	assert.Equal(t, mintlify.VisitorTotals{Human: 1, AI: 2, Total: 3}, page.Totals)
	assert.True(t, page.HasMore)

	for offset, rest := range map[int]int{70: 50, 100: 20, 120: 0, 5000: 0} {
		page, err = client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{PageSize: 50, Offset: offset})
		require.NoError(t, err)
		assert.Len(t, page.Visitors, rest)
		assert.NotNil(t, page.Visitors)
		assert.False(t, page.HasMore)
		assert.EqualValues(t, 1, page.Totals.Human, "of all")
	}

	// internal/test/contract has all queries that the service refuses.
	status, body := get(t, svc, "/v1/analytics/any/visitors?limit=0")
	assert.Equal(t, 400, status)
	assert.Contains(t, body, `"details":[{"message":"`)
}

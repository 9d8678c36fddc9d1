package mintlifytest

import (
	"cmp"
	"math"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Of a page of visitors.
const (
	defaultLimit = 50
	maxLimit     = 250
)

// visitorsFunc returns all rows of an export, and their totals.
type visitorsFunc func(projectID string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)

// SetVisitors sets the rows of the visitors export, the same for every project and range
// of dates. The totals are not the sums of the rows, since unique visitors do not add up: each
// is about halfway between the largest row and the sum, as if many visitors saw several
// pages. [Service.SetVisitorsFunc] sets totals of your own.
func (s *Service) SetVisitors(rows []mintlify.Visitor) {
	rows = slices.Clone(rows)
	totals := uniqueTotals(rows)
	s.SetVisitorsFunc(func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		return rows, totals
	})
}

func uniqueTotals(rows []mintlify.Visitor) mintlify.VisitorTotals {
	var largest, sum mintlify.VisitorTotals
	for _, row := range rows {
		largest = mintlify.VisitorTotals{Human: max(largest.Human, row.Human), AI: max(largest.AI, row.AI), Total: max(largest.Total, row.Total)}
		sum = mintlify.VisitorTotals{Human: sum.Human + row.Human, AI: sum.AI + row.AI, Total: sum.Total + row.Total}
	}
	halfway := func(largest, sum int64) int64 { return largest + (sum-largest)/2 }
	human, ai, total := halfway(largest.Human, sum.Human), halfway(largest.AI, sum.AI), halfway(largest.Total, sum.Total)
	total = min(total, max(human+ai, largest.Total)) // human and ai are rounded down
	return mintlify.VisitorTotals{Human: human, AI: ai, Total: total}
}

// SetVisitorsFunc sets the rows of the visitors export by project and dates, in place of
// those of [Service.SetVisitors]. The service calls f for each page, with the parameters
// as sent (zero if the request has none), and takes the page's rows from all that f
// returns: f must not apply Limit and Offset.
//
// f may call the service. It must be safe for use by many goroutines, and not change
// rows that it has returned.
func (s *Service) SetVisitorsFunc(f func(projectID string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visitors = f
}

func (s *Service) getVisitors(c *call) (any, *failure) {
	q := query{Values: c.query}
	params := mintlify.VisitorsParams{
		DateFrom: q.date("dateFrom"),
		DateTo:   q.date("dateTo"),
		Limit:    q.integer("limit", 1, maxLimit),
		Offset:   q.integer("offset", 0, math.MaxInt),
	}
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	visitors, project := s.visitors, c.project
	return unlocked(func() any { return newVisitorPage(visitors, project, params) }), nil
}

// visitorPage is a page as the service reports it.
type visitorPage struct {
	Totals   visitorCounts `json:"totals"`
	Visitors []visitor     `json:"visitors"`
	HasMore  bool          `json:"hasMore"`
}

type visitor struct {
	Path string `json:"path"`
	visitorCounts
}

type visitorCounts struct {
	Human int64 `json:"human"`
	AI    int64 `json:"ai"`
	Total int64 `json:"total"`
}

func newVisitorPage(visitors visitorsFunc, project string, params mintlify.VisitorsParams) *visitorPage {
	var rows []mintlify.Visitor
	var totals mintlify.VisitorTotals
	if visitors != nil {
		rows, totals = visitors(project, params)
	}
	rows, hasMore := pageOf(rows, params.Offset, cmp.Or(params.Limit, defaultLimit))
	page := &visitorPage{Totals: visitorCounts(totals), Visitors: make([]visitor, len(rows)), HasMore: hasMore}
	for i, row := range rows {
		page.Visitors[i] = visitor{row.Path, visitorCounts{row.Human, row.AI, row.Total}}
	}
	return page
}

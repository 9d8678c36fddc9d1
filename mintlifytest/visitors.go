package mintlifytest

import (
	"cmp"
	"math"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// A page of visitors or views has this many rows.
const (
	defaultPageSize = 50
	maxPageSize     = 250
)

// visitorsFunc returns all rows of an export, and their totals.
type visitorsFunc func(projectID string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)

// SetVisitors sets the rows of the visitors export, the same for every project and range
// of dates. The totals are not the sums of the rows, since unique visitors do not add up: they are
// the largest counts of a row, as if all visitors saw the same page. [Service.SetVisitorsFunc] sets
// totals of your own.
func (s *Service) SetVisitors(rows []mintlify.Visitor) {
	rows = slices.Clone(rows)
	totals := uniqueTotals(rows)
	s.SetVisitorsFunc(func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		return rows, totals
	})
}

func uniqueTotals(rows []mintlify.Visitor) mintlify.VisitorTotals {
	var totals mintlify.VisitorTotals
	for _, row := range rows {
		totals.Human = max(totals.Human, row.Human)
		totals.AI = max(totals.AI, row.AI)
		totals.Total = max(totals.Total, row.Total)
	}
	return totals
}

// SetVisitorsFunc sets the rows of the visitors export by project and dates, in place of
// those of [Service.SetVisitors]. The service calls f for each page, with the parameters
// as sent (zero if the request has none), and cuts the page out of the rows that f
// returns: f must not apply Limit and Offset.
//
// f may call the service. It must be safe for use by many goroutines, and not change
// rows that it has returned.
func (s *Service) SetVisitorsFunc(
	f func(projectID string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals),
) {
	defer s.lock()()
	s.visitors = f
}

func (s *Service) getVisitors(c *call) (any, *failure) {
	q := query{Values: c.query}
	params := mintlify.VisitorsParams{
		DateFrom: q.date("dateFrom"),
		DateTo:   q.date("dateTo"),
		PageSize: q.integer("limit", 1, maxPageSize),
		Offset:   q.integer("offset", 0, math.MaxInt),
	}
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}

	// The caller's function may call the service, which is locked here.
	visitors := s.visitors
	return unlocked(func() any { return newVisitorPage(visitors, c.project, params) }), nil
}

func newVisitorPage(visitors visitorsFunc, project string, params mintlify.VisitorsParams) any {
	var rows []mintlify.Visitor
	var totals mintlify.VisitorTotals
	if visitors != nil {
		rows, totals = visitors(project, params)
	}

	page, hasMore := pageOf(rows, params.Offset, cmp.Or(params.PageSize, defaultPageSize))
	return map[string]any{"totals": totals, "visitors": page, "hasMore": hasMore}
}

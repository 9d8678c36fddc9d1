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
// of dates. The totals are not the sums of the rows, since unique visitors do not add up:
// each total is about halfway between the largest row and the sum, as if many visitors saw
// several pages. [Service.SetVisitorsFunc] sets totals of your own.
func (s *Service) SetVisitors(rows []mintlify.Visitor) {
	rows = slices.Clone(rows)
	totals := uniqueTotals(rows)
	s.SetVisitorsFunc(func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		return rows, totals
	})
}

func uniqueTotals(rows []mintlify.Visitor) mintlify.VisitorTotals {
	var human, ai, total uniqueCount
	for _, row := range rows {
		human.add(row.Human)
		ai.add(row.AI)
		total.add(row.Total)
	}

	totals := mintlify.VisitorTotals{Human: human.total(), AI: ai.total(), Total: total.total()}
	// Human and AI are rounded down, and Total must not exceed their sum because of that.
	totals.Total = min(totals.Total, max(totals.Human+totals.AI, total.largest))
	return totals
}

// uniqueCount counts visitors of all pages, from the counts of each page.
type uniqueCount struct {
	largest, sum int64
}

func (c *uniqueCount) add(ofPage int64) {
	c.largest = max(c.largest, ofPage)
	c.sum += ofPage
}

func (c *uniqueCount) total() int64 { return c.largest + (c.sum-c.largest)/2 }

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

	rows, hasMore := pageOf(rows, params.Offset, cmp.Or(params.PageSize, defaultPageSize))
	return &visitorPage{
		Totals:   visitorCounts(totals),
		Visitors: sliceOf(rows, newVisitor),
		HasMore:  hasMore,
	}
}

func newVisitor(row mintlify.Visitor) visitor {
	return visitor{
		Path:          row.Path,
		visitorCounts: visitorCounts{Human: row.Human, AI: row.AI, Total: row.Total},
	}
}

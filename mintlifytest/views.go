package mintlifytest

import (
	"math"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// SetViews sets the rows of the views export, the same for every project and range of dates.
// The totals are the sums of the rows: views are events, not people.
func (s *Service) SetViews(rows []mintlify.View) {
	defer s.lock()()
	s.views = slices.Clone(rows)
}

func (s *Service) getViews(c *call) (any, *failure) {
	q := query{Values: c.query}
	q.dates()
	limit := q.limit(maxPageSize, defaultPageSize)
	offset := q.integer("offset", 0, math.MaxInt)
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}

	var page viewPage
	for _, row := range s.views {
		page.Totals.Human += row.Human
		page.Totals.AI += row.AI
		page.Totals.Total += row.Total
	}
	page.Views, page.HasMore = pageOf(s.views, offset, limit)
	return page, nil
}

// viewPage is a page as the service reports it.
type viewPage struct {
	Totals  mintlify.ViewTotals `json:"totals"`
	Views   []mintlify.View     `json:"views"`
	HasMore bool                `json:"hasMore"`
}

package mintlifytest

import (
	"cmp"
	"math"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// SetViews sets the rows of the views export, the same for every project and range of dates.
// The totals are the sums of the rows: views are events, not people.
func (s *Service) SetViews(rows []mintlify.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views = slices.Clone(rows)
}

func (s *Service) getViews(c *call) (any, *failure) {
	q := query{Values: c.query}
	q.date("dateFrom")
	q.date("dateTo")
	limit, offset := q.integer("limit", 1, maxLimit), q.integer("offset", 0, math.MaxInt)
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	var page struct {
		Totals  mintlify.ViewTotals `json:"totals"`
		Views   []mintlify.View     `json:"views"`
		HasMore bool                `json:"hasMore"`
	}
	for _, row := range s.views {
		page.Totals.Human += row.Human
		page.Totals.AI += row.AI
		page.Totals.Total += row.Total
	}
	page.Views, page.HasMore = pageOf(s.views, offset, cmp.Or(limit, defaultLimit))
	if page.Views == nil {
		page.Views = []mintlify.View{}
	}
	return page, nil
}

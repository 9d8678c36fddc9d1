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

	var totals mintlify.ViewTotals
	for _, row := range s.views {
		totals.Human += row.Human
		totals.AI += row.AI
		totals.Total += row.Total
	}
	views, hasMore := pageOf(s.views, offset, limit)
	return map[string]any{"totals": totals, "views": views, "hasMore": hasMore}, nil
}

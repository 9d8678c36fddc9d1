package mintlifytest

import (
	"cmp"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// SetSearches sets the rows of the searches export, the same for every project and range of
// dates. The service reports the rows with the most hits first.
func (s *Service) SetSearches(rows []mintlify.SearchTerm) {
	defer s.lock()()
	s.searches = sliceOf(rows, func(row mintlify.SearchTerm) mintlify.SearchTerm {
		row.LastSearchedAt = toMillisecond(row.LastSearchedAt)
		return row
	})
	slices.SortStableFunc(s.searches, func(a, b mintlify.SearchTerm) int {
		return cmp.Compare(b.Hits, a.Hits)
	})
}

func (s *Service) getSearches(c *call) (any, *failure) {
	q := query{Values: c.query}
	q.dates()
	limit := q.limit(100, 50)
	first := q.cursor()
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}

	var total int64
	for _, row := range s.searches {
		total += row.Hits
	}

	rows, hasMore := pageOf(s.searches, first, limit)
	page := map[string]any{
		"searches":      rowsWithNulls(rows, "topClickedPage", "lastSearchedAt"),
		"totalSearches": total,
		"nextCursor":    nextCursor(first+limit, hasMore),
	}
	return page, nil
}

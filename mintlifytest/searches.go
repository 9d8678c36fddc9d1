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
	page, failed := pageByCursor(s, &q, 100, 50, "searches", s.searches, func(row mintlify.SearchTerm) any {
		return asSent(row, "topClickedPage", "lastSearchedAt")
	})
	if failed != nil {
		return nil, failed
	}

	var total int64
	for _, row := range s.searches {
		total += row.Hits
	}
	page["totalSearches"] = total
	delete(page, "hasMore") // which the service does not send here
	return page, nil
}

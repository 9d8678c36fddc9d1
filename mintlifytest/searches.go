package mintlifytest

import (
	"cmp"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// SetSearches sets the rows of the searches export, the same for every project and range of
// dates. The service reports them by falling hits.
func (s *Service) SetSearches(rows []mintlify.SearchTerm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches = slices.Clone(rows)
	slices.SortStableFunc(s.searches, func(a, b mintlify.SearchTerm) int { return cmp.Compare(b.Hits, a.Hits) })
}

func (s *Service) getSearches(c *call) (any, *failure) {
	q := query{Values: c.query}
	q.date("dateFrom")
	q.date("dateTo")
	limit, from := cmp.Or(q.integer("limit", 1, 100), 50), q.cursor()
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	var page struct {
		Searches      []searchResult `json:"searches"`
		TotalSearches int64          `json:"totalSearches"`
		NextCursor    *string        `json:"nextCursor"`
	}
	for _, row := range s.searches {
		page.TotalSearches += row.Hits
	}
	rows, hasMore := pageOf(s.searches, from, limit)
	page.Searches = make([]searchResult, len(rows))
	for i, row := range rows {
		page.Searches[i] = searchResult{row.Query, row.Hits, row.CTR, orNull(row.TopClickedPage), timestamp(row.LastSearchedAt)}
	}
	page.NextCursor = nextCursor(from+limit, hasMore)
	return page, nil
}

// searchResult is a row as the service reports it.
type searchResult struct {
	SearchQuery    string  `json:"searchQuery"`
	Hits           int64   `json:"hits"`
	CTR            float64 `json:"ctr"`
	TopClickedPage *string `json:"topClickedPage"`
	LastSearchedAt *string `json:"lastSearchedAt"`
}

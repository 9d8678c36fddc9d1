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
	s.searches = slices.Clone(rows)
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
	page := searchPage{
		Searches:      sliceOf(rows, newSearchResult),
		TotalSearches: total,
		NextCursor:    nextCursor(first+limit, hasMore),
	}
	return page, nil
}

// searchPage is a page as the service reports it.
type searchPage struct {
	Searches      []searchResult `json:"searches"`
	TotalSearches int64          `json:"totalSearches"`
	NextCursor    *string        `json:"nextCursor"`
}

// searchResult is a row as the service reports it.
type searchResult struct {
	SearchQuery    string  `json:"searchQuery"`
	Hits           int64   `json:"hits"`
	CTR            float64 `json:"ctr"`
	TopClickedPage *string `json:"topClickedPage"`
	LastSearchedAt *string `json:"lastSearchedAt"`
}

func newSearchResult(row mintlify.SearchTerm) searchResult {
	return searchResult{
		SearchQuery:    row.Query,
		Hits:           row.Hits,
		CTR:            row.CTR,
		TopClickedPage: orNull(row.TopClickedPage),
		LastSearchedAt: timestamp(row.LastSearchedAt),
	}
}

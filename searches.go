package mintlify

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"iter"
	"time"
)

// SearchesParams says which searches to export. The zero value is a range of dates and a
// page of the service's choosing.
type SearchesParams struct {
	DateFrom Date   // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date   // exclusive: results are before it; zero: not sent
	Limit    int    // rows a page, 1 to 100; 0: the service's default, 50, in GetSearches, and 100 in the iterators
	Cursor   string // of the page: a NextCursor, with the same dates; "" is the first page
}

// SearchPage is one page of an export of searches. It marshals to JSON under the service's
// own field names, with cursor added, and reads back to an equal value.
type SearchPage struct {
	TotalSearches int64        `json:"totalSearches"` // of the date range: searches, not terms
	Searches      []SearchTerm `json:"searches"`      // most hits first
	Cursor        string       `json:"cursor"`        // of this page
	NextCursor    string       `json:"nextCursor"`    // of the next page; "" where this is the last
}

// SearchTerm is what readers searched for. What they typed on the way to it can be a term
// of its own.
type SearchTerm struct {
	Query          string    `json:"searchQuery"`              // as typed
	Hits           int64     `json:"hits"`                     // how often it was searched for
	CTR            float64   `json:"ctr"`                      // click-through rate as received; seen from 0 to 100
	TopClickedPage string    `json:"topClickedPage,omitempty"` // "" where nobody clicked
	LastSearchedAt time.Time `json:"lastSearchedAt,omitzero"`  // in UTC; zero where the service does not say, or what cannot be parsed
}

// GetSearches returns one page of searches, for one request:
// GET /v1/analytics/{projectId}/searches. It changes nothing and is safe to call again, but
// counts against the quota of 100 analytics requests per organization and hour:
// [AnalyticsService.Searches] asks for pages of 100 rows.
//
// Errors: [*ArgumentError] for a limit outside 0 to 100, or a DateFrom that is not before
// DateTo; [*APIError], [*ResponseError], or the network's or context's error.
func (s *AnalyticsService) GetSearches(ctx context.Context, params SearchesParams) (*SearchPage, error) {
	if err := params.export().check(); err != nil {
		return nil, err
	}
	page := &SearchPage{Cursor: params.Cursor}
	if err := s.get(ctx, OpGetSearches, "/searches", params.export().query(), page); err != nil {
		return nil, err
	}
	return page, nil
}

// SearchPages ranges over an export page by page, from params.Cursor on, in pages of
// params.Limit rows or, where that is 0, of 100. Each page is one request, made when the
// loop asks for it (see [WithPrefetch]); one page is in memory at a time. A sequence can be
// ranged over again, and then asks the service again.
//
// An error ends the sequence, after every page before it: an [*ArgumentError], or a
// [*PageError] with the cursor to resume at. A service that repeats a page, or says that
// there is more over three empty pages in a row, is an error too.
func (s *AnalyticsService) SearchPages(ctx context.Context, params SearchesParams, opts ...ExportOption) iter.Seq2[*SearchPage, error] {
	return paginate(ctx, s, OpGetSearches, params.export(), opts, func(ctx context.Context, limit int, at position) (*SearchPage, error) {
		params := params
		params.Limit, params.Cursor = limit, at.cursor
		return s.GetSearches(ctx, params)
	})
}

// Searches is [AnalyticsService.SearchPages] row by row.
func (s *AnalyticsService) Searches(ctx context.Context, params SearchesParams, opts ...ExportOption) iter.Seq2[SearchTerm, error] {
	return rowsOf(s.SearchPages(ctx, params, opts...), func(p *SearchPage) []SearchTerm { return p.Searches })
}

func (p SearchesParams) export() exportParams {
	return exportParams{from: p.DateFrom, to: p.DateTo, limit: p.Limit, maxLimit: 100, byCursor: true, position: position{cursor: p.Cursor}}
}

func (p *SearchPage) rowCount() int { return len(p.Searches) }
func (p *SearchPage) next() (position, bool) {
	return position{cursor: p.NextCursor}, p.NextCursor != ""
}
func (p *SearchPage) hash(seed maphash.Seed) uint64 { return hashRows(seed, p.Searches, itself) }

// searchesJSON is a page as the service sends it.
type searchesJSON[N, L any] struct {
	TotalSearches *N     `json:"totalSearches"`
	Searches      L      `json:"searches"`
	NextCursor    string `json:"nextCursor"`
}

// searchJSON is a row whose numbers need not be whole, nor its time a time.
type searchJSON struct {
	Query          string    `json:"searchQuery"`
	Hits           count     `json:"hits"`
	CTR            ratio     `json:"ctr"`
	TopClickedPage string    `json:"topClickedPage"`
	LastSearchedAt timestamp `json:"lastSearchedAt"`
}

func (p *SearchPage) decode(data []byte) error {
	var fast searchesJSON[int64, []SearchTerm]
	if decodeRows(data, &fast, &fast.Searches) && fast.TotalSearches != nil {
		for i, row := range fast.Searches {
			fast.Searches[i].LastSearchedAt = inUTC(row.LastSearchedAt)
		}
		p.TotalSearches, p.Searches, p.NextCursor = *fast.TotalSearches, fast.Searches, fast.NextCursor
		return nil
	}
	var page searchesJSON[count, list[searchJSON]]
	if err := json.Unmarshal(data, &page); err != nil {
		return notJSON("a page of searches", err)
	}
	switch {
	case page.TotalSearches == nil:
		return missing("totalSearches")
	case page.Searches == nil:
		return missing("searches")
	}
	p.TotalSearches, p.NextCursor = int64(*page.TotalSearches), page.NextCursor
	p.Searches = make([]SearchTerm, len(page.Searches))
	for i, row := range page.Searches {
		p.Searches[i] = SearchTerm{row.Query, int64(row.Hits), float64(row.CTR), row.TopClickedPage, row.LastSearchedAt.Time}
	}
	return nil
}

package mintlify

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/wire"
)

// SearchesParams says which searches to export. With the zero value the service chooses
// range and page size.
type SearchesParams struct {
	// DateFrom is the first date of the range. The zero Date is not sent.
	DateFrom Date
	// DateTo is the end of the range and not part of it. The zero Date is not sent.
	DateTo Date
	// PageSize is the number of rows of a page, 1 to 100, not of the export. 0 is 50 in
	// GetSearchPage, the service's default, and 100 in the iterators.
	PageSize int
	// Cursor is the page to start at: a NextCursor, with the same dates. "" is the first page.
	Cursor string
}

// SearchPage is one page of an export of searches.
type SearchPage struct {
	// TotalSearches is the number of searches in the range. It counts searches, not terms.
	TotalSearches int64 `json:"totalSearches"`
	// Searches are the rows. Those with the most hits come first.
	Searches []SearchTerm `json:"searches"`
	// HasMore reports whether more rows follow this page. The SDK derives it from NextCursor.
	HasMore bool `json:"hasMore"`
	// NextCursor is the Cursor of the next page. It is "" on the last page, and "" as a Cursor is
	// the first page: keep HasMore beside it in a checkpoint, or an export that has ended starts
	// again.
	NextCursor string `json:"nextCursor"`
}

// SearchTerm is a text that readers searched for. A text that a reader had only half typed can
// be a term of its own.
type SearchTerm struct {
	// Query is the term as readers typed it.
	Query string `json:"searchQuery"`
	// Hits is how often readers searched for the term.
	Hits int64 `json:"hits"`
	// CTR is the click-through rate as received. Values from 0 to 100 have been seen; the
	// service does not document the range.
	CTR float64 `json:"ctr"`
	// TopClickedPage is the result that readers clicked most. It is "" if nobody clicked.
	TopClickedPage string `json:"topClickedPage,omitempty"`
	// LastSearchedAt is in UTC. It is zero if it is absent or not a time.
	LastSearchedAt time.Time `json:"lastSearchedAt,omitzero"`
}

// GetSearchPage returns one page of searches. It costs one request: GET
// /v1/analytics/{projectId}/searches. To export all of them use [AnalyticsService.Searches].
//
// Errors: [*ArgumentError] for a limit outside 0 to 100, or a DateFrom that is not before
// DateTo; [*APIError], [*MalformedResponseError], or the network's or context's error.
func (s *AnalyticsService) GetSearchPage(ctx context.Context, params SearchesParams) (*SearchPage, error) {
	return s.searches(params).get(ctx)
}

// SearchPages ranges over an export page by page, from params.Cursor on, in pages of
// params.PageSize rows (0: 100). Each page costs one request, made when the loop asks for it
// (see [WithPrefetch]), and only one page is in memory. Ranging over a sequence again asks
// the service again.
//
// An error ends the sequence, after every page before it: an [*ArgumentError], or a
// [*ExportError] with the cursor to resume at. It is an error, too, if the service repeats a page
// or a cursor. A filter can empty pages: the export goes on until the 100th empty page in a row that
// says there are more rows, since 100 requests are an hour's quota.
func (s *AnalyticsService) SearchPages(
	ctx context.Context, params SearchesParams, opts ...ExportOption,
) iter.Seq2[*SearchPage, error] {
	return s.searches(params).pages(ctx, opts)
}

// Searches is [AnalyticsService.SearchPages] row by row.
func (s *AnalyticsService) Searches(
	ctx context.Context, params SearchesParams, opts ...ExportOption,
) iter.Seq2[SearchTerm, error] {
	return s.searches(params).rows(ctx, opts)
}

func (s *AnalyticsService) searches(params SearchesParams) list[*SearchPage, SearchTerm] {
	dates := dateRange{params.DateFrom, params.DateTo}
	r := s.request(OpGetSearches, "/searches", dates.query())
	r.maxBody = maxCountsBody

	return list[*SearchPage, SearchTerm]{
		client:      s.client,
		request:     r,
		invalid:     dates.check(),
		from:        position{cursor: params.Cursor},
		byCursor:    true,
		pageSize:    params.PageSize,
		maxPageSize: 100,
		newPage:     func() *SearchPage { return new(SearchPage) },
	}
}

func (t SearchTerm) identity() identity  { return named(t.Query, t) }
func (p *SearchPage) rows() []SearchTerm { return p.Searches }
func (p *SearchPage) next() (position, bool) {
	return position{cursor: p.NextCursor}, p.HasMore
}

func (p *SearchPage) decode(data []byte) error {
	if err := wire.Decode(data, "a page of searches", p, "totalSearches", "searches"); err != nil {
		return err
	}
	p.HasMore = p.NextCursor != ""
	if p.HasMore {
		return checkCursor(&p.NextCursor, true)
	}

	// The last page has null for a cursor. A page without one may not be the last.
	var last struct {
		NextCursor json.RawMessage `json:"nextCursor"`
	}
	if err := json.Unmarshal(data, &last); err != nil || last.NextCursor == nil {
		return wire.Missing("nextCursor")
	}
	return nil
}

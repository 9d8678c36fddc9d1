package mintlify

import (
	"cmp"
	"context"
	"hash/maphash"
	"iter"
)

// VisitorsParams says which visitors to export. The zero value is a range of
// dates and a page of the service's choosing.
type VisitorsParams struct {
	DateFrom Date // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date // exclusive: results are before it; zero: not sent
	Limit    int  // rows a page, 1 to 250; 0: the service's default, 50, in GetVisitors, and 250 in the iterators
	Offset   int  // rows to skip
}

// VisitorPage is one page of an export. It marshals to JSON under the service's
// own field names, with offset and nextOffset added, and reads back to an equal value.
type VisitorPage struct {
	Totals     VisitorTotals `json:"totals"`     // site-wide unique visitors of the date range, not of the page
	Visitors   []Visitor     `json:"visitors"`   // in the service's order
	HasMore    bool          `json:"hasMore"`    // whether there are rows beyond this page
	Offset     int           `json:"offset"`     // of this page's first row
	NextOffset int           `json:"nextOffset"` // where to resume, after a crash too
}

// VisitorTotals are the unique visitors of the whole site in the range of dates. They
// come with every page of an export, whatever its limit: GetVisitors with Limit 1 is
// enough to learn them.
//
// Unique visitors do not add up, neither over days nor over pages of the documentation:
// who comes on two days, or reads two pages, counts once in each and once in the whole.
// To know a month's visitors ask for the month. Human + AI can exceed Total, so the share
// of AI is AI / (Human + AI).
type VisitorTotals struct {
	Human int64 `json:"human"` // unique human visitors
	AI    int64 `json:"ai"`    // unique AI visitors
	Total int64 `json:"total"` // unique visitors of both kinds, each counted once
}

// Visitor is the unique visitors of one page of the documentation.
type Visitor struct {
	Path  string `json:"path"`  // of the page; "" where the service gives none, or null for the row
	Human int64  `json:"human"` // unique human visitors
	AI    int64  `json:"ai"`    // unique AI visitors
	Total int64  `json:"total"` // unique visitors of both kinds, each counted once
}

// GetVisitors returns one page of visitors, for one request:
// GET /v1/analytics/{projectId}/visitors. It changes nothing and is safe to call
// again, but counts against the quota of 100 analytics requests per organization
// and hour: [AnalyticsService.Visitors] asks for pages of 250 rows.
//
// Errors: [*ArgumentError] for a limit outside 0 to 250, a negative offset, or a
// DateFrom that is not before DateTo; [*APIError], [*ResponseError], or the
// network's or context's error.
func (s *AnalyticsService) GetVisitors(ctx context.Context, params VisitorsParams) (*VisitorPage, error) {
	if err := params.export().check(); err != nil {
		return nil, err
	}
	page := &VisitorPage{Offset: params.Offset, NextOffset: params.Offset + cmp.Or(params.Limit, defaultLimit)}
	err := s.get(ctx, OpGetVisitors, "/visitors", params.export().query(), page)
	if err != nil {
		return nil, err
	}
	return page, nil
}

// VisitorPages ranges over an export page by page, from params.Offset on, in pages
// of params.Limit rows or, where that is 0, of 250. Each page is one request, made
// when the loop asks for it (see [WithPrefetch]); one page is in memory at a time.
// A sequence can be ranged over again, and then asks the service again.
//
// An error ends the sequence, after every page before it: an [*ArgumentError], or a
// [*PageError] with the offset to resume at. A service that repeats a page, gives more
// rows than the limit, or says that there is more over three empty pages in a row, is
// an error too. A page of fewer rows that says there is more is logged as a warning
// ([WithLogger]), once an export: the next page is asked for by the limit all the same,
// so rows are missing if the service caps its pages below the limit.
func (s *AnalyticsService) VisitorPages(ctx context.Context, params VisitorsParams, opts ...ExportOption) iter.Seq2[*VisitorPage, error] {
	return paginate(ctx, s, OpGetVisitors, params.export(), opts, func(ctx context.Context, limit int, at position) (*VisitorPage, error) {
		params := params
		params.Limit, params.Offset = limit, at.offset
		return s.GetVisitors(ctx, params)
	})
}

// Visitors is [AnalyticsService.VisitorPages] row by row, without the totals, which are
// not the sum of the rows: see [VisitorTotals]. The quota counts requests, not rows: an
// export spends one for each 250.
func (s *AnalyticsService) Visitors(ctx context.Context, params VisitorsParams, opts ...ExportOption) iter.Seq2[Visitor, error] {
	return rowsOf(s.VisitorPages(ctx, params, opts...), func(p *VisitorPage) []Visitor { return p.Visitors })
}

func (p VisitorsParams) export() exportParams {
	return exportParams{from: p.DateFrom, to: p.DateTo, limit: p.Limit, maxLimit: maxCountsLimit, position: position{offset: p.Offset}}
}

func (p *VisitorPage) rowCount() int                 { return len(p.Visitors) }
func (p *VisitorPage) next() (position, bool)        { return position{offset: p.NextOffset}, p.HasMore }
func (p *VisitorPage) hash(seed maphash.Seed) uint64 { return hashRows(seed, p.Visitors, itself) }

func (p *VisitorPage) decode(data []byte) error {
	totals, rows, hasMore, err := decodeCounts[Visitor](data, "visitors")
	if err == nil {
		p.Totals, p.Visitors, p.HasMore = VisitorTotals(totals), rows, hasMore
	}
	return err
}

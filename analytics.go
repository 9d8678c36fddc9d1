package mintlify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"math"
	"net/http"
	"net/url"
	"strconv"
)

const (
	defaultLimit = 50 // the service's
	maxLimit     = 250
	maxPrefetch  = 100 // the requests of an hour
)

// AnalyticsService exports visitor counts. It is [Client.Analytics].
type AnalyticsService struct {
	client *Client
	url    string // of the project's analytics
}

func newAnalyticsService(c *Client) *AnalyticsService {
	return &AnalyticsService{client: c, url: c.url("/v1/analytics", c.projectID)}
}

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

// VisitorTotals are site-wide unique visitors.
type VisitorTotals struct {
	Human int64 `json:"human"` // unique human visitors
	AI    int64 `json:"ai"`    // unique AI visitors
	Total int64 `json:"total"` // unique visitors of both kinds, each counted once
}

// Visitor is the unique visitors of one page of the documentation.
type Visitor struct {
	Path  string `json:"path"`  // of the page
	Human int64  `json:"human"` // unique human visitors
	AI    int64  `json:"ai"`    // unique AI visitors
	Total int64  `json:"total"` // unique visitors of both kinds, each counted once
}

func (p *VisitorPage) rowCount() int                 { return len(p.Visitors) }
func (p *VisitorPage) next() (position, bool)        { return position{offset: p.NextOffset}, p.HasMore }
func (p *VisitorPage) hash(seed maphash.Seed) uint64 { return hashRows(seed, p.Visitors, itself) }

// ExportOption sets up an export.
type ExportOption func(*exportConfig)

type exportConfig struct {
	prefetch int // pages
}

func newExportConfig(opts []ExportOption) (cfg exportConfig, err error) {
	for i, opt := range opts {
		if opt == nil {
			return cfg, &ArgumentError{"opts", fmt.Sprintf("has a nil option at index %d", i)}
		}
		opt(&cfg)
	}
	if cfg.prefetch < 0 || cfg.prefetch > maxPrefetch {
		return cfg, &ArgumentError{"prefetch", fmt.Sprintf("is %d, want 0 to %d pages", cfg.prefetch, maxPrefetch)}
	}
	return cfg, nil
}

// WithPrefetch asks for up to that many pages ahead of the loop, which are then in memory
// besides the loop's own. With 1, the next page is asked for while the loop works on this
// one: where both take equally long, an export takes half the time, and a loop that
// breaks off may have spent one request more. With n > 1, pages of an export by offset
// are asked for before it is known that they exist: an export spends at most n-1 requests
// beyond its end, and one that breaks off, n. An export by cursor knows where a page begins only from
// the one before, so its pages are asked for one after the other, up to n ahead. 0, the
// default, asks for each page when the loop gets to it; more than 100 is an
// [*ArgumentError].
func WithPrefetch(pages int) ExportOption {
	return func(cfg *exportConfig) { cfg.prefetch = pages }
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
	if err := params.check(); err != nil {
		return nil, err
	}
	limit := params.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	page := &VisitorPage{Offset: params.Offset, NextOffset: params.Offset + limit}
	err := s.client.do(ctx, request{operation: OpGetVisitors, method: http.MethodGet, url: s.url + "/visitors", query: params.query(), into: page})
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
	cfg, err := newExportConfig(opts)
	if err == nil {
		err = params.check()
	}
	if err == nil && ctx == nil {
		err = &ArgumentError{"ctx", "is nil"}
	}
	if err != nil {
		return func(yield func(*VisitorPage, error) bool) { yield(nil, err) }
	}
	params.Limit = cmp.Or(params.Limit, maxLimit)
	return export[*VisitorPage]{
		operation: OpGetVisitors,
		logger:    s.client.config.logger,
		from:      position{offset: params.Offset},
		limit:     params.Limit,
		prefetch:  cfg.prefetch,
		fetch: func(ctx context.Context, at position) (*VisitorPage, error) {
			params := params
			params.Offset = at.offset
			return s.GetVisitors(ctx, params)
		},
	}.pages(ctx)
}

// Visitors is [AnalyticsService.VisitorPages] row by row.
func (s *AnalyticsService) Visitors(ctx context.Context, params VisitorsParams, opts ...ExportOption) iter.Seq2[Visitor, error] {
	return rowsOf(s.VisitorPages(ctx, params, opts...), func(p *VisitorPage) []Visitor { return p.Visitors })
}

func (p VisitorsParams) check() error {
	switch {
	case p.Limit < 0 || p.Limit > maxLimit:
		return &ArgumentError{"limit", fmt.Sprintf("is %d, want 1 to %d, or 0 for the default", p.Limit, maxLimit)}
	case p.Offset < 0:
		return &ArgumentError{"offset", fmt.Sprintf("is %d, want 0 or more", p.Offset)}
	case p.Offset > math.MaxInt-maxLimit:
		return &ArgumentError{"offset", fmt.Sprintf("is %d, which is beyond any export", p.Offset)}
	case !p.DateFrom.isValid():
		return &ArgumentError{"dateFrom", "is not in the years 0 to 9999"}
	case !p.DateTo.isValid():
		return &ArgumentError{"dateTo", "is not in the years 0 to 9999"}
	case !p.DateFrom.IsZero() && !p.DateTo.IsZero() && p.DateFrom.day == p.DateTo.day && !p.DateFrom.at.Before(p.DateTo.at):
		return &ArgumentError{"dateFrom", fmt.Sprintf("is %v, which is not before dateTo, %v (exclusive)", p.DateFrom, p.DateTo)}
	}
	return nil
}

func (p VisitorsParams) query() url.Values {
	query := url.Values{}
	if !p.DateFrom.IsZero() {
		query.Set("dateFrom", p.DateFrom.String())
	}
	if !p.DateTo.IsZero() {
		query.Set("dateTo", p.DateTo.String())
	}
	if p.Limit != 0 {
		query.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Offset != 0 {
		query.Set("offset", strconv.Itoa(p.Offset))
	}
	return query
}

// visitorsJSON is a page as the service sends it, its list and totals of any type.
type visitorsJSON[T, L any] struct {
	Totals   *T    `json:"totals"`
	Visitors L     `json:"visitors"`
	HasMore  *bool `json:"hasMore"`
}

// visitorCounts is a row whose numbers need not be whole.
type visitorCounts struct {
	Path  string `json:"path"`
	Human count  `json:"human"`
	AI    count  `json:"ai"`
	Total count  `json:"total"`
}

func (p *VisitorPage) decode(data []byte) error {
	var rows []Visitor
	fast := visitorsJSON[VisitorTotals, *[]Visitor]{Visitors: &rows}
	if decodeRows(data, &fast, &rows) && fast.Totals != nil && fast.HasMore != nil {
		p.Totals, p.Visitors, p.HasMore = *fast.Totals, rows, *fast.HasMore
		return nil
	}
	var page visitorsJSON[visitorCounts, list[visitorCounts]]
	if err := json.Unmarshal(data, &page); err != nil {
		return notJSON("a page of visitors", err)
	}
	switch {
	case page.Totals == nil:
		return missing("totals")
	case page.Visitors == nil:
		return missing("visitors")
	case page.HasMore == nil:
		return missing("hasMore")
	}
	p.Totals = VisitorTotals{int64(page.Totals.Human), int64(page.Totals.AI), int64(page.Totals.Total)}
	p.Visitors = make([]Visitor, len(page.Visitors))
	for i, row := range page.Visitors {
		p.Visitors[i] = Visitor{row.Path, int64(row.Human), int64(row.AI), int64(row.Total)}
	}
	p.HasMore = *page.HasMore
	return nil
}

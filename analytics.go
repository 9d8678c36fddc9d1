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
	defaultLimit = 50  // rows of a page, where the service is not told
	maxPrefetch  = 100 // the requests of an hour
)

// AnalyticsService exports how humans and AIs use the documentation. It is
// [Client.Analytics]. All its requests together have a quota of 100 per organization and
// hour, whatever the number of rows.
type AnalyticsService struct {
	client *Client
	url    string // of the project's analytics
}

func newAnalyticsService(c *Client) *AnalyticsService {
	return &AnalyticsService{client: c, url: c.url("/v1/analytics", c.projectID)}
}

// get is the one request of a page, or of what has no pages.
func (s *AnalyticsService) get(ctx context.Context, op Operation, path string, query url.Values, into decoder) error {
	return s.client.do(ctx, request{operation: op, method: http.MethodGet, url: s.url + path, query: query, personal: true, into: into})
}

// exportParams are what the params of all exports have in common.
type exportParams struct {
	from, to  Date
	limit     int // 0: the service's default
	maxLimit  int // the service's
	iterLimit int // of the iterators, where that is not maxLimit
	byCursor  bool
	position
}

func (p exportParams) check() error {
	switch {
	case p.limit < 0 || p.limit > p.maxLimit:
		return &ArgumentError{"limit", fmt.Sprintf("is %d, want 1 to %d, or 0 for the default", p.limit, p.maxLimit)}
	case p.offset < 0:
		return &ArgumentError{"offset", fmt.Sprintf("is %d, want 0 or more", p.offset)}
	case p.offset > math.MaxInt-p.maxLimit:
		return &ArgumentError{"offset", fmt.Sprintf("is %d, which is beyond any export", p.offset)}
	}
	return checkDates(p.from, p.to)
}

func (p exportParams) query() url.Values {
	query := datesQuery(p.from, p.to)
	if p.limit != 0 {
		query.Set("limit", strconv.Itoa(p.limit))
	}
	if p.offset != 0 {
		query.Set("offset", strconv.Itoa(p.offset))
	}
	if p.cursor != "" {
		query.Set("cursor", p.cursor)
	}
	return query
}

func checkDates(from, to Date) error {
	switch {
	case !from.isValid():
		return &ArgumentError{"dateFrom", "is not in the years 0 to 9999"}
	case !to.isValid():
		return &ArgumentError{"dateTo", "is not in the years 0 to 9999"}
	case !from.IsZero() && !to.IsZero() && from.day == to.day && !from.at.Before(to.at):
		return &ArgumentError{"dateFrom", fmt.Sprintf("is %v, which is not before dateTo, %v (exclusive)", from, to)}
	}
	return nil
}

func datesQuery(from, to Date) url.Values {
	query := url.Values{}
	if !from.IsZero() {
		query.Set("dateFrom", from.String())
	}
	if !to.IsZero() {
		query.Set("dateTo", to.String())
	}
	return query
}

// paginate ranges over the pages of an export. fetch gets one of them.
func paginate[P page](ctx context.Context, s *AnalyticsService, op Operation, params exportParams, opts []ExportOption, fetch func(ctx context.Context, limit int, at position) (P, error)) iter.Seq2[P, error] {
	cfg, err := newExportConfig(opts)
	if err == nil {
		err = params.check()
	}
	if err == nil && ctx == nil {
		err = &ArgumentError{"ctx", "is nil"}
	}
	if err != nil {
		return func(yield func(P, error) bool) {
			var none P
			yield(none, err)
		}
	}
	limit := cmp.Or(params.limit, params.iterLimit, params.maxLimit)
	return export[P]{
		operation: op,
		logger:    s.client.config.logger,
		from:      params.position,
		limit:     limit,
		byCursor:  params.byCursor,
		prefetch:  cfg.prefetch,
		fetch:     func(ctx context.Context, at position) (P, error) { return fetch(ctx, limit, at) },
	}.pages(ctx)
}

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

const maxCountsLimit = 250 // rows of a page

// pathCounts is a row of visitors or of views.
type pathCounts interface {
	~struct {
		Path  string `json:"path"`
		Human int64  `json:"human"`
		AI    int64  `json:"ai"`
		Total int64  `json:"total"`
	}
}

// totals are those of visitors or of views.
type totals struct {
	Human int64 `json:"human"`
	AI    int64 `json:"ai"`
	Total int64 `json:"total"`
}

// countsJSON is a page as the service sends it: one of the lists is there.
type countsJSON[T, L any] struct {
	Totals   *T    `json:"totals"`
	Visitors L     `json:"visitors"`
	Views    L     `json:"views"`
	HasMore  *bool `json:"hasMore"`
}

func (p *countsJSON[T, L]) list(name string) *L {
	if name == "views" {
		return &p.Views
	}
	return &p.Visitors
}

// roundedCounts are totals or a row whose numbers need not be whole.
type roundedCounts struct {
	Path  string `json:"path"`
	Human count  `json:"human"`
	AI    count  `json:"ai"`
	Total count  `json:"total"`
}

// decodeCounts reads a page whose rows are in the list of that name.
func decodeCounts[R pathCounts](data []byte, name string) (sum totals, rows []R, hasMore bool, err error) {
	var fast countsJSON[totals, []R]
	if decodeRows(data, &fast, fast.list(name)) && fast.Totals != nil && fast.HasMore != nil {
		return *fast.Totals, *fast.list(name), *fast.HasMore, nil
	}
	var page countsJSON[roundedCounts, list[roundedCounts]]
	if err := json.Unmarshal(data, &page); err != nil {
		return sum, nil, false, notJSON("a page of "+name, err)
	}
	switch {
	case page.Totals == nil:
		return sum, nil, false, missing("totals")
	case *page.list(name) == nil:
		return sum, nil, false, missing(name)
	case page.HasMore == nil:
		return sum, nil, false, missing("hasMore")
	}
	sum = totals{int64(page.Totals.Human), int64(page.Totals.AI), int64(page.Totals.Total)}
	rows = make([]R, len(*page.list(name)))
	for i, row := range *page.list(name) {
		rows[i] = R{Path: row.Path, Human: int64(row.Human), AI: int64(row.AI), Total: int64(row.Total)}
	}
	return sum, rows, *page.HasMore, nil
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

// ViewsParams says which page views to export. The zero value is a range of dates and a
// page of the service's choosing.
type ViewsParams struct {
	DateFrom Date // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date // exclusive: results are before it; zero: not sent
	Limit    int  // rows a page, 1 to 250; 0: the service's default, 50, in GetViews, and 250 in the iterators
	Offset   int  // rows to skip
}

// ViewPage is one page of an export of views. It marshals to JSON under the service's own
// field names, with offset and nextOffset added, and reads back to an equal value.
type ViewPage struct {
	Totals     ViewTotals `json:"totals"`     // site-wide views of the date range, not of the page
	Views      []View     `json:"views"`      // in the service's order
	HasMore    bool       `json:"hasMore"`    // whether there are rows beyond this page
	Offset     int        `json:"offset"`     // of this page's first row
	NextOffset int        `json:"nextOffset"` // where to resume, after a crash too
}

// ViewTotals are site-wide views: events, not people.
type ViewTotals struct {
	Human int64 `json:"human"` // by humans
	AI    int64 `json:"ai"`    // by AIs
	Total int64 `json:"total"` // as the service counts them: not computed here
}

// View is how often one page of the documentation was viewed.
type View struct {
	Path  string `json:"path"`  // of the page; "" where the service gives none, or null for the row
	Human int64  `json:"human"` // views by humans
	AI    int64  `json:"ai"`    // views by AIs
	Total int64  `json:"total"` // as the service counts them: not computed here
}

// GetViews returns one page of views, for one request:
// GET /v1/analytics/{projectId}/views. It changes nothing and is safe to call again, but
// counts against the quota of 100 analytics requests per organization and hour:
// [AnalyticsService.Views] asks for pages of 250 rows.
//
// Errors: those of [AnalyticsService.GetVisitors].
func (s *AnalyticsService) GetViews(ctx context.Context, params ViewsParams) (*ViewPage, error) {
	if err := params.export().check(); err != nil {
		return nil, err
	}
	page := &ViewPage{Offset: params.Offset, NextOffset: params.Offset + cmp.Or(params.Limit, defaultLimit)}
	if err := s.get(ctx, OpGetViews, "/views", params.export().query(), page); err != nil {
		return nil, err
	}
	return page, nil
}

// ViewPages ranges over an export page by page. The rules are those of
// [AnalyticsService.VisitorPages].
func (s *AnalyticsService) ViewPages(ctx context.Context, params ViewsParams, opts ...ExportOption) iter.Seq2[*ViewPage, error] {
	return paginate(ctx, s, OpGetViews, params.export(), opts, func(ctx context.Context, limit int, at position) (*ViewPage, error) {
		params := params
		params.Limit, params.Offset = limit, at.offset
		return s.GetViews(ctx, params)
	})
}

// Views is [AnalyticsService.ViewPages] row by row.
func (s *AnalyticsService) Views(ctx context.Context, params ViewsParams, opts ...ExportOption) iter.Seq2[View, error] {
	return rowsOf(s.ViewPages(ctx, params, opts...), func(p *ViewPage) []View { return p.Views })
}

func (p ViewsParams) export() exportParams { return VisitorsParams(p).export() }

func (p *ViewPage) rowCount() int                 { return len(p.Views) }
func (p *ViewPage) next() (position, bool)        { return position{offset: p.NextOffset}, p.HasMore }
func (p *ViewPage) hash(seed maphash.Seed) uint64 { return hashRows(seed, p.Views, itself) }

func (p *ViewPage) decode(data []byte) error {
	totals, rows, hasMore, err := decodeCounts[View](data, "views")
	if err == nil {
		p.Totals, p.Views, p.HasMore = ViewTotals(totals), rows, hasMore
	}
	return err
}

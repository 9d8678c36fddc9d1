package mintlify

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"github.com/mintlify-community/mintlify-go/internal/wire"
)

const (
	defaultPageSize = 50      // rows of a page, if the request does not say
	maxCountsPage   = 250     // rows of a page of visitors or views
	maxCountsBody   = 2 << 20 // bytes of a page of visitors, views, searches or feedback counts
)

// AnalyticsService exports how humans and AIs use the documentation. It is
// [Client.Analytics].
//
// Each request counts against one quota: 100 per organization and hour, whatever the number of rows.
// Results and rows marshal to JSON under the service's own field names, and read back to equal
// values.
//
// Give both dates of a range: the service does not document which range it takes without
// them. It documents the order of rows for searches only.
type AnalyticsService struct {
	client *Client
	url    string // of the project's analytics
}

func newAnalyticsService(c *Client) *AnalyticsService {
	return &AnalyticsService{client: c, url: c.url("/v1/analytics", c.projectID)}
}

// request returns a request for path, which is below the project's analytics.
func (s *AnalyticsService) request(op Operation, path string, query url.Values) request {
	return request{operation: op, method: http.MethodGet, url: s.url + path, query: query, personal: true}
}

type dateRange struct {
	from, to Date
}

func (d dateRange) check() error {
	switch {
	case !d.from.isValid():
		return &ArgumentError{"dateFrom", "is not in the years 0 to 9999"}
	case !d.to.isValid():
		return &ArgumentError{"dateTo", "is not in the years 0 to 9999"}
	case d.from.isAncient():
		return &ArgumentError{"dateFrom", fmt.Sprintf("is %v: give the year in full", d.from)}
	case d.to.isAncient():
		return &ArgumentError{"dateTo", fmt.Sprintf("is %v: give the year in full", d.to)}
	case d.from.IsZero() || d.to.IsZero() || d.from.day != d.to.day:
		return nil // only the service can compare them
	case !d.from.at.Before(d.to.at):
		reason := fmt.Sprintf("is %v, which is not before dateTo, %v (exclusive)", d.from, d.to)
		return &ArgumentError{"dateFrom", reason}
	}
	return nil
}

func (d dateRange) query() url.Values {
	query := url.Values{}
	setText(query, "dateFrom", d.from.String())
	setText(query, "dateTo", d.to.String())
	return query
}

// VisitorsParams says which visitors to export. With the zero value the service chooses
// range and page size.
type VisitorsParams struct {
	// DateFrom is the first date of the range. The zero Date is not sent.
	DateFrom Date
	// DateTo is the end of the range and not part of it. The zero Date is not sent.
	DateTo Date
	// PageSize is the number of rows of a page, 1 to 250, not of the export. 0 is 50 in
	// GetVisitorPage, the service's default, and 250 in the iterators.
	PageSize int
	// Offset is the number of rows to skip.
	Offset int
}

// VisitorPage is one page of an export.
type VisitorPage struct {
	// Totals are the unique visitors of the whole site in the range, not of this page.
	Totals VisitorTotals `json:"totals"`
	// Visitors are the rows, in the service's order.
	Visitors []Visitor `json:"visitors"`
	// HasMore reports whether more rows follow this page.
	HasMore bool `json:"hasMore"`
	// NextOffset is the Offset of the next page, also after a crash: nobody has to compute it. The next
	// page starts after the rows of this one if this is the last or, though HasMore, a short one.
	NextOffset int `json:"nextOffset"`
}

// VisitorTotals counts the unique visitors of the whole site in a range of dates. Every
// page of an export has them, whatever its size: GetVisitorPage with PageSize 1 is enough to
// learn them.
//
// Unique visitors do not add up, neither over days nor over pages of the documentation: a
// person who comes on two days, or reads two pages, counts once in each and once in the
// whole. To learn a month's visitors, ask for the month. Human + AI can exceed Total, so
// the share of AI is AI / (Human + AI).
type VisitorTotals struct {
	// Human is the number of unique human visitors.
	Human int64 `json:"human"`
	// AI is the number of unique AI visitors.
	AI int64 `json:"ai"`
	// Total is the number of unique visitors of both kinds. Each counts once.
	Total int64 `json:"total"`
}

// Visitor counts the unique visitors of one page of the documentation.
type Visitor struct {
	// Path is the page's path. It is "" if the service sends none.
	Path string `json:"path"`
	// Human is the number of unique human visitors.
	Human int64 `json:"human"`
	// AI is the number of unique AI visitors.
	AI int64 `json:"ai"`
	// Total is the number of unique visitors of both kinds. Each counts once.
	Total int64 `json:"total"`
}

// GetVisitorPage returns one page of visitors. It costs one request: GET
// /v1/analytics/{projectId}/visitors. To export all of them use [AnalyticsService.Visitors].
//
// A loop that goes on at NextOffset while HasMore loses no row, even if the service caps its pages
// below the page size. If the service removes rows after it has applied the limit, the loop gets some
// rows again: the iterators do not.
//
// Errors: [*ArgumentError] for a page size outside 0 to 250, a negative offset, or a
// DateFrom that is not before DateTo; [*APIError], [*MalformedResponseError], or the
// network's or context's error.
func (s *AnalyticsService) GetVisitorPage(ctx context.Context, params VisitorsParams) (*VisitorPage, error) {
	return s.visitors(params).get(ctx)
}

// VisitorPages ranges over an export page by page, from params.Offset on, in pages of
// params.PageSize rows (0: 250). Each page costs one request, made when the loop asks for it
// (see [WithPrefetch]), and only one page is in memory. Ranging over a sequence again asks
// the service again.
//
// The export is complete only if the service keeps its rows in the same order until the end. If
// counts change between two requests, a row may come twice.
//
// The last page, which says that there are no more, is taken whole, whatever its number of rows. If
// another page has fewer rows than the page size and says that there are more, the next one starts
// after the rows received. So no row is lost if the service caps its pages. If instead it removes
// rows after it has applied the limit, the next page repeats some: the SDK leaves out a row that
// has a path and equals a row of the page before in all fields. A page of which nothing is left
// counts as empty, and a page after an empty one starts at offset + page size. An export from a
// service that does both, or that sends an earlier page in place of a later one, may lack rows. The
// SDK logs the first short page of an export as a warning ([WithLogger]).
//
// An export that resumes at the NextOffset of its last page, or at the offset of its error, loses
// no row. If the service removes rows, it gets some rows of that last page again.
//
// An error ends the sequence, after every page before it: an [*ArgumentError], or a
// [*ExportError] with the offset to resume at. It is an error, too, if the service repeats a page,
// or says that there are more rows on a page with more rows than the page size or on the third empty
// page in a row.
func (s *AnalyticsService) VisitorPages(
	ctx context.Context, params VisitorsParams, opts ...ExportOption,
) iter.Seq2[*VisitorPage, error] {
	return s.visitors(params).pages(ctx, opts)
}

// Visitors is [AnalyticsService.VisitorPages] row by row, without the totals, which are
// not the sum of the rows: see [VisitorTotals].
func (s *AnalyticsService) Visitors(
	ctx context.Context, params VisitorsParams, opts ...ExportOption,
) iter.Seq2[Visitor, error] {
	return s.visitors(params).rows(ctx, opts)
}

func (s *AnalyticsService) visitors(params VisitorsParams) list[*VisitorPage, Visitor] {
	newPage := func() *VisitorPage { return new(VisitorPage) }
	return countsList(s, OpGetVisitors, "/visitors", params, newPage)
}

func (v Visitor) identity() identity          { return named(v.Path, v) }
func (p *VisitorPage) rows() []Visitor        { return p.Visitors }
func (p *VisitorPage) next() (position, bool) { return position{offset: p.NextOffset}, p.HasMore }

func (p *VisitorPage) set(rows []Visitor, nextOffset int) {
	p.Visitors = rows
	p.NextOffset = nextOffset
}

func (p *VisitorPage) decode(data []byte) error {
	return wire.Decode(data, "a page of visitors", p, "totals", "visitors", "hasMore")
}

// ViewsParams says which page views to export. With the zero value the service chooses
// range and page size.
type ViewsParams struct {
	// DateFrom is the first date of the range. The zero Date is not sent.
	DateFrom Date
	// DateTo is the end of the range and not part of it. The zero Date is not sent.
	DateTo Date
	// PageSize is the number of rows of a page, 1 to 250, not of the export. 0 is 50 in GetViewPage,
	// the service's default, and 250 in the iterators.
	PageSize int
	// Offset is the number of rows to skip.
	Offset int
}

// ViewPage is one page of an export of views.
type ViewPage struct {
	// Totals are the views of the whole site in the range, not of this page.
	Totals ViewTotals `json:"totals"`
	// Views are the rows, in the service's order.
	Views []View `json:"views"`
	// HasMore reports whether more rows follow this page.
	HasMore bool `json:"hasMore"`
	// NextOffset is the Offset of the next page, also after a crash: nobody has to compute it. The next
	// page starts after the rows of this one if this is the last or, though HasMore, a short one.
	NextOffset int `json:"nextOffset"`
}

// ViewTotals counts the views of the whole site: events, not people.
type ViewTotals struct {
	// Human is the number of views by humans.
	Human int64 `json:"human"`
	// AI is the number of views by AIs.
	AI int64 `json:"ai"`
	// Total is the number of views as the service counts them. The SDK computes nothing.
	Total int64 `json:"total"`
}

// View counts how often one page of the documentation was viewed.
type View struct {
	// Path is the page's path. It is "" if the service sends none.
	Path string `json:"path"`
	// Human is the number of views by humans.
	Human int64 `json:"human"`
	// AI is the number of views by AIs.
	AI int64 `json:"ai"`
	// Total is the number of views as the service counts them. The SDK computes nothing.
	Total int64 `json:"total"`
}

// GetViewPage returns one page of views. It costs one request: GET /v1/analytics/{projectId}/views.
// To export all of them use [AnalyticsService.Views]. What [AnalyticsService.GetVisitorPage] says of
// loops and errors holds here.
func (s *AnalyticsService) GetViewPage(ctx context.Context, params ViewsParams) (*ViewPage, error) {
	return s.views(params).get(ctx)
}

// ViewPages ranges over an export page by page, by the rules of
// [AnalyticsService.VisitorPages].
func (s *AnalyticsService) ViewPages(
	ctx context.Context, params ViewsParams, opts ...ExportOption,
) iter.Seq2[*ViewPage, error] {
	return s.views(params).pages(ctx, opts)
}

// Views is [AnalyticsService.ViewPages] row by row.
func (s *AnalyticsService) Views(
	ctx context.Context, params ViewsParams, opts ...ExportOption,
) iter.Seq2[View, error] {
	return s.views(params).rows(ctx, opts)
}

func (s *AnalyticsService) views(params ViewsParams) list[*ViewPage, View] {
	newPage := func() *ViewPage { return new(ViewPage) }
	return countsList(s, OpGetViews, "/views", VisitorsParams(params), newPage)
}

func (v View) identity() identity          { return named(v.Path, v) }
func (p *ViewPage) rows() []View           { return p.Views }
func (p *ViewPage) next() (position, bool) { return position{offset: p.NextOffset}, p.HasMore }

func (p *ViewPage) set(rows []View, nextOffset int) {
	p.Views = rows
	p.NextOffset = nextOffset
}

func (p *ViewPage) decode(data []byte) error {
	return wire.Decode(data, "a page of views", p, "totals", "views", "hasMore")
}

// countsList describes an export of visitors or of views.
func countsList[P offsetPage[R], R row](
	s *AnalyticsService, op Operation, path string, params VisitorsParams, newPage func() P,
) list[P, R] {
	dates := dateRange{params.DateFrom, params.DateTo}
	r := s.request(op, path, dates.query())
	r.maxBody = maxCountsBody

	return list[P, R]{
		client:      s.client,
		request:     r,
		invalid:     dates.check(),
		from:        position{offset: params.Offset},
		pageSize:    params.PageSize,
		maxPageSize: maxCountsPage,
		newPage:     newPage,
	}
}

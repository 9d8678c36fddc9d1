package mintlify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mintlify-community/mintlify-go/internal/wire"
)

const (
	defaultLimit   = 50       // rows of a page, if the request does not say
	maxCountsLimit = 250      // rows of a page of visitors or views
	maxCountsBody  = 2 << 20  // bytes of a page whose rows are short
	maxCursor      = 64 << 10 // bytes
)

// AnalyticsService exports how humans and AIs use the documentation. It is
// [Client.Analytics].
//
// Each request counts against one quota: 100 per organization and hour, whatever the number
// of rows.
//
// Give both dates of a range: the service does not document which range it takes without
// them. It does not document the order of rows either, those of searches apart.
type AnalyticsService struct {
	client *Client
	url    string // of the project's analytics
}

func newAnalyticsService(c *Client) *AnalyticsService {
	return &AnalyticsService{client: c, url: c.url("/v1/analytics", c.projectID)}
}

// get sends r, whose url is a path below s.url.
func (s *AnalyticsService) get(ctx context.Context, r request) error {
	r.method, r.url, r.personal = http.MethodGet, s.url+r.url, true
	return s.client.do(ctx, r)
}

// getPage gets one page of an export.
func (s *AnalyticsService) getPage(ctx context.Context, p exportParams, into decoder) error {
	if err := p.check(); err != nil {
		return err
	}
	return s.get(ctx, request{operation: p.operation, url: p.path, query: p.query(), maxBody: p.maxBody, into: into})
}

// exportParams are what all exports have in common.
type exportParams struct {
	operation Operation
	path      string // below s.url
	maxBody   int64  // 0: the common limit
	from, to  Date
	source    FeedbackSource
	statuses  []FeedbackStatus
	limit     int // 0: the service's default
	maxLimit  int // the service's
	iterLimit int // of the iterators; 0: maxLimit
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
	for _, status := range p.statuses {
		if strings.TrimSpace(string(status)) == "" {
			return &ArgumentError{"statuses", "has an empty status"}
		}
		if strings.Contains(string(status), ",") {
			return &ArgumentError{"statuses", "has a status with a comma: give each status on its own"}
		}
	}
	return checkDates(p.from, p.to)
}

func (p exportParams) query() url.Values {
	query := datesQuery(p.from, p.to)
	if p.source != "" {
		query.Set("source", string(p.source))
	}
	if len(p.statuses) > 0 {
		list := make([]string, len(p.statuses))
		for i, status := range p.statuses {
			list[i] = string(status)
		}
		query.Set("status", strings.Join(list, ","))
	}
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

func (s *AnalyticsService) listing(p exportParams) listing {
	return listing{
		operation: p.operation, url: s.url + p.path, invalid: p.check(),
		from: p.position, limit: cmp.Or(p.limit, p.iterLimit, p.maxLimit), byCursor: p.byCursor,
	}
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

// cursorJSON is how a page says where the next one starts.
type cursorJSON struct {
	HasMore    *bool  `json:"hasMore"`
	NextCursor string `json:"nextCursor"`
}

func (c cursorJSON) next() (hasMore bool, cursor string, err error) {
	switch {
	case c.HasMore == nil:
		return false, "", wire.Missing("hasMore")
	case *c.HasMore && c.NextCursor == "":
		return false, "", wire.Missing("nextCursor, though hasMore is true")
	}
	return *c.HasMore, c.NextCursor, checkCursor(c.NextCursor)
}

func checkCursor(cursor string) error {
	if len(cursor) > maxCursor {
		return fmt.Errorf("the next cursor is longer than %d KiB", maxCursor>>10)
	}
	return nil
}

// VisitorsParams says which visitors to export. With the zero value the service chooses
// range and page size.
type VisitorsParams struct {
	DateFrom Date // the first; zero: not sent
	DateTo   Date // exclusive: the service returns what is before it; zero: not sent
	// Limit is rows per page, 1 to 250. 0 is 50 in GetVisitors, the service's default, and 250 in the
	// iterators.
	Limit  int
	Offset int // rows to skip
}

// VisitorPage is one page of an export. It marshals to JSON under the service's
// own field names, with offset and nextOffset added, and reads back to an equal value.
type VisitorPage struct {
	Totals     VisitorTotals `json:"totals"`     // unique visitors of the whole site in the range, not of this page
	Visitors   []Visitor     `json:"visitors"`   // in the service's order
	HasMore    bool          `json:"hasMore"`    // whether there are rows beyond this page
	Offset     int           `json:"offset"`     // of this page's first row
	NextOffset int           `json:"nextOffset"` // where to resume, also after a crash
}

// VisitorTotals counts the unique visitors of the whole site in a range of dates. Every
// page of an export has them, whatever its limit: GetVisitors with Limit 1 is enough to
// learn them.
//
// Unique visitors do not add up, neither over days nor over pages of the documentation: a
// person who comes on two days, or reads two pages, counts once in each and once in the
// whole. To learn a month's visitors, ask for the month. Human + AI can exceed Total, so
// the share of AI is AI / (Human + AI).
type VisitorTotals struct {
	Human int64 `json:"human"` // unique human visitors
	AI    int64 `json:"ai"`    // unique AI visitors
	Total int64 `json:"total"` // unique visitors of both kinds, each counted once
}

// Visitor counts the unique visitors of one page of the documentation.
type Visitor struct {
	Path  string `json:"path"`  // of the page; "" if the service sends none
	Human int64  `json:"human"` // unique human visitors
	AI    int64  `json:"ai"`    // unique AI visitors
	Total int64  `json:"total"` // unique visitors of both kinds, each counted once
}

// GetVisitors returns one page of visitors. It costs one request:
// GET /v1/analytics/{projectId}/visitors. To export all of them use
// [AnalyticsService.Visitors], which asks for 250 rows at a time.
//
// Errors: [*ArgumentError] for a limit outside 0 to 250, a negative offset, or a
// DateFrom that is not before DateTo; [*APIError], [*ResponseError], or the
// network's or context's error.
func (s *AnalyticsService) GetVisitors(ctx context.Context, params VisitorsParams) (*VisitorPage, error) {
	page := &VisitorPage{Offset: params.Offset, NextOffset: params.Offset + cmp.Or(params.Limit, defaultLimit)}
	if err := s.getPage(ctx, params.export(), page); err != nil {
		return nil, err
	}
	return page, nil
}

// VisitorPages ranges over an export page by page, from params.Offset on, in pages of
// params.Limit rows (0: 250). Each page costs one request, made when the loop asks for it
// (see [WithPrefetch]), and only one page is in memory. Ranging over a sequence again asks
// the service again.
//
// The export is complete only if the service keeps the order of its rows meanwhile.
//
// An error ends the sequence, after every page before it: an [*ArgumentError], or a
// [*PageError] with the offset to resume at. It is an error, too, if the service repeats a
// page, sends more rows than the limit, or says over three empty pages in a row that there
// is more. A page with fewer rows than the limit that says there is more is logged as a
// warning ([WithLogger]), once an export. The next page still starts at offset + limit, so
// rows are missing if the service caps its pages below the limit.
func (s *AnalyticsService) VisitorPages(ctx context.Context, params VisitorsParams, opts ...ExportOption) iter.Seq2[*VisitorPage, error] {
	list := s.listing(params.export())
	return paginate(ctx, s.client, list, opts, func(ctx context.Context, at position) (*VisitorPage, error) {
		params := params
		params.Limit, params.Offset = list.limit, at.offset
		return s.GetVisitors(ctx, params)
	})
}

// Visitors is [AnalyticsService.VisitorPages] row by row, without the totals, which are
// not the sum of the rows: see [VisitorTotals].
func (s *AnalyticsService) Visitors(ctx context.Context, params VisitorsParams, opts ...ExportOption) iter.Seq2[Visitor, error] {
	return rowsOf(s.VisitorPages(ctx, params, opts...))
}

func (p VisitorsParams) export() exportParams {
	return exportParams{
		operation: OpGetVisitors, path: "/visitors", maxBody: maxCountsBody, from: p.DateFrom, to: p.DateTo,
		limit: p.Limit, maxLimit: maxCountsLimit, position: position{offset: p.Offset},
	}
}

func (v Visitor) identity() identity          { return identity{text: v.Path} }
func (p *VisitorPage) rows() []Visitor        { return p.Visitors }
func (p *VisitorPage) next() (position, bool) { return position{offset: p.NextOffset}, p.HasMore }

func (p *VisitorPage) decode(data []byte) (err error) {
	var totals Visitor
	totals, p.Visitors, p.HasMore, err = decodeCounts[Visitor](data, "visitors")
	p.Totals = VisitorTotals{totals.Human, totals.AI, totals.Total}
	return err
}

// ViewsParams says which page views to export. With the zero value the service chooses
// range and page size.
type ViewsParams struct {
	DateFrom Date // the first; zero: not sent
	DateTo   Date // exclusive: the service returns what is before it; zero: not sent
	// Limit is rows per page, 1 to 250. 0 is 50 in GetViews, the service's default, and 250 in the
	// iterators.
	Limit  int
	Offset int // rows to skip
}

// ViewPage is one page of an export of views. It marshals to JSON under the service's own
// field names, with offset and nextOffset added, and reads back to an equal value.
type ViewPage struct {
	Totals     ViewTotals `json:"totals"`     // views of the whole site in the range, not of this page
	Views      []View     `json:"views"`      // in the service's order
	HasMore    bool       `json:"hasMore"`    // whether there are rows beyond this page
	Offset     int        `json:"offset"`     // of this page's first row
	NextOffset int        `json:"nextOffset"` // where to resume, also after a crash
}

// ViewTotals counts the views of the whole site: events, not people.
type ViewTotals struct {
	Human int64 `json:"human"` // by humans
	AI    int64 `json:"ai"`    // by AIs
	Total int64 `json:"total"` // as the service counts them; the SDK computes nothing
}

// View counts how often one page of the documentation was viewed.
type View struct {
	Path  string `json:"path"`  // of the page; "" if the service sends none
	Human int64  `json:"human"` // views by humans
	AI    int64  `json:"ai"`    // views by AIs
	Total int64  `json:"total"` // as the service counts them; the SDK computes nothing
}

// GetViews returns one page of views. It costs one request:
// GET /v1/analytics/{projectId}/views. To export all of them use [AnalyticsService.Views],
// which asks for 250 rows at a time. It returns the errors of
// [AnalyticsService.GetVisitors].
func (s *AnalyticsService) GetViews(ctx context.Context, params ViewsParams) (*ViewPage, error) {
	page := &ViewPage{Offset: params.Offset, NextOffset: params.Offset + cmp.Or(params.Limit, defaultLimit)}
	if err := s.getPage(ctx, params.export(), page); err != nil {
		return nil, err
	}
	return page, nil
}

// ViewPages ranges over an export page by page, by the rules of
// [AnalyticsService.VisitorPages].
func (s *AnalyticsService) ViewPages(ctx context.Context, params ViewsParams, opts ...ExportOption) iter.Seq2[*ViewPage, error] {
	list := s.listing(params.export())
	return paginate(ctx, s.client, list, opts, func(ctx context.Context, at position) (*ViewPage, error) {
		params := params
		params.Limit, params.Offset = list.limit, at.offset
		return s.GetViews(ctx, params)
	})
}

// Views is [AnalyticsService.ViewPages] row by row.
func (s *AnalyticsService) Views(ctx context.Context, params ViewsParams, opts ...ExportOption) iter.Seq2[View, error] {
	return rowsOf(s.ViewPages(ctx, params, opts...))
}

func (p ViewsParams) export() exportParams {
	export := VisitorsParams(p).export()
	export.operation, export.path = OpGetViews, "/views"
	return export
}

func (v View) identity() identity          { return identity{text: v.Path} }
func (p *ViewPage) rows() []View           { return p.Views }
func (p *ViewPage) next() (position, bool) { return position{offset: p.NextOffset}, p.HasMore }

func (p *ViewPage) decode(data []byte) (err error) {
	var totals View
	totals, p.Views, p.HasMore, err = decodeCounts[View](data, "views")
	p.Totals = ViewTotals{totals.Human, totals.AI, totals.Total}
	return err
}

// countsJSON is a row, or the totals, as the service sends it: its numbers may be fractions.
type countsJSON struct {
	Path  string  `json:"path"`
	Human float64 `json:"human"`
	AI    float64 `json:"ai"`
	Total float64 `json:"total"`
}

// pathCounts is a row of visitors or of views.
type pathCounts interface {
	~struct {
		Path  string `json:"path"`
		Human int64  `json:"human"`
		AI    int64  `json:"ai"`
		Total int64  `json:"total"`
	}
}

// decodeCounts reads a page whose list has that name. totals is a row without a path.
func decodeCounts[R pathCounts](data []byte, name string) (totals R, rows []R, hasMore bool, err error) {
	var page struct {
		Totals   *countsJSON  `json:"totals"`
		Visitors []countsJSON `json:"visitors"`
		Views    []countsJSON `json:"views"`
		HasMore  *bool        `json:"hasMore"`
	}
	if err := json.Unmarshal(data, &page); err != nil {
		return totals, nil, false, wire.Invalid("a page of "+name, err)
	}
	list := page.Visitors
	if name == "views" {
		list = page.Views
	}
	switch {
	case page.Totals == nil:
		return totals, nil, false, wire.Missing("totals")
	case list == nil:
		return totals, nil, false, wire.Missing(name)
	case page.HasMore == nil:
		return totals, nil, false, wire.Missing("hasMore")
	}
	var counts wire.Counts
	round := func(row countsJSON) R {
		return R{Path: row.Path, Human: counts.Round(row.Human), AI: counts.Round(row.AI), Total: counts.Round(row.Total)}
	}
	rows = make([]R, len(list))
	for i, row := range list {
		rows[i] = round(row)
	}
	return round(*page.Totals), rows, *page.HasMore, counts.Err
}

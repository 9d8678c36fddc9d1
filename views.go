package mintlify

import (
	"cmp"
	"context"
	"hash/maphash"
	"iter"
)

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

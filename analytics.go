package mintlify

import (
	"cmp"
	"context"
	"fmt"
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

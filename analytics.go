package mintlify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
)

// AnalyticsService exports visitor counts. It is [Client.Analytics].
type AnalyticsService struct {
	client *Client
	url    string // of the project's analytics
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
// own field names, offset and nextOffset beside them, and reads back to an equal value.
type VisitorPage struct {
	Totals     VisitorTotals `json:"totals"`     // site-wide unique visitors of the date range, not of the page
	Visitors   []Visitor     `json:"visitors"`   // in the service's order
	HasMore    bool          `json:"hasMore"`    // whether there are rows beyond this page
	Offset     int           `json:"offset"`     // of this page's first row
	NextOffset int           `json:"nextOffset"` // where to go on, after a crash too
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

func (p *VisitorPage) next() (offset int, hasMore bool) { return p.NextOffset, p.HasMore }
func (p *VisitorPage) rows() int                        { return len(p.Visitors) }
func (p *VisitorPage) operation() Operation             { return OpGetVisitors }

func (p *VisitorPage) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, visitor := range p.Visitors {
		maphash.WriteComparable(&h, visitor)
	}
	return h.Sum64()
}

// ExportOption sets up an export.
type ExportOption func(*export)

type export struct {
	prefetch bool
}

func newExport(opts []ExportOption) (e export, err error) {
	for i, opt := range opts {
		if opt == nil {
			return e, &ArgumentError{"opts", fmt.Sprintf("has a nil option at index %d", i)}
		}
		opt(&e)
	}
	return e, nil
}

// WithPrefetch asks for the next page while the loop works on this one: where both
// take equally long, an export takes half the time. Two pages are in memory
// instead of one, and a loop that breaks off may have spent one request more.
func WithPrefetch() ExportOption {
	return func(e *export) { e.prefetch = true }
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
	err := s.client.do(ctx, request{
		operation: OpGetVisitors,
		method:    http.MethodGet,
		url:       s.url + "/visitors",
		query:     params.query(),
		retries:   s.client.config.maxRetries,
		into:      page,
	})
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
// [*PageError] with the offset to go on from. A service that repeats a page, or
// says that there is more over three empty pages in a row, is an error too.
func (s *AnalyticsService) VisitorPages(ctx context.Context, params VisitorsParams, opts ...ExportOption) iter.Seq2[*VisitorPage, error] {
	return func(yield func(*VisitorPage, error) bool) {
		e, err := newExport(opts)
		if err == nil {
			err = params.check()
		}
		if err == nil && ctx == nil {
			err = &ArgumentError{"ctx", "is nil"}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if params.Limit == 0 {
			params.Limit = maxLimit
		}
		fetch := func(ctx context.Context, offset int) (*VisitorPage, error) {
			params := params
			params.Offset = offset
			return s.GetVisitors(ctx, params)
		}
		walk(ctx, params.Offset, fetch, e.prefetch)(yield)
	}
}

// Visitors is [AnalyticsService.VisitorPages] row by row.
func (s *AnalyticsService) Visitors(ctx context.Context, params VisitorsParams, opts ...ExportOption) iter.Seq2[Visitor, error] {
	return func(yield func(Visitor, error) bool) {
		for page, err := range s.VisitorPages(ctx, params, opts...) {
			if err != nil {
				yield(Visitor{}, err)
				return
			}
			for _, visitor := range page.Visitors {
				if !yield(visitor, nil) {
					return
				}
			}
		}
	}
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

// decode reads the page from an answer, with room for the rows from p.Offset to
// p.NextOffset. Counts are whole numbers as a rule, and read as such; only where they
// are not, the page is read once more.
func (p *VisitorPage) decode(data []byte) error {
	rows := make([]Visitor, 0, p.NextOffset-p.Offset)
	var answer struct {
		Totals   *VisitorTotals `json:"totals"`
		Visitors *[]Visitor     `json:"visitors"`
		HasMore  *bool          `json:"hasMore"`
	}
	answer.Visitors = &rows
	err := json.Unmarshal(data, &answer)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return p.decodeRounded(data)
	}
	if err != nil {
		return fmt.Errorf("it is not the JSON of a page of visitors: %w", err)
	}
	switch {
	case answer.Totals == nil:
		return errors.New("it has no totals")
	case answer.Visitors == nil, len(rows) == 0 && !hasVisitors(data):
		return errors.New("it has no visitors")
	case answer.HasMore == nil:
		return errors.New("it has no hasMore")
	}
	p.Totals, p.Visitors, p.HasMore = *answer.Totals, rows, *answer.HasMore
	return nil
}

// hasVisitors tells an empty page from one whose rows are missing.
func hasVisitors(data []byte) bool {
	var answer struct {
		Visitors []Visitor `json:"visitors"`
	}
	return json.Unmarshal(data, &answer) == nil && answer.Visitors != nil
}

// decodeRounded is decode for counts written as 12.0, 1.2e1 or 12.5: it writes them
// as whole numbers, and reads the page again.
func (p *VisitorPage) decodeRounded(data []byte) error {
	type counts struct {
		Path  *string `json:"path,omitempty"`
		Human count   `json:"human"`
		AI    count   `json:"ai"`
		Total count   `json:"total"`
	}
	var answer struct {
		Totals   *counts  `json:"totals,omitempty"`
		Visitors []counts `json:"visitors"`
		HasMore  *bool    `json:"hasMore,omitempty"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("it is not the JSON of a page of visitors: %w", err)
	}
	rounded, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return p.decode(rounded)
}

// count is a number of visitors, rounded to a whole one.
type count int64

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	if whole, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		*c = count(whole)
		return nil
	}
	number, err := strconv.ParseFloat(string(data), 64)
	if err != nil || math.Abs(number) >= 1<<63 {
		return errors.New("what should be a count of visitors is none")
	}
	*c = count(math.Round(number))
	return nil
}

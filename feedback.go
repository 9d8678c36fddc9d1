package mintlify

import (
	"context"
	"iter"
	"net/url"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/wire"
)

const maxFeedbackPage = 100 // rows of a page

// FeedbackSource is where feedback comes from. Unknown values are kept as received.
type FeedbackSource string

// The sources of feedback.
const (
	FeedbackFromCodeSnippet FeedbackSource = "code_snippet" // about a code example
	FeedbackContextual      FeedbackSource = "contextual"   // a comment on a page
	FeedbackFromAgent       FeedbackSource = "agent"        // from an AI agent
	// FeedbackThumbsOnly is thumbs up or down without a comment. The service does not
	// document whether a row says which of the two.
	FeedbackThumbsOnly FeedbackSource = "thumbs_only"
)

// FeedbackStatus is how far the work on feedback has got. Unknown values are kept as received.
type FeedbackStatus string

// The statuses of feedback.
const (
	FeedbackPending    FeedbackStatus = "pending"
	FeedbackInProgress FeedbackStatus = "in_progress"
	FeedbackResolved   FeedbackStatus = "resolved"
	FeedbackDismissed  FeedbackStatus = "dismissed"
)

// FeedbackParams says which feedback to export. With the zero value the service chooses
// range and page size.
type FeedbackParams struct {
	// DateFrom is the first date of the range. The zero Date is not sent.
	DateFrom Date
	// DateTo is the end of the range and not part of it. The zero Date is not sent.
	DateTo Date
	// Source is the source to export. "" is all sources.
	Source FeedbackSource
	// Statuses are the statuses to export. An empty list is all statuses.
	Statuses []FeedbackStatus
	// PageSize is the number of rows of a page, 1 to 100, not of the export. 0 is 50 in
	// GetFeedbackPage, the service's default, and 100 in the iterators.
	PageSize int
	// Cursor is the page to start at: a NextCursor, with the same dates and filters. "" is the
	// first page.
	Cursor string
}

// FeedbackPage is one page of an export of feedback.
type FeedbackPage struct {
	// Feedback are the rows, in the service's order.
	Feedback []Feedback `json:"feedback"`
	// HasMore reports whether more rows follow this page.
	HasMore bool `json:"hasMore"`
	// NextCursor is the Cursor of the next page. It is "" unless HasMore, and "" as a Cursor is the
	// first page: keep HasMore beside it in a checkpoint, or an export that has ended starts again.
	NextCursor string `json:"nextCursor"`
}

// Feedback is what one reader, or one AI agent, said about a page. Contact can be a person's
// e-mail address: treat a row as personal data.
type Feedback struct {
	// ID names this row.
	ID string `json:"id"`
	// Path is the path or the URL of the page that the feedback is about.
	Path string `json:"path"`
	// Comment is what the reader wrote. It is "" if the reader wrote nothing.
	Comment string `json:"comment,omitempty"`
	// CreatedAt is in UTC. It is zero if it is absent or not a time.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// Source says where the feedback comes from.
	Source FeedbackSource `json:"source"`
	// Status says how far the work on the feedback has got. It changes, and no time says when: export
	// a range again to learn its statuses.
	Status FeedbackStatus `json:"status"`
	// Helpful is true for thumbs up and false for thumbs down. It is nil if the service does
	// not say: only contextual feedback has it.
	Helpful *bool `json:"helpful,omitempty"`
	// Contact is an e-mail address. Only contextual feedback has it.
	Contact string `json:"contact,omitempty"`
	// Code is the code that the feedback is about. Only feedback on a code example has it.
	Code string `json:"code,omitempty"`
	// Filename is the name of the code's file. Only feedback on a code example has it.
	Filename string `json:"filename,omitempty"`
	// Language is the language of the code. Only feedback on a code example has it.
	Language string `json:"lang,omitempty"`
}

// GetFeedbackPage returns one page of feedback. It costs one request: GET
// /v1/analytics/{projectId}/feedback. To export all of it use [AnalyticsService.Feedback].
//
// Errors: [*ArgumentError] for a limit outside 0 to 100, a DateFrom that is not before
// DateTo, or a status that is empty or has a comma; [*APIError], [*MalformedResponseError], or the
// network's or context's error.
func (s *AnalyticsService) GetFeedbackPage(ctx context.Context, params FeedbackParams) (*FeedbackPage, error) {
	return s.feedback(params).get(ctx)
}

// FeedbackPages ranges over an export page by page, from params.Cursor on, in pages of
// params.PageSize rows (0: 100), by the rules of [AnalyticsService.SearchPages].
func (s *AnalyticsService) FeedbackPages(
	ctx context.Context, params FeedbackParams, opts ...ExportOption,
) iter.Seq2[*FeedbackPage, error] {
	return s.feedback(params).pages(ctx, opts)
}

// Feedback is [AnalyticsService.FeedbackPages] row by row.
func (s *AnalyticsService) Feedback(
	ctx context.Context, params FeedbackParams, opts ...ExportOption,
) iter.Seq2[Feedback, error] {
	return s.feedback(params).rows(ctx, opts)
}

func (s *AnalyticsService) feedback(params FeedbackParams) list[*FeedbackPage, Feedback] {
	filter := feedbackFilter{
		dates:    dateRange{params.DateFrom, params.DateTo},
		source:   params.Source,
		statuses: params.Statuses,
	}

	return list[*FeedbackPage, Feedback]{
		client:      s.client,
		request:     s.request(OpGetFeedback, "/feedback", filter.query()),
		invalid:     filter.check(),
		from:        position{cursor: params.Cursor},
		byCursor:    true,
		pageSize:    params.PageSize,
		maxPageSize: maxFeedbackPage,
		newPage:     func() *FeedbackPage { return new(FeedbackPage) },
	}
}

// feedbackFilter says which feedback an export covers.
type feedbackFilter struct {
	dates    dateRange
	source   FeedbackSource   // "": all
	statuses []FeedbackStatus // any of them; empty: all
}

func (f feedbackFilter) check() error {
	for _, status := range f.statuses {
		if strings.TrimSpace(string(status)) == "" {
			return &ArgumentError{"statuses", "has an empty status"}
		}
		if strings.Contains(string(status), ",") {
			return &ArgumentError{"statuses", "has a status with a comma: give each status on its own"}
		}
	}

	return f.dates.check()
}

func (f feedbackFilter) query() url.Values {
	statuses := make([]string, len(f.statuses))
	for i, status := range f.statuses {
		statuses[i] = string(status)
	}

	query := f.dates.query()
	setText(query, "source", string(f.source))
	setText(query, "status", strings.Join(statuses, ","))
	return query
}

func (f Feedback) identity() identity          { return identity{text: f.ID} }
func (p *FeedbackPage) rows() []Feedback       { return p.Feedback }
func (p *FeedbackPage) next() (position, bool) { return position{cursor: p.NextCursor}, p.HasMore }

func (p *FeedbackPage) decode(data []byte) error {
	if err := wire.Decode(data, "a page of feedback", p, "feedback", "hasMore"); err != nil {
		return err
	}
	return checkCursor(&p.NextCursor, p.HasMore)
}

// FeedbackCountsParams says which feedback to count. With the zero value the service
// chooses the range, and counts 10 pages.
type FeedbackCountsParams struct {
	// DateFrom is the first date of the range. The zero Date is not sent.
	DateFrom Date
	// DateTo is the end of the range and not part of it. The zero Date is not sent.
	DateTo Date
	// Source is the source to count. "" is all sources.
	Source FeedbackSource
	// Statuses are the statuses to count. An empty list is all statuses.
	Statuses []FeedbackStatus
	// Limit is the number of rows, 1 to 100. 0 is 10, the service's default.
	Limit int
}

// FeedbackCounts counts feedback by page of the documentation.
type FeedbackCounts struct {
	// Counts are the rows, in the service's order.
	Counts []FeedbackCount `json:"feedback"`
	// HasMore reports whether there are more pages of the documentation. The only way to get
	// them is a higher limit.
	HasMore bool `json:"hasMore"`
}

// FeedbackCount counts the feedback on one page of the documentation.
type FeedbackCount struct {
	// Path is the page's path.
	Path string `json:"path"`
	// ThumbsUp is the number of readers who found the page helpful.
	ThumbsUp int64 `json:"thumbsUp"`
	// ThumbsDown is the number of readers who did not.
	ThumbsDown int64 `json:"thumbsDown"`
	// Code is how often readers gave feedback on the page's code examples.
	Code int64 `json:"code"`
	// Total is all feedback as the service counts it. The SDK computes nothing.
	Total int64 `json:"total"`
}

// GetFeedbackCounts counts the feedback on each page of the documentation. It costs one
// request: GET /v1/analytics/{projectId}/feedback/by-page. The service sends this list
// in one response of at most params.Limit rows. It returns the errors of
// [AnalyticsService.GetFeedbackPage].
func (s *AnalyticsService) GetFeedbackCounts(
	ctx context.Context, params FeedbackCountsParams,
) (*FeedbackCounts, error) {
	if err := checkRows("limit", params.Limit, maxFeedbackPage); err != nil {
		return nil, err
	}
	filter := feedbackFilter{
		dates:    dateRange{params.DateFrom, params.DateTo},
		source:   params.Source,
		statuses: params.Statuses,
	}
	if err := filter.check(); err != nil {
		return nil, err
	}

	query := filter.query()
	setNumber(query, "limit", params.Limit)
	r := s.request(OpGetFeedbackCounts, "/feedback/by-page", query)
	r.maxBody = maxCountsBody
	return resultOf[FeedbackCounts](ctx, s.client, r)
}

func (c *FeedbackCounts) decode(data []byte) error {
	return wire.Decode(data, "feedback counts", c, "feedback", "hasMore")
}

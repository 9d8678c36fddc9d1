package mintlify

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"iter"
	"net/url"
	"strings"
	"time"
)

const maxFeedbackLimit = 100 // rows of a page

// FeedbackSource is where a feedback comes from. One that this version does not know is
// kept as received.
type FeedbackSource string

// The sources of feedback.
const (
	FeedbackFromCodeSnippet FeedbackSource = "code_snippet" // about a code example
	FeedbackContextual      FeedbackSource = "contextual"   // a comment on a page
	FeedbackFromAgent       FeedbackSource = "agent"        // of an AI agent
	FeedbackThumbsOnly      FeedbackSource = "thumbs_only"  // thumbs up or down, without a comment; which of the two is not documented to be in the row
)

// FeedbackStatus is how far the work on a feedback is. One that this version does not know
// is kept as received.
type FeedbackStatus string

// The statuses of feedback.
const (
	FeedbackPending    FeedbackStatus = "pending"
	FeedbackInProgress FeedbackStatus = "in_progress"
	FeedbackResolved   FeedbackStatus = "resolved"
	FeedbackDismissed  FeedbackStatus = "dismissed"
)

// FeedbackParams says which feedback to export. The zero value is a range of dates and a
// page of the service's choosing.
type FeedbackParams struct {
	DateFrom Date             // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date             // exclusive: results are before it; zero: not sent
	Source   FeedbackSource   // "": all
	Statuses []FeedbackStatus // any of them; empty: all
	Limit    int              // rows a page, 1 to 100; 0: the service's default, 50, in GetFeedback, and 100 in the iterators
	Cursor   string           // of the page: a NextCursor, with the same dates and filters; "" is the first page
}

// FeedbackPage is one page of an export of feedback. It marshals to JSON under the
// service's own field names, with cursor added, and reads back to an equal value.
type FeedbackPage struct {
	Feedback   []Feedback `json:"feedback"`   // in the service's order, which is not documented
	HasMore    bool       `json:"hasMore"`    // whether there are rows beyond this page
	Cursor     string     `json:"cursor"`     // of this page
	NextCursor string     `json:"nextCursor"` // of the next page, if HasMore
}

// Feedback is what one reader, or one AI agent, said of a page. Contact can be a person's
// e-mail address: treat a row as personal data.
type Feedback struct {
	ID        string         `json:"id"`                 // of this row
	Path      string         `json:"path"`               // of the page, or the URL of it
	Comment   string         `json:"comment,omitempty"`  // the reader's words; "" where there is none
	CreatedAt time.Time      `json:"createdAt,omitzero"` // in UTC; zero where the service does not say, or what cannot be parsed
	Source    FeedbackSource `json:"source"`             // where it comes from
	Status    FeedbackStatus `json:"status"`             // how far the work on it is
	Helpful   *bool          `json:"helpful,omitempty"`  // true: thumbs up, false: thumbs down; nil where the service does not say, which it does of contextual feedback alone
	Contact   string         `json:"contact,omitempty"`  // an e-mail address, of contextual feedback
	Code      string         `json:"code,omitempty"`     // of feedback on a code example
	Filename  string         `json:"filename,omitempty"` // of feedback on a code example
	Language  string         `json:"lang,omitempty"`     // of feedback on a code example
}

// GetFeedback returns one page of feedback, for one request:
// GET /v1/analytics/{projectId}/feedback. It changes nothing and is safe to call again, but
// counts against the quota of 100 analytics requests per organization and hour:
// [AnalyticsService.Feedback] asks for pages of 100 rows.
//
// Errors: [*ArgumentError] for a limit outside 0 to 100, a DateFrom that is not before
// DateTo, or a status that is empty or has a comma; [*APIError], [*ResponseError], or the
// network's or context's error.
func (s *AnalyticsService) GetFeedback(ctx context.Context, params FeedbackParams) (*FeedbackPage, error) {
	if err := params.check(); err != nil {
		return nil, err
	}
	query := params.export().query()
	setFeedbackFilter(query, params.Source, params.Statuses)
	page := &FeedbackPage{Cursor: params.Cursor}
	if err := s.get(ctx, OpGetFeedback, "/feedback", query, page); err != nil {
		return nil, err
	}
	return page, nil
}

// FeedbackPages ranges over an export page by page, from params.Cursor on, in pages of
// params.Limit rows or, where that is 0, of 100. The rules are those of
// [AnalyticsService.SearchPages].
func (s *AnalyticsService) FeedbackPages(ctx context.Context, params FeedbackParams, opts ...ExportOption) iter.Seq2[*FeedbackPage, error] {
	if err := params.check(); err != nil {
		return func(yield func(*FeedbackPage, error) bool) { yield(nil, err) }
	}
	return paginate(ctx, s, OpGetFeedback, params.export(), opts, func(ctx context.Context, limit int, at position) (*FeedbackPage, error) {
		params := params
		params.Limit, params.Cursor = limit, at.cursor
		return s.GetFeedback(ctx, params)
	})
}

// Feedback is [AnalyticsService.FeedbackPages] row by row.
func (s *AnalyticsService) Feedback(ctx context.Context, params FeedbackParams, opts ...ExportOption) iter.Seq2[Feedback, error] {
	return rowsOf(s.FeedbackPages(ctx, params, opts...), func(p *FeedbackPage) []Feedback { return p.Feedback })
}

func (p FeedbackParams) export() exportParams {
	return exportParams{from: p.DateFrom, to: p.DateTo, limit: p.Limit, maxLimit: maxFeedbackLimit, byCursor: true, position: position{cursor: p.Cursor}}
}

func (p FeedbackParams) check() error {
	if err := checkStatuses(p.Statuses); err != nil {
		return err
	}
	return p.export().check()
}

// checkStatuses refuses what would not be one item of the list that is sent.
func checkStatuses(statuses []FeedbackStatus) error {
	for _, status := range statuses {
		if strings.TrimSpace(string(status)) == "" {
			return &ArgumentError{"statuses", "has an empty status"}
		}
		if strings.Contains(string(status), ",") {
			return &ArgumentError{"statuses", "has a status with a comma: give each status on its own"}
		}
	}
	return nil
}

func setFeedbackFilter(query url.Values, source FeedbackSource, statuses []FeedbackStatus) {
	if source != "" {
		query.Set("source", string(source))
	}
	if len(statuses) > 0 {
		list := make([]string, len(statuses))
		for i, status := range statuses {
			list[i] = string(status)
		}
		query.Set("status", strings.Join(list, ","))
	}
}

func (p *FeedbackPage) rowCount() int          { return len(p.Feedback) }
func (p *FeedbackPage) next() (position, bool) { return position{cursor: p.NextCursor}, p.HasMore }

func (p *FeedbackPage) hash(seed maphash.Seed) uint64 {
	type key struct{ id, path, comment string }
	return hashRows(seed, p.Feedback, func(row Feedback) key { return key{row.ID, row.Path, row.Comment} })
}

// feedbackPageJSON is a page as the service sends it.
type feedbackPageJSON[L any] struct {
	Feedback L `json:"feedback"`
	cursorJSON
}

// feedbackJSON is a row whose time need not be a time.
type feedbackJSON struct {
	Feedback
	CreatedAt timestamp `json:"createdAt"`
}

func (p *FeedbackPage) decode(data []byte) error {
	var fast feedbackPageJSON[[]Feedback]
	if decodeRows(data, &fast, &fast.Feedback) {
		for i, row := range fast.Feedback {
			fast.Feedback[i].CreatedAt = inUTC(row.CreatedAt)
		}
		return p.set(fast.Feedback, fast.cursorJSON)
	}
	var page feedbackPageJSON[list[feedbackJSON]]
	if err := json.Unmarshal(data, &page); err != nil {
		return notJSON("a page of feedback", err)
	}
	if page.Feedback == nil {
		return missing("feedback")
	}
	rows := make([]Feedback, len(page.Feedback))
	for i, row := range page.Feedback {
		rows[i] = row.Feedback
		rows[i].CreatedAt = row.CreatedAt.Time
	}
	return p.set(rows, page.cursorJSON)
}

func (p *FeedbackPage) set(rows []Feedback, cursor cursorJSON) (err error) {
	p.Feedback = rows
	p.HasMore, p.NextCursor, err = cursor.next()
	return err
}

// FeedbackByPageParams says which feedback to count. The zero value is a range of dates and
// a number of pages of the service's choosing.
type FeedbackByPageParams struct {
	DateFrom Date             // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date             // exclusive: results are before it; zero: not sent
	Source   FeedbackSource   // "": all
	Statuses []FeedbackStatus // any of them; empty: all
	Limit    int              // rows, 1 to 100; 0: the service's default, 10
}

// FeedbackByPage is how much feedback the pages of the documentation have. It marshals to JSON
// under the service's own field names, and reads back to an equal value.
type FeedbackByPage struct {
	Pages   []PageFeedback `json:"feedback"` // in the service's order
	HasMore bool           `json:"hasMore"`  // whether there are more pages: the service has no way to ask for them but a higher limit
}

// PageFeedback counts the feedback of one page of the documentation.
type PageFeedback struct {
	Path       string `json:"path"`       // of the page
	ThumbsUp   int64  `json:"thumbsUp"`   // feedback that found it helpful
	ThumbsDown int64  `json:"thumbsDown"` // feedback that did not
	Code       int64  `json:"code"`       // feedback on its code examples
	Total      int64  `json:"total"`      // as the service counts it: not computed here
}

// GetFeedbackByPage counts the feedback of each page of the documentation, for one
// request: GET /v1/analytics/{projectId}/feedback/by-page. The service tells of 10 pages
// unless params.Limit asks for more, of 100 at most, and has no paging here. It changes nothing and is safe to call again, but counts
// against the quota of 100 analytics requests per organization and hour.
//
// Errors: those of [AnalyticsService.GetFeedback].
func (s *AnalyticsService) GetFeedbackByPage(ctx context.Context, params FeedbackByPageParams) (*FeedbackByPage, error) {
	export := exportParams{from: params.DateFrom, to: params.DateTo, limit: params.Limit, maxLimit: maxFeedbackLimit}
	if err := export.check(); err != nil {
		return nil, err
	}
	if err := checkStatuses(params.Statuses); err != nil {
		return nil, err
	}
	query := export.query()
	setFeedbackFilter(query, params.Source, params.Statuses)
	pages := new(FeedbackByPage)
	if err := s.get(ctx, OpGetFeedbackByPage, "/feedback/by-page", query, pages); err != nil {
		return nil, err
	}
	return pages, nil
}

// feedbackByPageJSON is the response as the service sends it.
type feedbackByPageJSON[L any] struct {
	Pages   L     `json:"feedback"`
	HasMore *bool `json:"hasMore"`
}

// pageFeedbackJSON is a row whose numbers need not be whole.
type pageFeedbackJSON struct {
	Path       string `json:"path"`
	ThumbsUp   count  `json:"thumbsUp"`
	ThumbsDown count  `json:"thumbsDown"`
	Code       count  `json:"code"`
	Total      count  `json:"total"`
}

func (p *FeedbackByPage) decode(data []byte) error {
	var fast feedbackByPageJSON[[]PageFeedback]
	if decodeRows(data, &fast, &fast.Pages) && fast.HasMore != nil {
		p.Pages, p.HasMore = fast.Pages, *fast.HasMore
		return nil
	}
	var page feedbackByPageJSON[list[pageFeedbackJSON]]
	if err := json.Unmarshal(data, &page); err != nil {
		return notJSON("feedback by page", err)
	}
	switch {
	case page.Pages == nil:
		return missing("feedback")
	case page.HasMore == nil:
		return missing("hasMore")
	}
	p.HasMore = *page.HasMore
	p.Pages = make([]PageFeedback, len(page.Pages))
	for i, row := range page.Pages {
		p.Pages[i] = PageFeedback{row.Path, int64(row.ThumbsUp), int64(row.ThumbsDown), int64(row.Code), int64(row.Total)}
	}
	return nil
}

package mintlifytest

import (
	"cmp"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const maxFeedback = 100 // rows of a page

// SetFeedback sets the rows of the feedback export, the same for every project. The service
// reports those within the dates (a row without CreatedAt is within all), of the source and
// of the statuses asked for, and counts them by page.
func (s *Service) SetFeedback(rows []mintlify.Feedback) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feedback = slices.Clone(rows)
}

func (s *Service) getFeedback(c *call) (any, *failure) {
	q := query{Values: c.query}
	filter := q.feedbackFilter()
	limit, from := cmp.Or(q.integer("limit", 1, maxFeedback), 50), q.cursor()
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	rows, hasMore := pageOf(filter(s.feedback), from, limit)
	var page struct {
		Feedback   []feedbackResult `json:"feedback"`
		NextCursor *string          `json:"nextCursor"`
		HasMore    bool             `json:"hasMore"`
	}
	page.Feedback = make([]feedbackResult, len(rows))
	for i, row := range rows {
		page.Feedback[i] = newFeedbackResult(row)
	}
	page.NextCursor, page.HasMore = nextCursor(from+limit, hasMore), hasMore
	return page, nil
}

func (s *Service) getFeedbackByPage(c *call) (any, *failure) {
	q := query{Values: c.query}
	filter := q.feedbackFilter()
	limit := cmp.Or(q.integer("limit", 1, maxFeedback), 10)
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	byPath := map[string]*mintlify.PageFeedback{}
	var pages []*mintlify.PageFeedback // in the order of their first row
	for _, row := range filter(s.feedback) {
		page := byPath[row.Path]
		if page == nil {
			page = &mintlify.PageFeedback{Path: row.Path}
			byPath[row.Path] = page
			pages = append(pages, page)
		}
		countFeedback(page, row)
	}
	first, hasMore := pageOf(pages, 0, limit)
	if first == nil {
		first = []*mintlify.PageFeedback{}
	}
	return map[string]any{"feedback": first, "hasMore": hasMore}, nil
}

func countFeedback(page *mintlify.PageFeedback, row mintlify.Feedback) {
	page.Total++
	switch {
	case row.Source == mintlify.FeedbackFromCodeSnippet:
		page.Code++
	case row.Helpful == nil:
	case *row.Helpful:
		page.ThumbsUp++
	default:
		page.ThumbsDown++
	}
}

// feedbackFilter reads the filters of a request, and returns the rows that pass them.
func (q *query) feedbackFilter() func([]mintlify.Feedback) []mintlify.Feedback {
	from, to := q.date("dateFrom"), q.date("dateTo")
	sources := q.enum("source", 1, "code_snippet", "contextual", "agent", "thumbs_only")
	statuses := q.enum("status", -1, "pending", "in_progress", "resolved", "dismissed")
	return func(rows []mintlify.Feedback) (left []mintlify.Feedback) {
		for _, row := range rows {
			if isWithin(row.CreatedAt, from, to) && (sources == nil || slices.Contains(sources, string(row.Source))) &&
				(statuses == nil || slices.Contains(statuses, string(row.Status))) {
				left = append(left, row)
			}
		}
		return left
	}
}

// feedbackResult is a row as the service reports it: each source has fields of its own.
type feedbackResult struct {
	ID        string                  `json:"id"`
	Path      string                  `json:"path"`
	Comment   *string                 `json:"comment"`
	CreatedAt *string                 `json:"createdAt"`
	Source    mintlify.FeedbackSource `json:"source"`
	Status    mintlify.FeedbackStatus `json:"status"`
	Helpful   *bool                   `json:"helpful,omitempty"`
	Contact   *string                 `json:"contact,omitempty"`
	Code      string                  `json:"code,omitempty"`
	Filename  *string                 `json:"filename,omitempty"`
	Lang      *string                 `json:"lang,omitempty"`
}

func newFeedbackResult(row mintlify.Feedback) feedbackResult {
	return feedbackResult{ID: row.ID, Path: row.Path, Comment: orNull(row.Comment), CreatedAt: timestamp(row.CreatedAt), Source: row.Source, Status: row.Status,
		Helpful: row.Helpful, Contact: orNull(row.Contact), Code: row.Code, Filename: orNull(row.Filename), Lang: orNull(row.Language)}
}

package mintlifytest

import (
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const maxFeedback = 100 // rows of a page

// SetFeedback sets the rows of the feedback export, the same for every project. The service
// reports, and counts by page, the rows in the range of dates that have the source and a
// status asked for, the newest first. A row without CreatedAt is in every range.
func (s *Service) SetFeedback(rows []mintlify.Feedback) {
	defer s.lock()()
	s.feedback = sliceOf(rows, func(row mintlify.Feedback) mintlify.Feedback {
		row.Helpful = clonePointer(row.Helpful, func(helpful bool) bool { return helpful })
		row.CreatedAt = toMillisecond(row.CreatedAt)
		return row
	})
	newestFirst(s.feedback, func(row mintlify.Feedback) time.Time { return row.CreatedAt })
}

func (s *Service) getFeedback(c *call) (any, *failure) {
	q := query{Values: c.query}
	matching := q.feedbackFilter().apply(s.feedback)
	return pageByCursor(s, &q, maxFeedback, 50, "feedback", matching, feedbackAsSent)
}

// feedbackAsSent returns a row with the fields that the service sends for its source.
func feedbackAsSent(row mintlify.Feedback) any {
	switch row.Source {
	case mintlify.FeedbackContextual:
		return asSent(row, "comment", "createdAt", "contact")

	case mintlify.FeedbackFromCodeSnippet:
		type sent struct { // Code and Filename, also if they are ""
			mintlify.Feedback
			Code     string  `json:"code"`
			Filename *string `json:"filename"`
		}

		code := sent{Feedback: row, Code: row.Code}
		if row.Filename != "" || row.Language != "" { // recorded: null comes without a language, "" with one
			code.Filename = &row.Filename
		}
		return asSent(code, "comment", "createdAt", "lang")
	}
	return asSent(row, "comment", "createdAt")
}

func (s *Service) getFeedbackCounts(c *call) (any, *failure) {
	q := query{Values: c.query}
	filter := q.feedbackFilter()
	limit := q.limit(maxFeedback, 10)
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}

	pages := feedbackCounts(filter.apply(s.feedback))
	first, hasMore := pageOf(pages, 0, limit)
	return map[string]any{"feedback": first, "hasMore": hasMore}, nil
}

// feedbackCounts counts rows by page. The pages are in the order of their first row.
func feedbackCounts(rows []mintlify.Feedback) []*mintlify.FeedbackCount {
	byPath := map[string]*mintlify.FeedbackCount{}
	var pages []*mintlify.FeedbackCount
	for _, row := range rows {
		page := byPath[row.Path]
		if page == nil {
			page = &mintlify.FeedbackCount{Path: row.Path}
			byPath[row.Path] = page
			pages = append(pages, page)
		}

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
	return pages
}

// feedbackFilter is what a request asks for.
type feedbackFilter struct {
	from, to mintlify.Date
	sources  []string // nil: all
	statuses []string // nil: all
}

func (q *query) feedbackFilter() feedbackFilter {
	var f feedbackFilter
	f.from, f.to = q.dates()
	f.sources = q.enum("source", 1, "code_snippet", "contextual", "agent", "thumbs_only")
	f.statuses = q.enum("status", -1, "pending", "in_progress", "resolved", "dismissed")
	return f
}

func (f feedbackFilter) apply(rows []mintlify.Feedback) []mintlify.Feedback {
	return slices.DeleteFunc(slices.Clone(rows), func(row mintlify.Feedback) bool {
		hasSource := f.sources == nil || slices.Contains(f.sources, string(row.Source))
		hasStatus := f.statuses == nil || slices.Contains(f.statuses, string(row.Status))
		return !hasSource || !hasStatus || !isWithin(row.CreatedAt, f.from, f.to)
	})
}

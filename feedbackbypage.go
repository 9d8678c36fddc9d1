package mintlify

import (
	"context"
	"encoding/json"
)

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

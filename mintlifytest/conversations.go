package mintlifytest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// SetConversations sets the rows of the conversations export, the same for every project: a
// turn of a conversation each. The service reports those within the dates (a row without
// Timestamp is within all), and those with the same ID as a thread.
func (s *Service) SetConversations(rows []mintlify.Conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversations = slices.Clone(rows)
}

// SetCallerStats sets the caller stats, the same for every project and range of dates.
func (s *Service) SetCallerStats(stats mintlify.CallerStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callerStats = stats
}

func (s *Service) getConversations(c *call) (any, *failure) {
	q := query{Values: c.query}
	dateFrom, dateTo := q.date("dateFrom"), q.date("dateTo")
	limit, from := cmp.Or(q.integer("limit", 1, 1000), 100), q.cursor()
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	var within []mintlify.Conversation
	for _, row := range s.conversations {
		if isWithin(row.Timestamp, dateFrom, dateTo) {
			within = append(within, row)
		}
	}
	rows, hasMore := pageOf(within, from, limit)
	var page struct {
		Conversations []conversationResult `json:"conversations"`
		NextCursor    *string              `json:"nextCursor"`
		HasMore       bool                 `json:"hasMore"`
	}
	page.Conversations = make([]conversationResult, len(rows))
	for i, row := range rows {
		page.Conversations[i] = newConversationResult(row)
	}
	page.NextCursor, page.HasMore = nextCursor(from+limit, hasMore), hasMore
	return page, nil
}

func (s *Service) getThread(c *call) (any, *failure) {
	if failed := s.count(analyticsQuota()); failed != nil {
		return nil, failed
	}
	thread := threadResult{ThreadID: c.id}
	for _, row := range s.conversations {
		if row.ID != c.id {
			continue
		}
		at := timestamp(row.Timestamp)
		thread.CreatedAt = cmp.Or(thread.CreatedAt, at)
		n := len(thread.Messages)
		thread.Messages = append(thread.Messages,
			messageResult{fmt.Sprintf("message_%d", n+1), mintlify.RoleUser, row.Query, at},
			messageResult{fmt.Sprintf("message_%d", n+2), mintlify.RoleAssistant, row.Response, at})
	}
	if len(thread.Messages) == 0 {
		return nil, &failure{status: http.StatusNotFound, Error: "Thread not found"}
	}
	return thread, nil
}

func (s *Service) getCallerStats(c *call) (any, *failure) {
	q := query{Values: c.query}
	q.date("dateFrom")
	q.date("dateTo")
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	return s.callerStats, nil
}

// conversationResult is a row as the service reports it.
type conversationResult struct {
	ID               string                        `json:"id"`
	Timestamp        *string                       `json:"timestamp"`
	Query            string                        `json:"query"`
	Response         string                        `json:"response"`
	ResponseType     mintlify.ResponseType         `json:"responseType,omitempty"`
	Sources          []mintlify.ConversationSource `json:"sources"`
	ResolutionStatus mintlify.ResolutionStatus     `json:"resolutionStatus"`
	QueryCategory    *string                       `json:"queryCategory"`
	PageURL          *string                       `json:"pageUrl"`
}

func newConversationResult(row mintlify.Conversation) conversationResult {
	r := conversationResult{row.ID, timestamp(row.Timestamp), row.Query, row.Response, row.ResponseType, row.Sources, row.ResolutionStatus, orNull(row.QueryCategory), orNull(row.PageURL)}
	if r.Sources == nil {
		r.Sources = []mintlify.ConversationSource{}
	}
	return r
}

// threadResult is a thread as the service reports it.
type threadResult struct {
	ThreadID  string          `json:"threadId"`
	CreatedAt *string         `json:"createdAt"`
	Messages  []messageResult `json:"messages"`
}

type messageResult struct {
	ID        string        `json:"id"`
	Role      mintlify.Role `json:"role"`
	Content   string        `json:"content"`
	CreatedAt *string       `json:"createdAt"`
}

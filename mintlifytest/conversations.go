package mintlifytest

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// SetConversations sets the rows of the conversations export, the same for every project.
// Each is a turn of a conversation. The service reports the rows in the range of dates (a
// row without Timestamp is in every range), and rows with the same ID as a thread. To GetThread of
// another id it responds 404, or 400 if that is not a ULID, which the service's own ids are.
func (s *Service) SetConversations(rows []mintlify.Conversation) {
	defer s.lock()()
	s.conversations = sliceOf(rows, func(row mintlify.Conversation) mintlify.Conversation {
		row.Sources = slices.Clone(row.Sources)
		return row
	})
}

// SetCallerStats sets the caller stats, the same for every project and range of dates.
func (s *Service) SetCallerStats(stats mintlify.CallerStats) {
	defer s.lock()()
	s.callerStats = stats
}

func (s *Service) getConversations(c *call) (any, *failure) {
	q := query{Values: c.query}
	from, to := q.dates()
	limit := q.limit(1000, 100)
	first := q.cursor()
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}

	var inRange []mintlify.Conversation
	for _, row := range s.conversations {
		if isWithin(row.Timestamp, from, to) {
			inRange = append(inRange, row)
		}
	}

	rows, hasMore := pageOf(inRange, first, limit)
	page := conversationPage{
		Conversations: sliceOf(rows, newConversationResult),
		NextCursor:    nextCursor(first+limit, hasMore),
		HasMore:       hasMore,
	}
	return page, nil
}

func (s *Service) getThread(c *call) (any, *failure) {
	if failed := s.count(analyticsQuota()); failed != nil {
		return nil, failed
	}

	thread := threadResult{ThreadID: c.id}
	for _, row := range s.conversations {
		if row.ID == c.id {
			thread.add(mintlify.RoleUser, row.Query, row.Timestamp)
			thread.add(mintlify.RoleAssistant, row.Response, row.Timestamp)
		}
	}

	switch {
	case len(thread.Messages) > 0: // a test may give its threads any id
		return thread, nil
	case !ulid.MatchString(c.id):
		return nil, &failure{status: http.StatusBadRequest, Error: "Invalid thread id"}
	}
	return nil, &failure{status: http.StatusNotFound, Error: "Thread not found"}
}

// ulid matches the ids that the service gives its threads.
var ulid = regexp.MustCompile(`^(?i)[0-7][0-9A-HJKMNP-TV-Z]{25}$`)

func (s *Service) getCallerStats(c *call) (any, *failure) {
	q := query{Values: c.query}
	q.dates()
	if failed := s.admit(&q); failed != nil {
		return nil, failed
	}
	return s.callerStats, nil
}

// conversationPage is a page as the service reports it.
type conversationPage struct {
	Conversations []conversationResult `json:"conversations"`
	NextCursor    *string              `json:"nextCursor"`
	HasMore       bool                 `json:"hasMore"`
}

// conversationResult is a row as the service reports it.
type conversationResult struct {
	ID               string                        `json:"id"`
	Timestamp        *string                       `json:"timestamp"`
	Query            string                        `json:"query"`
	Response         string                        `json:"response"`
	ResponseType     mintlify.AnswerType           `json:"responseType,omitempty"`
	Sources          []mintlify.ConversationSource `json:"sources"`
	ResolutionStatus mintlify.ResolutionStatus     `json:"resolutionStatus"`
	QueryCategory    *string                       `json:"queryCategory"`
	PageURL          *string                       `json:"pageUrl"`
}

func newConversationResult(row mintlify.Conversation) conversationResult {
	sources := row.Sources
	if sources == nil {
		sources = []mintlify.ConversationSource{} // the service writes [], not null
	}

	return conversationResult{
		ID:               row.ID,
		Timestamp:        timestamp(row.Timestamp),
		Query:            row.Query,
		Response:         row.Response,
		ResponseType:     row.ResponseType,
		Sources:          sources,
		ResolutionStatus: row.ResolutionStatus,
		QueryCategory:    orNull(row.QueryCategory),
		PageURL:          orNull(row.PageURL),
	}
}

// threadResult is a thread as the service reports it.
type threadResult struct {
	ThreadID  string          `json:"threadId"`
	CreatedAt *string         `json:"createdAt"`
	Messages  []messageResult `json:"messages"`
}

// add appends a message. The first one gives the thread its time.
func (r *threadResult) add(role mintlify.MessageRole, content string, at time.Time) {
	message := messageResult{
		ID:        fmt.Sprintf("message_%d", len(r.Messages)+1),
		Role:      role,
		Content:   content,
		CreatedAt: timestamp(at),
	}
	r.CreatedAt = cmp.Or(r.CreatedAt, message.CreatedAt)
	r.Messages = append(r.Messages, message)
}

type messageResult struct {
	ID        string               `json:"id"`
	Role      mintlify.MessageRole `json:"role"`
	Content   string               `json:"content"`
	CreatedAt *string              `json:"createdAt"`
}

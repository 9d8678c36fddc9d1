package mintlify

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"iter"
	"net/url"
	"time"
)

// ResponseType is what the assistant responded with. One that this version does not know is
// kept as received.
type ResponseType string

// The types of response.
const (
	ResponseAnswer             ResponseType = "answer"
	ResponseClarifyingQuestion ResponseType = "clarifying_question"
)

// ResolutionStatus is whether the assistant could help. One that this version does not know
// is kept as received.
type ResolutionStatus string

// The resolution statuses.
const (
	ResolutionAnswered   ResolutionStatus = "answered"
	ResolutionUnanswered ResolutionStatus = "unanswered"
)

// ConversationsParams says which conversations to export. The zero value is a range of dates
// and a page of the service's choosing.
type ConversationsParams struct {
	DateFrom Date   // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date   // exclusive: results are before it; zero: not sent
	Limit    int    // rows a page, 1 to 1000; 0: the service's default, 100, in GetConversations, and 250 in the iterators; 1000 long responses can be more than the 10 MiB that are read
	Cursor   string // of the page: a NextCursor, with the same dates; "" is the first page
}

// ConversationPage is one page of an export of conversations. It marshals to JSON under the
// service's own field names, with cursor added, and reads back to an equal value.
type ConversationPage struct {
	Conversations []Conversation `json:"conversations"` // in the service's order, which is not documented
	HasMore       bool           `json:"hasMore"`       // whether there are rows beyond this page
	Cursor        string         `json:"cursor"`        // of this page
	NextCursor    string         `json:"nextCursor"`    // of the next page, if HasMore
}

// Conversation is one turn of a conversation with the assistant: a reader's message, and
// what the assistant responded. Readers write what they like: treat a row as personal data.
type Conversation struct {
	ID               string               `json:"id"`                      // of the conversation: its turns share it, so it is no key of a row; ID and Timestamp together are
	Timestamp        time.Time            `json:"timestamp,omitzero"`      // of the reader's message, in UTC; zero where the service does not say, or what cannot be parsed
	Query            string               `json:"query"`                   // the reader's message
	Response         string               `json:"response"`                // the assistant's
	ResponseType     ResponseType         `json:"responseType,omitempty"`  // "" where the service does not say, which means an answer
	Sources          []ConversationSource `json:"sources"`                 // that the response rests on, if any
	ResolutionStatus ResolutionStatus     `json:"resolutionStatus"`        // whether the assistant could help
	QueryCategory    string               `json:"queryCategory,omitempty"` // "" where there is none
	PageURL          string               `json:"pageUrl,omitempty"`       // where the reader was; "" where the service does not say
}

// ConversationSource is a page that a response rests on.
type ConversationSource struct {
	Title string `json:"title"` // of the page
	URL   string `json:"url"`   // of the page
}

// GetConversations returns one page of conversations, for one request:
// GET /v1/analytics/{projectId}/assistant. It changes nothing and is safe to call again, but
// counts against the quota of 100 analytics requests per organization and hour:
// [AnalyticsService.Conversations] asks for pages of 250 rows.
//
// Errors: [*ArgumentError] for a limit outside 0 to 1000, or a DateFrom that is not before
// DateTo; [*APIError], [*ResponseError] (also for a page of more than 10 MiB: ask for a
// smaller limit), or the network's or context's error.
func (s *AnalyticsService) GetConversations(ctx context.Context, params ConversationsParams) (*ConversationPage, error) {
	if err := params.export().check(); err != nil {
		return nil, err
	}
	page := &ConversationPage{Cursor: params.Cursor}
	if err := s.get(ctx, OpGetConversations, "/assistant", params.export().query(), page); err != nil {
		return nil, err
	}
	return page, nil
}

// ConversationPages ranges over an export page by page, from params.Cursor on, in pages of
// params.Limit rows or, where that is 0, of 250. The rules are those of
// [AnalyticsService.SearchPages].
func (s *AnalyticsService) ConversationPages(ctx context.Context, params ConversationsParams, opts ...ExportOption) iter.Seq2[*ConversationPage, error] {
	return paginate(ctx, s, OpGetConversations, params.export(), opts, func(ctx context.Context, limit int, at position) (*ConversationPage, error) {
		params := params
		params.Limit, params.Cursor = limit, at.cursor
		return s.GetConversations(ctx, params)
	})
}

// Conversations is [AnalyticsService.ConversationPages] row by row.
func (s *AnalyticsService) Conversations(ctx context.Context, params ConversationsParams, opts ...ExportOption) iter.Seq2[Conversation, error] {
	return rowsOf(s.ConversationPages(ctx, params, opts...), func(p *ConversationPage) []Conversation { return p.Conversations })
}

func (p ConversationsParams) export() exportParams {
	return exportParams{from: p.DateFrom, to: p.DateTo, limit: p.Limit, maxLimit: 1000, iterLimit: 250, byCursor: true, position: position{cursor: p.Cursor}}
}

func (p *ConversationPage) rowCount() int          { return len(p.Conversations) }
func (p *ConversationPage) next() (position, bool) { return position{cursor: p.NextCursor}, p.HasMore }

func (p *ConversationPage) hash(seed maphash.Seed) uint64 {
	type key struct {
		id    string
		at    time.Time
		query string
	}
	return hashRows(seed, p.Conversations, func(row Conversation) key { return key{row.ID, row.Timestamp, row.Query} })
}

// conversationPageJSON is a page as the service sends it.
type conversationPageJSON[L any] struct {
	Conversations L `json:"conversations"`
	cursorJSON
}

// conversationJSON is a row whose time need not be a time.
type conversationJSON struct {
	Conversation
	Timestamp timestamp                `json:"timestamp"`
	Sources   list[ConversationSource] `json:"sources"`
}

func (p *ConversationPage) decode(data []byte) error {
	var fast conversationPageJSON[[]conversationJSON]
	if decodeRows(data, &fast, &fast.Conversations) {
		return p.set(fast.Conversations, fast.cursorJSON)
	}
	var page conversationPageJSON[list[conversationJSON]]
	if err := json.Unmarshal(data, &page); err != nil {
		return notJSON("a page of conversations", err)
	}
	if page.Conversations == nil {
		return missing("conversations")
	}
	return p.set(page.Conversations, page.cursorJSON)
}

func (p *ConversationPage) set(rows []conversationJSON, cursor cursorJSON) (err error) {
	p.Conversations = make([]Conversation, len(rows))
	for i, row := range rows {
		p.Conversations[i] = row.Conversation
		p.Conversations[i].Timestamp, p.Conversations[i].Sources = row.Timestamp.Time, row.Sources
	}
	p.HasMore, p.NextCursor, err = cursor.next()
	return err
}

// Role is who wrote a message of a thread. One that this version does not know is kept as
// received.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Thread is one conversation with the assistant. It marshals to JSON under the service's own
// field names, and reads back to an equal value. Readers write what they like: treat it as
// personal data.
type Thread struct {
	ID        string          `json:"threadId"`           // of the conversation, as the service gives it
	CreatedAt time.Time       `json:"createdAt,omitzero"` // in UTC; zero where the service does not say, or what cannot be parsed
	Messages  []ThreadMessage `json:"messages"`           // in order
}

// ThreadMessage is one message of a thread.
type ThreadMessage struct {
	ID        string    `json:"id"`                 // of this message
	Role      Role      `json:"role"`               // who wrote it
	Content   string    `json:"content"`            // what was written
	CreatedAt time.Time `json:"createdAt,omitzero"` // in UTC; zero where the service does not say, or what cannot be parsed
}

// GetThread returns a conversation with the assistant by its id, a [Conversation]'s, for one
// request: GET /v1/analytics/{projectId}/assistant/threads/{id}. It changes nothing and is
// safe to call again, but counts against the quota of 100 analytics requests per
// organization and hour.
//
// Errors: [*ArgumentError] for an empty or dot id, [*APIError] ([ErrNotFound] for an unknown
// thread), [*ResponseError], or the network's or context's error.
func (s *AnalyticsService) GetThread(ctx context.Context, id string) (*Thread, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	thread := new(Thread)
	if err := s.get(ctx, OpGetThread, "/assistant/threads/"+url.PathEscape(id), nil, thread); err != nil {
		return nil, err
	}
	return thread, nil
}

func (t *Thread) decode(data []byte) error {
	var thread struct {
		ID        string    `json:"threadId"`
		CreatedAt timestamp `json:"createdAt"`
		Messages  list[struct {
			ThreadMessage
			CreatedAt timestamp `json:"createdAt"`
		}] `json:"messages"`
	}
	if err := json.Unmarshal(data, &thread); err != nil {
		return notJSON("a thread", err)
	}
	if thread.Messages == nil {
		return missing("messages")
	}
	t.ID, t.CreatedAt = thread.ID, thread.CreatedAt.Time
	t.Messages = make([]ThreadMessage, len(thread.Messages))
	for i, message := range thread.Messages {
		t.Messages[i] = message.ThreadMessage
		t.Messages[i].CreatedAt = message.CreatedAt.Time
	}
	return nil
}

// CallerStatsParams says of which time to count the assistant's callers. The zero value is a
// range of dates of the service's choosing.
type CallerStatsParams struct {
	DateFrom Date // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date // exclusive: results are before it; zero: not sent
}

// CallerStats counts from where the assistant was asked. Whether it counts questions or those
// who ask them is not documented. It marshals to JSON under the service's own field names, and
// reads back to an equal value.
type CallerStats struct {
	Web   int64 `json:"web"`   // on the documentation's pages
	API   int64 `json:"api"`   // by the assistant's API
	Other int64 `json:"other"` // elsewhere
	Total int64 `json:"total"` // as the service counts it: not computed here
}

// GetCallerStats returns from where the assistant was asked, for one request:
// GET /v1/analytics/{projectId}/assistant/caller-stats. It changes nothing and is safe to
// call again, but counts against the quota of 100 analytics requests per organization and
// hour.
//
// Errors: [*ArgumentError] for a DateFrom that is not before DateTo; [*APIError],
// [*ResponseError], or the network's or context's error.
func (s *AnalyticsService) GetCallerStats(ctx context.Context, params CallerStatsParams) (*CallerStats, error) {
	if err := checkDates(params.DateFrom, params.DateTo); err != nil {
		return nil, err
	}
	stats := new(CallerStats)
	if err := s.get(ctx, OpGetCallerStats, "/assistant/caller-stats", datesQuery(params.DateFrom, params.DateTo), stats); err != nil {
		return nil, err
	}
	return stats, nil
}

func (s *CallerStats) decode(data []byte) error {
	var counts struct {
		Web   *count `json:"web"`
		API   *count `json:"api"`
		Other *count `json:"other"`
		Total *count `json:"total"`
	}
	if err := json.Unmarshal(data, &counts); err != nil {
		return notJSON("caller stats", err)
	}
	if counts.Web == nil && counts.API == nil && counts.Other == nil && counts.Total == nil {
		return missing("counts")
	}
	*s = CallerStats{counts.Web.int64(), counts.API.int64(), counts.Other.int64(), counts.Total.int64()}
	return nil
}

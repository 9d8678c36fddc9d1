package mintlify

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"iter"
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

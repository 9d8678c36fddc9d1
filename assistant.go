package mintlify

import (
	"context"
	"iter"
	"net/url"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/wire"
)

// AnswerType is how the assistant responded. Unknown values are kept as received.
type AnswerType string

// The types of response.
const (
	ResponseAnswer             AnswerType = "answer"
	ResponseClarifyingQuestion AnswerType = "clarifying_question"
)

// ResolutionStatus is whether the assistant could help. Unknown values are kept as received.
type ResolutionStatus string

// The resolution statuses.
const (
	ResolutionAnswered   ResolutionStatus = "answered"
	ResolutionUnanswered ResolutionStatus = "unanswered"
)

// ConversationsParams says which conversations to export. With the zero value the service
// chooses range and page size.
type ConversationsParams struct {
	// DateFrom is the first date of the range. The zero Date is not sent.
	DateFrom Date
	// DateTo is the end of the range and not part of it. The zero Date is not sent.
	DateTo Date
	// PageSize is the number of rows of a page, 1 to 1000, not of the export. 0 is 100 in
	// GetConversationPage, the service's default, and 250 in the iterators. 1000 long responses can exceed the 10 MiB
	// that the SDK reads.
	PageSize int
	// Cursor is the page to start at: a NextCursor, with the same dates. "" is the first page.
	Cursor string
}

// ConversationPage is one page of an export of conversations.
type ConversationPage struct {
	// Conversations are the rows, in the service's order.
	Conversations []Conversation `json:"conversations"`
	// HasMore reports whether more rows follow this page.
	HasMore bool `json:"hasMore"`
	// NextCursor is the Cursor of the next page. It is "" unless HasMore, and "" as a Cursor is the
	// first page: keep HasMore beside it in a checkpoint, or an export that has ended starts again.
	NextCursor string `json:"nextCursor"`
}

// Conversation is one turn of a conversation with the assistant: a reader's message and
// the assistant's response. Readers write what they like: treat a row as personal data.
type Conversation struct {
	// ID names the conversation. Its turns share it, and can share their Timestamp and even their
	// texts: only the position of a row in the export tells it from the others.
	ID string `json:"id"`
	// Timestamp is the time of the reader's message, or of the conversation, in UTC. It is zero if it
	// is absent or not a time.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// Query is the reader's message.
	Query string `json:"query"`
	// Response is the assistant's response.
	Response string `json:"response"`
	// ResponseType says how the assistant responded. It is "" if the service does not say,
	// which means an answer.
	ResponseType AnswerType `json:"responseType,omitempty"`
	// Sources are the pages that the response is based on, if any.
	Sources []ConversationSource `json:"sources"`
	// ResolutionStatus says whether the assistant could help.
	ResolutionStatus ResolutionStatus `json:"resolutionStatus"`
	// QueryCategory is the service's category of the message. It is "" if there is none.
	QueryCategory string `json:"queryCategory,omitempty"`
	// PageURL is the page that the reader was on. It is "" if the service does not say.
	PageURL string `json:"pageUrl,omitempty"`
}

// ConversationSource is a page that a response is based on.
type ConversationSource struct {
	// Title is the title of the page.
	Title string `json:"title"`
	// URL is the address of the page. It can be a bare path such as guides/setup.
	URL string `json:"url"`
}

// GetConversationPage returns one page of conversations. It costs one request: GET
// /v1/analytics/{projectId}/assistant. To export all of them use [AnalyticsService.Conversations].
//
// Errors: [*ArgumentError] for a limit outside 0 to 1000, or a DateFrom that is not before
// DateTo; [*APIError], [*MalformedResponseError] (also for a page of more than 10 MiB: ask for a
// smaller limit), or the network's or context's error.
func (s *AnalyticsService) GetConversationPage(
	ctx context.Context, params ConversationsParams,
) (*ConversationPage, error) {
	return s.conversations(params).get(ctx)
}

// ConversationPages ranges over an export page by page, from params.Cursor on, in pages of
// params.PageSize rows (0: 250), by the rules of [AnalyticsService.SearchPages]. In pages of one row,
// two turns that are equal look like a page that is repeated: ask for more rows.
func (s *AnalyticsService) ConversationPages(
	ctx context.Context, params ConversationsParams, opts ...ExportOption,
) iter.Seq2[*ConversationPage, error] {
	return s.conversations(params).pages(ctx, opts)
}

// Conversations is [AnalyticsService.ConversationPages] row by row.
func (s *AnalyticsService) Conversations(
	ctx context.Context, params ConversationsParams, opts ...ExportOption,
) iter.Seq2[Conversation, error] {
	return s.conversations(params).rows(ctx, opts)
}

func (s *AnalyticsService) conversations(params ConversationsParams) list[*ConversationPage, Conversation] {
	dates := dateRange{params.DateFrom, params.DateTo}

	return list[*ConversationPage, Conversation]{
		client:       s.client,
		request:      s.request(OpGetConversations, "/assistant", dates.query()),
		invalid:      dates.check(),
		from:         position{cursor: params.Cursor},
		byCursor:     true,
		pageSize:     params.PageSize,
		maxPageSize:  1000,
		iterPageSize: 250,
		newPage:      func() *ConversationPage { return new(ConversationPage) },
	}
}

func (c Conversation) identity() identity {
	return identity{text: c.ID, at: c.Timestamp.UnixNano(), more: [2]string{c.Query, c.Response}}
}

func (p *ConversationPage) rows() []Conversation   { return p.Conversations }
func (p *ConversationPage) next() (position, bool) { return position{cursor: p.NextCursor}, p.HasMore }

func (p *ConversationPage) decode(data []byte) error {
	if err := wire.Decode(data, "a page of conversations", p, "conversations", "hasMore"); err != nil {
		return err
	}
	return checkCursor(&p.NextCursor, p.HasMore)
}

// MessageRole is who wrote a message of a thread. Unknown values are kept as received.
type MessageRole string

// The roles.
const (
	RoleUser      MessageRole = "user"
	RoleAssistant MessageRole = "assistant"
)

// Thread is one conversation with the assistant. Readers write what they like: treat it as personal
// data.
type Thread struct {
	// ID is the id of the conversation, as the service sends it.
	ID string `json:"threadId"`
	// CreatedAt is in UTC. It is zero if it is absent or not a time.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// Messages are the turns of both sides, in order.
	Messages []ThreadMessage `json:"messages"`
}

// ThreadMessage is one message of a thread.
type ThreadMessage struct {
	// ID names this message.
	ID string `json:"id"`
	// Role says who wrote the message.
	Role MessageRole `json:"role"`
	// Content is the text of the message.
	Content string `json:"content"`
	// CreatedAt is in UTC. It is zero if it is absent or not a time.
	CreatedAt time.Time `json:"createdAt,omitzero"`
}

// GetThread returns a conversation with the assistant by its id, a [Conversation]'s ID. It
// costs one request: GET /v1/analytics/{projectId}/assistant/threads/{id}.
//
// Errors: [*ArgumentError] for an id that is empty, . or .., or has a control character or
// white space at an end; [*APIError] ([ErrNotFound] for an unknown thread, [ErrBadRequest] for an id
// that is not a ULID), [*MalformedResponseError], or the network's or context's error.
func (s *AnalyticsService) GetThread(ctx context.Context, id string) (*Thread, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}

	r := s.request(OpGetThread, "/assistant/threads/"+url.PathEscape(id), nil)
	return resultOf[Thread](ctx, s.client, r)
}

func (t *Thread) decode(data []byte) error { return wire.Decode(data, "a thread", t, "messages") }

// CallerStatsParams says for which range to count the assistant's callers. With the zero
// value the service chooses the range.
type CallerStatsParams struct {
	// DateFrom is the first date of the range. The zero Date is not sent.
	DateFrom Date
	// DateTo is the end of the range and not part of it. The zero Date is not sent.
	DateTo Date
}

// CallerStats counts where the assistant was called from. The service does not document whether it
// counts questions or the people who ask them.
type CallerStats struct {
	// Web is the number of calls on the documentation's pages.
	Web int64 `json:"web"`
	// API is the number of calls by the assistant's API.
	API int64 `json:"api"`
	// Other is the number of calls from elsewhere.
	Other int64 `json:"other"`
	// Total is the number of calls as the service counts them. The SDK computes nothing.
	Total int64 `json:"total"`
}

// GetCallerStats returns where the assistant was called from. It costs one request:
// GET /v1/analytics/{projectId}/assistant/caller-stats.
//
// Errors: [*ArgumentError] for a DateFrom that is not before DateTo; [*APIError],
// [*MalformedResponseError], or the network's or context's error.
func (s *AnalyticsService) GetCallerStats(ctx context.Context, params CallerStatsParams) (*CallerStats, error) {
	dates := dateRange{params.DateFrom, params.DateTo}
	if err := dates.check(); err != nil {
		return nil, err
	}

	r := s.request(OpGetCallerStats, "/assistant/caller-stats", dates.query())
	return resultOf[CallerStats](ctx, s.client, r)
}

func (s *CallerStats) decode(data []byte) error {
	return wire.Decode(data, "caller stats", s, "web", "api", "other", "total")
}

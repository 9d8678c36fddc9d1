package mintlify

import (
	"context"
	"encoding/json"
	"net/url"
	"time"
)

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

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
// Each is a turn of a conversation. The service reports the rows in the range of dates, the newest
// first (a row without Timestamp is in every range), and rows with the same ID as a thread, the
// oldest first. To GetThread of another id it responds 404, or 400 if that is not a ULID, which the
// service's own ids are.
func (s *Service) SetConversations(rows []mintlify.Conversation) {
	defer s.lock()()
	s.conversations = sliceOf(rows, func(row mintlify.Conversation) mintlify.Conversation {
		row.Sources = append([]mintlify.ConversationSource{}, row.Sources...) // without any, JSON has [], not null
		row.Timestamp = toMillisecond(row.Timestamp)
		return row
	})
}

// ShareTurnTimes has all turns of a conversation report the time of its first one, which exports
// from before August 2026 do. No field then tells two turns apart that have the same words.
func (s *Service) ShareTurnTimes() {
	defer s.lock()()
	s.sharesTurnTimes = true
}

// turns returns the rows as the export has them.
func (s *Service) turns() []mintlify.Conversation {
	rows := slices.Clone(s.conversations)
	if s.sharesTurnTimes {
		first := map[string]time.Time{} // by conversation
		for _, row := range rows {
			at, ok := first[row.ID]
			if !ok || row.Timestamp.Before(at) {
				first[row.ID] = row.Timestamp
			}
		}
		for i := range rows {
			rows[i].Timestamp = first[rows[i].ID]
		}
	}

	newestFirst(rows, func(row mintlify.Conversation) time.Time { return row.Timestamp })
	return rows
}

// SetCallerStats sets the caller stats, the same for every project and range of dates.
func (s *Service) SetCallerStats(stats mintlify.CallerStats) {
	defer s.lock()()
	s.callerStats = stats
}

func (s *Service) getConversations(c *call) (any, *failure) {
	q := query{Values: c.query}
	from, to := q.dates()
	inRange := slices.DeleteFunc(s.turns(), func(row mintlify.Conversation) bool {
		return !isWithin(row.Timestamp, from, to)
	})
	return pageByCursor(s, &q, 1000, 100, "conversations", inRange, func(row mintlify.Conversation) any {
		return asSent(row, "timestamp", "queryCategory", "pageUrl")
	})
}

func (s *Service) getThread(c *call) (any, *failure) {
	if failed := s.count(analyticsQuota()); failed != nil {
		return nil, failed
	}

	thread := s.thread(c.id)
	switch {
	case len(thread.Messages) > 0: // a test may give its threads any id
		type sent struct {
			mintlify.Thread
			Messages []any `json:"messages"`
		}
		messages := sliceOf(thread.Messages, func(m mintlify.ThreadMessage) any { return asSent(m) })
		return asSent(sent{Thread: thread, Messages: messages}), nil

	case !ulid.MatchString(c.id):
		return nil, &failure{status: http.StatusBadRequest, Error: "Invalid thread id"}
	}
	return nil, &failure{status: http.StatusNotFound, Error: "Thread not found"}
}

// thread returns the turns of a conversation, the oldest first.
func (s *Service) thread(id string) mintlify.Thread {
	isOther := func(row mintlify.Conversation) bool { return row.ID != id }
	turns := slices.DeleteFunc(slices.Clone(s.conversations), isOther)
	slices.SortStableFunc(turns, func(a, b mintlify.Conversation) int { return a.Timestamp.Compare(b.Timestamp) })

	thread := mintlify.Thread{ID: id}
	for _, row := range turns {
		thread.CreatedAt = cmp.Or(thread.CreatedAt, row.Timestamp)
		thread.Messages = append(thread.Messages,
			mintlify.ThreadMessage{Role: mintlify.RoleUser, Content: row.Query, CreatedAt: row.Timestamp},
			mintlify.ThreadMessage{Role: mintlify.RoleAssistant, Content: row.Response, CreatedAt: row.Timestamp})
	}
	for i := range thread.Messages {
		thread.Messages[i].ID = fmt.Sprintf("message_%d", i+1)
	}
	return thread
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

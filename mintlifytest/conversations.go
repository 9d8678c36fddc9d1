package mintlifytest

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// SetConversations sets the rows of the conversations export, the same for every project.
// Each is a turn of a conversation. The service reports the rows in the range of dates (a
// row without Timestamp is in every range), and rows with the same ID as a thread. To GetThread of
// another id it responds 404, or 400 if that is not a ULID, which the service's own ids are.
func (s *Service) SetConversations(rows []mintlify.Conversation) {
	defer s.lock()()
	s.conversations = sliceOf(rows, func(row mintlify.Conversation) mintlify.Conversation {
		row.Sources = append([]mintlify.ConversationSource{}, row.Sources...) // without any, JSON has [], not null
		row.Timestamp = toMillisecond(row.Timestamp)
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
	inRange := slices.DeleteFunc(slices.Clone(s.conversations), func(row mintlify.Conversation) bool {
		return !isWithin(row.Timestamp, from, to)
	})
	return pageByCursor(s, &q, 1000, 100, "conversations", inRange, "timestamp", "queryCategory", "pageUrl")
}

func (s *Service) getThread(c *call) (any, *failure) {
	if failed := s.count(analyticsQuota()); failed != nil {
		return nil, failed
	}

	thread := mintlify.Thread{ID: c.id}
	for _, row := range s.conversations {
		if row.ID == c.id {
			thread.CreatedAt = cmp.Or(thread.CreatedAt, row.Timestamp)
			thread.Messages = append(thread.Messages,
				mintlify.ThreadMessage{Role: mintlify.RoleUser, Content: row.Query, CreatedAt: row.Timestamp},
				mintlify.ThreadMessage{Role: mintlify.RoleAssistant, Content: row.Response, CreatedAt: row.Timestamp})
		}
	}
	for i := range thread.Messages {
		thread.Messages[i].ID = fmt.Sprintf("message_%d", i+1)
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

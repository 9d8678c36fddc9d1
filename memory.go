package mintlify

import (
	"sync"
	"time"
)

const (
	messageTime   = 30 * time.Second // for which a job may still report its earlier end after a message
	maxRemembered = 1000             // unknown statuses that were warned of
)

// memory is what a client remembers from one call to the next. The clients of [Client.ForProject]
// share it.
type memory struct {
	mu       sync.Mutex
	messages map[string]time.Time // when Message returned, by the job's URL
	warned   map[seenStatus]bool
}

type seenStatus struct{ url, status string }

// messaged notes that the service has a message to a job, or may have it.
func (m *memory) messaged(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	for job, at := range m.messages {
		if time.Since(at) >= messageTime {
			delete(m.messages, job)
		}
	}
	if m.messages == nil {
		m.messages = map[string]time.Time{}
	}
	m.messages[url] = time.Now()
}

// actedOn notes that a poll, which began at start, has seen the job at work: later it may end.
func (m *memory) actedOn(url string, start time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if start.After(m.messages[url]) {
		delete(m.messages, url)
	}
}

// isSettling reports whether the end that a job reports may be that before its latest message.
func (m *memory) isSettling(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	at, ok := m.messages[url]
	return ok && time.Since(at) < messageTime
}

// isNews reports whether no poll of this URL has warned of this status, and remembers it.
func (m *memory) isNews(url, status string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	seen := seenStatus{url, status}
	if m.warned[seen] {
		return false
	}

	if m.warned == nil || len(m.warned) == maxRemembered {
		m.warned = map[seenStatus]bool{}
	}
	m.warned[seen] = true
	return true
}

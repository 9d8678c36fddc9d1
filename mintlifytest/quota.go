package mintlifytest

import (
	"net/http"
	"time"
)

// quota is how many requests the service takes in a window of time.
type quota struct {
	key      string // what the requests count against
	requests int
	window   time.Duration
	text     string // in words
}

func agentQuota(project string) quota {
	return quota{"agent " + project, 100, time.Hour, "100 requests per project per hour"}
}

func analyticsQuota() quota {
	return quota{"analytics", 100, time.Hour, "100 requests per organization per hour"}
}

// EnforceQuotas has the service respond 429 to requests beyond its documented quotas:
// 100 jobs and messages per project and hour, 100 analytics requests per organization
// and hour. Retry-After is when the next one is admitted, in seconds, rounded up: when
// the oldest of the 100 is an hour old. A refused request does not count.
func (s *Service) EnforceQuotas() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quotas = map[string][]time.Time{}
}

// count counts a request against a quota, unless that is used up.
func (s *Service) count(q quota) *failure {
	if s.quotas == nil {
		return nil
	}
	now := time.Now()
	counted := s.quotas[q.key]
	for len(counted) > 0 && now.Sub(counted[0]) >= q.window {
		counted = counted[1:]
	}
	if len(counted) == q.requests {
		return &failure{
			status:     http.StatusTooManyRequests,
			retryAfter: counted[0].Add(q.window).Sub(now),
			Error:      "Rate limit exceeded: " + q.text,
		}
	}
	s.quotas[q.key] = append(counted, now)
	return nil
}

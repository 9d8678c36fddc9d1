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
}

func agentQuota(project string) quota {
	return quota{
		key:      "agent " + project,
		requests: 100,
		window:   time.Hour,
	}
}

func analyticsQuota() quota {
	return quota{
		key:      "analytics",
		requests: 100,
		window:   time.Hour,
	}
}

func triggerQuota() quota {
	return quota{
		key:      "trigger",
		requests: 10,
		window:   10 * time.Second,
	}
}

func previewQuota() quota {
	return quota{
		key:      "preview",
		requests: 5,
		window:   time.Minute,
	}
}

// EnforceQuotas has the service respond 429, in plain text, to requests beyond its documented quotas:
// 100 jobs and messages together per project and hour (it is not documented that they share a
// quota), 100 analytics requests of all kinds per
// organization and hour, 10 updates and automations per organization and 10 seconds, 5
// previews per organization and minute. Retry-After says in how many seconds, rounded up,
// the next request is admitted: when the oldest request that counts leaves the window. A
// refused request does not count.
func (s *Service) EnforceQuotas() {
	defer s.lock()()
	s.quotas = map[string][]time.Time{}
}

// EnforceQuotasInJSON is [Service.EnforceQuotas] with responses in JSON, which the service's
// documents have for other errors.
func (s *Service) EnforceQuotasInJSON() {
	s.EnforceQuotas()
	defer s.lock()()
	s.quotasInJSON = true
}

// count counts a request against a quota. It refuses the request if the quota is used up.
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
			plain:      !s.quotasInJSON,
			Error:      "Too many requests, please try again later.",
		}
	}

	s.quotas[q.key] = append(counted, now)
	return nil
}

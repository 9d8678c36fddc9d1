package mintlifytest

import (
	"slices"
	"time"
)

const (
	quota       = 100
	quotaWindow = time.Hour
)

// EnforceQuotas has the service respond 429 beyond its documented quotas: 100 jobs
// and messages per project and hour, 100 analytics requests per hour.
func (s *Service) EnforceQuotas() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quotas = map[string][]time.Time{}
}

func (s *Service) withinQuota(counted string, at time.Time) bool {
	if s.quotas == nil {
		return true
	}
	recent := slices.DeleteFunc(s.quotas[counted], func(t time.Time) bool { return at.Sub(t) >= quotaWindow })
	within := len(recent) < quota
	if within {
		recent = append(recent, at)
	}
	s.quotas[counted] = recent
	return within
}

package mintlifytest

import (
	"net/url"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Request is one request that reached the service.
type Request struct {
	Operation mintlify.Operation // "" where the service has no such operation
	Method    string             // as sent
	Path      string             // as sent, escaped
	Query     url.Values         // as sent
	Prompt    string             // of Create and Message
}

// Requests returns the requests that reached the service so far, in order.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// record adds a call to the requests that reached the service.
func (s *Service) record(c *call) {
	s.requests = append(s.requests, Request{
		Operation: c.operation,
		Method:    c.request.Method,
		Path:      c.request.URL.EscapedPath(),
		Query:     c.query,
		Prompt:    c.prompt,
	})
}

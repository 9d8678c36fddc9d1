package mintlifytest

import (
	"net/url"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Request is one request that reached the service.
type Request struct {
	Operation mintlify.Operation // "" if the service has no such operation
	Method    string             // as sent
	Path      string             // as sent, escaped
	Query     url.Values         // as sent
	ProjectID string             // in the path; "" if the service has no such operation
	Prompt    string             // of Create and Message
	Body      []byte             // as sent; nil for none
	// Acted says that the service made a job, took a message or gave a page, whatever it
	// responded.
	Acted bool
}

// Requests returns the requests that have reached the service so far, in order.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// record adds a call to the requests that reached the service.
func (s *Service) record(c *call, acted bool) {
	s.requests = append(s.requests, Request{
		Operation: c.operation,
		Method:    c.request.Method,
		Path:      c.request.URL.EscapedPath(),
		Query:     c.query,
		ProjectID: c.project,
		Prompt:    c.prompt,
		Body:      c.body,
		Acted:     acted,
	})
}

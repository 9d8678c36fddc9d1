package mintlifytest

import (
	"cmp"
	"net/url"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Request is one request that reached the service.
type Request struct {
	// Operation is the operation that the request is for. If the service has none for it, as
	// with most of [mintlify.Client.Call], it is the method and the path: "GET /v1/things".
	Operation mintlify.Operation
	// Method is the HTTP method.
	Method string
	// Path is the path as it was sent, escaped.
	Path string
	// Query holds the parameters of the URL.
	Query url.Values
	// ProjectID is the project in the path. It is "" if the service has no such operation.
	ProjectID string
	// Prompt is the prompt of Create and Message. It is "" for the other operations.
	Prompt string
	// Body is the body as it was sent. It is nil if the request had none.
	Body []byte
	// Acted says that the service made the job, took the message or returned the rows that
	// the request asks for, whatever the response was.
	Acted bool
}

// Requests returns the requests that have reached the service so far, in order.
func (s *Service) Requests() []Request {
	defer s.lock()()

	requests := slices.Clone(s.requests)
	for i := range requests {
		requests[i] = requests[i].clone()
	}
	return requests
}

func (r Request) clone() Request {
	query := url.Values{}
	for name, values := range r.Query {
		query[name] = slices.Clone(values)
	}
	r.Query = query
	r.Body = slices.Clone(r.Body)
	return r
}

// record adds a call to the requests that reached the service.
func (s *Service) record(c *call, acted bool) {
	s.requests = append(s.requests, Request{
		Operation: cmp.Or(c.operation, c.name),
		Method:    c.request.Method,
		Path:      c.request.URL.EscapedPath(),
		Query:     c.query,
		ProjectID: c.project,
		Prompt:    c.prompt,
		Body:      c.body,
		Acted:     acted,
	})
}

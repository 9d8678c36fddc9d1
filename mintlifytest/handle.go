package mintlifytest

import (
	"fmt"
	"net/http"
	"strings"
)

const maxRequestBody = 10 << 20 // the service's own limit is not documented

// handle has the service act on a request, and returns the response.
func (s *Service) handle(r *http.Request, body []byte) response {
	c, result, failed := s.act(r, body)
	return newResponse(c, result, failed)
}

// act does what the service does with a request, and keeps it, under one lock.
func (s *Service) act(r *http.Request, body []byte) (*call, any, *failure) {
	defer s.lock()()

	c := s.newCall(r, body)
	c.fault = s.nextFault(c)
	if c.fault.Refuse {
		return c, nil, nil
	}
	if !c.fault.acts() {
		s.record(c, false)
		return c, nil, nil
	}

	result, failed := s.serve(c)
	s.record(c, failed == nil)
	return c, result, failed
}

func (s *Service) serve(c *call) (any, *failure) {
	if c.request.Header.Get("Authorization") != "Bearer "+APIKey {
		return nil, &failure{status: http.StatusUnauthorized, Error: "Invalid or missing API key"}
	}
	if c.handler == nil {
		return nil, s.noEndpoint(c)
	}
	if len(c.body) > maxRequestBody {
		return nil, &failure{status: http.StatusRequestEntityTooLarge, Error: "request entity too large"}
	}
	return c.handler(s, c)
}

// noEndpoint lists the faults that are still queued: the operation of one that never occurs
// is probably misspelled.
func (s *Service) noEndpoint(c *call) *failure {
	text := fmt.Sprintf("No such endpoint: %s %s", c.request.Method, c.request.URL.EscapedPath())
	if queued := s.queuedFaults(); len(queued) > 0 {
		text += ". FailNext and SucceedNext still have these queued: " + strings.Join(queued, ", ")
	}
	return &failure{status: http.StatusNotFound, Error: text}
}

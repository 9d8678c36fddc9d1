package mintlifytest

import (
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// handle acts on a request that is about to reach the service.
func (s *Service) handle(r *http.Request, body []byte) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := routeOf(r.Method, r.URL)
	fault, advance := s.fault(to)
	if fault.Refuse {
		return response{fault: fault}
	}
	prompt := promptOf(r, body)
	s.requests = append(s.requests, Request{
		Operation: to.operation, Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Prompt: prompt})

	resp := response{status: fault.Status}
	if fault.Status < 300 {
		resp = s.act(r, to, prompt, advance)
	}
	return resp.apply(fault)
}

// act does what the service does, and responds as it responds.
func (s *Service) act(r *http.Request, to route, prompt string, advance bool) response {
	if r.Header.Get("Authorization") != "Bearer "+APIKey {
		return failure(http.StatusUnauthorized, "Invalid or missing API key")
	}
	if to.operation == "" {
		return failure(http.StatusNotFound, "No such endpoint")
	}
	if to.operation == mintlify.OpGetVisitors {
		return s.visitorPage(r.URL.Query())
	}
	j := s.find(to)
	if to.jobID != "" && j == nil {
		return failure(http.StatusNotFound, "Job not found")
	}
	if to.operation == mintlify.OpGetJob {
		if advance {
			j.poll()
		}
		return success(http.StatusOK, j.json())
	}
	if prompt == "" {
		return failure(http.StatusBadRequest, "prompt is required and must be at least 1 character")
	}
	if !s.withinQuota("agent "+to.project, time.Now()) {
		return failure(http.StatusTooManyRequests, "Rate limit exceeded: 100 requests per project per hour")
	}
	if to.operation == mintlify.OpSendMessage {
		j.message()
		return success(http.StatusOK, j.json())
	}
	var script []Step
	if len(s.scripts) > 0 {
		script, s.scripts = s.scripts[0], s.scripts[1:]
	}
	j = s.addJob(s.freeID(to), to.project, script)
	return success(http.StatusCreated, j.json())
}

//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// countingService is the fake on a socket. It counts what it acted on, fails as often
// as it is told to, and takes its time to respond.
type countingService struct {
	fake    *mintlifytest.Service
	faults  float64       // of requests
	slow    time.Duration // at most, a response to one
	quota   int           // per window and project; 0 for none
	window  time.Duration
	mu      sync.Mutex
	acted   map[string]int // by marker
	posts   map[string][]time.Time
	refused int

	opened func(key, job string) // is told of each job that was made for the prompt of a key; nil: nobody is
}

func newCountingService() *countingService {
	return &countingService{fake: mintlifytest.NewService(), acted: map[string]int{}, posts: map[string][]time.Time{}}
}

func (s *countingService) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	fault := rand.Float64() < s.faults
	kind := rand.IntN(5)
	if fault && kind == 0 { // the connection is lost on the way there
		panic(http.ErrAbortHandler)
	}
	if fault && kind == 1 {
		rw.WriteHeader(http.StatusTooManyRequests)
		return
	}
	response := s.act(r)
	if r.Method == http.MethodPost && s.slow > 0 {
		time.Sleep(s.slow/2 + rand.N(s.slow/2))
	}
	switch {
	case fault && kind == 2: // … or on the way back
		panic(http.ErrAbortHandler)
	case fault && kind == 3: // a gateway's
		rw.WriteHeader(http.StatusGatewayTimeout)
	case fault && kind == 4:
		_, _ = rw.Write([]byte("<html>"))
	default:
		rw.WriteHeader(response.Code)
		_, _ = response.Body.WriteTo(rw)
	}
}

func (s *countingService) act(r *http.Request) *httptest.ResponseRecorder {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	response := httptest.NewRecorder()
	if r.Method == http.MethodPost && s.full(r.URL.Path) {
		s.refused++
		response.WriteHeader(http.StatusTooManyRequests)
		return response
	}
	s.fake.ServeHTTP(response, r)
	if r.Method == http.MethodPost {
		s.acted[markerOf(body)]++
	}
	if r.Method == http.MethodPost && s.opened != nil && strings.HasSuffix(r.URL.Path, "/job") {
		var job mintlify.Job
		_ = json.Unmarshal(response.Body.Bytes(), &job)
		s.opened(markerOf(body), job.ID)
	}
	return response
}

// full counts the requests of the window by arrival, as the service does.
func (s *countingService) full(path string) bool {
	now := time.Now()
	n := 0
	for _, at := range s.posts[path] {
		if now.Sub(at) < s.window {
			n++
		}
	}
	if s.quota > 0 && n >= s.quota {
		return true
	}
	s.posts[path] = append(s.posts[path], now)
	return false
}

// count returns how many prompts were acted on, and how many of them more than once.
func (s *countingService) count() (acted, twice int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.acted {
		if n > 1 {
			twice++
		}
	}
	return len(s.acted), twice
}

func (s *countingService) of(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acted[key]
}

// markerOf returns the key that a request's prompt is marked with, or that a message names after "follow-up".
func markerOf(body []byte) string {
	var params mintlify.CreateJobParams
	_ = json.Unmarshal(body, &params)
	if _, key, found := strings.Cut(params.Prompt, "follow-up "); found {
		return key
	}
	key, _ := once.FindMarker(params.Prompt)
	return key
}

// Package service is the service that is measured against: its responses
// are made beforehand, so that what they cost is not measured.
package service

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
)

// JobBody is every job.
const JobBody = `{"id":"job_1","status":"active","source":{"repository":"https://github.com/example/docs","ref":"main"},` +
	`"model":"a-model","prLink":null,"createdAt":"2026-01-15T10:30:00.000Z","archivedAt":null}`

// Service is an export of a number of rows, and a job. It is an http.Handler for
// a socket, and an http.RoundTripper in memory.
type Service struct {
	pages map[int][][]byte // by limit
}

// New renders the pages of both sizes that the columns request.
func New(rows int) *Service {
	s := &Service{pages: map[int][][]byte{}}
	for _, limit := range []int{bench.DefaultLimit, bench.MaxLimit} {
		for offset := 0; offset < rows; offset += limit {
			s.pages[limit] = append(s.pages[limit], render(offset, min(offset+limit, rows), rows))
		}
	}
	return s
}

func render(from, to, rows int) []byte {
	body := []byte(`{"totals":{"human":1250,"ai":480,"total":1690},"visitors":[`)
	for i := from; i < to; i++ {
		if i > from {
			body = append(body, ',')
		}
		row := Row(i)
		body = fmt.Appendf(body, `{"path":%q,"human":%d,"ai":%d,"total":%d}`, row.Path, row.Human, row.AI, row.Total)
	}
	return fmt.Appendf(body, `],"hasMore":%t}`, to < rows)
}

// ServeHTTP implements [http.Handler]. The response to a path that
// begins with a duration comes so much later.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if latency, err := time.ParseDuration(first); err == nil {
		time.Sleep(latency)
	}
	status, body := s.response(r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone away is its own affair
}

// RoundTrip implements [http.RoundTripper].
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := s.response(r)
	return respond(r, status, body)
}

func (s *Service) response(r *http.Request) (status int, body []byte) {
	switch path.Base(r.URL.Path) {
	case "visitors":
		return s.page(r)
	case "searches":
		return http.StatusOK, SearchesPage()
	case "assistant":
		return http.StatusOK, ConversationsPage()
	}
	if r.Method == http.MethodPost {
		return http.StatusCreated, []byte(JobBody)
	}
	return http.StatusOK, []byte(JobBody)
}

// page is empty beyond the end of the export.
func (s *Service) page(r *http.Request) (status int, body []byte) {
	query := r.URL.Query()
	offset, _ := strconv.Atoi(query.Get("offset"))
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = bench.DefaultLimit
	}
	pages := s.pages[limit]
	switch {
	case pages == nil || offset%limit != 0:
		return http.StatusBadRequest, []byte(`{"error":"a page that was not made"}`)
	case offset/limit >= len(pages):
		return http.StatusOK, []byte(`{"totals":{"human":1250,"ai":480,"total":1690},"visitors":[],"hasMore":false}`)
	}
	return http.StatusOK, pages[offset/limit]
}

// Fixed is a transport in memory that gives each request the same response. Its own
// work is as little as can be, since it is part of what is measured.
type Fixed struct {
	Status int
	Body   []byte
}

// RoundTrip implements [http.RoundTripper].
func (f Fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	return respond(r, f.Status, f.Body)
}

var header = http.Header{"Content-Type": {"application/json"}}

func respond(r *http.Request, status int, body []byte) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	b := new(memory)
	b.Reset(body)
	return &http.Response{StatusCode: status, Header: header, Body: b, ContentLength: int64(len(body)), Request: r}, nil
}

// memory is the body of a response, in one allocation.
type memory struct{ bytes.Reader }

// Close implements [io.Closer].
func (*memory) Close() error { return nil }

// Standard is an [http.Transport], which is what users have, that passes requests on in
// memory instead of to a socket.
func Standard(next http.RoundTripper) *http.Transport {
	t := new(http.Transport)
	t.RegisterProtocol("http", next)
	return t
}

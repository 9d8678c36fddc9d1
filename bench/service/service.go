// Package service is the service that the clients talk to. It makes its responses in
// advance, so that nobody measures what they cost.
package service

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
)

// Nowhere is the base URL of clients whose transport is in memory.
const Nowhere = "http://127.0.0.1:1"

// Call is a call that is measured.
type Call struct {
	Name string
	// Times says how often a figure repeats the call.
	Times int
	// Response is what the service responds.
	Response Fixed
	Do       func(context.Context, bench.Client) error
}

// Calls are all calls that are measured.
var Calls = []Call{
	{
		Name:     "page",
		Times:    1000,
		Response: Fixed{Status: http.StatusOK, Body: FirstPage()},
		Do: func(ctx context.Context, c bench.Client) error {
			_, err := c.Page(ctx, 0, bench.MaxLimit, func(bench.Row) {})
			return err
		},
	},
	{
		Name:     "get",
		Times:    20_000,
		Response: Fixed{Status: http.StatusOK, Body: []byte(JobBody)},
		Do: func(ctx context.Context, c bench.Client) error {
			_, err := c.Get(ctx, "job_1")
			return err
		},
	},
	{
		Name:     "create",
		Times:    20_000,
		Response: Fixed{Status: http.StatusCreated, Body: []byte(JobBody)},
		Do: func(ctx context.Context, c bench.Client) error {
			_, err := c.Create(ctx, "The CLI has a new flag, --json. Update its page.")
			return err
		},
	},
}

// JobBody is the body of every job.
const JobBody = `{"id":"job_1","status":"active",` +
	`"source":{"repository":"https://github.com/example/docs","ref":"main"},"model":"a-model","prLink":null,` +
	`"createdAt":"2026-01-15T10:30:00.000Z","archivedAt":null}`

// Service serves an export of a number of rows, and a job. It is an [http.Handler]
// for a socket, and an [http.RoundTripper] in memory.
type Service struct {
	pages map[int][][]byte // by limit
}

// New makes the pages of both sizes that clients ask for.
func New(rows int) *Service {
	s := &Service{pages: map[int][][]byte{}}
	for _, limit := range []int{bench.DefaultLimit, bench.MaxLimit} {
		for offset := 0; offset < rows+limit; offset += limit { // the last page is empty
			page := render(offset, min(offset+limit, rows), rows)
			s.pages[limit] = append(s.pages[limit], page)
		}
	}
	return s
}

// FirstPage is the body of a full page that another one follows.
func FirstPage() []byte { return render(0, bench.MaxLimit, bench.MaxLimit+1) }

// render returns the page with the rows from from up to, but without, to.
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

// Row is row i of the export.
func Row(i int) bench.Row {
	return bench.Row{
		Path:  fmt.Sprintf("/docs/section-%d/page-%d", i/100, i),
		Human: int64(i),
		AI:    int64(i % 1000),
		Total: int64(i + 1),
	}
}

// ServeHTTP implements [http.Handler]. It delays the response if the path begins
// with a duration.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if latency, err := time.ParseDuration(first); err == nil {
		time.Sleep(latency)
	}

	status, body := s.response(r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails if the client has gone away
}

// RoundTrip implements [http.RoundTripper].
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := s.response(r)
	return Fixed{Status: status, Body: body}.RoundTrip(r)
}

func (s *Service) response(r *http.Request) (int, []byte) {
	if r.Method == http.MethodPost {
		return http.StatusCreated, []byte(JobBody)
	}
	if !strings.HasSuffix(r.URL.Path, "/visitors") {
		return http.StatusOK, []byte(JobBody)
	}

	query := r.URL.Query()
	offset, _ := strconv.Atoi(query.Get("offset"))
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = bench.DefaultLimit
	}

	pages := s.pages[limit]
	if pages == nil || offset%limit != 0 {
		return http.StatusBadRequest, []byte(`{"error":"there is no such page"}`)
	}
	return http.StatusOK, pages[min(offset/limit, len(pages)-1)]
}

// Fixed is a transport in memory that gives each request the same response. It does as
// little as it can, since its work is measured too.
type Fixed struct {
	// Status is the status of each response.
	Status int
	// Body is the body of each response.
	Body []byte
}

var header = http.Header{"Content-Type": {"application/json"}}

// RoundTrip implements [http.RoundTripper].
func (f Fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}

	body := new(memory)
	body.Reset(f.Body)
	return &http.Response{
		StatusCode:    f.Status,
		Header:        header,
		Body:          body,
		ContentLength: int64(len(f.Body)),
		Request:       r,
	}, nil
}

// memory is the body of a response, in one allocation.
type memory struct{ bytes.Reader }

// Close implements [io.Closer].
func (*memory) Close() error { return nil }

// Standard is an [http.Transport], as most users have it, that passes requests on to next
// instead of a socket.
func Standard(next http.RoundTripper) *http.Transport {
	t := new(http.Transport)
	t.RegisterProtocol("http", next)
	return t
}

// Wrapped is Standard inside another transport, as with telemetry.
func Wrapped(next http.RoundTripper) http.RoundTripper {
	return struct{ http.RoundTripper }{Standard(next)}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/contract"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Every run of the command in these tests is against a fake, in memory and in a bubble of its own:
// no wait takes time, and no machine is too slow for a timeout.

// session is a run of the command.
type session struct {
	// service is the fake, or a handler in front of it.
	service http.Handler
	args    []string
	// interruptAt is the end of a path: its response comes too late. "" lets the run end by itself.
	interruptAt string
}

// outcome is what came of a run.
type outcome struct {
	code           int
	report, stderr string
}

func (s session) run(t *testing.T) outcome {
	t.Helper()
	if _, err := os.Stat(contract.Document); err != nil {
		t.Chdir("..") // where go run -C internal/test/contract runs it
	}
	t.Setenv("MINTLIFY_BASE_URL", "https://service.test")
	setDefault(t, "MINTLIFY_API_KEY", mintlifytest.APIKey)
	setDefault(t, "MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)

	var out, log bytes.Buffer
	term := terminal{out: &out, err: &log}
	start := time.Now()
	code := 0
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(start)) // the rows of the fake are of these days
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()

		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.service.ServeHTTP(w, r)
			if s.interruptAt != "" && strings.HasSuffix(r.URL.Path, s.interruptAt) {
				interrupt()
				<-r.Context().Done()
			}
		})
		code = run(ctx, term, inMemory{service}, s.args)
	})
	return outcome{code: code, report: out.String(), stderr: log.String()}
}

// inMemory is a transport that hands each request to a handler.
type inMemory struct{ service http.Handler }

// RoundTrip implements [http.RoundTripper].
func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "service.test" {
		return nil, errors.New("not the base URL of the run")
	}

	recorded := httptest.NewRecorder()
	if isLost(recorded, m.service, r.Clone(r.Context())) {
		return nil, syscall.ECONNRESET
	}
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}

	resp := recorded.Result()
	resp.Request = r
	if resp.ContentLength > int64(recorded.Body.Len()) {
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	return resp, nil
}

// isLost has a handler respond, and reports whether it closes the connection instead.
func isLost(w http.ResponseWriter, service http.Handler, r *http.Request) (lost bool) {
	defer func() {
		reason := recover()
		err, _ := reason.(error)
		if reason != nil && !errors.Is(err, http.ErrAbortHandler) {
			panic(reason)
		}
		lost = reason != nil
	}()
	service.ServeHTTP(w, r)
	return false
}

// setDefault sets a variable that the test has not set.
func setDefault(t *testing.T, name, value string) {
	t.Helper()
	if !slices.Contains(testVariables, name) {
		t.Setenv(name, value)
	}
}

// testVariables are those that the running test has set by setVariable.
var testVariables []string

func setVariable(t *testing.T, name, value string) {
	t.Helper()
	t.Setenv(name, value)
	testVariables = append(testVariables, name)
	t.Cleanup(func() { testVariables = nil })
}

// reportRow is a row of a report that was printed.
type reportRow struct{ what, verdict, details string }

var rowLine = regexp.MustCompile(`(?m)^\| \d+ \| (.*) \| (.*) \| (.*) \|$`)

func rowsOfReport(t *testing.T, report string) []reportRow {
	t.Helper()
	var all []reportRow
	for _, cells := range rowLine.FindAllStringSubmatch(report, -1) {
		all = append(all, reportRow{cells[1], cells[2], cells[3]})
	}
	want := len(operations.All()) // all bodies but one, and the errors
	for _, q := range requests(settings{}) {
		if q.expects != "" {
			want++
		}
	}
	require.Len(t, all, want)
	return all
}

// find returns the row whose what begins as given, without backticks.
func find(t *testing.T, report, what string) reportRow {
	t.Helper()
	for _, row := range rowsOfReport(t, report) {
		if strings.Contains(strings.ReplaceAll(row.what, "`", ""), what) {
			return row
		}
	}
	t.Fatalf("no row is about %s", what)
	return reportRow{}
}

// differing returns the rows that differ.
func differing(t *testing.T, report string) []reportRow {
	t.Helper()
	return slices.DeleteFunc(rowsOfReport(t, report), func(row reportRow) bool { return row.verdict != string(unlike) })
}

// newService returns a fake with enough data to try everything.
func newService() *mintlifytest.Service {
	svc := mintlifytest.NewService()
	svc.SetVisitors(newRows(120, visitor))
	svc.SetViews(newRows(120, view))
	svc.SetSearches(newRows(120, search))
	svc.SetFeedback(newRows(130, feedbackRow))
	svc.SetConversations(newRows(260, conversation))
	svc.SetCallerStats(mintlify.CallerStats{Web: 3, API: 2, Other: 1, Total: 6})
	return svc
}

// dated is the fake with views that go by their dates: the fake ignores them.
func dated(svc http.Handler) http.Handler {
	return deviating(svc, func(request *http.Request, r *reply) {
		if strings.HasSuffix(request.URL.Path, "/views") && isLongAgo(request.URL.Query()) {
			r.change(func(body map[string]any) {
				body["views"] = []any{}
				body["hasMore"] = false
			})
		}
	})
}

func isLongAgo(query url.Values) bool {
	from := query.Get("dateFrom")
	return from != "" && from < today().AddDays(-400).String()
}

// reply is a response of the fake that a deviation may change.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// change decodes the body, has alter change it, and encodes it again.
func (r *reply) change(alter func(body map[string]any)) {
	var body map[string]any
	if json.Unmarshal(r.body, &body) != nil {
		return
	}
	alter(body)
	r.body, _ = json.Marshal(body)
}

// deviating is a service with alter between it and its clients.
func deviating(svc http.Handler, alter func(request *http.Request, r *reply)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		recorded := httptest.NewRecorder()
		svc.ServeHTTP(recorded, request)
		r := &reply{status: recorded.Code, header: recorded.Header(), body: recorded.Body.Bytes()}
		alter(request, r)

		r.header.Del("Content-Length")
		maps.Copy(w.Header(), r.header)
		w.WriteHeader(r.status)
		_, _ = w.Write(r.body)
	})
}

// newRows returns n rows.
func newRows[Row any](n int, row func(i int) Row) []Row {
	all := make([]Row, n)
	for i := range all {
		all[i] = row(i)
	}
	return all
}

func visitor(i int) mintlify.Visitor {
	return mintlify.Visitor{Path: fmt.Sprintf("/planted-page-%d", i), Human: 2, AI: 1, Total: 3}
}

func view(i int) mintlify.View {
	return mintlify.View{Path: fmt.Sprintf("/planted-page-%d", i), Human: 4, AI: 1, Total: 5}
}

func search(i int) mintlify.SearchTerm {
	return mintlify.SearchTerm{
		Query: fmt.Sprintf("planted query %d", i), Hits: int64(1000 - i), CTR: 41.5, TopClickedPage: "/planted-page",
		LastSearchedAt: ago(30 * time.Hour),
	}
}

func feedbackRow(i int) mintlify.Feedback {
	return mintlify.Feedback{
		ID: fmt.Sprintf("planted-feedback-%d", i), Path: "/planted-page", Comment: "planted comment",
		CreatedAt: ago(26*time.Hour + time.Duration(i)*5*time.Hour),
		Source:    mintlify.FeedbackContextual, Status: mintlify.FeedbackPending, Contact: "planted@example.com",
	}
}

func conversation(i int) mintlify.Conversation {
	return mintlify.Conversation{
		ID: fmt.Sprintf("planted-thread-%d", i/2), Timestamp: ago(26*time.Hour + time.Duration(i)*150*time.Minute),
		Query: "planted question", Response: "planted response", ResolutionStatus: mintlify.ResolutionAnswered,
		Sources: []mintlify.ConversationSource{{Title: "planted title", URL: "/planted-page"}},
	}
}

func ago(d time.Duration) time.Time { return time.Now().UTC().Add(-d) }

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/contract"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Every run of the command in these tests is against a fake behind a listener.

// session is a run of the command.
type session struct {
	// service is the fake, or a handler in front of it.
	service http.Handler
	args    []string
	// typed is what a person types. Without it stdin is not a terminal.
	typed string
	// piped is what comes from a stdin that is not a terminal.
	piped string
	// ctx is the test's own if it is nil.
	ctx context.Context
}

// outcome is what came of a run.
type outcome struct {
	code           int
	report, stderr string
}

func (s session) run(t *testing.T) outcome {
	t.Helper()
	if _, err := os.Stat(contract.Document); err != nil {
		t.Chdir("..") // where go run -C internal/contract runs it
	}
	server := httptest.NewServer(s.service)
	t.Cleanup(server.Close)

	t.Setenv("MINTLIFY_BASE_URL", server.URL)
	setDefault(t, "MINTLIFY_API_KEY", mintlifytest.APIKey)
	setDefault(t, "MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)

	var out, log bytes.Buffer
	term := terminal{in: strings.NewReader(s.typed + s.piped), out: &out, err: &log, isTerminal: s.typed != ""}
	quick := timing{pollMin: 5 * time.Millisecond, pollMax: 5 * time.Millisecond, settle: 300 * time.Millisecond}
	ctx := s.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	code := run(ctx, term, quick, s.args)
	return outcome{code: code, report: out.String(), stderr: log.String()}
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
type reportRow struct{ expectation, result, came, depends string }

var rowLine = regexp.MustCompile(`(?m)^\| \d+ \| (.*) \| (.*) \| (.*) \| (.*) \|$`)

func rowsOf(t *testing.T, report string) []reportRow {
	t.Helper()
	var rows []reportRow
	for _, cells := range rowLine.FindAllStringSubmatch(report, -1) {
		rows = append(rows, reportRow{cells[1], cells[2], cells[3], cells[4]})
	}
	require.Len(t, rows, len(expectations()))
	return rows
}

// find returns the row of an expectation.
func find(t *testing.T, report string, name expectation) reportRow {
	t.Helper()
	for i, e := range expectations() {
		if e.name == name {
			return rowsOf(t, report)[i]
		}
	}
	t.Fatalf("no expectation is called %s", name)
	return reportRow{}
}

// differing returns the names of the rows that differ.
func differing(t *testing.T, report string) []expectation {
	t.Helper()
	var names []expectation
	for i, row := range rowsOf(t, report) {
		if row.result == string(differs) {
			names = append(names, expectations()[i].name)
		}
	}
	return names
}

// newService returns a fake with enough data to try everything.
func newService() *mintlifytest.Service {
	svc := mintlifytest.NewService()
	svc.SetVisitors(newRows(120, visitor))
	svc.SetViews(newRows(60, view))
	svc.SetSearches(newRows(120, search))
	svc.SetFeedback(newRows(30, feedback))
	svc.SetConversations(newRows(40, conversation))
	svc.SetCallerStats(mintlify.CallerStats{Web: 3, API: 2, Other: 1, Total: 6})
	return svc
}

// newRows returns n rows.
func newRows[Row any](n int, row func(i int) Row) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = row(i)
	}
	return rows
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
		LastSearchedAt: hoursAgo(30),
	}
}

func feedback(i int) mintlify.Feedback {
	return mintlify.Feedback{
		ID: fmt.Sprintf("planted-feedback-%d", i), Path: "/planted-page", Comment: "planted comment",
		CreatedAt: hoursAgo(26 + 6*i), Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending,
		Contact: "planted@example.com",
	}
}

func conversation(i int) mintlify.Conversation {
	return mintlify.Conversation{
		ID: fmt.Sprintf("planted-thread-%d", i/2), Timestamp: hoursAgo(26 + 5*i),
		Query: "planted question", Response: "planted response", ResolutionStatus: mintlify.ResolutionAnswered,
		Sources: []mintlify.ConversationSource{{Title: "planted title", URL: "/planted-page"}},
	}
}

func hoursAgo(n int) time.Time { return time.Now().UTC().Add(-time.Duration(n) * time.Hour) }

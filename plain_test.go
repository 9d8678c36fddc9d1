package mintlify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// TestPlainCalls makes each call as one writes it without reading. Either it is right, or it is
// documented why it stays. Package once has such a test of its own.
func TestPlainCalls(t *testing.T) {
	for name, call := range map[string]func(*testing.T){
		"range over the first value alone":     plainRange,
		"one page":                             plainPage,
		"a stub of an error by its method":     plainStub,
		"a job embedded":                       plainEmbedding,
		"a hook reads the job in an outage":    plainHook,
		"a loop by RetryAfter":                 plainRetryLoop,
		"a misspelled operation":               plainMisspelling,
		"a zero fake":                          plainZeroFake,
		"a malformed response with a status":   plainMalformed,
		"a loop over cursors":                  plainCursors,
		"Poll with a settle time":              plainPollThatSettles,
		"a status that nobody knows":           plainUnknownStatus,
		"a hook of the client and of the wait": plainTwoHooks,
		"a poll as JSON":                       plainPollAsJSON,
		"a checkpoint at the end":              plainCheckpoint,
		"key and project swapped":              plainSwapped,
		"break, and range twice":               plainBreak,
		"a nil context":                        plainNilContext,
		"a year of two digits":                 plainYear,
		"Refuse beside a Status":               plainRefuse,
		"a limiter that wants attempts":        plainLimiter,
		"a header of a Call":                   plainHeader,
		"an update in an outage":               plainUpdate,
		"one limiter for everything":           plainLimiterOfPolls,
		"a settle time for every wait":         plainSettleTimeOfAll,
		"a wait after a message":               plainWaitAfterMessage,
		"a fault that never occurred":          plainUnusedFault,
		"the number of a single poll":          plainPollNumber,
	} {
		t.Run(name, call)
	}
}

// It stays: the language lets a loop over an iter.Seq2 leave the error out. Collect does not.
func plainRange(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors([]mintlify.Visitor{{Path: "/a"}, {Path: "/b"}})
	svc.SucceedNext(mintlify.OpGetVisitors, 1)
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})
	export := svc.Client().Analytics.Visitors(t.Context(), mintlify.VisitorsParams{Limit: 1})

	rows, err := mintlify.Collect(export)
	require.ErrorIs(t, err, mintlify.ErrBadRequest)
	assert.Equal(t, []mintlify.Visitor{{Path: "/a"}}, rows, "those before the error, and no zero row")

	rows, err = mintlify.Collect(export)
	require.NoError(t, err)
	assert.Equal(t, []mintlify.Visitor{{Path: "/a"}, {Path: "/b"}}, rows, "called again, it exports again")
}

func plainPage(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(make([]mintlify.Visitor, 120))
	page, err := svc.Client().Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Len(t, page.Visitors, 50)
	assert.True(t, page.HasMore)
}

func plainStub(t *testing.T) {
	for method, isPost := range map[string]bool{"POST": true, "PUT": true, "GET": false, "HEAD": false, "": false} {
		for _, status := range []int{408, 499, 500, 504} {
			stub := fmt.Errorf("docs: %w", &mintlify.APIError{Method: method, StatusCode: status})
			assert.Equal(t, isPost, errors.Is(stub, mintlify.ErrOutcomeUnknown), "%s %d", method, status)
			_, again := mintlify.RetryAfter(stub)
			assert.Equal(t, !isPost, again, "%s %d", method, status)
		}
	}
}

func plainEmbedding(t *testing.T) {
	type ours struct {
		mintlify.Job
		Repo string
	}
	type deployed struct {
		mintlify.Deployment
		Repo string
	}
	job := ours{mintlify.Job{ID: "job_1", Status: mintlify.JobActive, CreatedAt: noon}, "acme/api"}
	deployment := deployed{mintlify.Deployment{ID: "d", Status: mintlify.DeploymentQueued, EndedAt: noon}, "acme/api"}

	assertRoundTrip(t, &job)
	assertRoundTrip(t, &deployment)
	text, err := json.Marshal(job)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"job_1","status":"active","createdAt":"2026-03-05T12:00:00Z","Repo":"acme/api"}`, string(text))
}

func plainHook(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 503}},
		mintlifytest.JobStep{Status: mintlify.JobCompleted})
	var seen []mintlify.JobStatus
	_, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j",
		mintlify.WithOnPoll(func(p mintlify.Poll) { seen = append(seen, p.Job.Status) }))
	require.NoError(t, err)
	assert.Equal(t, []mintlify.JobStatus{"", mintlify.JobCompleted}, seen)

	svc.FailNext(mintlify.OpGetDeployment, 1, mintlifytest.Fault{Status: 503})
	_, err = svc.Client().Deployments.WaitUntilDone(t.Context(), "d", mintlify.WithMaxOutage(0),
		mintlify.WithOnPoll(func(p mintlify.Poll) { assert.Empty(t, p.Deployment.Status) }))
	assert.Empty(t, requireWaitError(t, err).Deployment.Status)
}

func plainRetryLoop(t *testing.T) {
	for name, fault := range map[string]mintlifytest.Fault{
		"429":        {Status: 429},
		"429 at 0":   {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
		"no network": {Refuse: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.FailNext(mintlify.OpCreateJob, 1000, fault)
			client := svc.Client(mintlify.WithMaxRetries(0))

			tries := 0
			for start := time.Now(); time.Since(start) < 10*time.Minute; {
				tries++
				_, err := create(t.Context(), client)
				wait, ok := mintlify.RetryAfter(err)
				require.True(t, ok)
				time.Sleep(wait)
			}
			assert.Equal(t, 20, tries, "%s: each 30 s", name)
		})
	}
}

func plainMisspelling(t *testing.T) {
	svc := mintlifytest.NewService()
	assert.PanicsWithValue(t, `mintlifytest: "create-job" is neither an operation, such as mintlify.OpCreateJob, `+
		`nor a method and a path, such as "GET /v1/things"`,
		func() { svc.FailNext("create-job", 1, mintlifytest.Fault{Status: 503}) })
	assert.Panics(t, func() { svc.SucceedNext("Create Job", 1) })
	assert.Panics(t, func() { svc.SucceedNext("get /v1/things", 1) })
	assert.NotPanics(t, func() { svc.FailNext("GET /v1/things", 1, mintlifytest.Fault{Status: 503}) })
}

func plainZeroFake(t *testing.T) {
	svc := new(mintlifytest.Service)
	svc.AddAutomation("a")
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429})
	job, err := create(t.Context(), svc.Client())
	require.NoError(t, err)
	job, err = svc.Client().Jobs.WaitUntilDone(t.Context(), job.ID)
	require.NoError(t, err)
	assert.Equal(t, mintlify.JobCompleted, job.Status)

	_, err = create(t.Context(), new(mintlifytest.Service).Client())
	require.NoError(t, err)
	_, err = new(mintlifytest.Service).Client().Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)
	assert.Empty(t, new(mintlifytest.Service).Jobs())
}

// A response that is not 2xx is an APIError; the name says that this one is something else.
func plainMalformed(t *testing.T) {
	const before = `package p
import ("errors"; mintlify "github.com/mintlify-community/mintlify-go")
func notFound(err error) bool { var re *mintlify.ResponseError; return errors.As(err, &re) && re.StatusCode == 404 }`
	assert.ErrorContains(t, typeCheck(t, before), "undefined: mintlify.ResponseError")

	const now = `package p
import ("errors"; mintlify "github.com/mintlify-community/mintlify-go")
func notFound(err error) bool { var e *mintlify.APIError; return errors.As(err, &e) && e.StatusCode == 404 }`
	assert.NoError(t, typeCheck(t, now))
}

// typeCheck returns why source does not compile. It imports what the go command has compiled.
func typeCheck(t *testing.T, source string) error {
	t.Helper()
	lookup := func(path string) (io.ReadCloser, error) {
		out, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", path).Output()
		if err != nil {
			return nil, err
		}
		return os.Open(strings.TrimSpace(string(out)))
	}

	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "plain.go", source, 0)
	require.NoError(t, err)
	config := types.Config{Importer: importer.ForCompiler(files, "gc", lookup)}
	_, err = config.Check("p", files, []*ast.File{file}, nil)
	return err
}

func plainCursors(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetConversations([]mintlify.Conversation{{ID: "1"}, {ID: "2"}, {ID: "3"}})
	svc.SetFeedback([]mintlify.Feedback{{ID: "1"}, {ID: "2"}, {ID: "3"}})
	svc.SetSearches([]mintlify.SearchTerm{{Query: "1"}, {Query: "2"}, {Query: "3"}})
	a := svc.Client().Analytics

	for name, next := range map[string]func(cursor string) (string, bool){
		"conversations": func(cursor string) (string, bool) {
			page, err := a.GetConversationPage(t.Context(), mintlify.ConversationsParams{Limit: 2, Cursor: cursor})
			require.NoError(t, err)
			return page.NextCursor, page.HasMore
		},
		"feedback": func(cursor string) (string, bool) {
			page, err := a.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{Limit: 2, Cursor: cursor})
			require.NoError(t, err)
			return page.NextCursor, page.HasMore
		},
		"searches": func(cursor string) (string, bool) {
			page, err := a.GetSearchPage(t.Context(), mintlify.SearchesParams{Limit: 2, Cursor: cursor})
			require.NoError(t, err)
			return page.NextCursor, page.HasMore
		},
	} {
		pages := 0
		cursor := ""
		for {
			next, hasMore := next(cursor)
			pages++
			assert.Equal(t, next != "", hasMore, name)
			if next == "" {
				break
			}
			cursor = next
		}
		assert.Equal(t, 2, pages, name)
	}

	const last = `{"conversations":[],"nextCursor":"01H","hasMore":false}`
	page, err := newClient(t, respondWith(200, last)).Analytics.
		GetConversationPage(t.Context(), mintlify.ConversationsParams{})
	require.NoError(t, err)
	assert.Empty(t, page.NextCursor, "the service may send a cursor with the last page")
}

// It stays: a single Poll does not know when the wait began, unless waited says so.
func plainPollThatSettles(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{Status: mintlify.JobCompleted})
	settle := mintlify.WithSettleTime(30 * time.Second)

	poll, err := svc.Client().Jobs.Poll(t.Context(), "j", 0, settle)
	require.NoError(t, err)
	assert.Positive(t, poll.Next)
	poll, err = svc.Client().Jobs.Poll(t.Context(), "j", 30*time.Second, settle)
	require.NoError(t, err)
	assert.Zero(t, poll.Next)
}

func plainUnknownStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.JobStep{Status: "paused"})
		var records []slog.Record
		client := svc.Client(mintlifytest.WithRealSchedule(), logRecords(&records))

		start := time.Now()
		job, err := client.Jobs.WaitUntilDone(t.Context(), "j")
		waitErr := requireWaitError(t, err)
		require.ErrorContains(t, err, `the status "paused", which this version of the SDK does not know`)
		assert.Equal(t, mintlify.JobStatus("paused"), waitErr.Job.Status)
		assert.Equal(t, mintlify.JobStatus("paused"), job.Status)
		assert.InDelta(t, 24*time.Hour, time.Since(start), float64(2*time.Minute))
		_, again := mintlify.RetryAfter(err)
		assert.False(t, again)

		for range 3 {
			poll, err := client.Jobs.Poll(t.Context(), "j", 48*time.Hour)
			require.NoError(t, err)
			assert.Positive(t, poll.Next, "a single Poll has no memory")
		}
		assert.Len(t, logged(records, "unknown status"), 1, "one warning for an id and a status")
	})
}

// It stays: later options win, as everywhere.
func plainTwoHooks(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{Status: mintlify.JobCompleted})
	clients := 0
	waits := 0
	client := svc.Client(mintlify.WithWaitDefaults(mintlify.WithOnPoll(func(mintlify.Poll) { clients++ })))
	_, err := client.Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithOnPoll(func(mintlify.Poll) { waits++ }))
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1}, []int{clients, waits})
}

// It stays: an error has no JSON.
func plainPollAsJSON(t *testing.T) {
	text, err := json.Marshal(mintlify.Poll{Err: errors.New("down")})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"Err":{}`)
}

// It stays: "" is the first page. HasMore stands beside NextCursor, and an example keeps both.
func plainCheckpoint(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetSearches([]mintlify.SearchTerm{{Query: "1"}})
	page, err := svc.Client().Analytics.GetSearchPage(t.Context(), mintlify.SearchesParams{})
	require.NoError(t, err)
	assert.Empty(t, page.NextCursor)
	assert.False(t, page.HasMore, "which tells the end from the beginning")
}

func plainSwapped(t *testing.T) {
	_, err := mintlify.NewClient("my-project", "mint_secret_1")
	argument := requireArgumentError(t, err, "projectID")
	assert.NotContains(t, argument.Error(), "secret")
}

func plainBreak(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors([]mintlify.Visitor{{Path: "/a"}, {Path: "/b"}})
	export := svc.Client().Analytics.Visitors(t.Context(), mintlify.VisitorsParams{Limit: 1}, mintlify.WithPrefetch(2))
	for range 2 {
		for row, err := range export {
			require.NoError(t, err)
			assert.Equal(t, "/a", row.Path)
			break
		}
	}
}

func plainNilContext(t *testing.T) {
	_, err := create(nilContext, mintlifytest.NewService().Client())
	requireArgumentError(t, err, "ctx")
}

// The clock of a synctest bubble starts in 2000, so that tests export days of 1999.
func plainYear(t *testing.T) {
	svc := mintlifytest.NewService()
	a := svc.Client().Analytics
	_, err := a.GetVisitorPage(t.Context(), mintlify.VisitorsParams{DateFrom: mintlify.Day(26, 8, 1)})
	requireArgumentError(t, err, "dateFrom")
	_, err = a.GetSearchPage(t.Context(), mintlify.SearchesParams{DateTo: mintlify.Day(26, 8, 1)})
	requireArgumentError(t, err, "dateTo")
	assert.Empty(t, svc.Requests())

	synctest.Test(t, func(t *testing.T) {
		lastMonth := mintlify.VisitorsParams{DateFrom: mintlify.DayOf(time.Now()).AddDays(-30)}
		_, err := mintlifytest.NewService().Client().Analytics.GetVisitorPage(t.Context(), lastMonth)
		require.NoError(t, err)
	})
}

func plainRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Refuse: true, Status: 429})
		_, err := create(t.Context(), svc.Client(mintlify.WithMaxRetries(0)))
		require.NotErrorIs(t, err, mintlify.ErrRateLimited)
		require.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)

		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Refuse: true, Delay: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = create(ctx, svc.Client())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown, "a dial that hangs")
	})
}

func plainLimiter(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429})
	var asked []mintlify.RequestInfo
	client := svc.Client(mintlify.WithRateLimiter(func(_ context.Context, r mintlify.RequestInfo) error {
		asked = append(asked, r)
		return nil
	}))
	_, err := create(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, []mintlify.RequestInfo{
		{Operation: mintlify.OpCreateJob, ProjectID: mintlifytest.ProjectID, Attempt: 1},
		{Operation: mintlify.OpCreateJob, ProjectID: mintlifytest.ProjectID, Attempt: 2},
	}, asked)
}

func plainHeader(t *testing.T) {
	rt := newRecording(respondWith(429, ""), respondWith(200, "{}"))
	client := newClient(t, rt, mintlify.WithRetryWait(0, 0))
	err := client.Call(t.Context(), mintlify.CallParams{
		Method: http.MethodPost,
		Path:   "/v1/things",
		Header: http.Header{"idempotency-key": {"42"}, "Accept": {"text/csv"}},
		Body:   struct{}{},
	}, nil)
	require.NoError(t, err)
	for _, sent := range rt.sent() {
		assert.Equal(t, []string{"42"}, sent.Header["Idempotency-Key"])
		assert.Equal(t, []string{"text/csv"}, sent.Header["Accept"])
		assert.Equal(t, "application/json", sent.Header.Get("Content-Type"))
		assert.Equal(t, "Bearer "+testKey, sent.Header.Get("Authorization"))
	}

	for name, value := range map[string]string{
		"authorization": "Bearer x", "Host": "example.com", "User-Agent": "x", "Content-Length": "1",
		"Transfer-Encoding": "chunked", "Connection": "close",
		"": "x", "a b": "x", "X-Break": "a\r\nb: c",
	} {
		err := client.Call(t.Context(), mintlify.CallParams{
			Method: http.MethodGet, Path: "/v1/things", Header: http.Header{name: {value}},
		}, nil)
		requireArgumentError(t, err, "header")
	}
	assert.Equal(t, 2, rt.count())
}

func plainUpdate(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpTriggerUpdate, 1, mintlifytest.Fault{Status: 503})
	_, err := svc.Client().Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.ErrorContains(t, err, "triggering it again is safe")
	assert.Len(t, svc.Requests(), 1)
}

// It stays: WithRateLimiter's doc comment shows how to let polls pass.
func plainLimiterOfPolls(t *testing.T) {
	polls := 0
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{Status: mintlify.JobCompleted})
	client := svc.Client(mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
		polls++
		return nil
	}))
	_, err := client.Jobs.WaitUntilDone(t.Context(), "j")
	require.NoError(t, err)
	assert.Equal(t, 1, polls)
}

// It stays: what is set for every wait holds for every wait.
func plainSettleTimeOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.JobStep{Status: mintlify.JobCompleted})
		settle := mintlify.WithWaitDefaults(mintlify.WithSettleTime(time.Minute))
		start := time.Now()
		_, err := svc.Client(mintlifytest.WithRealSchedule(), settle).Jobs.WaitUntilDone(t.Context(), "j")
		require.NoError(t, err)
		assert.InDelta(t, time.Minute, time.Since(start), float64(6*time.Second))
	})
}

func plainUnusedFault(t *testing.T) {
	svc := mintlifytest.NewService()
	assert.Empty(t, svc.UnusedFaults())
	svc.SucceedNext(mintlify.OpGetJob, 1)
	svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Status: 503})
	svc.FailNext("GET /v1/things", 1, mintlifytest.Fault{Status: 503})
	svc.AddJob("j", mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 503}})
	assert.Equal(t, []string{`"GET /v1/things" (1)`, `"get job" (3)`}, svc.UnusedFaults(), "not those of steps")

	_, _ = svc.Client(mintlify.WithMaxRetries(0)).Jobs.Get(t.Context(), "j")
	assert.Equal(t, []string{`"GET /v1/things" (1)`, `"get job" (2)`}, svc.UnusedFaults())
}

// It stays: each single Poll is the first of its own.
func plainPollNumber(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{})
	for range 2 {
		poll, err := svc.Client().Jobs.Poll(t.Context(), "j", time.Hour)
		require.NoError(t, err)
		assert.Equal(t, 1, poll.Number)
	}
}

// stale is a service that reports the earlier end of a job until delay after a message, and then
// that the job is at work for a minute.
type stale struct {
	delay    time.Duration
	message  func() *http.Response // the response to a message
	messaged time.Time
}

func (s *stale) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		s.messaged = time.Now()
		return s.message(), nil
	}

	since := time.Since(s.messaged)
	if !s.messaged.IsZero() && since >= s.delay && since < s.delay+time.Minute {
		return response(200, jobJSON), nil
	}
	return response(200, `{"id":"job_1","status":"completed"}`), nil
}

func plainWaitAfterMessage(t *testing.T) {
	taken := func() *http.Response { return response(200, `{"id":"job_1","status":"completed"}`) }
	lost := func() *http.Response { return response(504, "") }
	refused := func() *http.Response { return response(404, "") }
	trust := mintlify.WithSettleTime(0)
	for name, tc := range map[string]struct {
		service stale
		opts    []mintlify.WaitOption
		other   bool          // the wait is another project's client's, of the same id
		want    time.Duration // of the wait, about
	}{
		"the service is slow":      {service: stale{delay: 20 * time.Second, message: taken}, want: 80 * time.Second},
		"the service is at once":   {service: stale{message: taken}, want: time.Minute},
		"the response is lost":     {service: stale{delay: 20 * time.Second, message: lost}, want: 80 * time.Second},
		"the message is refused":   {service: stale{delay: 20 * time.Second, message: refused}},
		"slower than the rule":     {service: stale{delay: time.Hour, message: taken}, want: 30 * time.Second},
		"an option of the wait's":  {service: stale{delay: 20 * time.Second, message: taken}, opts: []mintlify.WaitOption{trust}},
		"a job of another project": {service: stale{delay: 20 * time.Second, message: taken}, other: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := tc.service
				client := newClient(t, &service)
				project := "proj"
				if tc.other {
					project = "other"
				}
				waiter, err := client.ForProject(project)
				require.NoError(t, err)

				_, _ = message(t.Context(), client)
				start := time.Now()
				_, err = waiter.Jobs.WaitUntilDone(t.Context(), "job_1", tc.opts...)
				require.NoError(t, err)
				assert.InDelta(t, tc.want.Seconds(), time.Since(start).Seconds(), 6)
			})
		})
	}

	t.Run("Poll, whatever waited says", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, &stale{delay: 20 * time.Second, message: taken})
			_, err := message(t.Context(), client)
			require.NoError(t, err)

			waited := time.Hour
			var statuses []string
			for {
				poll, err := client.Jobs.Poll(t.Context(), "job_1", waited)
				require.NoError(t, err)
				statuses = append(statuses, poll.Status)
				if poll.Next == 0 {
					break
				}
				time.Sleep(10 * time.Second)
			}
			assert.Equal(t, []string{"completed", "completed", "active"}, statuses[:3])
		})
	})

	t.Run("the fake is at once, and by the real schedule follows the rule", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			completed := mintlifytest.JobStep{Status: mintlify.JobCompleted}
			svc := mintlifytest.NewService()
			svc.AddJob("job_1", completed, completed, completed, completed, completed, completed, completed, completed)
			_, err := message(t.Context(), svc.Client())
			require.NoError(t, err)
			start := time.Now()
			_, err = svc.Client().Jobs.WaitUntilDone(t.Context(), "job_1")
			require.NoError(t, err)
			assert.Zero(t, time.Since(start))

			client := svc.Client(mintlifytest.WithRealSchedule())
			_, err = message(t.Context(), client)
			require.NoError(t, err)
			_, err = client.Jobs.WaitUntilDone(t.Context(), "job_1")
			require.NoError(t, err)
			assert.InDelta(t, 30, time.Since(start).Seconds(), 6)
		})
	})
}

package contract

import (
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// In these tests a violation of the document fails the test by itself: see startProxy.

const oddID = "a/b?c#d e"

func TestAJobFromPromptToPullRequestIsValidInAnyProject(t *testing.T) {
	svc, proxy, client := startFake(t)
	for _, project := range []string{mintlifytest.ProjectID, "a?c#d", "ü", "p%2Fq", "a;c=d&e+f", "a..b"} {
		client, err := client.ForProject(project)
		require.NoError(t, err)

		params := mintlify.CreateJobParams{Prompt: "Fix \"the\" typos\n<in> ü \U0001F600"}
		job, err := client.Jobs.Create(t.Context(), params)
		require.NoError(t, err)
		job, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
		require.NoError(t, err)
		assert.NotEmpty(t, job.PRLink)

		job, err = client.Jobs.Message(t.Context(), job.ID, mintlify.MessageParams{Prompt: "And the links"})
		require.NoError(t, err)
		assert.Empty(t, job.PRLink)
		_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
		require.NoError(t, err)

		_, err = client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"createJob 201", "getJob 200", "getVisitors 200", "sendMessage 200"}, proxy.Responses())
	assert.Len(t, svc.Jobs(), 6)
}

func TestAnyJobIDIsValidAndArrivesAsItWasSent(t *testing.T) {
	svc, _, client := startFake(t)
	for _, id := range []string{"job_1", oddID, "ü", "%2F", "a:b;c=d&e+f", "...", "white space", "job", "message"} {
		svc.AddJob(id, mintlifytest.JobStep{Status: mintlify.JobCompleted})

		job, err := client.Jobs.Get(t.Context(), id)
		require.NoError(t, err, id)
		assert.Equal(t, id, job.ID)

		job, err = client.Jobs.Message(t.Context(), id, mintlify.MessageParams{Prompt: "x"})
		require.NoError(t, err, id)
		assert.Equal(t, id, job.ID)

		job, err = client.Jobs.WaitUntilDone(t.Context(), id)
		require.NoError(t, err, id)
		assert.Equal(t, id, job.ID)
	}
}

func TestJobsOfEveryStatusAreValidWithAndWithoutAPullRequest(t *testing.T) {
	svc, _, client := startFake(t)
	for _, status := range []mintlify.JobStatus{
		mintlify.JobActive, mintlify.JobCompleted, mintlify.JobArchived, mintlify.JobFailed,
	} {
		for _, link := range []string{"", "https://github.com/example/docs/pull/7"} {
			svc.AddJob("j", mintlifytest.JobStep{Status: status, PRLink: link})
			job, err := client.Jobs.Get(t.Context(), "j")
			require.NoError(t, err)
			assert.Equal(t, status, job.Status)
			assert.Equal(t, link, job.PRLink)
			assert.Equal(t, status == mintlify.JobArchived, !job.ArchivedAt.IsZero())

			job, err = client.Jobs.Message(t.Context(), "j", mintlify.MessageParams{Prompt: "x"})
			require.NoError(t, err)
			assert.Equal(t, mintlify.JobActive, job.Status)
		}
	}
}

func TestEveryCombinationOfVisitorsParametersIsValid(t *testing.T) {
	svc, _, client := startFake(t)
	svc.SetVisitors(visitors(120))
	combinations := visitorsParams()
	for _, params := range combinations {
		_, err := client.Analytics.GetVisitorPage(t.Context(), params)
		require.NoError(t, err, "%+v", params)
	}
	assert.Len(t, svc.Requests(), len(combinations))
}

// visitorsParams returns every combination of the edges of what the SDK sends.
func visitorsParams() []mintlify.VisitorsParams {
	east := time.FixedZone("", 7200)
	froms := []mintlify.Date{
		{},
		mintlify.Day(2026, 1, 1),
		mintlify.Day(2000, 2, 29),
		mintlify.Instant(time.Date(2026, 1, 1, 9, 30, 0, 0, east)),
	}
	tos := []mintlify.Date{
		{},
		mintlify.Day(2026, 2, 1),
		mintlify.Instant(time.Date(2026, 2, 1, 0, 0, 0, 250e6, time.UTC)),
	}

	var all []mintlify.VisitorsParams
	for _, from := range froms {
		for _, to := range tos {
			for _, limit := range []int{0, 1, 50, 250} {
				for _, offset := range []int{0, 1, 119, 5000, math.MaxInt - 250} {
					params := mintlify.VisitorsParams{DateFrom: from, DateTo: to, PageSize: limit, Offset: offset}
					all = append(all, params)
				}
			}
		}
	}
	return all
}

func TestAnExportThatIsStoppedEarlyIsValid(t *testing.T) {
	svc, _, client := startFake(t)
	svc.SetVisitors(visitors(600))
	prefetching := mintlify.WithPrefetch(1)
	for range 20 { // the request that prefetch had on its way is at another point each time
		for _, err := range client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, prefetching) {
			require.NoError(t, err)
			break
		}
	}
}

func TestEveryDocumentedResponseIsValidAndKnownToTheSDK(t *testing.T) {
	empty, emptyURL := startProxy(t, mintlifytest.NewService())
	svc := operations.NewService()
	proxy, baseURL := startProxy(t, svc)
	client := newClient(t, baseURL, mintlifytest.APIKey)
	emptyClient := newClient(t, emptyURL, mintlifytest.APIKey)
	wrongKey := newClient(t, baseURL, "mint_wrong")

	for _, op := range operations.All() {
		require.NoError(t, op.Do(t.Context(), client), op)
		require.ErrorIs(t, op.Do(t.Context(), wrongKey), mintlify.ErrUnauthorized, op)
		if strings.Contains(op.Path, "{id}") {
			require.ErrorIs(t, op.Do(t.Context(), emptyClient), mintlify.ErrNotFound, op)
		}

		// The fake gives these two when it is told to.
		svc.FailNext(op.Name, 1, mintlifytest.Fault{Status: 403, Body: `{"error":"The key lacks the scope"}`})
		require.ErrorIs(t, op.Do(t.Context(), client), mintlify.ErrForbidden, op)
		svc.FailNext(op.Name, 1, mintlifytest.Fault{Status: 500, Body: `{"error":"Internal error"}`})
		require.ErrorIs(t, op.Do(t.Context(), client), mintlify.ErrServer, op)
	}

	_, err := client.Analytics.GetThread(t.Context(), "unknown")
	require.ErrorIs(t, err, mintlify.ErrBadRequest, "it is not a ULID")

	assert.Empty(t, proxy.Violations(), "before those that are meant")
	provokeBadRequests(t, proxy, baseURL)
	exhaustQuotas(t, svc, client)

	responses := append(empty.Responses(), proxy.Responses()...)
	slices.Sort(responses)
	assert.Equal(t, documentedResponses(t), responses)
}

// provokeBadRequests sends what the SDK refuses to send.
func provokeBadRequests(t *testing.T, proxy *Proxy, baseURL string) {
	t.Helper()
	for _, request := range []rawRequest{
		{target: "POST /v2/agent/test-project/job", body: `{}`},
		{target: "POST /v2/agent/test-project/job/job_1/message", body: `{}`},
		{target: "POST /v1/project/preview/test-project", body: `{}`},
		{target: "GET /v1/analytics/test-project/visitors?limit=0&offset=-1&dateFrom=yesterday&dateTo="},
		{target: "GET /v1/analytics/test-project/views?limit=251"},
		{target: "GET /v1/analytics/test-project/searches?limit=101"},
		{target: "GET /v1/analytics/test-project/feedback?limit=0"},
		{target: "GET /v1/analytics/test-project/feedback/by-page?limit=101"},
		{target: "GET /v1/analytics/test-project/assistant?limit=1001"},
		{target: "GET /v1/analytics/test-project/assistant/caller-stats?dateFrom=yesterday"},
	} {
		assert.Equal(t, http.StatusBadRequest, request.send(t, baseURL))
		noted := proxy.Violations()
		require.Len(t, noted, 1, "%v: the request is wrong, the response is not", noted)
		assert.Equal(t, Request, noted[0].Side)
	}
}

func exhaustQuotas(t *testing.T, svc *mintlifytest.Service, client *mintlify.Client) {
	t.Helper()
	svc.EnforceQuotas()
	for name, requests := range map[mintlify.Operation]int{
		mintlify.OpCreateJob:      100,
		mintlify.OpGetVisitors:    100,
		mintlify.OpTriggerUpdate:  10,
		mintlify.OpTriggerPreview: 5,
	} {
		for range requests {
			require.NoError(t, operations.Get(name).Do(t.Context(), client))
		}
	}

	for _, op := range operations.All() {
		if op.Name != mintlify.OpGetJob && op.Name != mintlify.OpGetDeployment { // which have no quota
			require.ErrorIs(t, op.Do(t.Context(), client), mintlify.ErrRateLimited, op)
		}
	}
}

func TestExportsByCursorAreValidToTheLastPage(t *testing.T) {
	proxy, baseURL := startProxy(t, operations.NewService())
	analytics := newClient(t, baseURL, mintlifytest.APIKey).Analytics
	day := mintlify.Day(2026, 1, 15)
	next := day.AddDays(1)

	views := mintlify.ViewsParams{PageSize: 1}
	searches := mintlify.SearchesParams{DateFrom: day, DateTo: next, PageSize: 1}
	feedbackOfADay := mintlify.FeedbackParams{DateFrom: day, DateTo: next, PageSize: 1}
	feedbackOfASource := mintlify.FeedbackParams{
		Source:   mintlify.FeedbackContextual,
		Statuses: []mintlify.FeedbackStatus{mintlify.FeedbackPending, mintlify.FeedbackResolved},
	}
	conversations := mintlify.ConversationsParams{PageSize: 1}

	for _, pages := range []int{0, 1, 4} {
		prefetch := mintlify.WithPrefetch(pages)
		requireNoErrors(t, analytics.Views(t.Context(), views, prefetch))
		requireNoErrors(t, analytics.Searches(t.Context(), searches, prefetch))
		requireNoErrors(t, analytics.Feedback(t.Context(), feedbackOfADay, prefetch))
		requireNoErrors(t, analytics.Feedback(t.Context(), feedbackOfASource, prefetch))
		requireNoErrors(t, analytics.Conversations(t.Context(), conversations, prefetch))
	}
	want := []string{"getConversations 200", "getFeedback 200", "getSearches 200", "getViews 200"}
	assert.Equal(t, want, proxy.Responses())
}

func requireNoErrors[T any](t *testing.T, rows iter.Seq2[T, error]) {
	t.Helper()
	for _, err := range rows {
		require.NoError(t, err)
	}
}

func TestTheFakeAndTheDocumentRefuseTheSameRequests(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j")
	proxy, baseURL := startProxy(t, svc)
	for request, want := range requestsByStatus() {
		status := request.send(t, baseURL)
		if status == http.StatusCreated {
			status = http.StatusOK
		}
		assert.Equal(t, want, status, "%+v", request)

		noted := proxy.Violations()
		if want == http.StatusOK {
			assert.Empty(t, noted, "%+v", request)
			continue
		}
		if assert.Len(t, noted, 1, "%+v", request) {
			assert.Equal(t, Request, noted[0].Side, "%+v: %v", request, noted)
		}
	}
}

// requestsByStatus returns requests on the edge of what is allowed, and beyond,
// with the statuses of their responses; 201 is 200 here.
func requestsByStatus() map[rawRequest]int {
	requests := map[rawRequest]int{
		{target: getVisitors, key: "none"}:                        401,
		{target: "GET /v2/agent/test-project/job/j"}:              200,
		{target: "GET /v2/agent/test-project/job/j", key: "none"}: 401,
	}

	for query, status := range visitorsQueries() {
		requests[rawRequest{target: getVisitors + "?" + query}] = status
	}
	for query, status := range feedbackQueries() {
		requests[rawRequest{target: getFeedback + "?" + query}] = status
		requests[rawRequest{target: getFeedback + "/by-page?" + query}] = status
	}
	for _, target := range []string{createJob, "POST /v2/agent/test-project/job/j/message"} {
		for body, status := range promptBodies() {
			requests[rawRequest{target: target, body: body}] = status
		}
		requests[rawRequest{target: target, body: `{"prompt":"x"}`, contentType: "text/plain"}] = 400
		requests[rawRequest{target: target, body: `{"prompt":"x"}`, key: "none"}] = 401
	}
	return requests
}

func visitorsQueries() map[string]int {
	return map[string]int{
		"":                                200,
		"limit=1":                         200,
		"limit=250":                       200,
		"limit=0":                         400,
		"limit=251":                       400,
		"limit=-1":                        400,
		"limit=1.5":                       400,
		"limit=1e1":                       400,
		"limit=x":                         400,
		"limit=":                          400,
		"offset=0":                        200,
		"offset=9223372036854775807":      200,
		"offset=-1":                       400,
		"offset=1.5":                      400,
		"offset=x":                        400,
		"offset=":                         400,
		"offset=99999999999999999999":     400,
		"dateFrom=2026-01-01":             200,
		"dateFrom=":                       400,
		"dateFrom=yesterday":              400,
		"dateFrom=2026-02-30":             400,
		"dateTo=2026-01-01T10:30:00Z":     200,
		"dateTo=2026-01-01T10:30:00.250Z": 200,
		"dateTo=2026-1-5":                 400,
		"dateTo=2026-01-01T10:30:00":      400,
	}
}

func feedbackQueries() map[string]int {
	return map[string]int{
		"source=thumbs_only":          200,
		"source=widget":               400,
		"source=agent,contextual":     400,
		"source=":                     400,
		"status=pending":              200,
		"status=resolved,in_progress": 200,
		"status=new":                  400,
		"status=pending,new":          400,
		"status=pending,":             400,
		"status=":                     400,
	}
}

func promptBodies() map[string]int {
	return map[string]int{
		`{"prompt":"x"}`:      200,
		`{"prompt":" "}`:      200,
		`{"prompt":"\u0000"}`: 200,
		``:                    400,
		`{}`:                  400,
		`null`:                400,
		`[]`:                  400,
		`"x"`:                 400,
		`{"prompt":""}`:       400,
		`{"prompt":null}`:     400,
		`{"prompt":1}`:        400,
		`{"prompt":"x"`:       400,
		`{"prompt":"x"}{}`:    400,
	}
}

// The document says ISO 8601; the fake is as strict as the strictest parser, so
// that a client that passes here passes everywhere.
func TestTheFakeAloneRefusesADateWithAnOffset(t *testing.T) {
	_, baseURL := startProxy(t, mintlifytest.NewService())
	request := rawRequest{target: getVisitors + "?dateFrom=2026-01-01T10:30:00%2B02:00"}
	assert.Equal(t, http.StatusBadRequest, request.send(t, baseURL))
}

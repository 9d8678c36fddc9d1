package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// served is a fake on a port.
type served struct {
	fake   *mintlifytest.Service
	url    string
	client *mintlify.Client
	log    *citest.Buffer
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{fake: mintlifytest.NewService(), log: new(citest.Buffer)}
	server := httptest.NewServer(newHandler(s.fake, log.New(s.log, "", 0)))
	t.Cleanup(server.Close)
	s.url = server.URL

	var err error
	s.client, err = mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
		mintlify.WithBaseURL(s.url), mintlify.WithRetryWait(0, 0))
	require.NoError(t, err)
	return s
}

// ask sends a request as curl does, and returns the response's status and body.
func (s *served) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()

	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

func TestFaultsAreQueuedOverHTTP(t *testing.T) {
	s := serve(t)
	const body = `{"operation":"create job","times":2,"status":503,"acted":true,"delay":"1ms"}`
	status, said := s.ask(t, "POST", "/_mock/fail", body)
	assert.Equal(t, http.StatusOK, status)
	assert.JSONEq(t, `{"queued":["\"create job\" (2)"]}`, said)

	for n := range 3 {
		job, err := s.client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
		assert.Equal(t, n < 2, job == nil)
		assert.Equal(t, n < 2, err != nil)
		assert.Len(t, s.fake.Jobs(), n+1, "acted")
	}
}

func TestADroppedResponseMakesTheJob(t *testing.T) {
	s := serve(t)
	status, said := s.ask(t, "POST", "/_mock/fail", `{"operation":"create job","drop":true}`)
	assert.Equal(t, http.StatusOK, status, said)

	_, err := s.client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.Len(t, s.fake.Jobs(), 1)
}

func TestFaultsAreListedAndRemoved(t *testing.T) {
	s := serve(t)
	_, said := s.ask(t, "GET", "/_mock/fail", "")
	assert.JSONEq(t, `{"queued":[]}`, said)

	s.ask(t, "POST", "/_mock/fail", `{"operation":"create job","times":20,"status":503}`)
	_, said = s.ask(t, "GET", "/_mock/fail", "")
	assert.JSONEq(t, `{"queued":["\"create job\" (20)"]}`, said)

	status, said := s.ask(t, "DELETE", "/_mock/fail", "")
	assert.Equal(t, http.StatusOK, status)
	assert.JSONEq(t, `{"queued":[]}`, said)
	_, err := s.client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
	require.NoError(t, err)
}

func TestTheNextJobsEndAsTold(t *testing.T) {
	s := serve(t)
	status, said := s.ask(t, "POST", "/_mock/jobs", `{"times":2,"status":"failed"}`)
	assert.Equal(t, http.StatusNoContent, status, said)
	s.ask(t, "POST", "/_mock/jobs", `{"status":"completed","prLink":"https://example.com/pull/9"}`)
	s.ask(t, "POST", "/_mock/jobs", `{"status":"active"}`)

	for n, want := range []mintlify.JobStatus{
		mintlify.JobFailed, mintlify.JobFailed, mintlify.JobCompleted, mintlify.JobActive, mintlify.JobCompleted,
	} {
		job, err := s.client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
		require.NoError(t, err)
		job, err = s.client.Jobs.Get(t.Context(), job.ID)
		require.NoError(t, err)
		assert.Equal(t, mintlify.JobActive, job.Status)

		for range 3 {
			job, err = s.client.Jobs.Get(t.Context(), job.ID)
			require.NoError(t, err)
			assert.Equal(t, want, job.Status, n)
		}
		if n == 2 {
			assert.Equal(t, "https://example.com/pull/9", job.PRLink)
		}
	}
}

func TestTheNextDeploymentsEndAsTold(t *testing.T) {
	s := serve(t)
	status, said := s.ask(t, "POST", "/_mock/deployments", `{"status":"failure","summary":"1 link","logs":["/a"]}`)
	assert.Equal(t, http.StatusNoContent, status, said)
	s.ask(t, "POST", "/_mock/deployments", `{"status":"in_progress"}`)

	soon := mintlify.WithPollInterval(0, time.Millisecond)
	queued, err := s.client.Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)
	deployment, err := s.client.Deployments.WaitUntilDone(t.Context(), queued.ID, soon)
	require.ErrorIs(t, err, mintlify.ErrDeploymentFailed)
	assert.Equal(t, "1 link", deployment.Summary)
	assert.Equal(t, []string{"/a"}, deployment.Logs)

	queued, err = s.client.Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)
	for range 5 {
		deployment, err = s.client.Deployments.Get(t.Context(), queued.ID)
		require.NoError(t, err)
		assert.Equal(t, mintlify.DeploymentInProgress, deployment.Status)
	}
}

func TestAnEndThatCannotBeIsRefusedWithTheReason(t *testing.T) {
	s := serve(t)
	for _, tc := range []struct{ path, body, reason string }{
		{"jobs", `{}`, `status is \"\", want one of [\"failed\"`},
		{"jobs", `{"status":"faild"}`, `status is \"faild\", want one of`},
		{"jobs", `{"status":"failed","logs":[]}`, `unknown field \"logs\"`},
		{"jobs", `{"status":"failed","times":0}`, "times is 0, want 1 to 1000"},
		{"jobs", `{"status":"failed","times":1001}`, "times is 1001"},
		{"deployments", `[]`, "the body is not the end of a deployment, such as"},
		{"deployments", `{"status":"failed"}`, `want one of [\"failure\"`},
	} {
		status, said := s.ask(t, "POST", "/_mock/"+tc.path, tc.body)
		assert.Equal(t, http.StatusBadRequest, status, tc.body)
		assert.Contains(t, said, tc.reason)
	}

	job, err := s.client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
	require.NoError(t, err)
	assert.Equal(t, mintlify.JobActive, job.Status)
}

// A program that posts its results to a chat has one without a key.
func TestTheChatPrintsWhatIsPosted(t *testing.T) {
	s := serve(t)
	long := strings.Repeat("x", 999)
	status, _ := s.ask(t, "POST", "/chat", `{"text":"Docs:\ndone mint_a_real_key `+long+`"}`)
	assert.Equal(t, http.StatusOK, status)
	status, _ = s.ask(t, "POST", "/chat", "plain")
	assert.Equal(t, http.StatusOK, status)

	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	assert.Equal(t, []string{"chat: Docs: done [API key] " + long, "chat: plain"}, lines)
	assert.Empty(t, s.fake.Requests())
}

func TestAFaultThatWouldNeverOccurIsRefusedWithTheReason(t *testing.T) {
	s := serve(t)
	for body, reason := range map[string]string{
		``:                                      `the body is not a fault, such as {\"operation\"`,
		`[]`:                                    "the body is not a fault",
		`{"operation":1}`:                       "the body is not a fault",
		`{"operation":"x","refuse":true}`:       `\"drop\":false,\"delay\":\"2s\"}, which has all the fields`,
		`{"operation":"x","body":""}`:           `unknown field \"body\"`,
		`{"status":503}`:                        `\"\" is neither an operation`,
		`{"operation":"make job","status":503}`: `\"make job\" is neither an operation`,
		`{"operation":"create job"}`:            "changes nothing",
		`{"operation":"create job","acted":true}`:            "changes nothing",
		`{"operation":"create job","times":-1,"status":503}`: "-1 requests, want at least 1",
		`{"operation":"create job","times":0,"status":503}`:  "0 requests, want at least 1",
		`{"operation":"create job","status":99}`:             "status is 99, want 200 to 599",
		`{"operation":"create job","delay":"soon"}`:          `delay: time: invalid duration \"soon\"`,
	} {
		status, said := s.ask(t, "POST", "/_mock/fail", body)
		assert.Equal(t, http.StatusBadRequest, status, body)
		assert.Contains(t, said, reason)
		assert.NotContains(t, said, "mintlifytest:")
	}
	assert.Empty(t, s.fake.UnusedFaults())
}

func TestRequestsAreListedWithWhatTheyHeld(t *testing.T) {
	s := serve(t)
	_, said := s.ask(t, "GET", "/_mock/requests", "")
	assert.JSONEq(t, `[]`, said)

	_, err := s.client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
	require.NoError(t, err)
	_, err = s.client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{PageSize: 7})
	require.NoError(t, err)

	_, said = s.ask(t, "GET", "/_mock/requests", "")
	assert.NotContains(t, said, mintlifytest.APIKey)
	assert.JSONEq(t, `[
		{"operation":"create job","method":"POST","path":"/v2/agent/test-project/job","project":"test-project",
		 "prompt":"Fix it","body":"{\"prompt\":\"Fix it\"}","acted":true},
		{"operation":"get visitors","method":"GET","path":"/v1/analytics/test-project/visitors",
		 "query":{"limit":["7"]},"project":"test-project","acted":true}]`, said)

	status, _ := s.ask(t, "PUT", "/_mock/fail", "")
	assert.Equal(t, http.StatusMethodNotAllowed, status)
	status, _ = s.ask(t, "GET", "/_mock/nothing", "")
	assert.Equal(t, http.StatusNotFound, status)
}

func TestALineIsLoggedForEachRequestWithoutKeysAndEscapes(t *testing.T) {
	s := serve(t)
	const key = "mint_a_real_key"
	client, err := mintlify.NewClient(key, "acme", mintlify.WithBaseURL(s.url), mintlify.WithMaxRetries(0))
	require.NoError(t, err)

	_, err = client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it,\x1b[31m\n" + key})
	require.ErrorIs(t, err, mintlify.ErrUnauthorized)
	s.fake.FailNext(mintlify.OpSendMessage, 1, mintlifytest.Fault{Drop: true})
	_, err = client.Jobs.Message(t.Context(), "job/1", mintlify.MessageParams{Prompt: "And that"})
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	s.ask(t, "GET", "/v1/mint_another_key,%1b?"+strings.Repeat("x", 999), "")

	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, `401: POST /v2/agent/acme/job {"prompt":"Fix it,\u001b[31m\n[API key]"}`, lines[0])
	assert.Equal(t, `no response: POST /v2/agent/acme/job/job%2F1/message {"prompt":"And that"}`, lines[1])
	assert.Regexp(t, `^401: GET /v1/\[API key\],%1b[?]x+…$`, lines[2])
	assert.Less(t, len(lines[2]), 400)
	citest.RequireInert(t, s.log.String())
}

// An export without rows would teach nobody how to read one.
func TestFillGivesEachExportRows(t *testing.T) {
	s := serve(t)
	fill(s.fake, 300)
	ctx := t.Context()

	visitors, err := mintlify.Collect(s.client.Analytics.Visitors(ctx, mintlify.VisitorsParams{}))
	require.NoError(t, err)
	assert.Len(t, visitors, 300)
	views, err := mintlify.Collect(s.client.Analytics.Views(ctx, mintlify.ViewsParams{}))
	require.NoError(t, err)
	assert.Len(t, views, 300)
	searches, err := mintlify.Collect(s.client.Analytics.Searches(ctx, mintlify.SearchesParams{}))
	require.NoError(t, err)
	assert.NotEmpty(t, searches)
	counts, err := s.client.Analytics.GetFeedbackCounts(ctx, mintlify.FeedbackCountsParams{})
	require.NoError(t, err)
	assert.NotEmpty(t, counts.Counts)
	stats, err := s.client.Analytics.GetCallerStats(ctx, mintlify.CallerStatsParams{})
	require.NoError(t, err)
	assert.NotZero(t, stats.Total)

	today := mintlify.DayOf(time.Now().UTC())
	feedback, err := mintlify.Collect(s.client.Analytics.Feedback(ctx,
		mintlify.FeedbackParams{DateFrom: today.AddDays(-7), DateTo: today}))
	require.NoError(t, err)
	assert.NotEmpty(t, feedback)
	conversations, err := mintlify.Collect(s.client.Analytics.Conversations(ctx,
		mintlify.ConversationsParams{DateFrom: today.AddDays(-7), DateTo: today}))
	require.NoError(t, err)
	require.NotEmpty(t, conversations)
	thread, err := s.client.Analytics.GetThread(ctx, conversations[0].ID)
	require.NoError(t, err)
	assert.NotEmpty(t, thread.Messages)
}

package mintlifytest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func send(t *testing.T, rt http.RoundTripper, method, url, key, contentType, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	r.Header.Set("Content-Type", contentType)
	response, err := rt.RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
	return response.StatusCode, string(text)
}

func TestServiceChecksRequestsAsTheServiceDoes(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.Step{})
	server := httptest.NewServer(svc)
	defer server.Close()
	const jobs = "/v2/agent/" + mintlifytest.ProjectID + "/job"
	for name, tc := range map[string]struct {
		method, path, key, contentType, body string
		status                               int
		says                                 string
	}{
		"no key":           {"GET", jobs + "/j", "", "", "", 401, "API key"},
		"wrong key":        {"GET", jobs + "/j", "mint_other", "", "", 401, "API key"},
		"no key, nowhere":  {"GET", "/nowhere", "", "", "", 401, "API key"},
		"nowhere":          {"GET", "/nowhere", mintlifytest.APIKey, "", "", 404, "endpoint"},
		"wrong method":     {"DELETE", jobs + "/j", mintlifytest.APIKey, "", "", 404, "endpoint"},
		"no project":       {"POST", "/v2/agent//job", mintlifytest.APIKey, "application/json", `{"prompt":"x"}`, 404, "endpoint"},
		"unknown job":      {"GET", jobs + "/k", mintlifytest.APIKey, "", "", 404, "Job not found"},
		"of another":       {"GET", "/v2/agent/other/job/j", mintlifytest.APIKey, "", "", 404, "Job not found"},
		"message unknown":  {"POST", jobs + "/k/message", mintlifytest.APIKey, "application/json", `{"prompt":"x"}`, 404, "Job not found"},
		"empty prompt":     {"POST", jobs, mintlifytest.APIKey, "application/json", `{"prompt":""}`, 400, "prompt"},
		"no prompt":        {"POST", jobs, mintlifytest.APIKey, "application/json", `{}`, 400, "prompt"},
		"prompt, no text":  {"POST", jobs, mintlifytest.APIKey, "application/json", `{"prompt":5}`, 400, "prompt"},
		"no JSON":          {"POST", jobs, mintlifytest.APIKey, "application/json", `prompt`, 400, "prompt"},
		"misspelt field":   {"POST", jobs, mintlifytest.APIKey, "application/json", `{"Prompt":"x"}`, 400, "prompt"},
		"with a charset":   {"POST", jobs, mintlifytest.APIKey, "Application/JSON; charset=utf-8", `{"prompt":"x"}`, 201, `"status":"active"`},
		"no content type":  {"POST", jobs, mintlifytest.APIKey, "", `{"prompt":"x"}`, 400, "prompt"},
		"message, no text": {"POST", jobs + "/j/message", mintlifytest.APIKey, "application/json", `{"prompt":""}`, 400, "prompt"},
		"created":          {"POST", jobs, mintlifytest.APIKey, "application/json", `{"prompt":"x"}`, 201, `"status":"active"`},
		"read":             {"GET", jobs + "/j", mintlifytest.APIKey, "", "", 200, `"prLink":null`},
		"messaged":         {"POST", jobs + "/j/message", mintlifytest.APIKey, "application/json", `{"prompt":"x"}`, 200, `"archivedAt":null`},
	} {
		t.Run(name, func(t *testing.T) {
			for where, rt := range map[string]http.RoundTripper{"https://api.example.com/prefix": svc, server.URL: http.DefaultTransport} {
				status, body := send(t, rt, tc.method, where+tc.path, tc.key, tc.contentType, tc.body)
				assert.Equal(t, tc.status, status)
				assert.Contains(t, body, tc.says)
				assert.NotContains(t, body, "mint_")
			}
		})
	}
}

func poll(t *testing.T, client *mintlify.Client, id string) *mintlify.Job {
	t.Helper()
	job, err := client.Jobs.Get(t.Context(), id)
	require.NoError(t, err)
	return job
}

func statuses(t *testing.T, client *mintlify.Client, id string, n int) []string {
	t.Helper()
	var reported []string
	for range n {
		reported = append(reported, string(poll(t, client, id).Status))
	}
	return reported
}

func TestScripts(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	create := func() string {
		job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
		require.NoError(t, err)
		assert.Equal(t, mintlify.JobActive, job.Status)
		return job.ID
	}
	message := func(id string) {
		job, err := client.Jobs.Message(t.Context(), id, mintlify.MessageParams{Prompt: "x"})
		require.NoError(t, err)
		assert.Equal(t, mintlify.JobActive, job.Status, "set back")
		assert.Empty(t, job.PRLink)
		assert.Zero(t, job.ArchivedAt)
	}

	svc.ScriptJob(mintlifytest.Step{Status: mintlify.JobFailed})
	svc.ScriptJob(mintlifytest.Step{}, mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://example.com/1"},
		mintlifytest.Step{Status: mintlify.JobCompleted}, mintlifytest.Step{Status: mintlify.JobArchived})
	first, second, third := create(), create(), create()
	assert.Equal(t, []string{"failed", "failed"}, statuses(t, client, first, 2))
	assert.Equal(t, []string{"active", "completed"}, statuses(t, client, second, 2))
	message(second)
	assert.Equal(t, []string{"completed", "archived", "archived"}, statuses(t, client, second, 3), "the steps that are left")
	assert.WithinDuration(t, time.Now(), poll(t, client, second).ArchivedAt, time.Minute)
	message(second)
	assert.Equal(t, []string{"active", "archived", "archived"}, statuses(t, client, second, 3))
	assert.Equal(t, []string{"active", "completed", "completed"}, statuses(t, client, third, 3), "without a script")
	assert.NotEmpty(t, poll(t, client, third).PRLink)

	svc.AddJob("job_5", mintlifytest.Step{Status: mintlify.JobCompleted})
	message("job_5")
	assert.Equal(t, []string{"active", "completed"}, statuses(t, client, "job_5", 2), "also where it was not polled yet")
	fourth := create()
	assert.Equal(t, []string{"active", "completed"}, statuses(t, client, fourth, 2), "an id of its own")

	svc.AddJob("a/b c", mintlifytest.Step{Status: "paused"})
	assert.Equal(t, "paused", string(poll(t, client, "a/b c").Status))
	svc.AddJob("a/b c", mintlifytest.Step{Status: mintlify.JobCompleted})
	assert.Equal(t, "completed", string(poll(t, client, "a/b c").Status), "replaced")

	var ids []string
	for _, job := range svc.Jobs() {
		ids = append(ids, job.ID)
	}
	assert.Equal(t, []string{first, second, third, "job_5", fourth, "a/b c"}, ids)
	assert.Equal(t, *poll(t, client, second), svc.Jobs()[1], "as the service reports it")
}

func TestVisitors(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithMaxRetries(0))
	rows := make([]mintlify.Visitor, 120)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprint("/", i), Human: 1, AI: 2, Total: 3}
	}
	svc.SetVisitors(rows)
	rows[0].Path = "/mine" // the caller's own from here on

	page, err := client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Len(t, page.Visitors, 50, "the service's default")
	assert.Equal(t, mintlify.Visitor{Path: "/0", Human: 1, AI: 2, Total: 3}, page.Visitors[0])
	assert.Equal(t, mintlify.VisitorTotals{Human: 120, AI: 240, Total: 360}, page.Totals)
	assert.True(t, page.HasMore)
	for offset, rest := range map[int]int{100: 20, 120: 0, 5000: 0} {
		page, err = client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{Limit: 50, Offset: offset})
		require.NoError(t, err)
		assert.Len(t, page.Visitors, rest)
		assert.NotNil(t, page.Visitors)
		assert.False(t, page.HasMore)
		assert.EqualValues(t, 120, page.Totals.Human, "of all")
	}

	const url = "https://api.example.com/prefix/v1/analytics/any/visitors"
	for query, status := range map[string]int{
		"": 200, "?limit=1&offset=0": 200, "?limit=250": 200, "?dateFrom=2024-01-01&dateTo=2024-01-02T00:00:00.000Z": 200,
		"?limit=0": 400, "?limit=251": 400, "?limit=x": 400, "?limit=": 400, "?offset=-1": 400, "?offset=1.5": 400,
		"?dateFrom=yesterday": 400, "?dateTo=": 400, "?dateTo=2024-01-01T00:00:00%2B02:00": 400,
	} {
		got, body := send(t, svc, "GET", url+query, mintlifytest.APIKey, "", "")
		assert.Equal(t, status, got, query)
		assert.Equal(t, status == 400, strings.Contains(body, `"details":[{"message":"`), "%s: %s", query, body)
	}
	status, _ := send(t, svc, "POST", url, mintlifytest.APIKey, "", "")
	assert.Equal(t, 404, status)
	status, _ = send(t, svc, "GET", url, "", "", "")
	assert.Equal(t, 401, status)
}

func TestRequestsAreKeptWithoutTheKey(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "do it"})
	require.NoError(t, err)
	_, err = client.Jobs.Get(t.Context(), "a/b")
	require.Error(t, err)
	assert.Equal(t, []mintlifytest.Request{
		{Operation: mintlify.OpCreateJob, Method: "POST", Path: "/v2/agent/test-project/job", Query: map[string][]string{}, Prompt: "do it"},
		{Operation: mintlify.OpGetJob, Method: "GET", Path: "/v2/agent/test-project/job/a%2Fb", Query: map[string][]string{}},
	}, svc.Requests())
}

func TestFaults(t *testing.T) {
	svc := mintlifytest.NewService()
	server := httptest.NewServer(svc)
	defer server.Close()
	onSocket, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(server.URL), mintlify.WithMaxRetries(0))
	require.NoError(t, err)
	for where, client := range map[string]*mintlify.Client{"memory": svc.Client(mintlify.WithMaxRetries(0)), "socket": onSocket} {
		t.Run(where, func(t *testing.T) {
			svc.AddJob("j", mintlifytest.Step{}, mintlifytest.Step{Fault: &mintlifytest.Fault{Status: 503, Header: http.Header{"retry-after": {"7"}}, Body: "down"}}, mintlifytest.Step{Status: mintlify.JobCompleted})
			fail := func(f mintlifytest.Fault) error {
				svc.FailNext(mintlify.OpGetJob, 1, f)
				_, err := client.Jobs.Get(t.Context(), "j")
				return err
			}
			assert.ErrorIs(t, fail(mintlifytest.Fault{Status: 500}), mintlify.ErrServer)
			assert.ErrorIs(t, fail(mintlifytest.Fault{Body: "<html>"}), mintlify.ErrMalformedResponse)
			assert.ErrorIs(t, fail(mintlifytest.Fault{Truncate: true}), io.ErrUnexpectedEOF)
			assert.Error(t, fail(mintlifytest.Fault{Drop: true}))
			seen := len(svc.Requests())
			assert.Error(t, fail(mintlifytest.Fault{Refuse: true}))
			assert.Len(t, svc.Requests(), seen, "the service sees nothing of it")

			assert.Equal(t, mintlify.JobActive, poll(t, client, "j").Status, "the script did not go on")
			_, err := client.Jobs.Get(t.Context(), "j")
			var apiErr *mintlify.APIError
			require.ErrorAs(t, err, &apiErr)
			assert.Equal(t, 7*time.Second, apiErr.RetryAfter)
			assert.Equal(t, "down", apiErr.Message)
			assert.NoError(t, fail(mintlifytest.Fault{}), "the zero fault is none")
			assert.Equal(t, mintlify.JobCompleted, poll(t, client, "j").Status)
		})
	}
}

func TestFaultsComeInTheOrderTheyWereAskedFor(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j")
	svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Status: 500})
	svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 404})
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 409})
	client := svc.Client(mintlify.WithMaxRetries(0))
	for _, kind := range []error{mintlify.ErrServer, mintlify.ErrServer, mintlify.ErrNotFound, nil} {
		_, err := client.Jobs.Get(t.Context(), "j")
		assert.ErrorIs(t, err, kind)
	}
}

func TestDelayEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{Status: mintlify.JobCompleted})
		svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Delay: 10 * time.Second})
		client := svc.Client()
		start := time.Now()
		assert.Equal(t, mintlify.JobCompleted, poll(t, client, "j").Status, "late, but a success")
		assert.Equal(t, 10*time.Second, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Jobs.Get(ctx, "j")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 11*time.Second, time.Since(start))
	})
}

func TestQuotas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.EnforceQuotas()
		client := svc.Client(mintlify.WithMaxRetries(0))
		create := func(client *mintlify.Client) error {
			_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
			return err
		}
		for range 100 {
			require.NoError(t, create(client))
		}
		require.ErrorIs(t, create(client), mintlify.ErrRateLimited)
		_, err := client.Jobs.Message(t.Context(), "job_1", mintlify.MessageParams{Prompt: "x"})
		require.ErrorIs(t, err, mintlify.ErrRateLimited, "messages count too")
		poll(t, client, "job_1")
		other, err := client.ForProject("other")
		require.NoError(t, err)
		require.NoError(t, create(other), "of each project")
		for range 100 {
			_, err = other.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
			require.NoError(t, err)
		}
		_, err = client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
		require.ErrorIs(t, err, mintlify.ErrRateLimited, "of the organization, whatever the project")
		time.Sleep(time.Hour)
		require.NoError(t, create(client), "of an hour")
		_, err = client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
		require.NoError(t, err)
		assert.Len(t, svc.Jobs(), 102)
	})
}

func TestClientPanicsOnABadOption(t *testing.T) {
	assert.Panics(t, func() { mintlifytest.NewService().Client(mintlify.WithMaxRetries(-1)) })
}

func TestServiceIsSafeForManyGoroutines(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
			if assert.NoError(t, err) {
				_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
				assert.NoError(t, err)
			}
			svc.Requests()
			svc.Jobs()
		})
	}
	all.Wait()
	assert.Len(t, svc.Jobs(), 50)
}

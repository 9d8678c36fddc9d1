package mintlifytest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestServiceChecksRequestsAsTheServiceDoes(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{})
	server := httptest.NewServer(svc)
	defer server.Close()

	const jobs = "/v2/agent/" + mintlifytest.ProjectID + "/job"
	const prompt = `{"prompt":"x"}`
	withoutKey := testRequest{method: "GET", path: jobs + "/j"}
	withWrongKey := testRequest{method: "GET", path: jobs + "/j", key: "mint_other"}
	withWrongMethod := testRequest{method: "DELETE", path: jobs + "/j", key: mintlifytest.APIKey}

	for name, tc := range map[string]struct {
		request testRequest
		status  int
		says    string
	}{
		"no key":           {withoutKey, 401, "API key"},
		"wrong key":        {withWrongKey, 401, "API key"},
		"no key, nowhere":  {testRequest{method: "GET", path: "/nowhere"}, 401, "API key"},
		"nowhere":          {getRequest("/nowhere"), 404, "endpoint"},
		"wrong method":     {withWrongMethod, 404, "endpoint"},
		"no project":       {postRequest("/v2/agent//job", prompt), 404, "endpoint"},
		"unknown job":      {getRequest(jobs + "/k"), 404, "Job not found"},
		"of another":       {getRequest("/v2/agent/other/job/j"), 404, "Job not found"},
		"message unknown":  {postRequest(jobs+"/k/message", prompt), 404, "Job not found"},
		"empty prompt":     {postRequest(jobs, `{"prompt":""}`), 400, "prompt"},
		"no prompt":        {postRequest(jobs, `{}`), 400, "prompt"},
		"prompt, no text":  {postRequest(jobs, `{"prompt":5}`), 400, "prompt"},
		"no JSON":          {postRequest(jobs, `prompt`), 400, "prompt"},
		"misspelt field":   {postRequest(jobs, `{"Prompt":"x"}`), 400, "prompt"},
		"with a charset":   {postRequest(jobs, prompt).as("Application/JSON; charset=utf-8"), 201, `"status":"active"`},
		"11 MiB":           {postRequest(jobs, `{"prompt":"`+strings.Repeat("x", 11<<20)+`"}`), 413, "too large"},
		"no content type":  {postRequest(jobs, prompt).as(""), 400, "prompt"},
		"message, no text": {postRequest(jobs+"/j/message", `{"prompt":""}`), 400, "prompt"},
		"created":          {postRequest(jobs, prompt), 201, `"status":"active"`},
		"read":             {getRequest(jobs + "/j"), 200, `"prLink":null`},
		"messaged":         {postRequest(jobs+"/j/message", prompt), 200, `"archivedAt":null`},
	} {
		t.Run(name, func(t *testing.T) {
			for base, transport := range map[string]http.RoundTripper{
				"https://api.example.com/prefix": svc,
				server.URL:                       http.DefaultTransport,
			} {
				status, body := send(t, transport, base, tc.request)
				assert.Equal(t, tc.status, status)
				assert.Contains(t, body, tc.says)
				assert.NotContains(t, body, "mint_")
				requests := svc.Requests()
				assert.Equal(t, tc.status < 300, requests[len(requests)-1].Acted)
			}
		})
	}
}

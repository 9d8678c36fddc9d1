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
		"11 MiB":           {"POST", jobs, mintlifytest.APIKey, "application/json", `{"prompt":"` + strings.Repeat("x", 11<<20) + `"}`, 413, "too large"},
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
				requests := svc.Requests()
				assert.Equal(t, tc.status < 300, requests[len(requests)-1].Acted)
			}
		})
	}
}

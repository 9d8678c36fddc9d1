package contract

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const (
	getJob      = "GET /v2/agent/p/job/j"
	createJob   = "POST /v2/agent/p/job"
	getVisitors = "GET /v1/analytics/p/visitors"
	getFeedback = "GET /v1/analytics/p/feedback"
)

// fixed is a service that gives each request the same response.
type fixed struct {
	status      int
	contentType string
	body        string
}

func (f fixed) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", f.contentType)
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, f.body)
}

// requireViolation fails unless the proxy noted one thing, and that.
func requireViolation(t *testing.T, proxy *Proxy, side, reason string) {
	t.Helper()
	noted := proxy.Violations()
	require.Len(t, noted, 1, "%v", noted)
	assert.Equal(t, side, noted[0].Side)
	assert.Contains(t, noted[0].Reason, reason)
}

func TestProxyCatchesARequestThatIsWrongInOneThing(t *testing.T) {
	right := map[string]fixed{
		createJob:   {201, "application/json", `{"id":"j","status":"active"}`},
		getJob:      {200, "application/json", `{"id":"j","status":"active"}`},
		getVisitors: {200, "application/json", `{"totals":{"human":0,"ai":0,"total":0},"visitors":[],"hasMore":false}`},
	}
	for name, tc := range map[string]struct {
		operation string
		request   rawRequest
		reason    string
	}{
		"limit 0":                 {getVisitors, rawRequest{target: getVisitors + "?limit=0"}, "minimum: got 0, want 1"},
		"limit 251":               {getVisitors, rawRequest{target: getVisitors + "?limit=251"}, "maximum: got 251, want 250"},
		"negative offset":         {getVisitors, rawRequest{target: getVisitors + "?offset=-1"}, "minimum: got -1, want 0"},
		"no date":                 {getVisitors, rawRequest{target: getVisitors + "?dateFrom=2026-02-30"}, "dateFrom"},
		"undocumented parameter":  {getVisitors, rawRequest{target: getVisitors + "?datefrom=2026-01-01"}, `"datefrom" is not documented`},
		"missing prompt":          {createJob, rawRequest{target: createJob, body: `{}`}, "missing property 'prompt'"},
		"empty prompt":            {createJob, rawRequest{target: createJob, body: `{"prompt":""}`}, "minLength: got 0, want 1"},
		"undocumented field":      {createJob, rawRequest{target: createJob, body: `{"prompt":"x","model":"y"}`}, "additional properties 'model' not allowed"},
		"no body":                 {createJob, rawRequest{target: createJob}, "value is required but missing"},
		"body with a tail":        {createJob, rawRequest{target: createJob, body: `{"prompt":"x"}}`}, "not one JSON value"},
		"body sent as text":       {createJob, rawRequest{target: createJob, body: `{"prompt":"x"}`, contentType: "text/plain"}, "Content-Type"},
		"body with a GET":         {getJob, rawRequest{target: getJob, body: `{}`}, "request body not allowed"},
		"no Authorization":        {getJob, rawRequest{target: getJob, key: "none"}, "no Authorization"},
		"method not in document":  {getJob, rawRequest{target: "DELETE /v2/agent/p/job/j"}, "method not allowed"},
		"path not in document":    {getJob, rawRequest{target: "GET /v2/agent/p/jobs/j"}, "no matching operation"},
		"empty path parameter":    {getJob, rawRequest{target: "GET /v2/agent//job/j"}, "no matching operation"},
		"id that was not escaped": {getJob, rawRequest{target: "GET /v2/agent/p/job/a/b"}, "no matching operation"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, baseURL := startProxy(t, right[tc.operation])
			tc.request.send(t, baseURL)
			requireViolation(t, proxy, Request, tc.reason)
		})
	}
}

func TestProxyCatchesAResponseThatIsWrongInOneThing(t *testing.T) {
	const (
		json   = "application/json"
		totals = `"totals":{"human":1,"ai":1,"total":2}`
		page   = `{` + totals + `,"visitors":[],"hasMore":false}`
	)
	for name, tc := range map[string]struct {
		target   string
		response fixed
		reason   string
	}{
		"status done":                 {getJob, fixed{200, json, `{"id":"j","status":"done"}`}, "status"},
		"missing id":                  {getJob, fixed{200, json, `{"status":"active"}`}, `"id" is missing`},
		"missing status":              {getJob, fixed{200, json, `{"id":"j"}`}, `"status" is missing`},
		"null where none is allowed":  {getJob, fixed{200, json, `{"id":"j","status":"active","model":null}`}, "model"},
		"prLink that is no link":      {getJob, fixed{200, json, `{"id":"j","status":"active","prLink":"7"}`}, "prLink"},
		"unparsable createdAt":        {getJob, fixed{200, json, `{"id":"j","status":"active","createdAt":"2026-02-30T00:00:00Z"}`}, "createdAt"},
		"misspelt field":              {getJob, fixed{200, json, `{"id":"j","status":"active","prlink":null}`}, "prlink"},
		"misspelt field within":       {getJob, fixed{200, json, `{"id":"j","status":"active","source":{"repo":"x"}}`}, "repo"},
		"missing hasMore":             {getVisitors, fixed{200, json, `{` + totals + `,"visitors":[]}`}, `"hasMore" is missing`},
		"missing totals":              {getVisitors, fixed{200, json, `{"visitors":[],"hasMore":false}`}, `"totals" is missing`},
		"missing visitors":            {getVisitors, fixed{200, json, `{` + totals + `,"hasMore":false}`}, `"visitors" is missing`},
		"row without path":            {getVisitors, fixed{200, json, `{` + totals + `,"visitors":[{"human":1,"ai":1,"total":2}],"hasMore":false}`}, `"path" is missing`},
		"count as text":               {getVisitors, fixed{200, json, `{` + totals + `,"visitors":[{"path":"/","human":"1","ai":1,"total":2}],"hasMore":false}`}, "human"},
		"body with a tail":            {getVisitors, fixed{200, json, page + "}"}, "not one JSON value"},
		"undocumented status":         {getVisitors, fixed{418, json, `{"error":"x"}`}, "documented by default alone"},
		"undocumented success":        {createJob, fixed{202, json, `{"id":"j","status":"active"}`}, "missing property 'error'"},
		"error without words":         {getJob, fixed{404, json, `{"message":"x"}`}, "error"},
		"details of an agent's error": {getJob, fixed{404, json, `{"error":"x","details":[]}`}, "details"},
		"detail without words":        {getVisitors, fixed{400, json, `{"error":"x","details":[{}]}`}, `"message" is missing`},
		"HTML":                        {getJob, fixed{500, "text/html", "<html>"}, "Content-Type"},
		"HTML said to be JSON":        {getJob, fixed{500, json, "<html>"}, "failed to decode"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, baseURL := startProxy(t, tc.response)
			request := rawRequest{target: tc.target}
			if tc.target == createJob {
				request.body = `{"prompt":"x"}`
			}
			assert.Equal(t, tc.response.status, request.send(t, baseURL), "the response comes through all the same")
			requireViolation(t, proxy, Response, tc.reason)
		})
	}
}

func TestProxyAllowsWhatTheFakeNeverSaysButTheServiceMay(t *testing.T) {
	for _, body := range []string{
		`{"id":"j","status":"active"}`,
		`{"id":"j","status":"completed","source":{"repository":"https://github.com/example/docs","ref":null},"model":"m","createdAt":"2026-01-15T10:30:00Z"}`,
		`{"id":"j","status":"archived","source":{},"prLink":null,"archivedAt":"2026-01-15T10:30:00.000Z"}`,
	} {
		_, baseURL := startProxy(t, fixed{200, "application/json; charset=utf-8", body})
		job, err := newClient(t, baseURL, mintlifytest.APIKey).Jobs.Get(t.Context(), "j")
		require.NoError(t, err)
		assert.Equal(t, "j", job.ID)
	}
	_, baseURL := startProxy(t, fixed{200, "application/json", `{"totals":{"human":12.0,"ai":1.2e1,"total":12.5},"visitors":[],"hasMore":false}`})
	page, err := newClient(t, baseURL, mintlifytest.APIKey).Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Equal(t, mintlify.VisitorTotals{Human: 12, AI: 12, Total: 13}, page.Totals)
}

func TestProxyCatchesTheFakesFaults(t *testing.T) {
	svc, proxy, client := startFake(t)
	svc.AddJob("j", mintlifytest.Step{Status: "done"})
	_, err := client.Jobs.Get(t.Context(), "j")
	require.NoError(t, err)
	requireViolation(t, proxy, Response, "status")
	for _, fault := range []mintlifytest.Fault{{Status: 502, Body: "<html>Bad Gateway</html>"}, {Status: 500}, {Body: "[]"}, {Truncate: true}} {
		svc.FailNext(mintlify.OpGetJob, 1, fault)
		_, err := client.Jobs.Get(t.Context(), "j")
		require.Error(t, err)
		requireViolation(t, proxy, Response, "")
	}
}

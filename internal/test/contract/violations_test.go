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

	jsonType = "application/json"
	anyJob   = `{"id":"j","status":"active"}`
	noRows   = `{"totals":{"human":0,"ai":0,"total":0},"visitors":[],"hasMore":false}`
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
	// Each operation has a good response, so that the request alone is wrong.
	forJob := fixed{200, jsonType, anyJob}
	forCreate := fixed{201, jsonType, anyJob}
	forVisitors := fixed{200, jsonType, noRows}

	for name, tc := range map[string]struct {
		service fixed
		request rawRequest
		reason  string
	}{
		"limit 0":         {forVisitors, rawRequest{target: getVisitors + "?limit=0"}, "minimum: got 0, want 1"},
		"limit 251":       {forVisitors, rawRequest{target: getVisitors + "?limit=251"}, "maximum: got 251, want 250"},
		"negative offset": {forVisitors, rawRequest{target: getVisitors + "?offset=-1"}, "minimum: got -1, want 0"},
		"no date":         {forVisitors, rawRequest{target: getVisitors + "?dateFrom=2026-02-30"}, "dateFrom"},
		"undocumented parameter": {
			forVisitors, rawRequest{target: getVisitors + "?datefrom=2026-01-01"}, `"datefrom" is not documented`,
		},
		"missing prompt": {forCreate, rawRequest{target: createJob, body: `{}`}, "missing property 'prompt'"},
		"empty prompt": {
			forCreate, rawRequest{target: createJob, body: `{"prompt":""}`}, "minLength: got 0, want 1",
		},
		"undocumented field": {
			forCreate, rawRequest{target: createJob, body: `{"prompt":"x","model":"y"}`},
			"additional properties 'model' not allowed",
		},
		"no body": {forCreate, rawRequest{target: createJob}, "value is required but missing"},
		"body with a tail": {
			forCreate, rawRequest{target: createJob, body: `{"prompt":"x"}}`}, "not one JSON value",
		},
		"body sent as text": {
			forCreate, rawRequest{target: createJob, body: `{"prompt":"x"}`, contentType: "text/plain"}, "Content-Type",
		},
		"body with a GET":         {forJob, rawRequest{target: getJob, body: `{}`}, "request body not allowed"},
		"no Authorization":        {forJob, rawRequest{target: getJob, key: "none"}, "no Authorization"},
		"method not in document":  {forJob, rawRequest{target: "DELETE /v2/agent/p/job/j"}, "method not allowed"},
		"path not in document":    {forJob, rawRequest{target: "GET /v2/agent/p/jobs/j"}, "no matching operation"},
		"empty path parameter":    {forJob, rawRequest{target: "GET /v2/agent//job/j"}, "no matching operation"},
		"id that was not escaped": {forJob, rawRequest{target: "GET /v2/agent/p/job/a/b"}, "no matching operation"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, baseURL := startProxy(t, tc.service)
			tc.request.send(t, baseURL)
			requireViolation(t, proxy, Request, tc.reason)
		})
	}
}

// wrongResponse is a response that is wrong in one thing.
type wrongResponse struct {
	status int // 0: 200
	body   string
	reason string // of the violation
}

func TestProxyCatchesAResponseThatIsWrongInOneThing(t *testing.T) {
	for name, tc := range wrongJobs() {
		t.Run(name, func(t *testing.T) { tc.test(t, rawRequest{target: getJob}, jsonType) })
	}
	for name, tc := range wrongPages() {
		t.Run(name, func(t *testing.T) { tc.test(t, rawRequest{target: getVisitors}, jsonType) })
	}

	t.Run("undocumented success", func(t *testing.T) {
		tc := wrongResponse{status: 202, body: anyJob, reason: "missing property 'error'"}
		tc.test(t, rawRequest{target: createJob, body: `{"prompt":"x"}`}, jsonType)
	})
	t.Run("HTML", func(t *testing.T) {
		tc := wrongResponse{status: 500, body: "<html>", reason: "Content-Type"}
		tc.test(t, rawRequest{target: getJob}, "text/html")
	})
}

func (r wrongResponse) test(t *testing.T, request rawRequest, contentType string) {
	if r.status == 0 {
		r.status = 200
	}
	proxy, baseURL := startProxy(t, fixed{r.status, contentType, r.body})
	assert.Equal(t, r.status, request.send(t, baseURL), "the response comes through all the same")
	requireViolation(t, proxy, Response, r.reason)
}

func wrongJobs() map[string]wrongResponse {
	return map[string]wrongResponse{
		"status done":                {body: `{"id":"j","status":"done"}`, reason: "status"},
		"missing id":                 {body: `{"status":"active"}`, reason: `"id" is missing`},
		"missing status":             {body: `{"id":"j"}`, reason: `"status" is missing`},
		"null where none is allowed": {body: `{"id":"j","status":"active","model":null}`, reason: "model"},
		"prLink that is not a link":  {body: `{"id":"j","status":"active","prLink":"7"}`, reason: "prLink"},
		"unparsable createdAt": {
			body: `{"id":"j","status":"active","createdAt":"2026-02-30T00:00:00Z"}`, reason: "createdAt",
		},
		"misspelt field":              {body: `{"id":"j","status":"active","prlink":null}`, reason: "prlink"},
		"misspelt field within":       {body: `{"id":"j","status":"active","source":{"repo":"x"}}`, reason: "repo"},
		"error without words":         {status: 404, body: `{"message":"x"}`, reason: "error"},
		"details of an agent's error": {status: 404, body: `{"error":"x","details":[]}`, reason: "details"},
		"HTML said to be JSON":        {status: 500, body: "<html>", reason: "failed to decode"},
	}
}

func wrongPages() map[string]wrongResponse {
	const totals = `"totals":{"human":1,"ai":1,"total":2}`
	return map[string]wrongResponse{
		"missing hasMore":  {body: `{` + totals + `,"visitors":[]}`, reason: `"hasMore" is missing`},
		"missing totals":   {body: `{"visitors":[],"hasMore":false}`, reason: `"totals" is missing`},
		"missing visitors": {body: `{` + totals + `,"hasMore":false}`, reason: `"visitors" is missing`},
		"row without path": {
			body:   `{` + totals + `,"visitors":[{"human":1,"ai":1,"total":2}],"hasMore":false}`,
			reason: `"path" is missing`,
		},
		"count as text": {
			body:   `{` + totals + `,"visitors":[{"path":"/","human":"1","ai":1,"total":2}],"hasMore":false}`,
			reason: "human",
		},
		"body with a tail":     {body: noRows + "}", reason: "not one JSON value"},
		"undocumented status":  {status: 418, body: `{"error":"x"}`, reason: "documented by default alone"},
		"detail without words": {status: 400, body: `{"error":"x","details":[{}]}`, reason: `"message" is missing`},
	}
}

func TestProxyAllowsWhatTheFakeNeverSaysButTheServiceMay(t *testing.T) {
	for _, body := range []string{
		anyJob,
		`{"id":"j","status":"completed","source":{"repository":"https://github.com/example/docs","ref":null},
			"model":"m","createdAt":"2026-01-15T10:30:00Z"}`,
		`{"id":"j","status":"archived","source":{},"prLink":null,"archivedAt":"2026-01-15T10:30:00.000Z"}`,
	} {
		_, baseURL := startProxy(t, fixed{200, "application/json; charset=utf-8", body})
		job, err := newClient(t, baseURL, mintlifytest.APIKey).Jobs.Get(t.Context(), "j")
		require.NoError(t, err)
		assert.Equal(t, "j", job.ID)
	}

	const floats = `{"totals":{"human":12.0,"ai":1.2e1,"total":12.5},"visitors":[],"hasMore":false}`
	_, baseURL := startProxy(t, fixed{200, jsonType, floats})
	client := newClient(t, baseURL, mintlifytest.APIKey)
	page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Equal(t, mintlify.VisitorTotals{Human: 12, AI: 12, Total: 13}, page.Totals)
}

func TestProxyCatchesTheFakesFaults(t *testing.T) {
	svc, proxy, client := startFake(t)
	svc.AddJob("j", mintlifytest.JobStep{Status: "done"})
	_, err := client.Jobs.Get(t.Context(), "j")
	require.NoError(t, err)
	requireViolation(t, proxy, Response, "status")

	for _, fault := range []mintlifytest.Fault{
		{Status: 502, Body: "<html>Bad Gateway</html>"},
		{Status: 500},
		{Body: "[]"},
		{Truncate: true},
	} {
		svc.FailNext(mintlify.OpGetJob, 1, fault)
		_, err := client.Jobs.Get(t.Context(), "j")
		require.Error(t, err)
		requireViolation(t, proxy, Response, "")
	}
}

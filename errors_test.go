package mintlify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

func TestAPIErrorSaysWhatCameBack(t *testing.T) {
	rt := kit.RespondWith(409, `{"error":"no"}`, "X-Request-Id", "req_1")
	_, err := kit.NewClient(t, rt).Jobs.Message(t.Context(), "a/b", mintlify.MessageParams{Prompt: "more"})
	apiErr := kit.RequireAs[*mintlify.APIError](t, err)
	apiErr.Header = nil
	assert.Equal(t, &mintlify.APIError{
		Operation:  mintlify.OpSendMessage,
		Method:     http.MethodPost,
		Path:       "/v2/agent/proj/job/a%2Fb/message", // as sent
		StatusCode: 409,
		Message:    "no",
		RequestID:  "req_1",
		Attempts:   1,
		Body:       []byte(`{"error":"no"}`),
	}, apiErr)
}

func TestErrorsStayReadableWhateverComes(t *testing.T) {
	wall := strings.Repeat("wall \n\x00", 10000)
	quoted, err := json.Marshal(map[string]any{"error": wall, "details": []string{wall, wall, wall}})
	require.NoError(t, err)

	for name, rt := range map[string]http.RoundTripper{
		"error":     kit.RespondWith(429, string(quoted), "Retry-After", "99", "X-Request-Id", wall),
		"text":      kit.RespondWith(404, wall),
		"malformed": kit.RespondWith(200, wall),
		"network":   kit.FailWith(errors.New(wall)),
	} {
		t.Run(name, func(t *testing.T) {
			client := kit.NewClient(t, rt, mintlify.WithMaxRetries(0))
			for _, call := range kit.JobCalls {
				_, err := call(t.Context(), client)
				kit.AssertReadable(t, err)
			}

			_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: wall})
			kit.AssertReadable(t, err)
			_, err = client.Jobs.Get(t.Context(), wall)
			kit.AssertReadable(t, err)

			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errors.New(wall))
				defer cancel()
				_, err = client.Jobs.WaitUntilDone(ctx, wall)
				require.Error(t, err)
				kit.AssertReadable(t, err)
			})
		})
	}
}

func TestAPIErrorNamesTheLikelyCause(t *testing.T) {
	for status, cause := range map[int]string{302: "base URL", 401: "expired", 403: "allowlist", 404: "project id"} {
		rt := kit.RespondWith(status, "", "Location", "https://other.example.com")
		_, err := kit.Get(t.Context(), kit.NewClient(t, rt))
		assert.ErrorContains(t, err, cause)
	}

	page := `<a href="https://other.example.com/x">Temporary Redirect</a>.`
	moved := kit.RespondWith(307, page, "Location", "https://user:secret@other.example.com/x?token=secret#secret")
	_, err := kit.Get(t.Context(), kit.NewClient(t, moved))
	assert.ErrorContains(t, err, "307 Temporary Redirect [")
	assert.ErrorContains(t, err, "(it redirects to https://other.example.com/x; the SDK follows a redirect only of a GET")
	assert.NotContains(t, err.Error(), "secret")

	for _, rt := range []kit.Transport{kit.RespondWith(304, ""), kit.RespondWith(101, "", "Location", "/x")} {
		_, err := kit.Get(t.Context(), kit.NewClient(t, rt))
		assert.NotContains(t, err.Error(), "redirect")
	}

	_, err = kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(429, "", "Retry-After", "90")))
	assert.ErrorContains(t, err, "retry after 1m30s")
	_, err = kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(413, "")))
	assert.ErrorContains(t, err, "the prompt is too long")
}

// What was recorded leads to the page that helps.
func TestAPIErrorNamesThePlanAndTheProject(t *testing.T) {
	for body, tc := range map[string]struct {
		status     int
		says, omit string
	}{
		`{"error":"Please upgrade to use the API"}`:                    {401, "the organization's plan", "90 days"},
		`{"error":"Previews are not available on your current plan."}`: {403, "credits or plan", "scope"},
		`{"error":"Invalid project id"}`:                               {400, "check the project id", "scope"},
		`{"error":"Invalid Project ID."}`:                              {403, "project id", "scope"},
		`{"error":"no explanation"}`:                                   {401, "expired", "plan may"},
		`{"error":"the project id service is down"}`:                   {503, "503", "check"},
	} {
		client := kit.NewClient(t, kit.RespondWith(tc.status, body), mintlify.WithMaxRetries(0))
		_, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
		require.ErrorContains(t, err, tc.says)
		assert.NotContains(t, err.Error(), tc.omit)
	}
}

func TestBlockByCloudflareIsCalledThat(t *testing.T) {
	const page = `<html><title>Attention Required! | Cloudflare</title><p>error code: 1020</p>`
	through := []string{"Server", "cloudflare"}
	for name, tc := range map[string]struct {
		status  int
		body    string
		header  []string // name, value, …
		isBlock bool
	}{
		"a line":               {403, "error code: 1020\n", nil, true},
		"another code":         {429, "error code: 1015", nil, true},
		"a page":               {403, page, nil, true},
		"a challenge":          {403, "<html><title>Just a moment...", []string{"Cf-Mitigated", "challenge"}, true},
		"a challenge of a 503": {503, "<html><title>Just a moment...", []string{"Cf-Mitigated", "challenge"}, true},
		"the service's JSON":   {403, ` {"error":"error code: 1020"}`, []string{"Cf-Mitigated", "challenge"}, false},
		"the service":          {403, `{"error":"no"}`, []string{"Cf-Ray", "8c1f"}, false},
		"another page":         {403, "<html><title>Forbidden", nil, false},
		"other codes":          {403, "error code: 520", nil, false},
		"its own failure":      {500, "error code: 1101", nil, false}, // the service may have acted
		"a page of a 403":      {403, "<!DOCTYPE html><title>Sorry, you have been blocked", through, true},
		"a page that names it": {451, "<html>Unavailable | Cloudflare", []string{"Cf-Ray", "8c1f"}, true},
		"text of the service":  {403, "no", through, false},
		"a framework's page":   {404, "<html><pre>Cannot GET /v2</pre>", through, false},
		"its own 429":          {429, "Too many requests, please try again later.", through, false},
		"a page with a script": {404, `<html><script src="/cdn-cgi/scripts/cloudflare-static/email.js">`, through, false},
		"a list in JSON":       {403, `["Cloudflare"]`, through, false},
		"named by another":     {403, "our Cloudflare rules", nil, false},
	} {
		for operation, call := range kit.JobCalls {
			rt := kit.RespondWith(tc.status, tc.body, tc.header...)
			_, err := call(t.Context(), kit.NewClient(t, rt, mintlify.WithMaxRetries(0)))
			apiErr := kit.RequireAs[*mintlify.APIError](t, err)

			namesPrompt := strings.Contains(err.Error(), "prompt's text may be the cause")
			isPrompt := operation != "Get" && tc.status != 429 && tc.status != 503
			assert.Equal(t, tc.isBlock && isPrompt, namesPrompt, "%s, %s: %v", name, operation, err)

			built := &mintlify.APIError{StatusCode: tc.status, Body: apiErr.Body, Header: apiErr.Header}
			for _, message := range []string{apiErr.Error(), built.Error()} {
				isBlock := strings.Contains(message, "Cloudflare, in front of the service, blocked the request")
				assert.Equal(t, tc.isBlock, isBlock, "%s: %s", name, message)
				if isBlock {
					assert.NotContains(t, message, "key", "%s, %s", name, operation)
				}
			}
		}
	}
}

func TestRequestIDOfCloudflareStandsInForAMissingOne(t *testing.T) {
	for want, header := range map[string][]string{
		"":      nil,
		"ray":   {"Cf-Ray", "ray"},
		"req_1": {"Cf-Ray", "ray", "X-Request-Id", "req_1"},
	} {
		_, err := kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(403, "", header...)))
		assert.Equal(t, want, kit.RequireAs[*mintlify.APIError](t, err).RequestID)
	}
}

func TestErrorsKeepAtMost64KiBOfTheBody(t *testing.T) {
	body := strings.Repeat("x", 1<<20)
	_, err := kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(400, body)))
	apiErr := kit.RequireAs[*mintlify.APIError](t, err)
	assert.Len(t, apiErr.Body, 64<<10)
	assert.Less(t, cap(apiErr.Body), 128<<10, "the rest is let go")

	_, err = kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(200, body)))
	malformed := kit.RequireAs[*mintlify.MalformedResponseError](t, err)
	assert.Len(t, malformed.Body, 64<<10)
}

// dialTimeout is what net's dialer returns: it claims to be the caller's deadline.
type dialTimeout struct{ error }

func (dialTimeout) Is(target error) bool { return target == context.DeadlineExceeded }

func TestErrorOfTheTransportNeverPassesForTheCallersContext(t *testing.T) {
	for _, own := range []error{context.Canceled, context.DeadlineExceeded, dialTimeout{io.ErrNoProgress}} {
		_, err := kit.Get(t.Context(), kit.NewClient(t, kit.FailWith(own), mintlify.WithMaxRetries(0)))
		require.Error(t, err)
		assert.NotErrorIs(t, err, context.Canceled)
		assert.NotErrorIs(t, err, context.DeadlineExceeded)
		if errors.As(own, new(dialTimeout)) {
			assert.ErrorAs(t, err, new(dialTimeout), "its details are there all the same")
		}
	}
}

func TestResponseErrorReasonOfATruncatedBodyIsOneLine(t *testing.T) {
	lost := errors.New(strings.Repeat("lost\n", 1000))
	rt := kit.Transport(func(*http.Request) (*http.Response, error) {
		return kit.Pipe(200, func(w *io.PipeWriter) { w.CloseWithError(lost) }), nil
	})

	_, err := kit.Create(t.Context(), kit.NewClient(t, rt))
	malformed := kit.RequireAs[*mintlify.MalformedResponseError](t, err)
	assert.ErrorIs(t, err, lost)
	assert.Contains(t, malformed.Reason, "truncated after")
	assert.NotContains(t, malformed.Reason, "\n")
	assert.Less(t, len(malformed.Reason), 400)
}

func TestErrorsToTheLetter(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("shutting down"))
	asked := 0
	sealedLater := mintlify.WithKeySource(func(context.Context) (string, error) {
		asked++
		if asked > 1 {
			return "", errors.New("vault is sealed")
		}
		return kit.Key, nil
	})

	for name, tc := range map[string]struct {
		call func(context.Context, *mintlify.Client) (*mintlify.Job, error)
		ctx  context.Context
		rt   kit.Transport
		opt  mintlify.Option
		want string
	}{
		"status alone": {
			call: kit.Get,
			rt:   kit.RespondWith(404, "Not Found", "X-Request-Id", "req_1"),
			want: "mintlify: get job: 404 Not Found [GET /v2/agent/proj/job/job_1] (check the job id and the " +
				"project id, that the API key is of the same organization, and the base URL) [request req_1]",
		},
		"attempts": {
			call: kit.Get,
			rt:   kit.RespondWith(503, ""),
			opt:  mintlify.WithMaxRetries(1),
			want: "mintlify: get job: 503 Service Unavailable [GET /v2/agent/proj/job/job_1] [2 attempts]",
		},
		"attempts without a response": {
			call: kit.Get,
			rt:   kit.FailWith(errors.New("lost")),
			opt:  mintlify.WithMaxRetries(1),
			want: "mintlify: get job: GET https://api.mintlify.com/v2/agent/proj/job/job_1: lost [2 attempts]",
		},
		"1xx": {
			call: kit.Get,
			rt:   kit.RespondWith(101, ""),
			want: "mintlify: get job: 101 Switching Protocols [GET /v2/agent/proj/job/job_1]",
		},
		"malformed": {
			call: kit.Get,
			rt:   kit.RespondWith(200, "OK"),
			want: "mintlify: get job: malformed response (status 200): invalid JSON for a job: invalid character 'O' " +
				`looking for beginning of value [/v2/agent/proj/job/job_1] (body starts "OK")`,
		},
		"context": {
			call: kit.Get,
			ctx:  ended,
			rt:   kit.RespondWith(200, ""),
			want: "mintlify: get job: GET https://api.mintlify.com/v2/agent/proj/job/job_1: context canceled: shutting down",
		},
		"outcome unknown": {
			call: kit.Create,
			rt:   kit.RespondWith(500, ""),
			want: "mintlify: create job: 500 Internal Server Error [POST /v2/agent/proj/job]; " +
				"the service may have acted on the prompt: check before retrying",
		},
		"key source": {
			call: kit.Get,
			rt:   kit.RespondWith(429, ""),
			opt:  sealedLater,
			want: "mintlify: get job: GET https://api.mintlify.com/v2/agent/proj/job/job_1: key source: vault is sealed; " +
				"previous attempt: get job: 429 Too Many Requests [GET /v2/agent/proj/job/job_1]",
		},
	} {
		opts := []mintlify.Option{mintlify.WithRetryWait(0, 0)}
		if tc.opt != nil {
			opts = append(opts, tc.opt)
		}
		ctx := tc.ctx
		if ctx == nil {
			ctx = t.Context()
		}

		_, err := tc.call(ctx, kit.NewClient(t, tc.rt, opts...))
		assert.EqualError(t, err, tc.want, name)
	}
}

func TestErrorsCutLongIDsAndURLs(t *testing.T) {
	failed := kit.RespondWith(200, `{"id":"a\nb`+strings.Repeat("c", 2000)+`","status":"failed"}`)
	client := kit.NewClient(t, failed)
	_, err := client.Jobs.WaitUntilDone(t.Context(), "j")
	require.ErrorIs(t, err, mintlify.ErrJobFailed)
	kit.AssertReadable(t, err)

	client = kit.NewClient(t, kit.FailWith(errors.New("reset")), mintlify.WithMaxRetries(0))
	_, err = client.Jobs.Get(t.Context(), strings.Repeat("x", 5000))
	assert.ErrorContains(t, err, "reset", "a long URL leaves room for the cause")
}

// errgroup cancels the other calls with the first error as the cause.
func TestCauseThatIsAnotherCallsErrorLendsNothing(t *testing.T) {
	foreign := errors.New("the pod is shut down")
	_, sibling := kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(404, "")))
	_, acted := kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(504, "")))

	calls := map[string]kit.CallFunc{
		"wait":   waitForJob,
		"create": operations.Get(mintlify.OpCreateJob).Do,
		"get":    operations.Get(mintlify.OpGetJob).Do,
	}
	for name, cause := range map[string]error{
		"a 404":              sibling,
		"an unknown outcome": acted,
		"wrapped":            fmt.Errorf("page 7: %w: %w", foreign, sibling),
	} {
		for method, call := range calls {
			err := interruptedBy(t, cause, call)
			assert.ErrorIs(t, err, context.Canceled, "%s, %s", name, method)
			assert.ErrorContains(t, err, cause.Error()[:20])
			assert.Empty(t, kit.KindsOf(err), "%s, %s", name, method)
			assert.False(t, errors.As(err, new(*mintlify.APIError)), "%s, %s", name, method)
			assert.Equal(t, method == "wait", errors.As(err, new(*mintlify.WaitError)), "%s, %s", name, method)
			assert.Equal(t, name == "wrapped", errors.Is(err, foreign), "%s, %s", name, method)

			_, ok := mintlify.RetryAfter(err)
			assert.False(t, ok, "%s, %s", name, method)
		}
	}
}

func waitForJob(ctx context.Context, c *mintlify.Client) error {
	_, err := c.Jobs.WaitUntilDone(ctx, "job_1")
	return err
}

// interruptedBy makes a call whose context ends, for a cause, before anything is sent.
func interruptedBy(t *testing.T, cause error, call kit.CallFunc) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	return call(ctx, kit.NewClient(t, kit.FailWith(errors.New("nothing may be sent"))))
}

// A test of a program that mocks the SDK has to meet the same errors as production.
func TestErrorsBuiltFromTheirFieldsAreTheSDKsOwn(t *testing.T) {
	for _, tc := range []struct {
		err            error
		outcomeUnknown bool
		retryAfter     bool
	}{
		{&mintlify.APIError{Operation: mintlify.OpCreateJob, StatusCode: 504}, true, false},
		{&mintlify.APIError{Operation: mintlify.OpSendMessage, StatusCode: 408}, true, false},
		{&mintlify.APIError{Operation: mintlify.OpTriggerAutomation, StatusCode: 302}, true, false},
		{&mintlify.APIError{Operation: "POST /v1/things", StatusCode: 500}, true, false},
		{&mintlify.APIError{Operation: mintlify.OpCreateJob, StatusCode: 400}, false, false},
		{&mintlify.APIError{Operation: mintlify.OpCreateJob, StatusCode: 429}, false, true},
		{&mintlify.APIError{Operation: mintlify.OpGetVisitors, StatusCode: 503}, false, true},
		{&mintlify.APIError{Operation: mintlify.OpGetVisitors, StatusCode: 408}, false, true},
		{&mintlify.APIError{Operation: "GET /v1/things", StatusCode: 503}, false, true},
		{&mintlify.APIError{Operation: mintlify.OpGetJob, StatusCode: 404}, false, false},
		{&mintlify.MalformedResponseError{Operation: mintlify.OpCreateJob, StatusCode: 201}, true, false},
		{&mintlify.MalformedResponseError{Operation: mintlify.OpGetJob, StatusCode: 200}, false, false},
		{&mintlify.ExportError{Err: &mintlify.APIError{Operation: mintlify.OpGetViews, StatusCode: 500}}, false, true},
		{&mintlify.WaitError{LastErr: &mintlify.APIError{Operation: mintlify.OpGetJob, StatusCode: 500}}, false, true},
	} {
		assert.Equal(t, tc.outcomeUnknown, kit.IsOutcomeUnknown(tc.err), "%v", tc.err)
		_, ok := mintlify.RetryAfter(tc.err)
		assert.Equal(t, tc.retryAfter, ok, "%v", tc.err)
	}
}

func TestErrorsOfFewFieldsCanBePrinted(t *testing.T) {
	for err, want := range map[error]string{
		&mintlify.ArgumentError{}:          "mintlify:",
		&mintlify.APIError{}:               "mintlify: 0",
		&mintlify.MalformedResponseError{}: "mintlify: malformed response (status 0):",
		&mintlify.ExportError{Offset: 5}:   "mintlify: list stopped at offset 5",
		&mintlify.ExportError{}:            "mintlify: list stopped at the first page",
		&mintlify.WaitError{}:              "mintlify: wait, after 0s and 0 polls",
		&mintlify.JobFailedError{}:         "mintlify: job failed: the agent hit an unrecoverable error",
		&mintlify.DeploymentFailedError{}:  "mintlify: deployment failed",

		&mintlify.APIError{StatusCode: 499, Message: "unknown to net/http"}: "mintlify: 499: unknown to net/http",
	} {
		assert.EqualError(t, err, want)
		assert.NotPanics(t, func() {
			_, _ = mintlify.RetryAfter(err)
			kit.KindsOf(err)
			_ = errors.As(err, new(*mintlify.JobFailedError))
		})
	}
}

// With 100 waits at once, an error that does not say which is useless.
func TestEveryErrorAndLogLineNamesTheRequest(t *testing.T) {
	const path = "/v2/agent/proj/job/job_1"
	synctest.Test(t, func(t *testing.T) {
		for name, rt := range map[string]kit.Transport{
			"status":      kit.RespondWith(503, ""),
			"malformed":   kit.RespondWith(200, "OK"),
			"truncated":   kit.BreakOff(200, "{"),
			"no response": kit.FailWith(errors.New("lost")),
		} {
			var lines strings.Builder
			client := kit.NewClient(t, rt, mintlify.WithLogger(kit.TextLogger(&lines)))

			_, err := kit.Get(t.Context(), client)
			assert.ErrorContains(t, err, path, name)
			assert.NotContains(t, err.Error(), "\n")

			_, err = client.Jobs.WaitUntilDone(t.Context(), "job_1", mintlify.WithMaxOutage(time.Minute))
			assert.ErrorContains(t, err, path, name)

			for line := range strings.Lines(lines.String()) {
				assert.Contains(t, line, path, name)
			}
			assert.Contains(t, lines.String(), "job=job_1", "the poll that failed")
		}
	})
}

func TestAPIErrorIsLoggedByItsFields(t *testing.T) {
	refused := kit.RespondWith(400, `{"error":"no `+kit.Key+`"}`, "X-Request-Id", "r1")
	_, err := kit.NewClient(t, refused).Jobs.Get(t.Context(), "j")
	require.Error(t, err)

	var line strings.Builder
	kit.TextLogger(&line).Error("refused", "err", err)
	assert.Contains(t, line.String(), `err.operation="get job" err.status=400 err.message="no [API key]" `+
		`err.requestID=r1 err.attempts=1`)
}

func TestAPIErrorHoldsTheServicesWords(t *testing.T) {
	page := "<!DOCTYPE html><html><head>\n<title>502 Bad\nGateway &amp; more</title></head><body>" +
		strings.Repeat("<p>wall</p>", 1000)

	for name, tc := range map[string]struct {
		body, message string
		details       []string
	}{
		"agent": {`{"error":"prompt too long"}`, "prompt too long", nil},
		"analytics": {
			`{"error":"bad query","details":[{"message":"limit > 250"},{"message":"no such date"}]}`,
			"bad query", []string{"limit > 250", "no such date"},
		},
		"message":                 {`{"message":"not yet"}`, "not yet", nil},
		"nested":                  {`{"error":{"message":"inner","code":5}}`, "inner", nil},
		"name of the status":      {`{"statusCode":400,"error":"Bad Request","message":"prompt is too long"}`, "prompt is too long", nil},
		"name, and a list":        {`{"statusCode":400,"error":"bad request","message":["prompt is too long","branch is empty"]}`, "prompt is too long: branch is empty", nil},
		"name alone":              {`{"message":"bad request","error":"Bad Request"}`, "Bad Request", nil},
		"name and details":        {`{"error":"Bad Request","details":[{"message":"a","detail":"b"}]}`, "Bad Request", []string{"a: b"}},
		"problem":                 {`{"title":"Bad Request","status":400,"detail":"no such branch"}`, "no such branch", nil},
		"problem with a title":    {`{"title":"Quota","detail":"100 an hour"}`, "Quota: 100 an hour", nil},
		"OAuth":                   {`{"error":"invalid_token","error_description":"expired"}`, "invalid_token: expired", nil},
		"one in another":          {`{"error":"Prompt Too Long","message":"the prompt too long: 6000"}`, "the prompt too long: 6000", nil},
		"the same twice":          {`{"error":"no","message":"no","detail":"no"}`, "no", nil},
		"an odd object":           {`{"error":"Bad Request","message":{"message":"no Git app","detail":["x"]}}`, "no Git app", nil},
		"objects":                 {`{"error":{"message":"a","detail":"b"},"detail":[{"message":"c"},["d"],7]}`, "a: b: c", nil},
		"details alone":           {`{"details":["a",{"message":"b"},7]}`, "", []string{"a", "b"}},
		"odd details":             {`{"error":"x","details":"y"}`, "x", nil},
		"plain text":              {"Too many\r\nrequests\n", "Too many requests", nil},
		"HTML with title":         {page, "502 Bad Gateway & more", nil},
		"HTML, no title":          {"<html><body><h1>Sorry</h1> come back</body></html>", "Sorry come back", nil},
		"HTML in JSON":            {`{"error":"<html><body><h1>502</h1></body></html>"}`, "502", nil},
		"byte-order mark":         {"\ufeff<html><body>hi", "hi", nil},
		"HTML behind white space": {"\n <html><title>Sorry</title>", "Sorry", nil},
		"truncated tag":           {"<html><div class='" + strings.Repeat("a ", 5000), "", nil},
		"no HTML":                 {"want 1 < limit <= 250", "want 1 < limit <= 250", nil},
		"empty":                   {"", "", nil},
		"JSON of no shape":        {`["x"]`, `["x"]`, nil},
		"null":                    {`null`, `null`, nil},
		"control":                 {`{"error":"a\u0000b\u001b[31mred\u202e\nnext\u200b"}`, "a b [31mred next", nil},
		"broken UTF-8":            {"caf\xe9 ferm\xe9", "caf ferm", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(400, tc.body)))
			apiErr := kit.RequireAs[*mintlify.APIError](t, err)
			assert.Equal(t, tc.message, apiErr.Message)
			assert.Equal(t, tc.details, apiErr.Details)

			assert.ErrorContains(t, err, "create job: 400 Bad Request")
			assert.ErrorContains(t, err, tc.message)
			for _, detail := range tc.details {
				assert.ErrorContains(t, err, detail)
			}
			kit.AssertReadable(t, err)
		})
	}
}

func TestKeyIsRedactedFromWhateverComesBack(t *testing.T) {
	count := `{"totals":{"human":"` + kit.Key + `"},"visitors":[],"hasMore":false}`
	services := map[string]kit.Transport{
		"text":                 kit.RespondWith(503, "key "+kit.Key),
		"count":                kit.RespondWith(200, count),
		"HTML":                 kit.RespondWith(502, "<title>"+kit.Key+"</title>"),
		"malformed":            kit.RespondWith(200, "key "+kit.Key, "X-Echo", kit.Key),
		"truncated":            kit.BreakOffWith(200, kit.Key, errors.New("lost "+kit.Key)),
		"truncated in the key": kit.BreakOffWith(401, "bad key "+kit.Key[:len(kit.Key)-1], io.ErrUnexpectedEOF),
		"error of the transport": func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("sent %v", r.Header)
		},
	}
	for _, status := range []int{200, 202, 302, 400, 401, 403, 404, 429, 500} {
		services[fmt.Sprint(status)] = echoing(status)
	}

	for name, service := range services {
		t.Run(name, func(t *testing.T) {
			var lines strings.Builder
			logger := mintlify.WithLogger(kit.TextLogger(&lines))
			client := kit.NewClient(t, service, mintlify.WithRetryWait(0, 0), logger)
			for method, call := range kit.AllCalls() {
				result, err := call(t.Context(), client)
				require.True(t, err != nil || result != nil, method)
				assertNoKey(t, err)
				if _, isJob := result.(*mintlify.Job); !isJob { // what the service calls an id is its id
					assert.NotContains(t, kit.Leaks(result), kit.Key[5:], method)
				}
			}

			for _, v := range []any{
				client, *client, client.Jobs, *client.Jobs,
				client.Deployments, *client.Deployments, client.Automations, *client.Automations,
			} {
				assert.NotContains(t, kit.Leaks(v), kit.Key[5:])
			}
			assert.NotEmpty(t, lines.String())
			assert.NotContains(t, lines.String(), kit.Key[5:])
		})
	}
}

// assertNoKey asserts that no error of the SDK in err shows the key.
func assertNoKey(t *testing.T, err error) {
	t.Helper()
	for err := range chain(err) {
		assert.NotContains(t, kit.Leaks(err), kit.Key[5:len(kit.Key)-1], "%T", err)
	}

	var apiErr *mintlify.APIError
	if errors.As(err, &apiErr) {
		assert.NotContains(t, kit.Leaks(*apiErr)+string(apiErr.Body), kit.Key[5:])
	}
	var malformed *mintlify.MalformedResponseError
	if errors.As(err, &malformed) {
		assert.NotContains(t, kit.Leaks(*malformed)+string(malformed.Body), kit.Key[5:])
	}
	var exportErr *mintlify.ExportError
	if errors.As(err, &exportErr) {
		assert.NotContains(t, kit.Leaks(*exportErr), kit.Key[5:])
	}
}

// chain ranges over the errors of the SDK in err: what a transport returned is its own.
func chain(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		for err != nil && strings.Contains(fmt.Sprintf("%T", err), "mintlify.") {
			if !yield(err) {
				return
			}
			err = errors.Unwrap(err)
		}
	}
}

// Nothing would recognize a key that is truncated.
func TestKeyIsRedactedBeforeTextIsCut(t *testing.T) {
	for pad := range 320 {
		padding := strings.Repeat("x", pad)
		for name, body := range map[string]string{
			"JSON": `{"error":"` + padding + kit.Key + `"}`,
			"text": padding + kit.Key,
			"HTML": "<p>" + padding + kit.Key,
		} {
			for _, status := range []int{200, 400} {
				_, err := kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(status, body)))
				require.Error(t, err)
				assert.NotContains(t, err.Error(), kit.Key[:8], "%s, %d", name, pad)
			}
		}
	}
}

func TestWhatAllKeysBeginWithIsNotRedacted(t *testing.T) {
	const words = "the key must begin with mint_"
	_, err := kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(401, words)))
	assert.ErrorContains(t, err, words)

	cutOff := words + kit.Key[len("mint_"):len("mint_")+1]
	_, err = kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(401, cutOff)))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "mint_", "a key that was truncated")
}

// The fields are exact, since a call goes on with them.
func TestNoMessageShowsAKeyThatAFieldHolds(t *testing.T) {
	ctx := t.Context()

	failed := kit.RespondWith(200, `{"id":"`+kit.Key+`","status":"failed"}`)
	_, err := kit.NewClient(t, failed).Jobs.WaitUntilDone(ctx, "j")
	job := kit.RequireAs[*mintlify.JobFailedError](t, err)
	assert.Equal(t, kit.Key, job.Job.ID)
	assert.NotContains(t, err.Error(), kit.Key[5:])

	failure := kit.RespondWith(200, `{"_id":"`+kit.Key+`","status":"failure"}`)
	_, err = kit.NewClient(t, failure).Deployments.WaitUntilDone(ctx, "d")
	deployment := kit.RequireAs[*mintlify.DeploymentFailedError](t, err)
	assert.Equal(t, kit.Key, deployment.Deployment.ID)
	assert.NotContains(t, err.Error(), kit.Key[5:])

	pages := kit.NewRecording(
		kit.RespondWith(200, `{"feedback":[],"hasMore":true,"nextCursor":"`+kit.Key+`"}`),
		kit.RespondWith(404, `{}`))
	_, err = mintlify.Collect(kit.NewClient(t, pages).Analytics.Feedback(ctx, mintlify.FeedbackParams{}))
	export := kit.RequireAs[*mintlify.ExportError](t, err)
	assert.Equal(t, kit.Key, export.Cursor)
	assert.NotContains(t, err.Error(), kit.Key[5:])

	for _, before := range []string{"", strings.Repeat("x", 87)} { // a long id is cut, here within the key
		truncated := kit.RespondWith(202, `{"statusId":"`+before+kit.Key+`","previewUrl":`)
		_, err := kit.NewClient(t, truncated).Deployments.TriggerUpdate(ctx, mintlify.TriggerUpdateParams{})
		require.ErrorContains(t, err, "was queued")
		assert.NotContains(t, kit.Leaks(err), kit.Key[:8])
	}
}

func TestNoMessageOfAWaitShowsAKeyThatAFieldHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		odd := kit.RespondWith(200, `{"id":"`+kit.Key+`","status":"`+kit.Key+`"}`)
		client := kit.NewClient(t, odd, mintlify.WithLogger(kit.TextLogger(&lines)))
		_, err := client.Jobs.WaitUntilDone(t.Context(), kit.Key)

		assert.Equal(t, mintlify.JobStatus(kit.Key), kit.RequireAs[*mintlify.WaitError](t, err).Job.Status)
		assert.ErrorContains(t, err, `has had the status "[API key]"`)
		assert.ErrorContains(t, err, "last seen [API key]")
		assert.NotContains(t, err.Error(), kit.Key[5:])
		assert.Contains(t, lines.String(), "unknown status")
		assert.NotContains(t, lines.String(), kit.Key[5:])
	})
}

// What readers wrote, and where they can be reached.
const (
	contact    = "reader@example.com"
	confession = "I cannot log in since my divorce"
)

// personalPages are responses that hold both, and what is wrong with them.
func personalPages() map[string]string {
	row := `{"id":"1","path":"/a","comment":"` + confession + `","contact":"` + contact + `","source":"contextual",` +
		`"searchQuery":"` + confession + `","query":"` + confession + `",` +
		`"response":"` + confession + `","content":"` + confession + `","sources":[]}`
	page := `{"feedback":[` + row + `],"searches":[` + row + `],"conversations":[` + row + `],` +
		`"messages":[` + row + `],"totalSearches":1`
	retyped := strings.NewReplacer(`"`+confession+`"`, `["`+confession+`"]`, `"`+contact+`"`, `{"`+contact+`":1}`)

	return map[string]string{
		"whole":             page + `,"hasMore":false,"nextCursor":null}`,
		"the same for ever": page + `,"hasMore":true,"nextCursor":"x"}`,
		"no hasMore":        page + `}`,
		"no cursor":         page + `,"hasMore":true,"nextCursor":null}`,
		"not ended":         page + `,"hasMore":`,
		"more behind":       page + `,"hasMore":false} ` + confession,
		"no JSON":           confession + " " + contact,
		"a list":            `[` + row + `]`,
		"a text":            `"` + confession + " " + contact + `"`,
		"wrong types":       retyped.Replace(page + `,"hasMore":"` + confession + `"}`),
		"HTML":              "<html><title>" + confession + "</title>" + contact,
	}
}

func TestNoMessageOrLogLineQuotesWhatReadersWrote(t *testing.T) {
	reads := 0
	for name, body := range personalPages() {
		truncated := kit.BreakOffWith(200, body[:len(body)*2/3], errors.New("connection reset"))
		for _, rt := range []kit.Transport{kit.RespondWith(200, body), truncated} {
			logged, messages, n := allSaid(t, rt)
			reads += n
			assert.Contains(t, logged, "get feedback", name)

			for line := range strings.Lines(logged + messages) {
				if quotesReaders(line) {
					assert.NotContains(t, line, "divorce", name)
					assert.NotContains(t, line, "reader@", name)
				}
			}
		}
	}
	assert.Positive(t, reads, "and some of these are read")
}

// quotesReaders reports whether a line is about an operation whose response has words of readers.
func quotesReaders(line string) bool {
	for _, op := range []mintlify.Operation{
		mintlify.OpGetSearches, mintlify.OpGetFeedback, mintlify.OpGetConversations, mintlify.OpGetThread,
	} {
		if strings.Contains(line, string(op)) {
			return true
		}
	}
	return false
}

// allSaid makes every call once. It returns what the SDK logs, the messages of its errors, and how
// many calls returned none.
func allSaid(t *testing.T, rt kit.Transport) (string, string, int) {
	var lines, messages strings.Builder
	logger := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.Level(-100)}))
	client := kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0), mintlify.WithMaxRetries(1),
		mintlify.WithLogger(logger))

	reads := 0
	for _, call := range kit.AllCalls() {
		_, err := call(t.Context(), client)
		if err == nil {
			reads++
			continue
		}
		fmt.Fprintf(&messages, "%v\n%+v\n", err, err)
		kit.TextLogger(&messages).Error("failed", "error", err)
	}
	return lines.String(), messages.String(), reads
}

func TestMessageOfATooLargeResponseDoesNotQuoteIt(t *testing.T) {
	response := strings.Repeat("x", 10<<20)
	body := `{"conversations":[{"query":"` + confession + `","response":"` + response + `"}],"hasMore":false}`
	client := kit.NewClient(t, kit.RespondWith(200, body))
	_, err := client.Analytics.GetConversationPage(t.Context(), mintlify.ConversationsParams{})
	assert.EqualError(t, err, "mintlify: get conversations: malformed response (status 200): "+
		"larger than 10 MiB [/v1/analytics/proj/assistant]")
}

// Somebody who looks for the cause finds the body.
func TestMalformedResponseKeepsTheBodyThatItDoesNotQuote(t *testing.T) {
	body := personalPages()["no hasMore"]
	client := kit.NewClient(t, kit.RespondWith(200, body))
	_, err := client.Analytics.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{})
	malformed := kit.RequireAs[*mintlify.MalformedResponseError](t, err)
	assert.Equal(t, body, string(malformed.Body))
	assert.EqualError(t, err, "mintlify: get feedback: malformed response (status 200): "+
		"missing hasMore [/v1/analytics/proj/feedback]")
}

package mintlify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestNewClientFromEnv(t *testing.T) {
	set := func(t *testing.T, key, project, baseURL string) {
		t.Setenv("MINTLIFY_API_KEY", key)
		t.Setenv("MINTLIFY_PROJECT_ID", project)
		t.Setenv("MINTLIFY_BASE_URL", baseURL)
	}

	t.Run("all set", func(t *testing.T) {
		set(t, "mint_abc\n", "proj", "https://env.example.com/p")
		rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
		client, err := mintlify.NewClientFromEnv(kit.Through(rt))
		require.NoError(t, err)
		_, err = kit.Get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "https://env.example.com/p/v2/agent/proj/job/job_1", rt.Last().URL.String())
		assert.Equal(t, "Bearer mint_abc", rt.Last().Header.Get("Authorization"))

		client, err = mintlify.NewClientFromEnv(kit.Through(rt), mintlify.WithBaseURL("https://opt.example.com"))
		require.NoError(t, err)
		_, err = kit.Get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "opt.example.com", rt.Last().URL.Host, "an option wins over the environment")
	})

	for name, tc := range map[string]struct{ key, project, baseURL, refused string }{
		"no key":       {"", "proj", "", "MINTLIFY_API_KEY"},
		"bad key":      {"mint_us_secret", "proj", "", "MINTLIFY_API_KEY"},
		"no project":   {"mint_abc", "", "", "MINTLIFY_PROJECT_ID"},
		"swapped":      {"proj", "mint_secret", "", "MINTLIFY_PROJECT_ID"},
		"bad base URL": {"mint_abc", "proj", "http://api.example.com", "MINTLIFY_BASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			set(t, tc.key, tc.project, tc.baseURL)
			_, err := mintlify.NewClientFromEnv()
			kit.RequireArgumentError(t, err, tc.refused)
			assert.ErrorContains(t, err, tc.refused)
			assert.Equal(t, strings.HasPrefix(name, "no "), strings.HasSuffix(err.Error(), tc.refused+" is not set"))
			assert.NotContains(t, err.Error(), "secret")
		})
	}

	t.Run("blank base URL", func(t *testing.T) {
		set(t, "mint_abc", "proj", " ")
		rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
		client, err := mintlify.NewClientFromEnv(kit.Through(rt))
		require.NoError(t, err)
		_, err = kit.Get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "api.mintlify.com", rt.Last().URL.Host, "as WithBaseURL has it")
	})

	source := mintlify.WithKeySource(func(context.Context) (string, error) { return "mint_abc", nil })
	t.Run("key source instead of a key", func(t *testing.T) {
		set(t, "", "proj", "")
		_, err := mintlify.NewClientFromEnv(source)
		require.NoError(t, err)
	})
}

func TestNewClientFromEnvNamesAllThatIsMissing(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", " ")
	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err := mintlify.NewClientFromEnv()
	assert.EqualError(t, err, "mintlify: MINTLIFY_API_KEY, MINTLIFY_PROJECT_ID are not set")

	source := mintlify.WithKeySource(func(context.Context) (string, error) { return kit.Key, nil })
	_, err = mintlify.NewClientFromEnv(source)
	assert.EqualError(t, err, "mintlify: MINTLIFY_PROJECT_ID is not set")
}

func TestForProjectSharesEverythingButTheProject(t *testing.T) {
	svc := mintlifytest.NewService()
	one := svc.Client()
	two, err := one.ForProject(" my_mint?docs\n")
	require.NoError(t, err)
	assert.Equal(t, "my_mint?docs", two.ProjectID())
	assert.Equal(t, mintlifytest.ProjectID, one.ProjectID())

	job, err := kit.Create(t.Context(), two)
	require.NoError(t, err)

	_, err = two.Jobs.Get(t.Context(), job.ID)
	require.NoError(t, err)
	_, err = one.Jobs.Get(t.Context(), job.ID)
	require.ErrorIs(t, err, mintlify.ErrNotFound, "a job belongs to its project")
	assert.Equal(t, "/v2/agent/my_mint%3Fdocs/job", svc.Requests()[0].Path)
	assert.Equal(t, "/v2/agent/test-project/job/job_1", svc.Requests()[2].Path)
}

func TestCall(t *testing.T) {
	rt := kit.NewRecording(kit.RespondWith(503, ""), kit.RespondWith(200, `{"sessions":[{"id":"s"}]}`))
	var asked []mintlify.Operation
	limiter := func(_ context.Context, r mintlify.RequestInfo) error {
		asked = append(asked, r.Operation)
		assert.Equal(t, "proj", r.ProjectID)
		return nil
	}
	client := kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0),
		mintlify.WithBaseURL("https://example.com/gateway"), mintlify.WithRateLimiter(limiter))

	var into struct{ Sessions []struct{ ID string } }
	call := mintlify.CallParams{Method: "GET", Path: "/v2/agent/a%2Fb/jobs", Query: url.Values{"take": {"5"}}}
	require.NoError(t, client.Call(t.Context(), call, &into))
	assert.Equal(t, "s", into.Sessions[0].ID)
	assert.Equal(t, "https://example.com/gateway/v2/agent/a%2Fb/jobs?take=5", rt.Last().URL.String())
	assert.Equal(t, "Bearer "+kit.Key, rt.Last().Header.Get("Authorization"))
	assert.Equal(t, []mintlify.Operation{"GET /v2/agent/a%2Fb/jobs", "GET /v2/agent/a%2Fb/jobs"}, asked)

	rt = kit.NewRecording(kit.RespondWith(202, `{"id":5}`))
	for _, body := range []any{map[string]any{"name": "a<b"}, json.RawMessage(`{"name":"a<b"}`)} {
		call := mintlify.CallParams{Method: "PUT", Path: "/v1/things", Body: body}
		require.NoError(t, kit.NewClient(t, rt).Call(t.Context(), call, nil))
		assert.Equal(t, `{"name":"a<b"}`, rt.Last().Text)
		assert.Equal(t, "PUT", rt.Last().Method)
	}
}

// Every method but GET and HEAD is treated as a POST.
func TestCallIsResentOnlyIfItIsARead(t *testing.T) {
	for method, attempts := range map[string]int{"GET": 4, "HEAD": 4, "POST": 1, "DELETE": 1, "PATCH": 1} {
		rt := kit.NewRecording(kit.RespondWith(502, "secret"))
		call := mintlify.CallParams{Method: method, Path: "/v1/things"}
		err := kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0)).Call(t.Context(), call, nil)
		assert.ErrorIs(t, err, mintlify.ErrServer, method)
		assert.Equal(t, attempts == 1, kit.IsOutcomeUnknown(err), method)
		assert.Equal(t, attempts, rt.Count(), method)

		_, ok := mintlify.RetryAfter(err)
		assert.Equal(t, attempts > 1, ok, method)
		assert.Equal(t, 1, strings.Count(err.Error(), method+" /v1/things"), "%v", err)
	}
}

func TestCallReadsItsBodyOnlyIfItIsWanted(t *testing.T) {
	call := mintlify.CallParams{Method: "GET", Path: "/v1/things"}
	for body, ok := range map[string]bool{
		"":                  false,
		"null":              true,
		"<html>private":     false,
		`{"a":"private"}`:   true,
		`{"a":["private"]}`: false,
	} {
		client := kit.NewClient(t, kit.RespondWith(200, body))
		require.NoError(t, client.Call(t.Context(), call, nil), body)

		err := client.Call(t.Context(), call, &struct{ A string }{})
		assert.Equal(t, ok, err == nil, "%s: %v", body, err)
		if !ok {
			assert.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assert.NotContains(t, err.Error(), "private")
		}
	}
}

// Not even the size of an ignored body matters, or whether it came whole.
func TestCallWithoutIntoIgnoresABodyThatCannotBeRead(t *testing.T) {
	for name, rt := range map[string]kit.Transport{
		"too large": kit.RespondWith(200, strings.Repeat("x", 10<<20+1)),
		"truncated": kit.BreakOff(200, `{"a":`),
	} {
		call := mintlify.CallParams{Method: "POST", Path: "/v1/things"}
		require.NoError(t, kit.NewClient(t, rt).Call(t.Context(), call, nil), name)
	}
}

// A caller's type may quote what it cannot read, which may be a reader's.
func TestCallQuotesNoValue(t *testing.T) {
	call := mintlify.CallParams{Method: "GET", Path: "/v1/things"}
	client := kit.NewClient(t, kit.RespondWith(200, `{"at":"jo@example.com"}`))
	err := client.Call(t.Context(), call, &struct{ At time.Time }{})
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	require.ErrorContains(t, err, "a value cannot be decoded into the caller's *struct")
	assert.NotContains(t, err.Error(), "jo@")
}

func TestCallShowsNoKeyOfItsPath(t *testing.T) {
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	call := mintlify.CallParams{Method: "DELETE", Path: "/v1/keys/" + kit.Key}
	err := kit.NewClient(t, kit.RespondWith(404, ""), mintlify.WithLogger(logger)).Call(t.Context(), call, nil)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, kit.RequireAs[*mintlify.APIError](t, err)), kit.Key)
	assert.NotContains(t, log.String(), kit.Key)
}

// A number has no end of its own.
func TestCallReadsNoTruncatedNumber(t *testing.T) {
	var n int
	call := mintlify.CallParams{Method: "GET", Path: "/v1/count"}
	rt := kit.NewRecording(kit.BreakOff(200, "10"), kit.RespondWith(200, "109"))
	require.NoError(t, kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0)).Call(t.Context(), call, &n))
	assert.Equal(t, 109, n)

	err := kit.NewClient(t, kit.BreakOff(200, "19"), mintlify.WithMaxRetries(0)).Call(t.Context(), call, &n)
	require.ErrorContains(t, err, "truncated after 2 bytes")
	require.NoError(t, kit.NewClient(t, kit.BreakOff(200, "12\n")).Call(t.Context(), call, &n), "that one ended")
}

func TestCallThatCannotBeSentIsRefused(t *testing.T) {
	reading := func(path string) mintlify.CallParams { return mintlify.CallParams{Method: "GET", Path: path} }
	posting := func(body any) mintlify.CallParams {
		return mintlify.CallParams{Method: "POST", Path: "/v1", Body: body}
	}

	client := kit.NewClient(t, kit.FailWith(errors.New("nothing may be sent")))
	for _, tc := range []struct {
		argument string
		call     mintlify.CallParams
		into     any
	}{
		{"method", mintlify.CallParams{Path: "/v1"}, nil},
		{"method", mintlify.CallParams{Method: "CONNECT", Path: "/v1"}, nil},
		{"method", mintlify.CallParams{Method: "TRACE", Path: "/v1"}, nil},
		{"method", mintlify.CallParams{Method: "GET /v1/x HTTP/1.1\r\n", Path: "/v1"}, nil},
		{"path", reading(""), nil},
		{"path", reading("v1"), nil},
		{"path", reading("@evil.example.com/"), nil},
		{"path", reading("//evil.example.com/v1"), nil},
		{"path", reading("/v1?take=5"), nil},
		{"path", reading("/v1?"), nil},
		{"path", reading("/v1#x"), nil},
		{"path", reading("/a b"), nil},
		{"path", reading("/%zz"), nil},
		{"path", reading("/v1/."), nil},
		{"path", reading("/v1/../v2/agent"), nil},
		{"path", reading("/v1/%2e%2e/v2"), nil},
		{"path", reading("/v1/.%2E/v2"), nil},
		{"body", posting(func() {}), nil},
		{"body", posting([]byte(`{"a":1}`)), nil},
		{"body", posting(strings.NewReader(`{"a":1}`)), nil},
		{"into", reading("/v1"), struct{}{}},
		{"into", reading("/v1"), (*struct{})(nil)},
	} {
		kit.RequireArgumentError(t, client.Call(t.Context(), tc.call, tc.into), tc.argument)
	}
	kit.RequireArgumentError(t, client.Call(kit.NilContext, reading("/v1"), nil), "ctx")

	assert.ErrorContains(t, client.Call(t.Context(), reading("//v1"), nil), `starts with "//", as if a host followed`)
	assert.ErrorContains(t, client.Call(t.Context(), reading("/v1/.."), nil), `has a segment "." or ".."`)
}

func TestCallSendsPathsThatLookOdd(t *testing.T) {
	for _, path := range []string{"/", "/v1//x/", "/v1/...", "/v1/.hidden", "/v1/..%2Fx", "/v1/a%2F..%2Fb", "/v1/%2e%2e%2e"} {
		rt := kit.NewRecording(kit.RespondWith(204, ""))
		call := mintlify.CallParams{Method: http.MethodGet, Path: path}
		require.NoError(t, kit.NewClient(t, rt).Call(t.Context(), call, nil), path)
		assert.Equal(t, path, rt.Last().URL.EscapedPath())
	}
}

func TestCallWithoutABody(t *testing.T) {
	type thing struct{ Name string }
	for _, body := range []any{
		nil, (*thing)(nil), map[string]int(nil), []string(nil), json.RawMessage(nil), []byte(nil), (*strings.Reader)(nil),
	} {
		rt := kit.NewRecording(kit.RespondWith(204, ""))
		call := mintlify.CallParams{Method: http.MethodPost, Path: "/v1", Body: body}
		require.NoError(t, kit.NewClient(t, rt).Call(t.Context(), call, nil), "%T", body)
		assert.Empty(t, rt.Last().Text, "%T", body)
		assert.NotContains(t, rt.Last().Header, "Content-Type")
	}

	for body, want := range map[any]string{&thing{}: `{"Name":""}`, 0: `0`, "": `""`, false: `false`} {
		rt := kit.NewRecording(kit.RespondWith(204, ""))
		call := mintlify.CallParams{Method: http.MethodPost, Path: "/v1", Body: body}
		require.NoError(t, kit.NewClient(t, rt).Call(t.Context(), call, nil), want)
		assert.Equal(t, want, rt.Last().Text)
	}
}

func TestRequestFromContextIsTheRequests(t *testing.T) {
	for _, op := range operations.All() {
		var seen mintlify.RequestInfo
		rt := kit.Transport(func(r *http.Request) (*http.Response, error) {
			seen, _ = mintlify.RequestFromContext(r.Context())
			return kit.Response(400, ""), nil
		})

		_ = op.Do(t.Context(), kit.NewClient(t, rt))
		assert.Equal(t, mintlify.RequestInfo{Operation: op.Name, ProjectID: "proj", Attempt: 1}, seen)
	}

	_, ok := mintlify.RequestFromContext(t.Context())
	assert.False(t, ok)
}

func TestRequestInfoCountsTheAttempts(t *testing.T) {
	elsewhere := kit.RespondWith(307, "", "Location", "/v2/agent/proj/job/job_2")
	rt := kit.NewRecording(kit.RespondWith(503, ""), elsewhere, kit.RespondWith(200, kit.JobJSON))
	var limiter, source, transported []int
	note := func(ctx context.Context, into *[]int) {
		info, _ := mintlify.RequestFromContext(ctx)
		*into = append(*into, info.Attempt)
	}

	client := kit.NewClient(t, kit.Transport(func(r *http.Request) (*http.Response, error) {
		note(r.Context(), &transported)
		return rt.RoundTrip(r)
	}), mintlify.WithRetryWait(0, 0),
		mintlify.WithRateLimiter(func(_ context.Context, r mintlify.RequestInfo) error {
			limiter = append(limiter, r.Attempt)
			return nil
		}),
		mintlify.WithKeySource(func(ctx context.Context) (string, error) {
			note(ctx, &source)
			return fmt.Sprintf("Bearer mint_%d", len(source)), nil
		}))
	_, err := client.Jobs.Get(t.Context(), "job_1")
	require.NoError(t, err)

	assert.Equal(t, []int{1, 2, 3}, transported, "an attempt, its retry, and the redirect of that")
	assert.Equal(t, transported, limiter)
	assert.Equal(t, transported, source)
	for i, request := range rt.Sent() {
		assert.Equal(t, fmt.Sprintf("Bearer mint_%d", i+1), request.Header.Get("Authorization"))
	}
}

// echoing is a service that echoes the key in each header and body, and fails.
func echoing(status int) kit.Transport {
	return func(r *http.Request) (*http.Response, error) {
		const body = `{"error":"bad key %s","details":[{"message":%q}],"id":%q}`
		key := r.Header.Get("Authorization")
		return kit.Response(status, fmt.Sprintf(body, key, key, key),
			"X-Echo", key, "X-Request-Id", key, "Location", "https://other.example.com/?key="+url.QueryEscape(key)), nil
	}
}

func TestStackOfAPanicDoesNotShowTheKey(t *testing.T) {
	inTransport := kit.Transport(func(*http.Request) (*http.Response, error) { panic("in the transport") })
	inLimiter := func(context.Context, mintlify.RequestInfo) error { panic("in the limiter") }

	for _, client := range []*mintlify.Client{
		kit.NewClient(t, inTransport),
		kit.NewClient(t, inTransport, mintlify.WithRateLimiter(inLimiter)),
	} {
		for _, call := range kit.JobCalls {
			stack := stackOf(func() { _, _ = call(t.Context(), client) })
			assert.Contains(t, stack, "in the ")
			assert.NotContains(t, stack, kit.Key[5:])
		}
	}
}

// stackOf returns the panic of f and its stack.
func stackOf(f func()) (stack string) {
	defer func() {
		stack = fmt.Sprint(recover(), string(debug.Stack()))
	}()
	f()
	return ""
}

// An error of the key source may show a key: the one before, in a later attempt, poll or
// page, or one that this call has never seen.
func TestErrorOfTheKeySourceDoesNotShowAKey(t *testing.T) {
	const yesterdays = "mint_0ld_key_of_yesterday"
	svc := operations.NewService()
	svc.SetVisitors(kit.Visitors(1000))
	serve := func(r *http.Request) (*http.Response, error) {
		r.Header.Set("Authorization", "Bearer "+mintlifytest.APIKey)
		return svc.RoundTrip(r)
	}

	for name, tc := range map[string]struct {
		rt   kit.Transport
		call kit.CallFunc
	}{
		"retry": {kit.RespondWith(503, ""), operations.Get(mintlify.OpGetJob).Do},
		"wait":  {kit.RespondWith(503, ""), waitForJob},
		"pages": {serve, kit.Exports["Analytics.GetVisitorPage"]},
	} {
		for _, shown := range []string{kit.Key, yesterdays} {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				source := func(context.Context) (string, error) {
					asked++
					if asked > 1 {
						return "", fmt.Errorf("refresh of %q (or %s): vault is sealed", shown, url.QueryEscape(shown))
					}
					return kit.Key, nil
				}

				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()

				var lines strings.Builder
				logger := mintlify.WithLogger(kit.TextLogger(&lines))
				err := tc.call(ctx, kit.NewClient(t, tc.rt, mintlify.WithKeySource(source), logger))
				require.Greater(t, asked, 1, name)
				assert.ErrorContains(t, err, "vault is sealed")
				assert.NotContains(t, kit.Leaks(err)+lines.String(), shown[5:], name)
			})
		}
	}
}

func TestOperationsAreSentAsTheTableSays(t *testing.T) {
	for _, op := range operations.All() {
		rt := kit.NewRecording(kit.RespondWith(200, op.Body))
		result, err := op.Call(t.Context(), kit.NewClient(t, rt))
		require.NoError(t, err, op)

		assert.IsType(t, op.Result, result, op)
		require.Equal(t, 1, rt.Count(), op)
		assert.Equal(t, op.Method, rt.Last().Method, op)

		names := strings.NewReplacer(`\{projectId\}`, "proj", `\{id\}`, `([a-z]+_1|[0-9A-Z]{26})`)
		pattern := names.Replace(regexp.QuoteMeta(op.Path))
		assert.Regexp(t, "^"+pattern+"$", rt.Last().URL.EscapedPath(), op)
	}
}

// A POST that isPost does not know would be sent twice.
func TestAnOperationThatIsAPostMayHaveBeenActedOn(t *testing.T) {
	for _, op := range operations.All() {
		err := &mintlify.APIError{Operation: op.Name, StatusCode: http.StatusGatewayTimeout}
		assert.Equal(t, op.IsPost(), kit.IsOutcomeUnknown(err),
			"add %s to isPost in client.go if, and only if, it is a POST", op)
	}
}

// The SDK's own fields of a page, which no response has.
var ownFields = []string{"offset", "nextOffset", "cursor"}

func TestTableSetsEveryFieldOfEveryResult(t *testing.T) {
	set := map[reflect.Type]map[string]bool{} // by type of result
	for _, op := range operations.All() {
		result, err := op.Call(t.Context(), kit.NewClient(t, kit.RespondWith(200, op.Body)))
		require.NoError(t, err, op)

		typ := reflect.TypeOf(result)
		if set[typ] == nil {
			set[typ] = map[string]bool{}
		}
		noteFields(set[typ], "", reflect.ValueOf(result))
	}

	for typ, fields := range set {
		for field, isSet := range fields {
			if !slices.Contains(ownFields, field) {
				assert.True(t, isSet, "%v: decode %s, and add it to Body in internal/test/operations, "+
					"to api/openapi.yaml and to mintlifytest", typ, field)
			}
		}
	}
}

// noteFields notes the JSON path of each field of a value, and whether it is set.
func noteFields(fields map[string]bool, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noteFields(fields, path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			noteFields(fields, path+"[]", v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				continue
			}

			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			at := strings.TrimPrefix(path+"."+name, ".")
			fields[at] = fields[at] || !v.Field(i).IsZero()
			noteFields(fields, at, v.Field(i))
		}
	}
}

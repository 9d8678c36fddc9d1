package mintlify_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
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
		rt := newRecording(respondWith(200, jobJSON))
		hc := &http.Client{Transport: rt}
		client, err := mintlify.NewClientFromEnv(mintlify.WithHTTPClient(hc))
		require.NoError(t, err)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "https://env.example.com/p/v2/agent/proj/job/job_1", rt.last().URL.String())
		assert.Equal(t, "Bearer mint_abc", rt.last().Header.Get("Authorization"))

		client, err = mintlify.NewClientFromEnv(mintlify.WithHTTPClient(hc), mintlify.WithBaseURL("https://opt.example.com"))
		require.NoError(t, err)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "opt.example.com", rt.last().URL.Host, "an option wins over the environment")
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
			requireArgumentError(t, err, tc.refused)
			assert.ErrorContains(t, err, tc.refused)
			assert.Equal(t, strings.HasPrefix(name, "no "), strings.HasSuffix(err.Error(), tc.refused+" is not set"))
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	t.Run("key source instead of a key", func(t *testing.T) {
		set(t, "", "proj", "")
		_, err := mintlify.NewClientFromEnv(mintlify.WithKeySource(func(context.Context) (string, error) { return "mint_abc", nil }))
		require.NoError(t, err)
	})
}

func TestNewClientFromEnvNamesAllThatIsMissing(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", " ")
	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err := mintlify.NewClientFromEnv()
	assert.EqualError(t, err, "mintlify: MINTLIFY_API_KEY, MINTLIFY_PROJECT_ID are not set")
	_, err = mintlify.NewClientFromEnv(mintlify.WithKeySource(func(context.Context) (string, error) { return testKey, nil }))
	assert.EqualError(t, err, "mintlify: MINTLIFY_PROJECT_ID is not set")
}

func TestForProjectSharesEverythingButTheProject(t *testing.T) {
	svc := mintlifytest.NewService()
	one := svc.Client()
	two, err := one.ForProject("a?b")
	require.NoError(t, err)
	job, err := create(t.Context(), two)
	require.NoError(t, err)

	_, err = two.Jobs.Get(t.Context(), job.ID)
	require.NoError(t, err)
	_, err = one.Jobs.Get(t.Context(), job.ID)
	require.ErrorIs(t, err, mintlify.ErrNotFound, "a job belongs to its project")
	assert.Equal(t, "/v2/agent/a%3Fb/job", svc.Requests()[0].Path)
	assert.Equal(t, "/v2/agent/test-project/job/job_1", svc.Requests()[2].Path)
}

func TestProjectIDAndForProject(t *testing.T) {
	client := mintlifytest.NewService().Client()
	assert.Equal(t, mintlifytest.ProjectID, client.ProjectID())
	other, err := client.ForProject(" other ")
	require.NoError(t, err)
	assert.Equal(t, "other", other.ProjectID())
}

func TestCall(t *testing.T) {
	rt := newRecording(respondWith(503, ""), respondWith(200, `{"sessions":[{"id":"s"}]}`))
	var asked []mintlify.Operation
	client := newClient(t, rt, mintlify.WithRetryWait(0, 0), mintlify.WithBaseURL("https://example.com/gateway"), mintlify.WithRateLimiter(func(_ context.Context, op mintlify.Operation, projectID string) error {
		asked = append(asked, op)
		assert.Equal(t, "proj", projectID)
		return nil
	}))
	var into struct{ Sessions []struct{ ID string } }
	err := client.Call(t.Context(), mintlify.Call{Method: "GET", Path: "/v2/agent/a%2Fb/jobs", Query: url.Values{"take": {"5"}}}, &into)
	require.NoError(t, err)
	assert.Equal(t, "s", into.Sessions[0].ID)
	assert.Equal(t, "https://example.com/gateway/v2/agent/a%2Fb/jobs?take=5", rt.last().URL.String())
	assert.Equal(t, "Bearer "+testKey, rt.last().Header.Get("Authorization"))
	assert.Equal(t, []mintlify.Operation{"GET /v2/agent/a%2Fb/jobs", "GET /v2/agent/a%2Fb/jobs"}, asked)

	rt = newRecording(respondWith(202, `{"id":5}`))
	require.NoError(t, newClient(t, rt).Call(t.Context(), mintlify.Call{Method: "PUT", Path: "/v1/things", Body: map[string]any{"name": "a<b"}}, nil))
	assert.Equal(t, `{"name":"a<b"}`, rt.last().body)
	assert.Equal(t, "PUT", rt.last().Method)
}

// Whatever is not a read is treated as a POST.
func TestCallIsResentOnlyIfItIsARead(t *testing.T) {
	for method, attempts := range map[string]int{"GET": 4, "HEAD": 4, "POST": 1, "DELETE": 1, "PATCH": 1} {
		rt := newRecording(respondWith(502, "secret"))
		err := newClient(t, rt, mintlify.WithRetryWait(0, 0)).Call(t.Context(), mintlify.Call{Method: method, Path: "/v1/things"}, nil)
		assert.ErrorIs(t, err, mintlify.ErrServer, method)
		assert.Equal(t, attempts == 1, isOutcomeUnknown(err), method)
		assert.Equal(t, attempts, rt.count(), method)
		_, ok := mintlify.RetryAfter(err)
		assert.Equal(t, attempts > 1, ok, method)
		assert.ErrorContains(t, err, method+" /v1/things")
	}
}

func TestCallReadsItsBodyOnlyIfItIsWanted(t *testing.T) {
	call := mintlify.Call{Method: "GET", Path: "/v1/things"}
	for body, ok := range map[string]bool{"": false, "null": true, "<html>private": false, `{"a":"private"}`: true, `{"a":["private"]}`: false} {
		client := newClient(t, respondWith(200, body))
		require.NoError(t, client.Call(t.Context(), call, nil), body)
		err := client.Call(t.Context(), call, &struct{ A string }{})
		assert.Equal(t, ok, err == nil, "%s: %v", body, err)
		if !ok {
			assert.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assert.NotContains(t, err.Error(), "private")
		}
	}
}

func TestCallThatCannotBeSentIsRefused(t *testing.T) {
	client := newClient(t, failWith(errors.New("nothing may be sent")))
	for _, tc := range []struct {
		name string
		call mintlify.Call
		into any
	}{
		{"method", mintlify.Call{Path: "/v1"}, nil},
		{"method", mintlify.Call{Method: "GET /v1/x HTTP/1.1\r\n", Path: "/v1"}, nil},
		{"path", mintlify.Call{Method: "GET"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "v1"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "@evil.example.com/"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "//evil.example.com/v1"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "/v1?take=5"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "/v1?"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "/v1#x"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "/a b"}, nil},
		{"path", mintlify.Call{Method: "GET", Path: "/%zz"}, nil},
		{"body", mintlify.Call{Method: "POST", Path: "/v1", Body: func() {}}, nil},
		{"into", mintlify.Call{Method: "GET", Path: "/v1"}, struct{}{}},
		{"into", mintlify.Call{Method: "GET", Path: "/v1"}, (*struct{})(nil)},
	} {
		requireArgumentError(t, client.Call(t.Context(), tc.call, tc.into), tc.name)
	}
	requireArgumentError(t, client.Call(nilContext, mintlify.Call{Method: "GET", Path: "/v1"}, nil), "ctx")
}

func TestOperationFromContextIsTheRequests(t *testing.T) {
	for op, call := range calls {
		var seen mintlify.Operation
		_ = call(t.Context(), newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			seen, _ = mintlify.OperationFromContext(r.Context())
			return response(400, ""), nil
		})))
		assert.Equal(t, op, seen)
	}
	_, ok := mintlify.OperationFromContext(t.Context())
	assert.False(t, ok)
}

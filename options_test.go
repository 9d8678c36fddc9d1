package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestNewClientRefusesBadOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		option   mintlify.Option
		argument string
	}{
		"nil option":            {nil, "opts"},
		"nil HTTP client":       {mintlify.WithHTTPClient(nil), "httpClient"},
		"nil key source":        {mintlify.WithKeySource(nil), "keySource"},
		"empty user agent":      {mintlify.WithUserAgent(" "), "userAgent"},
		"user agent injection":  {mintlify.WithUserAgent("a\r\nX-Evil: 1"), "userAgent"},
		"user agent, non-ASCII": {mintlify.WithUserAgent("caf\u00e9"), "userAgent"},
		"user agent, control":   {mintlify.WithUserAgent("a\x7fb"), "userAgent"},
		"negative retries":      {mintlify.WithMaxRetries(-1), "maxRetries"},
		"negative wait":         {mintlify.WithRetryWait(-1, 1), "retryWait"},
		"max below min":         {mintlify.WithRetryWait(2, 1), "retryWait"},
		"nil limiter":           {mintlify.WithRateLimiter(nil), "rateLimiter"},
		"bad wait default":      {mintlify.WithWaitDefaults(mintlify.WithMaxOutage(-1)), "maxOutage"},
		"nil wait default":      {mintlify.WithWaitDefaults(nil), "opts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mintlify.NewClient("mint_abc", "proj", tc.option)
			requireArgumentError(t, err, tc.argument)
		})
	}
	_, err := mintlify.NewClient("mint_abc", "proj", mintlify.WithMaxRetries(0), nil)
	assert.Contains(t, requireArgumentError(t, err, "opts").Reason, "index 1")
}

func TestWithInsecureHTTPLiftsTheGuardInAnyOrder(t *testing.T) {
	for _, opts := range [][]mintlify.Option{
		{mintlify.WithInsecureHTTP(), mintlify.WithBaseURL("http://docs.mesh.internal")},
		{mintlify.WithBaseURL("http://docs.mesh.internal"), mintlify.WithInsecureHTTP()},
	} {
		_, err := mintlify.NewClient("mint_abc", "proj", opts...)
		require.NoError(t, err)
	}
}

func TestWithUserAgent(t *testing.T) {
	for want, opts := range map[string][]mintlify.Option{
		`^mintlify-go/\d+\.\d+\.\d+$`:                       nil,
		`^docs-bot/1\.2 \(~ci\) mintlify-go/\d+\.\d+\.\d+$`: {mintlify.WithUserAgent("docs-bot/1.2 (~ci)")},
		`^docs-bot/1\.3 mintlify-go/\d+\.\d+\.\d+$`:         {mintlify.WithUserAgent(" docs-bot/1.3\n")},
	} {
		rt := newRecording(respondWith(200, jobJSON))
		_, err := get(t.Context(), newClient(t, rt, opts...))
		require.NoError(t, err)
		assert.Regexp(t, want, rt.last().UserAgent())
	}
}

// jar counts the responses whose cookies it was given.
type jar struct{ set int }

func (j *jar) SetCookies(*url.URL, []*http.Cookie) { j.set++ }
func (j *jar) Cookies(*url.URL) []*http.Cookie     { return nil }

func TestWithHTTPClientUsesItAndNeverChangesIt(t *testing.T) {
	jar := &jar{}
	hc := &http.Client{Transport: respondWith(200, jobJSON, "Set-Cookie", "a=b"), Timeout: time.Minute, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("not asked") }}
	client, err := mintlify.NewClient(testKey, "proj", mintlify.WithHTTPClient(hc))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, 1, jar.set, "its jar is used")
	assert.Error(t, hc.CheckRedirect(nil, nil))
	assert.Equal(t, time.Minute, hc.Timeout)
	assert.IsType(t, transport(nil), hc.Transport)
}

func TestWithHTTPClientSendsItsCookiesOnceAnAttempt(t *testing.T) {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	jar.SetCookies(&url.URL{Scheme: "https", Host: "api.mintlify.com"}, []*http.Cookie{{Name: "route", Value: "a"}})
	rt := newRecording(respondWith(503, ""))
	_, err = get(t.Context(), newClient(t, nil, mintlify.WithHTTPClient(&http.Client{Jar: jar, Transport: rt}), mintlify.WithRetryWait(0, 0)))
	require.Error(t, err)
	require.Equal(t, 4, rt.count())
	for _, request := range rt.sent() {
		assert.Equal(t, []string{"route=a"}, request.Header["Cookie"])
	}
}

func TestWithKeySourceIsAskedBeforeEachAttempt(t *testing.T) {
	asked := 0
	source := func(context.Context) (string, error) {
		asked++
		return fmt.Sprintf("Bearer mint_%d", asked), nil
	}
	rt := newRecording(respondWith(503, ""))
	client, err := mintlify.NewClient("", "proj", mintlify.WithHTTPClient(&http.Client{Transport: rt}),
		mintlify.WithKeySource(source), mintlify.WithRetryWait(0, 0), mintlify.WithMaxRetries(2))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	require.ErrorIs(t, err, mintlify.ErrServer)
	require.Equal(t, 3, rt.count())
	for i, request := range rt.sent() {
		assert.Equal(t, fmt.Sprintf("Bearer mint_%d", i+1), request.Header.Get("Authorization"))
	}
}

func TestWithKeySourceRefusesABadKeyUnseen(t *testing.T) {
	client := newClient(t, respondWith(200, jobJSON),
		mintlify.WithKeySource(func(context.Context) (string, error) { return "mint_dsc_secret", nil }))
	_, err := create(t.Context(), client)
	requireArgumentError(t, err, "apiKey")
	assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.NotContains(t, err.Error(), "secret")
	assert.ErrorContains(t, err, "/job: apiKey is an assistant key")
}

func TestWithRateLimiterIsAskedBeforeEveryRequest(t *testing.T) {
	svc := mintlifytest.NewService()
	var asked []string
	client := svc.Client(mintlify.WithRateLimiter(func(_ context.Context, op mintlify.Operation, project string) error {
		asked = append(asked, string(op)+" "+project)
		return nil
	}))
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429})
	svc.ScriptJob(mintlifytest.Step{}, mintlifytest.Step{Status: mintlify.JobCompleted})
	job, err := create(t.Context(), client)
	require.NoError(t, err)
	_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
	require.NoError(t, err)
	_, err = message(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"create job test-project", "create job test-project", // the retry too
		"get job test-project", "get job test-project", // each poll
		"send message test-project",
	}, asked)
}

func TestWithKeySourceAndWithRateLimiterErrorsMeanThatNothingWasSent(t *testing.T) {
	broken := errors.New("vault is sealed")
	for name, option := range map[string]mintlify.Option{
		"key source": mintlify.WithKeySource(func(context.Context) (string, error) { return "", broken }),
		"limiter":    mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { return broken }),
	} {
		for operation, call := range operations {
			t.Run(name+"/"+operation, func(t *testing.T) {
				rt := newRecording(respondWith(200, jobJSON))
				_, err := call(t.Context(), newClient(t, rt, option))
				require.ErrorIs(t, err, broken)
				assert.ErrorContains(t, err, "vault is sealed")
				assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.Zero(t, rt.count())
			})
		}
	}
}

func TestWithKeySourceAndWithRateLimiterRunUnderTheCallersContext(t *testing.T) {
	for name, option := range map[string]mintlify.Option{
		"limiter":    mintlify.WithRateLimiter(func(ctx context.Context, _ mintlify.Operation, _ string) error { <-ctx.Done(); return ctx.Err() }),
		"key source": mintlify.WithKeySource(func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }),
	} {
		synctest.Test(t, func(t *testing.T) {
			deploy := errors.New("deploy window closed")
			for operation, call := range operations {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, deploy)
				_, err := call(ctx, newClient(t, respondWith(200, jobJSON), option))
				cancel()
				assert.ErrorIs(t, err, context.DeadlineExceeded, "%s %s", name, operation)
				assert.ErrorIs(t, err, deploy)
				assert.False(t, isOutcomeUnknown(err))
			}
		})
	}
}

func TestWithRateLimiterIsNotAskedOnceTheContextHasEnded(t *testing.T) {
	for name, call := range operations {
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		rt := newRecording(respondWith(200, jobJSON))
		client := newClient(t, rt, mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { asked++; cancel(); return nil }))
		for range 2 {
			_, err := call(ctx, client)
			assert.ErrorIs(t, err, context.Canceled, name)
			assert.False(t, isOutcomeUnknown(err))
			assert.Zero(t, rt.count(), "it ended while the limiter waited")
			assert.Equal(t, 1, asked, "no token for a call that is over")
		}
	}
}

func TestWithKeySourceAndWithRateLimiterAreOutsideTheAttemptsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 50 * time.Second})
		client := svc.Client(
			mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { time.Sleep(50 * time.Second); return nil }),
			mintlify.WithKeySource(func(context.Context) (string, error) { time.Sleep(50 * time.Second); return mintlifytest.APIKey, nil }))
		_, err := create(t.Context(), client)
		require.NoError(t, err)
	})
}

func TestAllRateLimitersAreAskedInOrder(t *testing.T) {
	var asked []string
	limiter := func(name string, err error) mintlify.Option {
		return mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error {
			asked = append(asked, name)
			return err
		})
	}
	_, err := get(t.Context(), newClient(t, respondWith(200, jobJSON), limiter("first", nil), limiter("second", nil)))
	require.NoError(t, err)
	assert.Equal(t, []string{"first", "second"}, asked)

	asked = nil
	full := errors.New("full")
	_, err = get(t.Context(), newClient(t, respondWith(200, jobJSON), limiter("first", full), limiter("second", nil)))
	assert.ErrorIs(t, err, full)
	assert.Equal(t, []string{"first"}, asked)
}

package mintlify_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func requireArgumentError(t *testing.T, err error, name string) *mintlify.ArgumentError {
	t.Helper()
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	var argument *mintlify.ArgumentError
	require.ErrorAs(t, err, &argument)
	assert.Equal(t, name, argument.Name)
	assert.NotEmpty(t, argument.Reason)
	return argument
}

func TestKeyIsCleanedWhereItIsSafe(t *testing.T) {
	for name, key := range map[string]string{
		"as it is":               "mint_abc",
		"space around":           "  mint_abc\n",
		"pasted header value":    "Bearer mint_abc",
		"pasted in lower case":   "bearer mint_abc ",
		"tab behind the scheme":  "Bearer\tmint_abc",
		"two spaces behind it":   "Bearer  mint_abc",
		"non-breaking space too": "\u00a0mint_abc",
	} {
		t.Run(name, func(t *testing.T) {
			var sent string
			hc := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				sent = r.Header.Get("Authorization")
				return response(200, jobJSON), nil
			})}
			client, err := mintlify.NewClient(key, "proj", mintlify.WithHTTPClient(hc))
			require.NoError(t, err)
			_, err = get(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, "Bearer mint_abc", sent)
		})
	}
}

func TestKeyThatCannotWorkIsRefusedUnseen(t *testing.T) {
	for name, key := range map[string]string{
		"empty":            "",
		"blank":            " \t\n",
		"scheme alone":     "Bearer ",
		"scheme, no space": "Bearer",
		"line break":       "mint_sec\nret",
		"space within":     "mint_sec ret",
		"control":          "mint_sec\x00ret",
		"DEL":              "mint_sec\x7fret",
		"zero-width space": "mint_sec\u200bret",
		"byte order mark":  "\ufeffmint_secret",
		"non-ASCII":        "mint_secrét",
		"assistant key":    "mint_dsc_secret",
		"index key":        "mint_us_secret",
		"pasted assistant": "Bearer mint_dsc_secret",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mintlify.NewClient(key, "proj")
			argument := requireArgumentError(t, err, "apiKey")
			assert.NotContains(t, argument.Error(), "ret")
		})
	}
}

func TestKeyOfAnyPrintableCharacterIsSentAsItIs(t *testing.T) {
	var key strings.Builder
	for c := '!'; c <= '~'; c++ {
		key.WriteRune(c)
	}
	var sent string
	client, err := mintlify.NewClient(key.String(), "proj", mintlify.WithHTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get("Authorization")
		return response(401, "keys begin with mint_"), nil
	})}))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	assert.Equal(t, "Bearer "+key.String(), sent)
	require.ErrorContains(t, err, "keys begin with mint_", "which is no key yet")
}

func TestKeyBeginningLikeTheSchemeIsAKey(t *testing.T) {
	_, err := mintlify.NewClient("bearer_of_news", "proj")
	require.NoError(t, err)
}

func TestProjectID(t *testing.T) {
	for name, id := range map[string]string{"empty": "", "blank": " \n", "dot": ".", "dots": "..", "swapped": "mint_secret", "pasted": "Bearer mint_secret"} {
		t.Run(name, func(t *testing.T) {
			_, err := mintlify.NewClient("mint_abc", id)
			argument := requireArgumentError(t, err, "projectID")
			assert.NotContains(t, argument.Error(), "secret")

			client, err := mintlify.NewClient("mint_abc", "proj")
			require.NoError(t, err)
			_, err = client.ForProject(id)
			requireArgumentError(t, err, "projectID")
		})
	}
}

func TestBaseURL(t *testing.T) {
	for url, allowed := range map[string]bool{
		"https://api.example.com":               true,
		"https://api.example.com/":              true,
		"https://api.example.com:8443/a/prefix": true,
		"http://localhost:8080":                 true,
		"http://127.0.0.1":                      true,
		"http://127.8.9.1:80":                   true,
		"http://[::1]:8080":                     true,
		"http://LOCALHOST":                      true,
		"":                                      false,
		"api.example.com":                       false,
		"//api.example.com":                     false,
		"ftp://api.example.com":                 false,
		"https:///path":                         false,
		"https://:443":                          false,
		"https://::":                            false,
		"https://:::":                           false,
		"https://[:]":                           false,
		"https://[fe80::1%25eth0]:8443":         true,
		"https:api.example.com":                 false,
		"https://user:secret@api.example.com":   false,
		"https://user@api.example.com":          false,
		"https://api.example.com?secret=1":      false,
		"https://api.example.com/?":             false,
		"https://api.example.com/#secret":       false,
		"https://api.example.com:secret":        false,
		"https://api.exa mple.com":              false,
		"http://api.example.com":                false,
		"http://10.0.0.1":                       false,
		"http://localhost.example.com":          false,
		"http://0.0.0.0":                        false,
	} {
		t.Run(url, func(t *testing.T) {
			_, err := mintlify.NewClient("mint_abc", "proj", mintlify.WithBaseURL(url))
			if allowed {
				require.NoError(t, err)
				return
			}
			argument := requireArgumentError(t, err, "baseURL")
			assert.NotContains(t, argument.Error(), "secret")
		})
	}
}

func TestInsecureHTTPLiftsTheGuardInAnyOrder(t *testing.T) {
	for _, opts := range [][]mintlify.Option{
		{mintlify.WithInsecureHTTP(), mintlify.WithBaseURL("http://docs.mesh.internal")},
		{mintlify.WithBaseURL("http://docs.mesh.internal"), mintlify.WithInsecureHTTP()},
	} {
		_, err := mintlify.NewClient("mint_abc", "proj", opts...)
		require.NoError(t, err)
	}
}

func TestOptionsRefuseBadValues(t *testing.T) {
	for name, tc := range map[string]struct {
		option   mintlify.Option
		argument string
	}{
		"nil option":           {nil, "opts"},
		"nil HTTP client":      {mintlify.WithHTTPClient(nil), "httpClient"},
		"nil key source":       {mintlify.WithKeySource(nil), "keySource"},
		"empty user agent":     {mintlify.WithUserAgent(" "), "userAgent"},
		"user agent injection": {mintlify.WithUserAgent("a\r\nX-Evil: 1"), "userAgent"},
		"negative retries":     {mintlify.WithMaxRetries(-1), "maxRetries"},
		"negative wait":        {mintlify.WithRetryWait(-1, 1), "retryWait"},
		"max below min":        {mintlify.WithRetryWait(2, 1), "retryWait"},
		"nil limiter":          {mintlify.WithRateLimiter(nil), "rateLimiter"},
		"bad wait default":     {mintlify.WithWaitDefaults(mintlify.WithMaxOutage(-1)), "maxOutage"},
		"nil wait default":     {mintlify.WithWaitDefaults(nil), "opts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mintlify.NewClient("mint_abc", "proj", tc.option)
			requireArgumentError(t, err, tc.argument)
		})
	}
}

func TestNewClientFromEnv(t *testing.T) {
	set := func(t *testing.T, key, project, baseURL string) {
		t.Setenv("MINTLIFY_API_KEY", key)
		t.Setenv("MINTLIFY_PROJECT_ID", project)
		t.Setenv("MINTLIFY_BASE_URL", baseURL)
	}
	t.Run("all set", func(t *testing.T) {
		set(t, "mint_abc\n", "proj", "https://env.example.com/p")
		var sent *http.Request
		hc := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			sent = r
			return response(200, jobJSON), nil
		})}
		client, err := mintlify.NewClientFromEnv(mintlify.WithHTTPClient(hc))
		require.NoError(t, err)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "https://env.example.com/p/v2/agent/proj/job/job_1", sent.URL.String())
		assert.Equal(t, "Bearer mint_abc", sent.Header.Get("Authorization"))

		client, err = mintlify.NewClientFromEnv(mintlify.WithHTTPClient(hc), mintlify.WithBaseURL("https://opt.example.com"))
		require.NoError(t, err)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "opt.example.com", sent.URL.Host, "an option wins over the environment")
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

func TestArgumentsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	ctx := t.Context()
	prompts := map[string]string{"empty": "", "blank": " \n\t\u00a0", "broken UTF-8": "caf\xe9"}
	for name, prompt := range prompts {
		_, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
		requireArgumentError(t, err, "prompt")
		_, err = client.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: prompt})
		requireArgumentError(t, err, "prompt")
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown, name)
	}
	for _, id := range []string{"", "  ", ".", ".."} {
		_, err := client.Jobs.Get(ctx, id)
		requireArgumentError(t, err, "id")
		_, err = client.Jobs.Message(ctx, id, mintlify.MessageParams{Prompt: "x"})
		requireArgumentError(t, err, "id")
		_, err = client.Jobs.WaitUntilDone(ctx, id)
		requireArgumentError(t, err, "id")
	}
	for _, call := range operations {
		_, err := call(nilContext, client)
		requireArgumentError(t, err, "ctx")
	}
	_, err := client.Jobs.WaitUntilDone(nilContext, "job_1")
	requireArgumentError(t, err, "ctx")
	for argument, option := range map[string]mintlify.WaitOption{
		"pollInterval": mintlify.WithPollInterval(2, 1),
		"maxOutage":    mintlify.WithMaxOutage(-1),
		"settleTime":   mintlify.WithSettleTime(-1),
		"onPoll":       mintlify.WithOnPoll(nil),
		"opts":         nil,
	} {
		_, err := client.Jobs.WaitUntilDone(ctx, "job_1", option)
		requireArgumentError(t, err, argument)
	}
	assert.Empty(t, svc.Requests())
}

func TestUserAgent(t *testing.T) {
	var sent string
	rt := transport(func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get("User-Agent")
		return response(200, jobJSON), nil
	})
	_, err := get(t.Context(), newClient(t, rt))
	require.NoError(t, err)
	assert.Regexp(t, `^mintlify-go/\d+\.\d+\.\d+$`, sent)

	_, err = get(t.Context(), newClient(t, rt, mintlify.WithUserAgent("docs-bot/1.2 (~ci)")))
	require.NoError(t, err)
	assert.Regexp(t, `^docs-bot/1\.2 \(~ci\) mintlify-go/\d+\.\d+\.\d+$`, sent)
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

func TestKeySourceIsAskedBeforeEachAttempt(t *testing.T) {
	var keys, sent []string
	rt := transport(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Header.Get("Authorization"))
		return response(503, ""), nil
	})
	source := func(context.Context) (string, error) {
		keys = append(keys, "Bearer mint_"+string(rune('a'+len(keys))))
		return keys[len(keys)-1], nil
	}
	client, err := mintlify.NewClient("", "proj", mintlify.WithHTTPClient(&http.Client{Transport: rt}),
		mintlify.WithKeySource(source), mintlify.WithRetryWait(0, 0), mintlify.WithMaxRetries(2))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	require.ErrorIs(t, err, mintlify.ErrServer)
	assert.Equal(t, []string{"Bearer mint_a", "Bearer mint_b", "Bearer mint_c"}, sent)
}

func TestErrorOfKeySourceOrLimiterMeansNothingWasSent(t *testing.T) {
	broken := errors.New("vault is sealed")
	for name, option := range map[string]mintlify.Option{
		"key source": mintlify.WithKeySource(func(context.Context) (string, error) { return "", broken }),
		"limiter":    mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { return broken }),
	} {
		for operation, call := range operations {
			t.Run(name+"/"+operation, func(t *testing.T) {
				sent := 0
				client := newClient(t, transport(func(*http.Request) (*http.Response, error) { sent++; return nil, nil }), option)
				_, err := call(t.Context(), client)
				require.ErrorIs(t, err, broken)
				assert.ErrorContains(t, err, "vault is sealed")
				assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.Zero(t, sent)
			})
		}
	}
}

func TestBadKeyOfKeySourceIsRefusedUnseen(t *testing.T) {
	client := newClient(t, respondWith(200, jobJSON),
		mintlify.WithKeySource(func(context.Context) (string, error) { return "mint_dsc_secret", nil }))
	_, err := create(t.Context(), client)
	requireArgumentError(t, err, "apiKey")
	assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.NotContains(t, err.Error(), "secret")
	assert.ErrorContains(t, err, "/job: apiKey is an assistant key")
}

func TestRateLimiterIsAskedBeforeEveryRequest(t *testing.T) {
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

func TestLoggerTellsEachRequestAndRetry(t *testing.T) {
	var records []slog.Record
	client := newClient(t, respondWith(503, "down"), mintlify.WithLogger(slog.New(recorder{&records})),
		mintlify.WithRetryWait(0, 0), mintlify.WithMaxRetries(1))
	_, err := get(t.Context(), client)
	require.Error(t, err)
	var levels []slog.Level
	for _, record := range records {
		levels = append(levels, record.Level)
	}
	assert.Equal(t, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelDebug}, levels)

	_, err = get(t.Context(), newClient(t, respondWith(200, jobJSON), mintlify.WithLogger(nil)))
	require.NoError(t, err, "nil is silence")
}

type recorder struct{ records *[]slog.Record }

func (r recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r recorder) WithGroup(string) slog.Handler            { return r }
func (r recorder) Handle(_ context.Context, record slog.Record) error {
	*r.records = append(*r.records, record)
	return nil
}

func TestHTTPClientIsUsedAndNeverChanged(t *testing.T) {
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

func TestCookiesAreSentOnceAAttempt(t *testing.T) {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	jar.SetCookies(&url.URL{Scheme: "https", Host: "api.mintlify.com"}, []*http.Cookie{{Name: "route", Value: "a"}})
	synctest.Test(t, func(t *testing.T) {
		var cookies []string
		client, err := mintlify.NewClient(testKey, "proj", mintlify.WithHTTPClient(&http.Client{Jar: jar, Transport: transport(func(r *http.Request) (*http.Response, error) {
			cookies = append(cookies, r.Header.Get("Cookie"))
			return response(http.StatusServiceUnavailable, ""), nil
		})}))
		require.NoError(t, err)
		_, err = get(t.Context(), client)
		require.Error(t, err)
		assert.Equal(t, []string{"route=a", "route=a", "route=a", "route=a"}, cookies)
	})
}

func TestMoreArguments(t *testing.T) {
	_, err := mintlifytest.NewService().Client().Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithPollInterval(-1, 1))
	requireArgumentError(t, err, "pollInterval")
	_, err = mintlifytest.NewService().Client().Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithSettleTime(0), nil)
	assert.ErrorContains(t, err, "index 1")
	_, err = mintlify.NewClient("mint_abc", "proj", mintlify.WithMaxRetries(0), nil)
	assert.ErrorContains(t, err, "index 1")
}

func TestProjectIDIsCleaned(t *testing.T) {
	svc := mintlifytest.NewService()
	client, err := svc.Client().ForProject(" my_mint_docs\n")
	require.NoError(t, err)
	_, err = create(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, "/v2/agent/my_mint_docs/job", svc.Requests()[0].Path)
	_, err = client.ForProject("mint_abc")
	requireArgumentError(t, err, "projectID")
}

func TestArgumentsAsSent(t *testing.T) {
	var sent *http.Request
	hc := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) { sent = r; return response(200, jobJSON), nil })}
	client, err := mintlify.NewClient("bearer_of_news", "proj", mintlify.WithHTTPClient(hc),
		mintlify.WithBaseURL(" https://api.example.com\n"), mintlify.WithUserAgent(" docs-bot/1.2\n"))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, "Bearer bearer_of_news", sent.Header.Get("Authorization"))
	assert.Equal(t, "api.example.com", sent.URL.Host)
	assert.True(t, strings.HasPrefix(sent.UserAgent(), "docs-bot/1.2 "))
	for _, product := range []string{"caf\u00e9", "a\x7fb"} {
		_, err = mintlify.NewClient("mint_abc", "proj", mintlify.WithUserAgent(product))
		requireArgumentError(t, err, "userAgent")
	}
}

func TestNewClientFromEnvNamesAllThatIsMissing(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", " ")
	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err := mintlify.NewClientFromEnv()
	assert.EqualError(t, err, "mintlify: MINTLIFY_API_KEY, MINTLIFY_PROJECT_ID are not set")
	_, err = mintlify.NewClientFromEnv(mintlify.WithKeySource(func(context.Context) (string, error) { return testKey, nil }))
	assert.EqualError(t, err, "mintlify: MINTLIFY_PROJECT_ID is not set")
}

func TestProjectIDThatLooksLikeSomethingElseIsRefused(t *testing.T) {
	for id, likeness := range map[string]string{
		"https://dashboard.example.com/acme": "is a URL",
		"<your project id>":                  "is a placeholder",
		"acme/docs":                          "holds a slash",
		"localhost:3000":                     "holds a colon",
		"my project":                         "has white space",
	} {
		_, err := mintlify.NewClient(testKey, id)
		require.ErrorIs(t, err, mintlify.ErrInvalidArgument, id)
		assert.ErrorContains(t, err, likeness)
	}
}

func TestProjectIDOfAClient(t *testing.T) {
	client := mintlifytest.NewService().Client()
	assert.Equal(t, mintlifytest.ProjectID, client.ProjectID())
	other, err := client.ForProject(" other ")
	require.NoError(t, err)
	assert.Equal(t, "other", other.ProjectID())
}

func TestNewTransportIsTheSDKsOwnToWrap(t *testing.T) {
	own := mintlify.NewTransport()
	assert.Equal(t, 1024, own.MaxIdleConnsPerHost)
	assert.Equal(t, 30*time.Second, own.IdleConnTimeout)
	assert.NotNil(t, own.Proxy)
	assert.NotSame(t, own, mintlify.NewTransport())

	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = respondWith(200, "")
	assert.NotNil(t, mintlify.NewTransport().Proxy, "where the program has replaced the default")
}

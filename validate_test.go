package mintlify_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// keySentBy returns the Authorization header that a client with key sends.
func keySentBy(t *testing.T, key string) string {
	t.Helper()
	rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
	client, err := mintlify.NewClient(key, "proj", kit.Through(rt))
	require.NoError(t, err)

	_, err = kit.Get(t.Context(), client)
	require.NoError(t, err)
	return rt.Last().Header.Get("Authorization")
}

func TestNewClientCleansAKeyWhereItIsSafe(t *testing.T) {
	for name, tc := range map[string]struct{ key, sent string }{
		"as it is":               {"mint_abc", "mint_abc"},
		"space around":           {"  mint_abc\n", "mint_abc"},
		"pasted header value":    {"Bearer mint_abc", "mint_abc"},
		"pasted in lower case":   {"bearer mint_abc ", "mint_abc"},
		"tab behind the scheme":  {"Bearer\tmint_abc", "mint_abc"},
		"two spaces behind it":   {"Bearer  mint_abc", "mint_abc"},
		"non-breaking space too": {"\u00a0mint_abc", "mint_abc"},
		"a key that begins so":   {"bearer_of_news", "bearer_of_news"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, "Bearer "+tc.sent, keySentBy(t, tc.key)) })
	}
}

func TestNewClientRefusesAKeyThatCannotWorkUnseen(t *testing.T) {
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
			argument := kit.RequireArgumentError(t, err, "apiKey")
			assert.NotContains(t, argument.Error(), "ret")
		})
	}
}

// placeholders are values that nobody has filled in, by what they look like.
var placeholders = map[string]string{
	`"secret"`:       "has a quote",
	`secret"`:        "has a quote",
	`'secret`:        "has a quote",
	"“secret”":       "has a quote",
	"$SECRET":        "a variable",
	"${SECRET}":      "a variable",
	"$(secret)":      "a variable",
	"%SECRET%":       "a variable",
	"{{ secret }}":   "a template",
	"{{secret}}":     "a template",
	"secret...":      "three dots",
	"secr...et":      "three dots",
	"secr…et":        "three dots",
	"<secret>":       "placeholder",
	"<the secret>":   "placeholder",
	" <secret> \n":   "placeholder",
	"Bearer $SECRET": "a variable",
}

func TestNewClientRefusesAPlaceholderAndSaysWhatItLooksLike(t *testing.T) {
	keys := map[string]string{
		"mint_your-secret": "placeholder",
		"mint_your_secret": "placeholder",
		"mint_YOUR_SECRET": "placeholder",
		"mint_xxxxxxxx":    "placeholder",
		"mint_****":        "placeholder",
		"mint_x*Xx":        "placeholder",
	}
	maps.Copy(keys, placeholders)
	for key, reason := range keys {
		_, err := mintlify.NewClient(key, "proj")
		assertLooksLike(t, err, "apiKey", reason, key)

		source := mintlify.WithKeySource(func(context.Context) (string, error) { return key, nil })
		rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
		client, err := mintlify.NewClient("", "proj", source, kit.Through(rt))
		require.NoError(t, err)
		_, err = kit.Get(t.Context(), client)
		assertLooksLike(t, err, "apiKey", reason, key)
		assert.Zero(t, rt.Count())
	}

	for id, reason := range placeholders {
		if strings.HasPrefix(id, "Bearer") {
			continue // nobody sends a project id so
		}
		_, err := mintlify.NewClient(kit.Key, id)
		assertLooksLike(t, err, "projectID", reason, id)
	}
}

func assertLooksLike(t *testing.T, err error, name, reason, value string) {
	t.Helper()
	refused := kit.RequireAs[*mintlify.ArgumentError](t, err)
	assert.Equal(t, name, refused.Name)
	assert.Contains(t, refused.Reason, reason, value)
	assert.NotContains(t, strings.ToLower(err.Error()), "secret")
}

func TestNewClientTakesWhatOnlyResemblesAPlaceholder(t *testing.T) {
	for _, key := range []string{
		"mint_a$b", "mint_{{a}}", "mint_%a", "%a", "mint_a..b", "mint_a<b>", "<mint_a", "mint_a\"b", "mint_youra", "mint_xyz",
		"xxxx", "your_key", "mint_x", "mint_xxx", "mint_***",
	} {
		assert.Equal(t, "Bearer "+key, keySentBy(t, key))
	}
	_, err := mintlify.NewClient(kit.Key, "your-project")
	assert.NoError(t, err)
}

func TestNewClientTakesAKeyOfAnyPrintableCharacter(t *testing.T) {
	var key strings.Builder
	for c := '!'; c <= '~'; c++ {
		key.WriteRune(c)
	}
	assert.Equal(t, "Bearer "+key.String(), keySentBy(t, key.String()))

	unauthorized := kit.RespondWith(401, "keys begin with mint_")
	client, err := mintlify.NewClient(key.String(), "proj", kit.Through(unauthorized))
	require.NoError(t, err)
	_, err = kit.Get(t.Context(), client)
	require.ErrorContains(t, err, "keys begin with mint_", "which is not a key yet")
}

func TestNewClientAndForProjectRefuseAProjectID(t *testing.T) {
	client, err := mintlify.NewClient(kit.Key, "proj")
	require.NoError(t, err)

	for name, tc := range map[string]struct{ id, reason string }{
		"empty":       {"", "empty"},
		"blank":       {" \n", "empty"},
		"dot":         {".", "not a valid id"},
		"dots":        {"..", "not a valid id"},
		"swapped":     {"mint_secret", "swapped"},
		"pasted":      {"Bearer mint_secret", "swapped"},
		"URL":         {"https://dashboard.example.com/acme", "is a URL"},
		"placeholder": {"<your project id>", "is a placeholder"},
		"slash":       {"acme/docs", "contains a slash"},
		"colon":       {"localhost:3000", "contains a colon"},
		"white space": {"my project", "contains white space"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mintlify.NewClient(kit.Key, tc.id)
			refused := kit.RequireArgumentError(t, err, "projectID")
			assert.Contains(t, refused.Reason, tc.reason)
			assert.NotContains(t, refused.Error(), "secret")

			_, err = client.ForProject(tc.id)
			assert.Contains(t, kit.RequireArgumentError(t, err, "projectID").Reason, tc.reason)
		})
	}
}

func TestWithBaseURL(t *testing.T) {
	for url, allowed := range map[string]bool{
		"https://api.example.com":               true,
		"https://api.example.com/":              true,
		" https://api.example.com\n":            true,
		"https://api.example.com:8443/a/prefix": true,
		"http://localhost:8080":                 true,
		"http://127.0.0.1":                      true,
		"http://127.8.9.1:80":                   true,
		"http://[::1]:8080":                     true,
		"http://LOCALHOST":                      true,
		"ftp:":                                  false,
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
		"https://api.example.com:1":             true,
		"https://api.example.com:65535":         true,
		"https://api.example.com:0":             false,
		"https://api.example.com:65536":         false,
		"https://api.example.com:443443443443":  false,
		"https://api.exa mple.com":              false,
		"http://api.example.com":                false,
		"http://10.0.0.1":                       false,
		"http://localhost.example.com":          false,
		"http://0.0.0.0":                        false,
	} {
		t.Run(url, func(t *testing.T) {
			rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
			client, err := mintlify.NewClient("mint_abc", "proj", mintlify.WithBaseURL(url), kit.Through(rt))
			if allowed {
				require.NoError(t, err)
				_, err = kit.Get(t.Context(), client)
				require.NoError(t, err)
				assert.Equal(t, strings.Trim(url, "/\n ")+"/v2/agent/proj/job/job_1", rt.Last().URL.String())
				return
			}

			argument := kit.RequireArgumentError(t, err, "baseURL")
			assert.NotContains(t, argument.Error(), "secret")
		})
	}
}

func TestCreateAndMessageRefuseAPromptBeforeAnythingIsSent(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	for name, prompt := range map[string]string{"empty": "", "blank": " \n\t\u00a0", "broken UTF-8": "caf\xe9"} {
		_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: prompt})
		kit.RequireArgumentError(t, err, "prompt")
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown, name)

		_, err = client.Jobs.Message(t.Context(), "job_1", mintlify.MessageParams{Prompt: prompt})
		kit.RequireArgumentError(t, err, "prompt")
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown, name)
	}
	assert.Empty(t, svc.Requests())
}

func TestIDsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	calls := map[string]func(id string) error{
		"get job": func(id string) error {
			_, err := client.Jobs.Get(t.Context(), id)
			return err
		},
		"message": func(id string) error {
			_, err := client.Jobs.Message(t.Context(), id, mintlify.MessageParams{Prompt: "x"})
			return err
		},
		"wait for a job": func(id string) error {
			_, err := client.Jobs.WaitUntilDone(t.Context(), id)
			return err
		},
		"poll a job": func(id string) error {
			_, err := client.Jobs.Poll(t.Context(), id, 0)
			return err
		},
		"get deployment": func(id string) error {
			_, err := client.Deployments.Get(t.Context(), id)
			return err
		},
		"wait for a deployment": func(id string) error {
			_, err := client.Deployments.WaitUntilDone(t.Context(), id)
			return err
		},
		"automation": func(id string) error {
			_, err := client.Automations.Trigger(t.Context(), id, mintlify.TriggerAutomationParams{})
			return err
		},
		"thread": func(id string) error {
			_, err := client.Analytics.GetThread(t.Context(), id)
			return err
		},
	}

	for name, call := range calls {
		for _, id := range append(strayNames, ".", "..") {
			kit.RequireArgumentError(t, call(id), "id")
			assert.Empty(t, svc.Requests(), "%s: %q", name, id)
		}
	}
}

// strayNames are ids and branches that a shell or a careless copy makes.
var strayNames = []string{
	"", "  ", "job-1\n", "job-1\r\n", " job-1", "job-1\t", "job-1\u00a0", "\u2003job-1", "\u0085job-1",
	"job\x00-1", "job\n-1", "job\x1b-1", "job\x7f-1", "job\u0080-1", "job\u009f-1",
}

func TestABranchIsRefusedBeforeAnythingIsSent(t *testing.T) {
	svc := mintlifytest.NewService()
	for _, branch := range strayNames {
		params := mintlify.TriggerPreviewParams{Branch: branch}
		_, err := svc.Client().Deployments.TriggerPreview(t.Context(), params)
		kit.RequireArgumentError(t, err, "branch")
	}
	assert.Empty(t, svc.Requests())
}

// The service may make such an id: it can be asked for again.
func TestWhiteSpaceWithinAnIDIsEscaped(t *testing.T) {
	for id, path := range map[string]string{
		"job 1": "job%201", "a\u00a0b": "a%C2%A0b", "a\u2003b": "a%E2%80%83b", "a/b%c": "a%2Fb%25c",
	} {
		rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
		_, err := kit.NewClient(t, rt).Jobs.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, "/v2/agent/proj/job/"+path, rt.Last().URL.EscapedPath())
	}
}

func TestNilContextIsRefusedBeforeAnythingIsSent(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	for _, call := range kit.JobCalls {
		_, err := call(kit.NilContext, client)
		kit.RequireArgumentError(t, err, "ctx")
	}
	_, err := client.Jobs.WaitUntilDone(kit.NilContext, "job_1")
	kit.RequireArgumentError(t, err, "ctx")
	assert.Empty(t, svc.Requests())
}

func TestWaitUntilDoneRefusesBadOptionsBeforeAnythingIsSent(t *testing.T) {
	svc := mintlifytest.NewService()
	type waitOptions = []mintlify.WaitOption
	for name, tc := range map[string]struct {
		opts             waitOptions
		argument, reason string
	}{
		"max below min":     {waitOptions{mintlify.WithPollInterval(2, 1)}, "pollInterval", "2ns to 1ns"},
		"negative interval": {waitOptions{mintlify.WithPollInterval(-1, 1)}, "pollInterval", "-1ns to 1ns"},
		"min without unit":  {waitOptions{mintlify.WithPollInterval(5, time.Minute)}, "pollInterval", "want a unit"},
		"max without unit":  {waitOptions{mintlify.WithPollInterval(0, 60)}, "pollInterval", "5*time.Second"},
		"negative outage":   {waitOptions{mintlify.WithMaxOutage(-1)}, "maxOutage", "-1ns"},
		"nil hook":          {waitOptions{mintlify.WithOnPoll(nil)}, "onPoll", "nil"},
		"nil option":        {waitOptions{nil}, "opts", "index 0"},
		"nil option, later": {waitOptions{mintlify.WithSettleTime(0), nil}, "opts", "index 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "job_1", tc.opts...)
			assert.Contains(t, kit.RequireArgumentError(t, err, tc.argument).Reason, tc.reason)
		})
	}
	assert.Empty(t, svc.Requests())
}

package mintlify_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

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

func TestMoreArguments(t *testing.T) {
	_, err := mintlifytest.NewService().Client().Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithPollInterval(-1, 1))
	requireArgumentError(t, err, "pollInterval")
	_, err = mintlifytest.NewService().Client().Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithSettleTime(0), nil)
	assert.ErrorContains(t, err, "index 1")
	_, err = mintlify.NewClient("mint_abc", "proj", mintlify.WithMaxRetries(0), nil)
	assert.ErrorContains(t, err, "index 1")
}

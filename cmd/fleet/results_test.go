//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// target records the last request, and responds with status.
type target struct {
	*httptest.Server
	status       int
	path, header string
	body         map[string]string
}

func newTarget(t *testing.T, status int) *target {
	s := &target{status: status}
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.path, s.header = r.URL.Path, r.Header.Get("Authorization")
		body, _ := io.ReadAll(r.Body)
		s.body = nil
		_ = json.Unmarshal(body, &s.body)
		rw.WriteHeader(s.status)
		_, _ = rw.Write([]byte("{}"))
	}))
	t.Cleanup(s.Close)
	return s
}

func tellerOf(t *testing.T, environment map[string]string) teller {
	told, err := newTeller(func(name string) string { return environment[name] })
	require.NoError(t, err)
	return told
}

var testResult = row{Key: "acme/repo@1", State: done, PRLink: "https://github.com/acme/docs/pull/9", Pull: "acme/repo#7"}

func TestResultsToAWebhook(t *testing.T) {
	s := newTarget(t, 200)
	told := tellerOf(t, map[string]string{"FLEET_RESULTS_URL": s.URL + "/T0/secret", "FLEET_GITHUB_TOKEN": "x"})
	require.NoError(t, told.tell(t.Context(), testResult))
	assert.Equal(t, "/T0/secret", s.path)
	assert.Equal(t, "Docs for acme/repo@1: done, https://github.com/acme/docs/pull/9", s.body["text"])

	require.NoError(t, told.tell(t.Context(), row{Key: "k", State: failed, Problem: "<!channel> & `more`\nlines"}))
	assert.Equal(t, "Docs for k: failed: `&lt;!channel&gt; &amp; 'more' lines`", s.body["text"])
}

func TestResultsURLIsASecret(t *testing.T) {
	s := newTarget(t, 500)
	told := tellerOf(t, map[string]string{"FLEET_RESULTS_URL": s.URL + "/T0/secret"})
	refused := told.tell(t.Context(), testResult)
	require.ErrorContains(t, refused, "500")
	s.Close()
	down := told.tell(t.Context(), testResult)
	require.Error(t, down)
	_, malformed := newTeller(func(string) string { return "T0/secret" })
	require.Error(t, malformed)
	for _, err := range []error{refused, down, malformed} {
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestResultsAsComments(t *testing.T) {
	s := newTarget(t, 201)
	told := tellerOf(t, map[string]string{"FLEET_GITHUB_TOKEN": "ghp_x", "GITHUB_API_URL": s.URL})
	require.NoError(t, told.tell(t.Context(), testResult))
	assert.Equal(t, "/repos/acme/repo/issues/7/comments", strings.TrimPrefix(s.path, "/api/v3"))
	assert.Equal(t, "Bearer ghp_x", s.header)
	assert.Contains(t, s.body["body"], "done, https://github.com/acme/docs/pull/9")
	s.path = ""
	require.NoError(t, told.tell(t.Context(), row{Key: "k", State: done}), "nowhere to put it")
	assert.Empty(t, s.path)
	s.status = 403
	err := told.tell(t.Context(), testResult)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "ghp_x")
}

func TestNoResults(t *testing.T) {
	assert.Nil(t, tellerOf(t, nil))
}

func TestSentences(t *testing.T) {
	for want, r := range map[string]row{
		"without a pull request":          {Key: "k", State: done},
		"failed: `the agent's words`":     {Key: "k", State: failed, Problem: "the agent's words"},
		"it is unknown whether the agent": {Key: "k", State: unknown, Problem: "lost"},
		"done, https://example.com/1":     {Key: "k", State: done, PRLink: "https://example.com/1"},
		"…`":                              {Key: "k", State: failed, Problem: strings.Repeat("x", 1000)},
	} {
		assert.Contains(t, sentence(r), want)
	}
}

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blind has GitHub respond to each question about pull requests with resp. nil drops the connection.
func (w *world) blind(resp *http.Response, body string) {
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/pulls") {
			return w.forge.RoundTrip(r)
		}
		if resp == nil {
			return nil, io.ErrUnexpectedEOF
		}
		again := *resp
		again.Body = io.NopCloser(strings.NewReader(body))
		return &again, nil
	})
}

// The pull request may say that nothing is to be sent, and may be the agent's own.
func TestWithoutThePullRequestsNothingIsSent(t *testing.T) {
	one := merged(t)
	for name, tc := range map[string]struct {
		resp *http.Response
		body string
		code int
		says string
	}{
		"500":            {response(500), "", 5, "500 Internal Server Error"},
		"503":            {response(503), "", 5, "503 Service Unavailable"},
		"429":            {response(429), "", 5, "(the rate limit of GitHub)"},
		"rate limit":     {response(403, "X-RateLimit-Remaining", "0"), "", 5, "(the rate limit of GitHub)"},
		"secondary":      {response(403), `{"message":"You have exceeded a secondary rate limit."}`, 5, "secondary rate limit"},
		"no response":    {nil, "", 5, "unexpected EOF"},
		"401":            {response(401), "", 5, "is GITHUB_TOKEN right?"},
		"moved":          {response(301), "", 2, "301 Moved Permanently"},
		"not JSON":       {response(200), "<html>", 2, "invalid character"},
		"no permission":  {response(403), "{}", 0, "Going on without pull requests"},
		"not found":      {response(404), "{}", 0, "Going on without pull requests"},
		"unknown commit": {response(422), `{"message":"No commit found for SHA"}`, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			w.blind(tc.resp, tc.body)
			r := w.runOnce("-no-wait")
			require.Equal(t, tc.code, r.Code, r.Log)
			assert.Contains(t, r.Log, tc.says)
			assert.NotContains(t, r.Log, ": .", "nothing is quoted of an empty body")
			if tc.code != 0 {
				assert.Empty(t, w.service.Requests())
				assert.Contains(t, r.Log, "nothing is sent before the pull requests of the change are read")
				return
			}

			assert.Len(t, w.prompts(), 1)
			isWarned := strings.Contains(r.Log, "::warning title=docs-on-merge::Going on without pull requests")
			assert.Equal(t, name != "unknown commit", isWarned, r.Log)
			assert.Equal(t, isWarned, strings.Contains(r.Summary, "    Warning: Going on without pull requests"))
		})
	}
}

// A dry run sends nothing, so it has nothing to wait for.
func TestADryRunGoesOnWithoutThePullRequests(t *testing.T) {
	one := merged(t)
	for name, resp := range map[string]*http.Response{
		"503":         response(503),
		"401":         response(401),
		"no response": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			w.blind(resp, "")
			r := w.runOnce("-dry-run", "-timeout=10m")
			require.Zero(t, r.Code, r.Log)
			assert.Contains(t, r.Summary, "Add the flag --json")
			assert.Contains(t, r.Log, "::warning title=docs-on-merge::Going on without pull requests")
			assert.Empty(t, w.prompts())
		})
	}
}

func TestANearMissOfTheLineSkipsAndIsQuoted(t *testing.T) {
	for line, isNear := range map[string]bool{
		"docs-job: none":                       false,
		"Docs-Job: None":                       false,
		"docs-job:none":                        true,
		"docs-job: none (an embargo)":          true,
		"<!-- docs-job: none, an embargo -->":  true,
		"docs-job: none, ##[error]::warning::": true,
	} {
		w := merged(t)
		w.forge.pulls = map[string][]pullRequest{"": {{MergedAt: "x", Body: "A fix.\n\n" + line + "\n"}}}
		r := w.runOnce()
		require.Zero(t, r.Code, r.Log)
		assert.Equal(t, "skipped", r.Outputs["outcome"], line)
		assert.Contains(t, r.Log, "Skipped: docs-job: none\n")
		assert.Empty(t, w.service.Requests(), line)

		isQuoted := strings.Contains(r.Log, "::warning title=docs-on-merge::Commit "+w.git("rev-parse", "HEAD")+
			" is skipped because of the line ")
		assert.Equal(t, isNear, isQuoted, r.Log)
	}
}

// A folder that is renamed turns the step off, and nobody sees it.
func TestAPathThatMatchesNoFileIsWarnedOf(t *testing.T) {
	for path, isWarned := range map[string]bool{
		"b.go":                     false,
		"*.go":                     false,
		":(exclude)vendor":         false,
		":!vendor":                 false,
		":(top,exclude)vendor":     false,
		"old":                      true,
		":(top)old":                true,
		":(glob)**/excluded/*.txt": true,
	} {
		w := merged(t)
		r := w.runOnce("-path", "*.go", "-path", path, "-no-wait")
		require.Zero(t, r.Code, r.Log)
		isSaid := strings.Contains(r.Log, "::warning title=docs-on-merge::The path ")
		assert.Equal(t, isWarned, isSaid, "%s: %s", path, r.Log)
		assert.Equal(t, isWarned, strings.Contains(r.Summary, "Warning: The path "), path)
	}
}

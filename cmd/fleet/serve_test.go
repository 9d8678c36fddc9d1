//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const (
	testSecret = "s3cret"
	testSHA    = "1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"
)

func signature(body string, secret string) string { return "sha256=" + mac(body, secret, sha256.New) }

func mac(body, secret string, newHash func() hash.Hash) string {
	m := hmac.New(newHash, []byte(secret))
	m.Write([]byte(body))
	return hex.EncodeToString(m.Sum(nil))
}

type fields = map[string]any

func event(t *testing.T, f fields) string {
	body, err := json.Marshal(f)
	require.NoError(t, err)
	return string(body)
}

var testRepo = fields{"full_name": "acme/repo", "default_branch": "main"}

func pullRequest(change fields) fields {
	pr := fields{"number": 7, "merged": true, "title": "Add --json", "body": "It prints JSON.", "merge_commit_sha": testSHA, "base": fields{"ref": "main"}}
	for name, value := range change {
		pr[name] = value
	}
	return fields{"action": "closed", "repository": testRepo, "pull_request": pr}
}

func push(change fields) fields {
	e := fields{"ref": "refs/heads/main", "after": testSHA, "repository": testRepo, "commits": []fields{
		{"id": testSHA, "message": "Add --json (#7)\n\nIt prints JSON.", "added": []string{"json.go"}, "modified": []string{"main.go"}, "removed": []string{}}}}
	for name, value := range change {
		e[name] = value
	}
	return e
}

// receiver is a server of webhooks, and what they lead to.
type receiver struct {
	t     *testing.T
	store store
	url   string
}

func newReceiver(t *testing.T, url string) receiver {
	s := openStore(t, url)
	h := &webhooks{secret: []byte(testSecret), projects: projects{byRepository: map[string]string{"acme/other": "other-project"}, rest: testProject},
		store: s, logger: slog.New(slog.DiscardHandler)}
	server := httptest.NewServer(h.handler())
	t.Cleanup(server.Close)
	return receiver{t, s, server.URL}
}

func (r receiver) post(kind, body string, header map[string]string) (status int, response string) {
	r.t.Helper()
	req, err := http.NewRequest("POST", r.url+"/github", strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", kind)
	req.Header.Set("X-Hub-Signature-256", signature(body, testSecret))
	for name, value := range header {
		if value == "" {
			req.Header.Del(name)
		} else {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(text)
}

func (r receiver) rows() []row {
	rows, err := rowsOf(r.t.Context(), r.store, "ORDER BY key")
	require.NoError(r.t, err)
	return rows
}

func TestWebhookOfAMerge(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReceiver(t, url)
		for range 2 {
			status, response := r.post("push", event(t, push(nil)), nil)
			assert.Equal(t, 202, status, response)
			status, response = r.post("pull_request", event(t, pullRequest(nil)), nil)
			assert.Equal(t, 202, status, response)
		}
		rows := r.rows()
		require.Len(t, rows, 1, "push, pull request and redeliveries are one merge")
		assert.Equal(t, "acme/repo@"+testSHA, rows[0].Key)
		assert.Equal(t, testProject, rows[0].Project)
		assert.Equal(t, "acme/repo#7", rows[0].Pull)
		assert.Equal(t, 1, riverJobs(t, r.store, ""))

		other := pullRequest(nil)
		other["repository"] = fields{"full_name": "Acme/Other", "default_branch": "main"}
		status, _ := r.post("pull_request", event(t, other), nil)
		assert.Equal(t, 202, status)
		assert.Equal(t, "other-project", r.rows()[0].Project)
	})
}

func TestWebhookSignatures(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, sqliteFile(t))
	body := event(t, push(nil))
	sha1Of := "sha1=" + mac(body, testSecret, sha1.New)
	for name, header := range map[string]map[string]string{
		"wrong secret":            {"X-Hub-Signature-256": signature(body, "other")},
		"empty secret":            {"X-Hub-Signature-256": signature(body, "")},
		"of another body":         {"X-Hub-Signature-256": signature(body+" ", testSecret)},
		"missing":                 {"X-Hub-Signature-256": ""},
		"no signature":            {"X-Hub-Signature-256": "sha256="},
		"SHA-1 only":              {"X-Hub-Signature-256": "", "X-Hub-Signature": sha1Of},
		"SHA-1 in SHA-256's name": {"X-Hub-Signature-256": sha1Of},
	} {
		status, _ := r.post("push", body, header)
		assert.Equal(t, 401, status, name)
	}
	status, _ := r.post("push", strings.Repeat("x", maxEvent+1), nil)
	assert.Equal(t, 413, status)
	assert.Empty(t, r.rows())
	assert.Zero(t, riverJobs(t, r.store, ""))
}

func TestWebhooksThatAskForNothing(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, sqliteFile(t))
	opened := pullRequest(nil)
	opened["action"] = "opened"
	for name, c := range map[string]struct {
		kind, body string
		status     int
	}{
		"ping":                        {"ping", `{"zen":"x"}`, 200},
		"another event":               {"issues", `{}`, 200},
		"opened":                      {"pull_request", event(t, opened), 200},
		"closed":                      {"pull_request", event(t, pullRequest(fields{"merged": false})), 200},
		"merged into another branch":  {"pull_request", event(t, pullRequest(fields{"base": fields{"ref": "next"}})), 200},
		"a push to another branch":    {"push", event(t, push(fields{"ref": "refs/heads/next"})), 200},
		"a tag named main":            {"push", event(t, push(fields{"ref": "refs/tags/main"})), 200},
		"a deleted branch":            {"push", event(t, push(fields{"deleted": true, "after": strings.Repeat("0", 40)})), 200},
		"not an event":                {"no_such", `{}`, 400},
		"not JSON":                    {"push", `{`, 400},
		"a commit that is none":       {"push", event(t, push(fields{"after": "main"})), 400},
		"no commit":                   {"push", event(t, push(fields{"after": strings.Repeat("0", 40)})), 400},
		"a repository that is none":   {"push", event(t, push(fields{"repository": fields{"full_name": "../x", "default_branch": "main"}})), 400},
		"a repository in two lines":   {"push", event(t, push(fields{"repository": fields{"full_name": "acme/repo\nx", "default_branch": "main"}})), 400},
		"an event of nothing (push)":  {"push", `{}`, 200},
		"an event of nothing (merge)": {"pull_request", `null`, 200},
	} {
		status, response := r.post(c.kind, c.body, nil)
		assert.Equal(t, c.status, status, "%s: %s", name, response)
	}
	assert.Empty(t, r.rows())
}

func TestWebhookIsNotAcceptedUnlessStored(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, sqliteFile(t))
	resp, err := http.Get(r.url + "/healthz")
	require.NoError(t, err)
	assert.Equal(t, 200, resp.StatusCode)
	r.store.database.close()
	status, _ := r.post("push", event(t, push(nil)), nil)
	assert.Equal(t, 503, status)
	resp, err = http.Get(r.url + "/healthz")
	require.NoError(t, err)
	assert.Equal(t, 503, resp.StatusCode)
}

func TestWebhookOfAnUnknownRepository(t *testing.T) {
	t.Parallel()
	s := openStore(t, sqliteFile(t))
	h := &webhooks{store: s, logger: slog.New(slog.DiscardHandler)}
	status, text := h.enqueue(t.Context(), merge{Repository: "acme/repo", SHA: testSHA})
	assert.Equal(t, 422, status)
	assert.Contains(t, text, "-project")
}

func TestServeRefusesAnEmptySecret(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // should it serve after all
	defer cancel()
	environment := map[string]string{"DATABASE_URL": sqliteFile(t), "MINTLIFY_API_KEY": mintlifytest.APIKey}
	p := program{getenv: func(name string) string { return environment[name] }, stdout: io.Discard, stderr: io.Discard, settings: production}
	assert.ErrorContains(t, p.run(ctx, []string{"serve", "-addr", "127.0.0.1:0", "-project", "p"}), "FLEET_GITHUB_SECRET")
}

// TestServe is a merge on its way through the program: from the webhook to the result.
func TestServe(t *testing.T) {
	t.Parallel()
	svc := newCountingService()
	f := newFleet(t, sqliteFile(t), quick, svc)
	told := make(chan string, 1)
	slack := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	defer slack.Close()
	cmd := f.command([]string{"FLEET_GITHUB_SECRET=" + testSecret, "FLEET_RESULTS_URL=" + slack.URL + "/secret"}, "serve", "-addr", "127.0.0.1:0", "-project", testProject, "-send-time", "3s")
	cmd.Stderr = f.log
	require.NoError(t, cmd.Start())
	f.running = append(f.running, cmd)
	var addr []byte
	f.until(time.Minute, "the server to listen", func() bool {
		log, err := os.ReadFile(f.log.Name())
		require.NoError(t, err)
		addr = regexp.MustCompile(`127\.0\.0\.1:\d+`).Find(log)
		return addr != nil
	})
	r := receiver{t, f.store, "http://" + string(addr)}
	status, _ := r.post("pull_request", event(t, pullRequest(nil)), nil)
	assert.Equal(t, 202, status)
	assert.Contains(t, <-told, "acme/repo@"+testSHA+": done, https://")
	assert.NoError(t, f.end(cmd, syscall.SIGTERM))
	log, err := os.ReadFile(f.log.Name())
	require.NoError(t, err)
	assert.False(t, bytes.Contains(log, []byte("/secret")), "%s", log)
	assert.False(t, bytes.Contains(log, []byte(mintlifytest.APIKey)))
}

func TestProjects(t *testing.T) {
	p := projects{byRepository: map[string]string{}}
	require.NoError(t, p.set("acme/repo=one"))
	assert.Empty(t, p.of("acme/other"))
	require.NoError(t, p.set("rest"))
	assert.Equal(t, "one", p.of("Acme/Repo"))
	assert.Equal(t, "rest", p.of("acme/other"))
	for _, bad := range []string{"repo=one", "acme/repo=", "=x", "a/b/c=x"} {
		assert.Error(t, p.set(bad), bad)
	}
}

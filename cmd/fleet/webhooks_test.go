//go:build unix

package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
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
	pr := fields{
		"number": 7, "merged": true, "title": "Add --json", "body": "It prints JSON.",
		"merge_commit_sha": testSHA, "base": fields{"ref": "main"},
	}
	maps.Copy(pr, change)
	return fields{"action": "closed", "repository": testRepo, "pull_request": pr}
}

func push(change fields) fields {
	e := fields{"ref": "refs/heads/main", "after": testSHA, "repository": testRepo, "commits": []fields{
		{"id": testSHA, "message": "Add --json (#7)\n\nIt prints JSON.", "added": []string{"json.go"}, "modified": []string{"main.go"}, "removed": []string{}}}}
	maps.Copy(e, change)
	return e
}

// receiver is a server of webhooks, and what they lead to.
type receiver struct {
	t     *testing.T
	store queue.Queue
	url   string
}

func newReceiver(t *testing.T, url string) receiver {
	s := openStoreAs(t, "serve", url)
	known := github.Projects{"acme/other": "other-project", "acme/left-out": "", "": testProject}
	h := webhooksOf(s, known)
	server := httptest.NewServer(h.Handler())
	t.Cleanup(server.Close)
	return receiver{t, s, server.URL}
}

// webhooksOf returns webhooks that can look nothing up.
func webhooksOf(s queue.Queue, known github.Projects) *github.Webhooks {
	return github.NewWebhooks(queue.NewWorker(s, nil, nil), testSecret, known, merges.DefaultAuthors(), 2)
}

func (r receiver) post(kind, body string, header map[string]string) (status int, response string) {
	r.t.Helper()
	status, response, err := r.tryPost(kind, body, header)
	require.NoError(r.t, err)
	return status, response
}

// tryPost delivers a webhook to a server that may be dead.
func (r receiver) tryPost(kind, body string, header map[string]string) (status int, response string, err error) {
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
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func (r receiver) rows() []database.Row {
	rows, err := r.store.Rows(r.t.Context(), "1 = 1 ORDER BY p.key")
	require.NoError(r.t, err)
	return rows
}

func TestWebhookSignatures(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "sqlite:"+sqliteFile(t))
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
	status, _ := r.post("push", strings.Repeat("x", github.MaxEvent+1), nil)
	assert.Equal(t, 413, status)
	assert.Empty(t, r.rows())
	assert.Zero(t, riverJobs(t, r.store))
}

func TestWebhooksThatAskForNothing(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "sqlite:"+sqliteFile(t))
	opened := pullRequest(nil)
	opened["action"] = "opened"
	for name, c := range map[string]struct {
		kind, body string
		status     int
	}{
		"ping":          {"ping", `{"zen":"x"}`, 200},
		"another event": {"issues", `{}`, 200},
		"opened":        {"pull_request", event(t, opened), 200},
		"closed":        {"pull_request", event(t, pullRequest(fields{"merged": false})), 200},
		"merged into another branch": {
			"pull_request", event(t, pullRequest(fields{"base": fields{"ref": "next"}})), 200,
		},
		"a push to another branch": {"push", event(t, push(fields{"ref": "refs/heads/next"})), 200},
		"a tag named main":         {"push", event(t, push(fields{"ref": "refs/tags/main"})), 200},
		"a deleted branch": {
			"push", event(t, push(fields{"deleted": true, "after": strings.Repeat("0", 40)})), 200,
		},
		"not an event": {"no_such", `{}`, 400},
		"not JSON":     {"push", `{`, 400},
		"a repository left out": {
			"push",
			event(t, push(fields{"repository": fields{"full_name": "acme/left-out", "default_branch": "main"}})),
			200,
		},
		"a commit that is none": {"push", event(t, push(fields{"after": "main"})), 400},
		"no commit":             {"push", event(t, push(fields{"after": strings.Repeat("0", 40)})), 400},
		"a repository that is none": {
			"push",
			event(t, push(fields{"repository": fields{"full_name": "../x", "default_branch": "main"}})), 400,
		},
		"a repository in two lines": {
			"push",
			event(t, push(fields{"repository": fields{"full_name": "acme/repo\nx", "default_branch": "main"}})),
			400,
		},
		"an event of nothing (push)":  {"push", `{}`, 200},
		"an event of nothing (merge)": {"pull_request", `null`, 200},
	} {
		status, response := r.post(c.kind, c.body, nil)
		assert.Equal(t, c.status, status, "%s: %s", name, response)
	}
	assert.Empty(t, r.rows())

	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	status, text := r.post("push", event(t, push(nil)), form)
	assert.Equal(t, 415, status)
	assert.Contains(t, text, "application/json")
	resp, err := http.Get(r.url + "/github")
	require.NoError(t, err)
	assert.Equal(t, 405, resp.StatusCode)

	long := strings.Repeat("o", 39) + "/" + strings.Repeat("r", 100)
	status, text = r.post("push", event(t, push(fields{
		"commits": []any{nil, fields{"id": strings.Repeat("a", 64), "message": "x"}}, "after": strings.Repeat("a", 64),
		"repository": fields{"full_name": long, "default_branch": "main"},
	})), map[string]string{"Content-Type": "application/json; charset=utf-8"})
	assert.Equal(t, 202, status, text)
}

// TestWhatIsLeftOutIsLogged with repository, SHA, number and reason.
func TestWhatIsLeftOutIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := openStore(t, "sqlite:"+sqliteFile(t))
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	h := webhooksOf(s, github.Projects{"acme/repo": testProject, "acme/none": ""})
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	r := receiver{t, s, server.URL}

	in := func(name string, e fields) fields {
		e["repository"] = fields{"full_name": name, "default_branch": "main"}
		return e
	}
	for reason, c := range map[string]struct {
		kind, repository string
		event            fields
	}{
		"it is the work of Mintlify[bot]": {
			"pull_request", "acme/repo", pullRequest(fields{"user": fields{"login": "Mintlify[bot]"}}),
		},
		"it is the work of dependabot[bot]": {
			"pull_request", "acme/repo", pullRequest(fields{"user": fields{"login": "dependabot[bot]"}}),
		},
		"it is the agent's own work for k": {"pull_request", "acme/repo", pullRequest(fields{"body": "docs-job: k"})},
		"no project documents this repository: see fleet serve -project": {
			"pull_request", "acme/other", in("acme/other", pullRequest(nil)),
		},
		"the repository is left out": {"push", "acme/none", in("acme/none", push(nil))},
		"not merged":                 {"pull_request", "acme/repo", pullRequest(fields{"merged": false})},
		"all of it is the agent's own work": {
			"push", "acme/repo",
			push(fields{"commits": []fields{commit(testSHA, "renovate[bot]", "Bump x (#7)")}}),
		},
	} {
		log.Reset()
		r.post(c.kind, event(t, c.event), nil)
		line := log.String()
		assert.Equal(t, 1, strings.Count(line, "\n"), line)

		for _, want := range []string{
			"repository=" + c.repository, "sha=" + testSHA, "number=[7]", `reason="` + reason,
		} {
			assert.Contains(t, line, want)
		}
	}
	assert.Empty(t, r.rows())

	log.Reset()
	r.post("push", event(t, push(fields{"after": sha("b"), "commits": []fields{
		commit(sha("a"), "jane", "Fix a typo\n\ndocs-job: none"),
		commit(sha("b"), "jane", "Add --json (#7)\n\n* Add it\n\n* Fix a typo\n\ndocs-job: none"),
	}})), nil)
	assert.Regexp(t, `level=INFO msg="a commit is left out" .*sha=a{40} reason="docs-job: none"`, log.String())
	assert.Regexp(t, `level=WARN msg="a line of a squash skips nothing: .*sha=b{40} line="docs-job: none"`, log.String())
	assert.Len(t, r.rows(), 1)
}

// TestLockedDatabase: GitHub gets its response before it gives up after 10 s, and the log has what it takes to deliver
// the webhook again. A person is needed until one can be stored.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + sqliteFile(t)
	var log bytes.Buffer
	s := openStoreAs(t, "serve", url)
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	server := httptest.NewServer(webhooksOf(s, github.Projects{"": testProject}).Handler())
	defer server.Close()
	r := receiver{t, s, server.URL}
	lock, err := openStore(t, url).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	named := map[string]string{"X-GitHub-Delivery": "d-1", "X-GitHub-Hook-ID": "4711"}
	status, _ := r.post("push", event(t, push(nil)), named)
	assert.Equal(t, 503, status)
	assert.Regexp(t, `level=ERROR msg=webhook status=503 delivery=d-1 hook=4711 .*event=push `, log.String())
	assert.Less(t, github.HandlerTime, 10*time.Second)

	require.NoError(t, lock.Rollback())
	isNeeded := func() bool {
		now, err := statusOf(t.Context(), s)
		require.NoError(t, err)
		return slices.ContainsFunc(now.NeedsPerson, func(n need) bool { return n.Kind == "database" })
	}
	assert.True(t, isNeeded(), "though other rows can be written again")

	status, _ = r.post("push", event(t, push(nil)), nil)
	assert.Equal(t, 202, status)
	assert.False(t, isNeeded())
}

func commit(id, author, message string) fields {
	return fields{
		"id": id, "message": message, "author": fields{"name": author, "username": author},
		"modified": []string{id[:1] + ".go"},
	}
}

func sha(c string) string { return strings.Repeat(c, 40) }

// TestNeverItsOwnEcho: the agent's pull requests, once merged, ask for no documentation.
func TestNeverItsOwnEcho(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "sqlite:"+sqliteFile(t))
	agents := []fields{
		commit(sha("a"), "mintlify[bot]", "Document --json"),
		commit(sha("b"), "jane", "Merge pull request #9 from acme/mintlify/x\n\nDocument --json"),
	}
	for name, commits := range map[string][]fields{
		"a merge commit": agents,
		"with suggestions": {
			agents[0], commit(sha("e"), "jane", "Apply suggestions from code review"), agents[1],
		},
		"squashed": {commit(sha("c"), "dependabot[bot]", "Bump x (#3)")},
		"a marker": {commit(sha("d"), "jane", "Docs (#4)\n\ndocs-job: acme/repo@1")},
		"by e-mail": {
			{
				"id": sha("e"), "message": "x",
				"author": fields{"name": "bot", "email": "1+mintlify[bot]@users.noreply.github.com"},
			},
		},
	} {
		status, text := r.post("push", event(t, push(fields{"commits": commits})), nil)
		assert.Equal(t, 200, status, "%s: %s", name, text)
	}
	assert.Empty(t, r.rows())

	several := append([]fields{}, agents...)
	several = append(
		several, commit(sha("c"), "jane", "Add --json"),
		commit(sha("d"), "jane", "Merge pull request #7 from jane/json"),
		commit(sha("e"), "jane", "Apply suggestions from code review"), // to the agent's branch
		commit(sha("f"), "jane", "Merge pull request #10 from acme/mintlify/y"),
	)
	status, _ := r.post("push", event(t, push(fields{"commits": several})), nil)
	assert.Equal(t, 202, status)

	record := r.record("acme/repo@" + testSHA)
	assert.Contains(t, record.Prompt, "> Add --json\n> Merge pull request #7 from jane/json\n\nFiles changed:")
	assert.NotContains(t, record.Prompt, "#9")
	assert.NotContains(t, record.Prompt, "a.go")
	assert.Equal(t, "acme/repo#7", r.rows()[0].Pulls)

	for name, order := range map[string][]string{sha("1"): {"push", "pull_request"}, sha("2"): {"pull_request", "push"}} {
		squash := commit(name, "jane", "Document --json (#12)") // as if she had written it
		events := map[string]fields{
			"push":         push(fields{"after": name, "commits": []fields{squash}}),
			"pull_request": pullRequest(fields{"number": 12, "merge_commit_sha": name, "body": "docs-job: acme/repo@1"}),
		}
		for _, kind := range order {
			r.post(kind, event(t, events[kind]), nil)
		}
		assert.NotEqual(t, once.Pending, r.record("acme/repo@"+name).State, order)
	}
}

func (r receiver) record(key string) once.Record {
	record, err := r.store.Records().Get(r.t.Context(), key)
	require.NoError(r.t, err)
	return record
}

// TestPushBeforeItsPullRequest: title and description are added while the prompt is not sent, also if the owner was
// renamed between the two.
func TestPushBeforeItsPullRequest(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReceiver(t, url)
		r.post("push", event(t, push(nil)), nil)
		key := "acme/repo@" + testSHA
		assert.NotContains(t, r.record(key).Prompt, "It prints JSON.")

		renamed := pullRequest(nil)
		renamed["repository"] = fields{"full_name": "ACME/Repo", "default_branch": "main"}
		for range 2 {
			status, text := r.post("pull_request", event(t, renamed), nil)
			assert.Equal(t, 202, status)
			assert.Contains(t, text, "known already: "+key)
		}
		require.Len(t, r.rows(), 1)
		assert.Equal(t, testProject, r.rows()[0].ProjectID)
		assert.Equal(t, "acme/repo#7", r.rows()[0].Pulls)
		prompt := r.record(key).Prompt
		assert.Contains(
			t, prompt,
			"> json.go\n> main.go\n\nTitle of pull request 7:\n> Add --json\n\nIts description:\n> It prints JSON.",
		)
		assert.Equal(t, 1, strings.Count(prompt, "Title of"))

		put(t, r.store, key, func(r *once.Record) { r.State = once.Running })
		version := r.record(key).Version
		status, _ := r.post("pull_request", event(t, pullRequest(fields{"title": "Another"})), nil)
		assert.Equal(t, 202, status)
		assert.Equal(t, version, r.record(key).Version, "it is sent")
	})
}

// TestStrangers send large bodies without a valid signature. Memory stays small.
func TestStrangers(t *testing.T) {
	t.Parallel()
	svc := newCountingService()
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, svc)
	cmd, addrs := f.serve(nil, "-project", testProject)
	body := strings.Repeat("x", 25<<20)
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			var reader io.Reader = strings.NewReader(body)
			if i%2 == 0 {
				reader = struct{ io.Reader }{reader} // of unknown length
			}
			req, err := http.NewRequest("POST", "http://"+addrs[0]+"/github", reader)
			if !assert.NoError(t, err) {
				return
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-Hub-Signature-256", "sha256=00")
			if resp, err := http.DefaultClient.Do(req); err == nil {
				assert.Contains(t, []int{413, 401, 503}, resp.StatusCode)

				resp.Body.Close()
			}
		})
	}
	all.Wait()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Skip("no /proc")
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	kilobytes, err := strconv.Atoi(string(peak[1]))
	require.NoError(t, err)
	t.Logf("peak %d MiB resident", kilobytes>>10)
	assert.Less(t, kilobytes>>10, 100)
}

// serve starts a server, and returns where it listens: for webhooks, and for its admin.
func (f *fleet) serve(env []string, arguments ...string) (run *processes.Run, addrs [2]string) {
	before := f.logged()
	cmd := f.command(
		append(env, "FLEET_GITHUB_SECRET="+testSecret),
		append(
			[]string{
				"serve", "-addr", "127.0.0.1:0", "-admin-addr", "127.0.0.1:0", "-send-time",
				f.settings.SendTime.String(),
			},
			arguments...,
		)...,
	)
	cmd.Stderr = f.log
	run = f.run(cmd)
	f.until(timeToDo, "the server to listen", func() bool {
		log := f.logged()
		for i, name := range []string{"webhooks", "admin"} {
			form := name + `"? "?addr"?[=:]"?(127\.0\.0\.1:\d+)|"` + name + `","addr":"(127\.0\.0\.1:\d+)"`
			found := regexp.MustCompile(form).FindStringSubmatch(log[len(before):])
			if found == nil {
				return false
			}
			addrs[i] = found[1] + found[2]
		}
		return true
	})
	return run, addrs
}

// TestServe is a merge on its way through the program: from the webhook to the result,
// with a look at its health and its metrics.
func TestServe(t *testing.T) {
	t.Parallel()
	svc := newCountingService()
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, svc)
	told := make(chan string, 1)
	slack := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	defer slack.Close()
	cmd, addrs := f.serve(
		[]string{"FLEET_RESULTS_URL=" + slack.URL + "/secret"}, "-project", testProject, "-log-format",
		"json",
	)
	r := receiver{t, f.store, "http://" + addrs[0]}
	status, _ := r.post("pull_request", event(t, pullRequest(nil)), nil)
	assert.Equal(t, 202, status)
	assert.Contains(t, <-told, "acme/repo@"+testSHA+": done, https://")
	f.until(timeToDo, "that it was told to be stored", func() bool {
		untold, err := f.store.Untold(t.Context())
		require.NoError(t, err)
		return len(untold) == 0
	})

	for path, want := range map[string]string{"/livez": "ok", "/readyz": "ok", "/metrics": ""} {
		resp, err := http.Get("http://" + addrs[1] + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode, "%s", body)
		assert.Contains(t, string(body), want)

		if path == "/metrics" {
			for _, line := range []string{`fleet_prompts{project="project-1",state="done"} 1`, `fleet_running_problems 0`, `fleet_webhooks_total{event="pull_request",status="202"} 1`, `fleet_results_waiting 0`,
				`fleet_posts_total{result="running"} 1`} {
				assert.Contains(t, string(body), line+"\n")
			}
		}
	}
	resp, err := http.Get("http://" + addrs[0] + "/metrics")
	require.NoError(t, err)
	assert.Equal(t, 404, resp.StatusCode, "the world sees no metrics")

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	f.until(timeToDo, "the end to begin", func() bool { return strings.Contains(f.logged(), "stopping: POSTs") })
	status, _ = r.post("ping", "{}", nil)
	assert.Equal(t, 200, status, "what routes webhooks here may not know of the end yet")
	assert.NoError(t, cmd.Wait())

	log := f.logged()
	assert.NotContains(t, log, "/secret")
	assert.NotContains(t, log, mintlifytest.APIKey)
	for line := range strings.Lines(log) {
		assert.True(t, json.Valid([]byte(line)), line)
	}
}

// TestShutdownTakesWebhooks until the POSTs in progress have ended, and a hang-up ends nothing sooner.
func TestShutdownTakesWebhooks(t *testing.T) {
	t.Parallel()
	svc := newCountingService()
	svc.slow = 20 * time.Second // 10 to 20
	s := quick
	s.SendTime = time.Minute
	file := t.TempDir() + "/projects"
	write(t, file, testProject+"\n")
	f := newFleet(t, "sqlite:"+sqliteFile(t), s, svc)
	cmd, addrs := f.serve(nil, "-projects", file)
	r := receiver{t, f.store, "http://" + addrs[0]}
	r.post("push", event(t, push(nil)), nil)
	f.until(timeToDo, "a POST", func() bool { return svc.of("acme/repo@"+testSHA) == 1 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	time.Sleep(1500 * time.Millisecond) // after which River's soft stop is over
	status, _ := r.post("push", event(t, push(fields{"after": sha("f"), "commits": []fields{commit(sha("f"), "jane", "x")}})), nil)
	assert.Equal(t, 202, status)

	require.NoError(t, f.end(cmd, syscall.SIGHUP))
	counts := f.counts()
	assert.Equal(t, 1, counts["running"])
	assert.Equal(t, 1, counts["queued"])
}

// TestShowAndReportWhatWasLeftOut, and what it costs.
func TestShowAndReportWhatWasLeftOut(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReceiver(t, url)
		c := terminal{t, url}
		skipped := pullRequest(fields{"user": fields{"login": "renovate[bot]"}})
		for range 2 {
			r.post("pull_request", event(t, skipped), nil)
		}
		r.post("pull_request", event(t, pullRequest(fields{"merged": false, "number": 8})), nil)
		for _, name := range []string{testSHA[:7], "acme/repo#7", "ACME/Repo#7", "acme/repo@" + testSHA} {
			out := c.wants(0, "show", name)
			assert.Regexp(t, `^left out  20\S+  the merge acme/repo@`+testSHA+` acme/repo#7: it is the work of renovate`, out)
			assert.Equal(t, 1, strings.Count(out, "\n"), "a delivery that comes again adds nothing")
		}
		c.refuses(nil, "Acme/Repo#8", "show", "Acme/Repo#8") // one that was not merged is not kept

		add(t, r.store, promptOf(1, "p"), promptOf(2, "p"))
		put(t, r.store, promptOf(1, "").Key, func(r *once.Record) { r.State, r.JobID = once.Done, "job_1" })
		put(t, r.store, promptOf(2, "").Key, func(r *once.Record) { r.State = once.Unknown })
		assert.Regexp(t, `acme/repo +2 +1 +0 +0 +1 +1 +0 +112 \(up to 224\)\n`, c.wants(0, "report"))

		var reports []map[string]any
		require.NoError(t, json.Unmarshal([]byte(c.wants(0, "report", "-json", "-repo", "acme/repo")), &reports))
		assert.Equal(t, []map[string]any{{
			"repository": "acme/repo", "merges": 2.0, "jobs": 1.0, "messages": 0.0, "failed": 0.0, "unknown": 1.0,
			"leftOut": 1.0, "refused": 0.0, "credits": 112.0, "creditsAreEstimated": true,
		}}, reports)
		for _, command := range []string{"report", "list"} {
			_, text, code := c.runAll("", nil, command, "-json", "-repo", "acme/other")
			assert.Equal(t, 1, code)
			assert.Contains(t, text, "fleet has never seen a merge of acme/other")
		}
	})
}

// TestReportCountsEachTry: what a person has sent again has cost twice, until its history is forgotten.
func TestReportCountsEachTry(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		failed, unknown := promptOf(1, "").Key, promptOf(2, "").Key
		add(t, s, promptOf(1, "p"), promptOf(2, "p"))
		becomes := func(key string, state once.State, job string) {
			put(t, s, key, func(r *once.Record) { r.State, r.JobID = state, job })
			execute(t, s, `INSERT INTO fleet_history (id, key, version, at, state, job, problem, who)
SELECT key || version, key, version, 1, state, job, '', 'machine-7' FROM fleet_prompts WHERE key = $1`, key)
		}
		becomes(failed, once.Running, "job_1")
		becomes(failed, once.Failed, "job_1")
		becomes(unknown, once.Unknown, "")
		assert.Regexp(t, `acme/repo +2 +1 +0 +1 +1 +0 +0 +112 \(up to 224\)\n`, c.wants(0, "report"))

		c.wants(0, "retry", "-state", "failed", "-again", "-yes")
		c.wants(0, "retry", "-key", unknown, "-again", "-yes")
		assert.Regexp(t, `acme/repo +2 +1 +0 +1 +1 +0 +0 +112 \(up to 224\)\n`, c.wants(0, "report"))

		becomes(failed, once.Done, "job_2")
		becomes(unknown, once.Done, "job_3")
		assert.Regexp(t, `acme/repo +2 +3 +0 +1 +1 +0 +0 +336 \(up to 448\)\n`, c.wants(0, "report"))

		c.wants(0, "forget", "-key", failed)
		c.wants(0, "forget", "-key", unknown)
		assert.Regexp(t, `acme/repo +2 +2 +0 +0 +0 +0 +0 +224\n`, c.wants(0, "report"))
	})
}

// TestSaysNone: a pull request that wants no documentation cancels what its push has queued, and the push adds nothing
// if it comes later. Other pull requests of the push are documented all the same.
func TestSaysNone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReceiver(t, url)
		pushed := event(t, push(nil))
		none := event(t, pullRequest(fields{"body": "Typo.\n\nDocs-Job: none"}))
		r.post("push", pushed, nil)
		require.Equal(t, once.Pending, r.record("acme/repo@"+testSHA).State)

		_, text := r.post("pull_request", none, nil)
		assert.Contains(t, text, "nothing to do: docs-job: none")
		assert.Equal(t, once.Canceled, r.record("acme/repo@"+testSHA).State)

		c := terminal{t, url}
		_, text = r.post("pull_request", none, nil)
		assert.Contains(t, text, "nothing to do: docs-job: none\n")
		assert.Contains(t, c.wants(0, "show", testSHA), "left out")

		sent := sha("e")
		pushed = event(t, push(fields{"after": sent, "commits": []fields{commit(sent, "jane", "Add --yaml (#9)")}}))
		r.post("push", pushed, nil)
		put(t, r.store, "acme/repo@"+sent, func(record *once.Record) { record.State = once.Running })
		late := pullRequest(fields{"number": 9, "merge_commit_sha": sent, "body": "docs-job: none"})
		_, text = r.post("pull_request", event(t, late), nil)
		assert.Contains(t, text, "docs-job: none; it came too late: acme/repo@"+sent+" is running")
		assert.NotContains(t, c.wants(0, "show", sent), "left out")

		other := func(e fields) string {
			e["repository"] = fields{"full_name": "Acme/Other", "default_branch": "main"}
			return event(t, e)
		}
		r.post("pull_request", other(pullRequest(fields{"body": "docs-job: none"})), nil)
		status, text := r.post("push", other(push(nil)), nil)
		assert.Equal(t, 200, status)
		assert.Contains(t, text, "nothing to do: docs-job: none")
		assert.Len(t, r.rows(), 2)

		orders := map[string][]string{sha("c"): {"push", "pull_request"}, sha("d"): {"pull_request", "push"}}
		firsts := map[string]string{sha("c"): sha("a"), sha("d"): sha("b")}
		for last, order := range orders {
			queued := push(fields{"after": last, "commits": []fields{
				commit(firsts[last], "jane", "Add --json (#7)"), commit(last, "joe", "Fix a typo (#8)"),
			}})
			typo := pullRequest(fields{"number": 8, "merge_commit_sha": last, "body": "docs-job:none (a typo)"})
			events := map[string]string{"push": event(t, queued), "pull_request": event(t, typo)}
			for _, kind := range order {
				r.post(kind, events[kind], nil)
			}
			assert.Equal(t, once.Pending, r.record("acme/repo@"+last).State, "#7 is to be documented: %v", order)
		}

		// A queue that rebases does not name its pull requests.
		for none, other := range map[string]string{"A": "B", "B": "A"} {
			for i, order := range mergeQueueOrders {
				name := fmt.Sprintf("acme/none-of-%s-%d", strings.ToLower(none), i)
				subjects := []string{"Title A", "Title B"}
				events := mergeQueueEvents(t, name, subjects, map[string]string{none: "docs-job: none"})
				for _, event := range order {
					events[event](r)
				}

				queued, err := r.store.Rows(t.Context(), "repository = $1 AND state = 'pending'", name)
				require.NoError(t, err)
				require.Len(t, queued, 1, "%s wants none: %s", none, order)
				assert.Contains(t, queued[0].Prompt, "Title "+other, "%s wants none: %s", none, order)
			}
		}
	})
}

// TestCommitSaysNone: its merge is left out, whichever event comes first, and show says why.
func TestCommitSaysNone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReceiver(t, url)
		c := terminal{t, url}
		for head, order := range map[string][]string{
			sha("a"): {"push", "pull_request"},
			sha("b"): {"pull_request", "push"},
		} {
			message := "Fix a typo (#7)\n\ndocs-job: none"
			events := map[string]fields{
				"push":         push(fields{"after": head, "commits": []fields{commit(head, "jane", message)}}),
				"pull_request": pullRequest(fields{"merge_commit_sha": head}),
			}
			for _, kind := range order {
				r.post(kind, event(t, events[kind]), nil)
			}
			assert.Contains(t, c.wants(0, "show", head), "acme/repo#7: docs-job: none\n", order)
			assert.Empty(t, c.wants(0, "list", "-state", "queued"), order)
		}
	})
}

// TestProjectsOfAFile: a line each, and an error with the number of the line. Two projects for a repository are refused,
// with both places.
func TestProjectsOfAFile(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/projects"
	write(t, file, "# ours\nacme/api=one # the API\r\n\nACME/left-out=\nrest\n")
	projects, err := github.ReadProjects(nil, file)
	require.NoError(t, err)
	assert.Equal(t, github.Projects{"acme/api": "one", "acme/left-out": "", "": "rest"}, projects)
	for repository, want := range map[string]string{"Acme/Api": "one", "acme/left-out": "", "acme/other": "rest"} {
		project, isKnown := projects.Of(repository)
		assert.True(t, isKnown)
		assert.Equal(t, want, project, repository)
	}

	secret := map[string]string{"FLEET_GITHUB_SECRET": "x"}
	c := terminal{t, "sqlite:" + sqliteFile(t)}
	for text, want := range map[string]string{
		"acme/api=one\n\nacme=two\n":     "line 3: want owner/repo=project",
		"acme/api=one\n\nACME/api=two\n": "line 3: two projects for acme/api, at line 1 and at line 3",
		"one\ntwo\n":                     "two projects for all other repositories, at line 1 and at line 2",
		"acme/web=two\n":                 "two projects for acme/web, at -project acme/web=one and at line 1",
	} {
		write(t, file, text)
		c.refuses(secret, want, "serve", "-project", "acme/web=one", "-projects", file)
	}
	c.refuses(secret, "at -project one and at -project two", "serve", "-project", "one", "-project", "two")
	c.refuses(nil, "no such file", "serve", "-projects", file+"-missing")
	for _, bad := range []string{"repo=one", "=x", "a/b/c=x", "acme/repo=mint_key"} {
		c.refuses(secret, "the projects: ", "serve", "-project", bad)
	}
}

// TestHangUpReadsTheProjectsAgain, and a broken file changes nothing.
func TestHangUpReadsTheProjectsAgain(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/projects"
	write(t, file, "acme/api=one\n")
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, newCountingService())
	cmd, addrs := f.serve(nil, "-projects", file)
	r := receiver{t, f.store, "http://" + addrs[0]}
	status, _ := r.post("push", event(t, push(nil)), nil)
	assert.Equal(t, 422, status)

	logged := func(text string) func() bool {
		return func() bool { return strings.Contains(f.logged(), text) }
	}
	write(t, file, "acme=broken\n")
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	f.until(timeToDo, "the error", logged("the old ones stay"))
	write(t, file, "acme/api=one\nacme/repo=two\n")
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	f.until(timeToDo, "the new projects", logged("were read again"))
	status, _ = r.post("push", event(t, push(nil)), nil)
	assert.Equal(t, 202, status)
	assert.NoError(t, f.end(cmd, syscall.SIGTERM))
}

// TestSlowClients hold their places for a while only: they get 408, and their connections are closed. SIGTERM with one
// of them is exit 0.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, newCountingService())
	cmd, addrs := f.serve(nil, "-project", testProject)
	slow := func() net.Conn {
		connection, err := net.Dial("tcp", addrs[0])
		require.NoError(t, err)
		_, err = fmt.Fprintf(connection, "POST /github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
			"X-Hub-Signature-256: sha256=00\r\nX-GitHub-Hook-ID: 4711\r\nContent-Length: 1000\r\n\r\n{")
		require.NoError(t, err)
		return connection
	}
	stalled := slow()
	defer stalled.Close()
	for range 8 { // twice as many as there are places
		defer slow().Close()
	}

	status, _ := receiver{t, f.store, "http://" + addrs[0]}.post("push", event(t, push(nil)), nil)
	assert.Equal(t, 202, status)
	require.NoError(t, stalled.SetReadDeadline(time.Now().Add(timeToDo)))
	text, err := io.ReadAll(stalled) // until the server closes it
	require.NoError(t, err)
	assert.Contains(t, string(text), "408 Request Timeout")
	assert.Contains(t, string(text), "Connection: close")
	assert.Positive(t, number(t, f.store, "SELECT coalesce(sum(n), 0) FROM fleet_refused WHERE status = 408"))
	assert.Contains(t, f.logged(), " status=408 ")
	assert.NotRegexp(t, "status=408 .* proved=true", f.logged(), "nobody has looked at its signature")

	defer slow().Close()
	assert.NoError(t, f.end(cmd, syscall.SIGTERM))
}

// TestMergeQueueInAnyOrder: of two pull requests that are merged in one push, each is documented once, whatever comes
// first, also if a prompt is sent between two events, and if each event comes again. The commits of a queue that rebases
// do not name their pull requests.
func TestMergeQueueInAnyOrder(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "sqlite:"+sqliteFile(t))
	messages := map[string][]string{
		"squashed": {"Title A (#1)", "Title B (#2)"},
		"rebased":  {"Begin A", "Title A", "Begin B", "Title B"},
		"merged": {
			"Begin A", "Merge pull request #1 from jane/a\n\nTitle A",
			"Begin B", "Merge pull request #2 from jane/b\n\nTitle B",
		},
	}
	for way, subjects := range messages {
		for i, order := range mergeQueueOrders {
			for sent := range 4 { // after the first event, the second, or both
				name := fmt.Sprintf("acme/%s-%d-%d", way, i, sent)
				events := mergeQueueEvents(t, name, subjects, nil)
				for j, event := range order {
					events[event](r)
					if sent>>j&1 == 1 {
						execute(t, r.store, "UPDATE fleet_prompts SET state = 'running' WHERE repository = $1", name)
					}
				}
				for _, event := range order {
					events[event](r)
				}
				r.documentsOnce(name, strings.Join(order, " "), "A", "B")
			}
		}
	}
}

// mergeQueueOrders has all orders of a push and the events of its pull requests.
var mergeQueueOrders = [][]string{
	{"push", "A", "B"}, {"push", "B", "A"}, {"A", "push", "B"}, {"B", "push", "A"}, {"A", "B", "push"}, {"B", "A", "push"},
}

// mergeQueueEvents returns what delivers the events of a push with two pull requests, A and B. Each has as many commits
// as the other.
func mergeQueueEvents(
	t *testing.T, repository string, messages []string, descriptions map[string]string,
) map[string]func(receiver) {
	repo := fields{"full_name": repository, "default_branch": "main"}
	var commits []fields
	for i, message := range messages {
		commits = append(commits, fields{"id": strings.Repeat(string(rune('a'+i)), 40), "message": message})
	}

	deliver := func(kind string, e fields) func(receiver) {
		e["repository"] = repo
		return func(r receiver) {
			status, text := r.post(kind, event(t, e), nil)
			assert.Less(t, status, 300, text)
		}
	}
	merged := func(number int, name string, last fields) func(receiver) {
		return deliver("pull_request", pullRequest(fields{
			"number": number, "title": "Title " + name, "body": descriptions[name], "merge_commit_sha": last["id"],
		}))
	}
	n := len(commits)
	return map[string]func(receiver){
		"push": deliver("push", push(fields{"after": commits[n-1]["id"], "commits": commits})),
		"A":    merged(1, "A", commits[n/2-1]),
		"B":    merged(2, "B", commits[n-1]),
	}
}

// documentsOnce checks that of each pull request exactly one prompt of a repository tells.
func (r receiver) documentsOnce(repository, order string, names ...string) {
	r.t.Helper()
	rows, err := r.store.Rows(r.t.Context(), "repository = $1", repository)
	require.NoError(r.t, err)

	for _, name := range names {
		prompts := 0
		for _, row := range rows {
			isTold := strings.Contains(row.Prompt, "Title "+name)
			if isTold || strings.Contains(row.Prompt, "Begin "+name) {
				prompts++
			}
		}
		assert.Equal(r.t, 1, prompts, "%s of %s: %s: %v", name, repository, order, rows)
	}
}

// TestWebhooksAreNamed: /github/ is /github, any other path is 404, and what fails the signature is named.
func TestWebhooksAreNamed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := openStoreAs(t, "serve", "sqlite:"+sqliteFile(t))
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	h := webhooksOf(s, nil)
	deliver := func(path, body, signed string) int {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-GitHub-Event", "ping")
		request.Header.Set("X-GitHub-Hook-ID", "4711")
		request.Header.Set("X-GitHub-Delivery", "d-1")
		request.Header.Set("User-Agent", "GitHub-Hookshot/1234567")
		request.Header.Set("X-Hub-Signature-256", signature(signed, testSecret))
		rw := httptest.NewRecorder()
		h.Handler().ServeHTTP(rw, request)
		return rw.Code
	}

	const body = `{"repository":{"full_name":"acme/api"}}`
	assert.Equal(t, http.StatusOK, deliver("/github/", body, body))
	assert.Equal(t, http.StatusNotFound, deliver("/", body, body))
	assert.Equal(t, http.StatusNotFound, deliver("/github/more", body, body))
	log.Reset()
	assert.Equal(t, http.StatusUnauthorized, deliver("/github", body, "another"))
	assert.Regexp(t, `level=WARN msg=webhook status=401 .*hook=4711 address=192.0.2.1:1234 .*repository=acme/api proved=false`,
		log.String())
	assert.Equal(t, http.StatusRequestEntityTooLarge, deliver("/github", strings.Repeat(" ", github.MaxEvent+1), ""))
	assert.Regexp(t, `level=WARN msg=webhook status=413 delivery=d-1 hook=4711 `, log.String())

	exported := exportedWith(t, s, queue.NewWorker(s, nil, nil), h)
	for _, series := range []string{
		`event="other",status="404"} 2`, `event="unproved",status="401"} 1`, `event="other",status="413"} 1`,
	} {
		assert.Contains(t, exported, "fleet_webhooks_total{"+series)
	}
	reports, err := s.Report(t.Context(), time.Now().Add(-time.Hour), "acme/api")
	require.NoError(t, err)
	require.Len(t, reports, 1)
	assert.Equal(t, 1, reports[0].Refused)
}

// TestRepositoryWithoutAProject needs a person until serve knows its project, or a merge of it was taken.
func TestRepositoryWithoutAProject(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + sqliteFile(t)
	s := openStoreAs(t, "serve", url)
	h := webhooksOf(s, github.Projects{"acme/other": "p"})
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	r := receiver{t, s, server.URL}
	status, _ := r.post("pull_request", event(t, pullRequest(nil)), nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)

	needed := func() []need {
		now, err := statusOf(t.Context(), s)
		require.NoError(t, err)
		return now.NeedsPerson
	}
	require.Len(t, needed(), 1)
	assert.Equal(t, "repository", needed()[0].Kind)
	assert.Contains(t, needed()[0].Advice, "fleet serve -project acme/repo=ID")
	assert.Contains(t, needed()[0].Advice, "deliver its webhooks again, with the line in docs/fleet.md")

	require.NoError(t, h.NoteProjects(t.Context()))
	require.Len(t, needed(), 1, "it is still unknown")
	h.SetProjects(github.Projects{"acme/repo": "p"})
	require.NoError(t, h.NoteProjects(t.Context()))
	assert.Empty(t, needed())
	shown := func() string { return terminal{t, url}.wants(0, "show", "acme/repo#7") }
	assert.Contains(t, shown(), "have GitHub deliver its webhook again, see docs/fleet.md")
	assert.NotContains(t, shown(), "it is documented")

	status, _ = r.post("pull_request", event(t, pullRequest(nil)), nil)
	assert.Equal(t, http.StatusAccepted, status)
	assert.Contains(t, shown(), "; it is documented all the same, by acme/repo@"+testSHA+"\n")
	terminal{t, url}.wants(0, "cancel", "-key", "acme/repo@"+testSHA)
	assert.NotContains(t, shown(), "it is documented")
}

// The events of a merge queue may come at the same moment: each merge stands in one prompt.
func TestMergeQueueAtTheSameMoment(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReceiver(t, url)
		for i := range 30 {
			name := fmt.Sprintf("acme/repo-%d", i)
			var all sync.WaitGroup
			for _, event := range mergeQueueEvents(t, name, []string{"Title A (#1)", "Title B (#2)"}, nil) {
				all.Go(func() { event(r) })
			}
			all.Wait()
			r.documentsOnce(name, "at the same moment", "A", "B")
		}
	})
}

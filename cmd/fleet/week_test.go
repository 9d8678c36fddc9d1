//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
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
	"github.com/mintlify-community/mintlify-go/once"
)

// TestStatusOrder: what needs a person first, and running jobs with the same problem are one line.
func TestStatusOrder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		add(t, s, prompts(110, 1)...)
		out := c.wants(1, "status", "-check")
		assert.Contains(t, out, "No worker is running")
		assert.NotContains(t, out, "will be empty")

		for i := range 110 {
			put(t, s, promptOf(i, "").Key, func(r *once.Record) {
				r.UpdatedAt = time.Now()
				switch {
				case i < 100:
					r.State, r.JobID = once.Running, fmt.Sprint("job_", i)
					r.Problem = "401 Unauthorized [GET /v2/agent/p/job/" + r.JobID + "]"
				case i == 100:
					r.State = once.Failed
				case i == 101:
					r.State = once.Refused
				case i == 102:
					r.State, r.Deadline = once.Unknown, time.Now()
				case i < 106:
					r.State, r.UpdatedAt = once.Failed, time.Now().AddDate(0, 0, -8)
				default:
					r.State = once.Done
				}
			})
		}

		var now status
		require.NoError(t, json.Unmarshal([]byte(c.wants(0, "status", "-json")), &now))
		var order []string
		for _, a := range now.NeedsPerson {
			order = append(order, fmt.Sprint(a.State, " ", a.Count))
		}
		assert.Equal(t, []string{"unknown 1", "refused 1", "failed 1", "running 100"}, order)
		assert.EqualValues(t, 3, now.Old)

		_, text, code := c.runAll("", nil, "status", "-check")
		assert.Equal(t, 1, code)
		assert.Contains(t, text, "a person is needed: 4 to look at, the first is acme/repo@102, unknown")
		out = c.wants(0, "status")
		assert.Contains(t, out, "and 99 others with the same problem")
		assert.Contains(t, out, "3 failed and refused ones are older than 7 days")
	})
}

// TestMaxPerDay: what is over waits day by day, other repositories pass it, and what a person retries does not wait.
func TestMaxPerDay(t *testing.T) {
	inBubble(t, func(b *bench) {
		require.NoError(t, b.SetLimits(b.ctx, map[string]int{"": 2, "acme/free": 1000}))
		b.enqueue(prompts(5, 1)...)
		free := database.Prompt{Key: "acme/free@1", Project: testProject, Prompt: "x", Priority: 4}
		b.enqueue(free)
		time.Sleep(time.Hour)
		assert.Equal(t, map[string]int{"done": 3, "queued": 3}, some(b.counts()))

		status := b.status()
		assert.Equal(t, 3, status.Projects[0].Limited)
		assert.Zero(t, status.Projects[0].OldestFree)
		assert.Contains(t, status.Projects[0].Why, "-max-per-day")

		require.NoError(t, database.NoteRetry(b.ctx, b.DB, promptOf(4, "").Key))
		b.enqueue(database.Prompt{Key: "acme/free@2", Project: testProject, Prompt: "x"})
		time.Sleep(time.Hour)
		assert.Equal(t, map[string]int{"done": 5, "queued": 2}, some(b.counts()))

		time.Sleep(24 * time.Hour)
		assert.Equal(t, 7, b.counts()["done"])
	})
}

// TestPauseOfARepository holds back its prompts alone.
func TestPauseOfARepository(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, svc)
		c := terminal{t, url}
		c.wants(0, "pause", "-repo", "ACME/api")
		c.wants(0, "enqueue", "-key", "acme/api@1", "-project", "p", "-prompt", "x")
		c.wants(0, "enqueue", "-key", "acme/web@1", "-project", "p", "-prompt", "x")
		f.start()
		f.untilActed(svc, "acme/web@1")
		assert.Zero(t, svc.of("acme/api@1"))
		out := c.wants(0, "status")
		assert.Contains(t, out, "Repository acme/api is paused at ")
		assert.Contains(t, out, "a person has paused the repository")

		c.wants(2, "resume", "-repo", "acme/web")
		resumed := time.Now()
		c.wants(0, "resume", "-repo", "acme/api")
		f.untilActed(svc, "acme/api@1")
		assert.Less(t, time.Since(resumed), 5*time.Second)

		c.wants(0, "pause", "-all")
		c.wants(0, "enqueue", "-key", "acme/api@2", "-project", "p", "-prompt", "x")
		c.wants(2, "retry", "-repo", "acme/api", "-project", "q", "-again")
		assert.Equal(t, "1 queued for project q, 0 sent meanwhile\n",
			c.wants(0, "retry", "-repo", "acme/api", "-project", "q", "-again", "-yes"))
		plan, problem, code := c.runAll("", nil, "cancel", "-repo", "acme/api")
		assert.Equal(t, 2, code)
		assert.Contains(t, plan, "would cancel acme/api@2 of project q")
		assert.Contains(t, problem, "1 prompt to cancel; nothing is changed")
		c.wants(0, "cancel", "-repo", "acme/api", "-yes")
	})
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
		assert.Regexp(t, `acme/repo +2 +1 +0 +0 +1 +1 +112 \(up to 224\)\n`, c.wants(0, "report"))

		var reports []map[string]any
		require.NoError(t, json.Unmarshal([]byte(c.wants(0, "report", "-json", "-repo", "acme/repo")), &reports))
		assert.Equal(t, []map[string]any{{
			"repository": "acme/repo", "merges": 2.0, "jobs": 1.0, "messages": 0.0, "failed": 0.0, "unknown": 1.0,
			"leftOut": 1.0, "credits": 112.0,
		}}, reports)
		assert.Equal(t, "[]\n", c.wants(0, "report", "-json", "-repo", "acme/other"))
	})
}

// TestForget deletes the texts of a thread, and keeps what stops a second job.
func TestForget(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		add(t, s, database.Prompt{Key: "acme/api@1", Project: "p", Prompt: "jane's secret"})
		add(t, s, database.Prompt{Key: "m", Prompt: "jane's wish", After: "acme/api@1"})
		put(t, s, "acme/api@1", func(r *once.Record) { r.State, r.JobID, r.Problem = once.Failed, "job_1", "jane's words" })
		c.refuses(nil, "m is queued; first: fleet cancel -key m", "forget", "-key", "acme/api@1")

		c.wants(0, "cancel", "-key", "m")
		assert.Equal(t, "prompts whose texts are forgotten: 2\n", c.wants(0, "forget", "-key", "m"))
		out := c.wants(0, "show", "acme/api@1") + c.wants(0, "list", "-json")
		assert.NotContains(t, out, "jane")
		assert.Regexp(t, `(?m)^forgotten its texts, at 20`, out)
		assert.Contains(t, out, "job_1")
		if file, isFile := strings.CutPrefix(url, "sqlite:"); isFile {
			for _, name := range []string{file, file + "-wal"} {
				content, _ := os.ReadFile(name)
				assert.False(t, strings.Contains(string(content), "jane's secret"), name)
			}
		}

		c.wants(2, "retry", "-key", "acme/api@1", "-again")
		c.wants(2, "retry", "-state", "failed", "-again", "-yes")
		put(t, s, "acme/api@1", func(r *once.Record) { r.State, r.JobID = once.Canceled, "" })
		c.refuses(nil, "the texts of acme/api@1 were forgotten, so it cannot be sent",
			"retry", "-key", "acme/api@1", "-project", "q", "-again")
		assert.Equal(t, "[]\n", c.wants(0, "list", "-json", "-state", "queued"))

		c.wants(2, "enqueue", "-key", "acme/api@1", "-project", "p", "-prompt", "again")
		untold, err := s.Untold(t.Context())
		require.NoError(t, err)
		assert.Empty(t, untold)
	})
}

// TestKeep forgets what ended long ago. A thread is as old as the last message to its job.
func TestKeep(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.Keep = 13
		first := promptOf(0, testProject)
		isForgotten := func() bool {
			require.NoError(t, b.MakePass(b.ctx))
			r := rowOf(b.t, b.Queue, first.Key)
			return !r.Forgotten.IsZero()
		}
		b.enqueue(first)
		time.Sleep(time.Hour)
		assert.False(t, isForgotten(), "it has just ended")

		time.Sleep(14 * 31 * 24 * time.Hour)
		b.enqueue(database.Prompt{Key: "m", Prompt: "x", After: first.Key})
		time.Sleep(time.Hour)
		require.Equal(t, 2, b.counts()["done"])
		assert.False(t, isForgotten())

		time.Sleep(14 * 31 * 24 * time.Hour)
		assert.True(t, isForgotten())
	})
}

// TestUnknownFindsItself by the webhook of the documentation's repository, and by a reviewer's comment.
func TestUnknownFindsItself(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		opened := func(change fields) fields {
			pr := fields{
				"number": 12, "body": "Adds it.\n\ndocs-job: acme/api@5907854", "html_url": docsPull,
				"created_at": time.Now().Format(time.RFC3339), "user": fields{"login": "mintlify[bot]"},
				"head": fields{"repo": fields{"full_name": "acme/docs"}}, "base": fields{"ref": "main"},
			}
			maps.Copy(pr, change)
			return fields{"action": "opened", "pull_request": pr, "repository": fields{"full_name": "acme/docs"}}
		}
		unknown := func() {
			put(t, r.store, "acme/api@5907854", func(record *once.Record) {
				record.State, record.PRLink, record.JobID = once.Unknown, "", ""
				record.Deadline = time.Now().Add(time.Minute)
			})
		}

		for name, change := range map[string]fields{
			"from a fork":         {"head": fields{"repo": fields{"full_name": "eve/docs"}}},
			"from a deleted fork": {"head": fields{}},
			"by a stranger":       {"user": fields{"login": "eve"}},
			"from before":         {"created_at": time.Now().Add(-time.Hour).Format(time.RFC3339)},
			"without the marker":  {"body": "docs-job: acme/api@1111111"},
		} {
			unknown()
			_, text := r.post("pull_request", event(t, opened(change)), nil)
			assert.Contains(t, text, "nothing to do: not merged", name)
			assert.Equal(t, once.Unknown, r.record("acme/api@5907854").State, name)
		}

		_, text := r.post("pull_request", event(t, opened(nil)), nil)
		assert.Contains(t, text, "noted: it is the pull request of acme/api@5907854")
		record := r.record("acme/api@5907854")
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, docsPull, record.PRLink)

		unknown()
		r.comment(reviewComment(nil, fields{
			"created_at": time.Now().Format(time.RFC3339), "user": fields{"login": "mintlify[bot]"},
		}))
		assert.Equal(t, once.Done, r.record("acme/api@5907854").State)
		assert.Empty(t, r.followUps(), "it has no job that a message could go to")
	})
}

// gitHub is a fake of GitHub's API.
type gitHub struct {
	*httptest.Server
	mu         sync.Mutex
	permission string // "" is down
	pulls      []fields
	requests   []string
}

func newGitHub(t *testing.T) *gitHub {
	g := &gitHub{}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *gitHub) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	path := strings.TrimPrefix(r.URL.Path, "/api/v3/repos/")
	g.requests = append(g.requests, strings.TrimSpace(r.Method+" "+path+" "+string(body)))
	switch {
	case strings.HasSuffix(path, "/permission") && g.permission == "":
		rw.WriteHeader(http.StatusBadGateway)
	case strings.HasSuffix(path, "/permission"):
		_ = json.NewEncoder(rw).Encode(fields{"permission": g.permission})
	case strings.HasSuffix(path, "/pulls"):
		_ = json.NewEncoder(rw).Encode(g.pulls)
	default:
		rw.WriteHeader(http.StatusCreated)
		_, _ = rw.Write([]byte("{}"))
	}
}

// saw returns the requests so far, and forgets them.
func (g *gitHub) saw() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	requests := g.requests
	g.requests = nil
	return requests
}

func (g *gitHub) api(t *testing.T) *github.API {
	api, err := newAPI(environment{"FLEET_GITHUB_TOKEN": "ghp_x", "GITHUB_API_URL": g.URL}.get)
	require.NoError(t, err)
	return api
}

// TestPrivateMembersMayAsk: GitHub calls one a contributor, and says on demand what it may do.
func TestPrivateMembersMayAsk(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	g := newGitHub(t)
	hooks := github.NewWebhooks(r.worker, testSecret, github.Projects{"": testProject}, testAuthors(), 2)
	hooks.API = g.api(t)
	r.worker.Decide = github.Reviews{Queue: r.store, API: hooks.API}.DecideReviews
	server := httptest.NewServer(hooks.Handler())
	defer server.Close()
	r.url = server.URL

	r.is(once.Done, docsPull+"3")
	contributor := fields{"author_association": "CONTRIBUTOR", "body": "/DOCS\nMention --json."}
	_, text := r.comment(reviewComment(contributor, nil))
	assert.Contains(t, text, "another pull request")
	assert.Equal(t, []string{`POST acme/docs/issues/comments/5/reactions {"content":"confused"}`}, g.saw(),
		"the permission is asked for last")

	r.is(once.Done, docsPull)
	_, text = r.comment(reviewComment(contributor, nil))
	assert.Contains(t, text, "noted until it can be decided about: ", "GitHub is down")
	assert.EqualValues(t, 1, r.kept())
	g.saw()

	g.permission = "write"
	require.NoError(t, r.worker.MakePass(t.Context()))
	require.Len(t, r.followUps(), 1)
	assert.Contains(t, r.followUps()[0].Prompt, "asks for a change:\n\nMention --json.")
	assert.Equal(t, []string{
		"GET acme/docs/collaborators/jane/permission",
		`POST acme/docs/issues/comments/5/reactions {"content":"eyes"}`,
	}, g.saw())

	g.permission = "read"
	contributor["id"] = 6
	_, text = r.comment(reviewComment(contributor, nil))
	assert.Contains(t, text, "may not write")
	assert.Len(t, r.followUps(), 1)
	assert.Contains(t, terminal{t, r.databaseURL}.wants(0, "show", "acme/docs#12"),
		"a comment by jane on acme/docs#12: its author may not write to the repository")
}

// TestUnknownIsLookedFor with a token: 5, 10, 20 … minutes apart, with one listing for all.
func TestUnknownIsLookedFor(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	g := newGitHub(t)
	add(t, r.store, database.Prompt{Key: "acme/api@2222222", Project: testProject, Prompt: "x"})
	for _, key := range []string{"acme/api@5907854", "acme/api@2222222"} {
		put(t, r.store, key, func(record *once.Record) {
			record.State, record.Deadline, record.UpdatedAt = once.Unknown, time.Now(), time.Now()
		})
	}
	api := g.api(t)
	leftOut := func() []string { return []string{"acme/docs"} }
	r.worker.Find = github.Finder{Queue: r.store, API: api, LeftOut: leftOut}.Find
	require.NoError(t, r.worker.MakePass(t.Context()))
	assert.Equal(t, []string{"GET acme/docs/pulls"}, g.saw(), "one listing for both")

	g.pulls = []fields{{
		"number": 12, "body": "docs-job: acme/api@5907854", "html_url": docsPull,
		"created_at": time.Now().Format(time.RFC3339), "head": fields{"repo": fields{"full_name": "acme/docs"}},
	}}
	require.NoError(t, r.worker.MakePass(t.Context()))
	assert.Empty(t, g.saw(), "it is not due yet")

	r.is(once.Unknown, "")
	execute(t, r.store, "UPDATE fleet_prompts SET looked = 0")
	r.worker.Find = github.Finder{Queue: r.store, API: g.api(t), LeftOut: leftOut}.Find // whose listing is not cached
	require.NoError(t, r.worker.MakePass(t.Context()))
	assert.Equal(t, docsPull, r.record("acme/api@5907854").PRLink)
	assert.Equal(t, once.Unknown, r.record("acme/api@2222222").State)

	r.is(once.Unknown, "")
	require.NoError(t, r.store.KeepFound(t.Context(), "acme/api@5907854", docsPull))
	assert.Contains(t, terminal{t, r.databaseURL}.wants(0, "retry", "-key", "acme/api@5907854", "-again"),
		"is done, nothing is sent: its pull request is "+docsPull)
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

		other := func(e fields) string {
			e["repository"] = fields{"full_name": "Acme/Other", "default_branch": "main"}
			return event(t, e)
		}
		r.post("pull_request", other(pullRequest(fields{"body": "docs-job: none"})), nil)
		status, text := r.post("push", other(push(nil)), nil)
		assert.Equal(t, 200, status)
		assert.Contains(t, text, "nothing to do: docs-job: none")
		assert.Len(t, r.rows(), 1)

		for last, order := range map[string][]string{sha("c"): {"push", "pull_request"}, sha("d"): {"pull_request", "push"}} {
			queued := push(fields{"after": last, "commits": []fields{
				commit(sha("a"), "jane", "Add --json (#7)"), commit(last, "joe", "Fix a typo (#8)"),
			}})
			typo := pullRequest(fields{"number": 8, "merge_commit_sha": last, "body": "docs-job: none"})
			events := map[string]string{"push": event(t, queued), "pull_request": event(t, typo)}
			for _, kind := range order {
				r.post(kind, events[kind], nil)
			}
			assert.Equal(t, once.Pending, r.record("acme/repo@"+last).State, "#7 is to be documented: %v", order)
		}
	})
}

// TestTwoProjectsForARepository are refused, with both places.
func TestTwoProjectsForARepository(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/projects"
	secret := map[string]string{"FLEET_GITHUB_SECRET": "x"}
	c := terminal{t, "sqlite:" + sqliteFile(t)}
	for text, want := range map[string]string{
		"acme/api=one\n\nACME/api=two\n": "line 3: acme/api has two projects, at line 1 and at line 3",
		"one\ntwo\n":                     "all other repositories have two projects, at line 1 and at line 2",
		"acme/web=two\n":                 "acme/web has two projects, at -project acme/web=one and at line 1",
	} {
		write(t, file, text)
		c.refuses(secret, want, "serve", "-project", "acme/web=one", "-projects", file)
	}
	c.refuses(secret, "at -project one and at -project two", "serve", "-project", "one", "-project", "two")
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

// TestLostTerminal: a worker outlives a stderr that is gone, and a hang-up ends it like SIGTERM.
func TestLostTerminal(t *testing.T) {
	t.Parallel()
	svc := newCountingService()
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, svc)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd := f.command(nil, "work", "-send-time", "2s")
	cmd.Stderr = writer
	require.NoError(t, cmd.Start())
	f.running = append(f.running, cmd)
	writer.Close()
	reader.Close()

	f.enqueue(prompts(2, 1)...)
	f.until(timeToDo, "the prompts to be done", func() bool { return f.counts()["done"] == 2 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	time.Sleep(10 * time.Millisecond)
	_ = cmd.Process.Signal(syscall.SIGHUP) // a terminal sends it twice
	assert.NoError(t, cmd.Wait())
}

// TestSlowClients take a place for two seconds, and SIGTERM with one of them is exit 0.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, newCountingService())
	cmd, addrs := f.serve(nil, "-project", testProject)
	slow := func() net.Conn {
		connection, err := net.Dial("tcp", addrs[0])
		require.NoError(t, err)
		_, err = fmt.Fprintf(connection, "POST /github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
			"X-Hub-Signature-256: sha256=00\r\nContent-Length: 1000\r\n\r\n{")
		require.NoError(t, err)
		return connection
	}
	for range 8 { // twice as many as there are places
		defer slow().Close()
	}

	start := time.Now()
	status, _ := receiver{t, f.store, "http://" + addrs[0]}.post("push", event(t, push(nil)), nil)
	assert.Equal(t, 202, status)
	assert.Less(t, time.Since(start), 6*time.Second)

	defer slow().Close()
	assert.NoError(t, f.end(cmd, syscall.SIGTERM))
}

// TestNewerSchema: an older worker stops by itself, and an older server takes nothing more.
func TestNewerSchema(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, svc)
		server, addrs := f.serve(nil, "-project", testProject)
		worker := f.start()
		r := receiver{t, f.store, "http://" + addrs[0]}
		f.until(timeToDo, "the workers", func() bool {
			working, err := f.store.IsWorking(t.Context())
			return err == nil && working
		})
		execute(t, f.store, "UPDATE fleet_schema SET version = 1000")

		start := time.Now()
		assert.Error(t, worker.Wait())
		assert.Equal(t, 2, worker.ProcessState.ExitCode())
		assert.Less(t, time.Since(start), 30*time.Second)
		status, _ := r.post("push", event(t, push(nil)), nil)
		assert.Equal(t, 503, status)
		assert.NoError(t, f.end(server, syscall.SIGTERM))
		assert.Empty(t, svc.acted)
	})
}

// TestProblemsAreResumed: resume polls running jobs again that have a problem, though nothing was paused.
func TestProblemsAreResumed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		c.wants(0, "enqueue", "-key", "acme/api@1", "-project", "p", "-prompt", "x")
		put(t, s, "acme/api@1", func(r *once.Record) { r.State, r.JobID, r.Problem = once.Running, "job_1", "401" })
		s.InsertPolls(t.Context(), "acme/api@1")
		execute(t, s, "UPDATE river_job SET state = 'scheduled', scheduled_at = $1",
			queue.RiverTime(time.Now().Add(time.Hour)))
		c.wants(2, "resume", "-project", "q")
		assert.Equal(t, "1 running with a problem: polled again\n", c.wants(0, "resume", "-project", "p"))
		c.wants(2, "resume", "-project", "p")
	})
}

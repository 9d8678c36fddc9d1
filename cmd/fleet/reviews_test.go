//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	gogithub "github.com/google/go-github/v92/github"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const docsPull = "https://github.com/acme/docs/pull/12"

// reviewComment is the event of a comment on the agent's pull request.
func reviewComment(change, issueChange fields) fields {
	comment := fields{
		"id": 5, "body": "/docs Mention --json in the tutorial, too.", "author_association": "MEMBER",
		"user": fields{"login": "jane"},
	}
	maps.Copy(comment, change)
	issue := fields{
		"number": 12, "body": "Adds --json.\n\ndocs-job: ACME/api@5907854",
		"pull_request": fields{"html_url": docsPull},
	}
	maps.Copy(issue, issueChange)
	return fields{"action": "created", "comment": comment, "issue": issue,
		"repository": fields{"full_name": "Acme/Docs", "default_branch": "main"}}
}

// reviewed is a receiver of comments with a prompt, acme/api@5907854, and the service behind it.
type reviewed struct {
	databaseURL string
	receiver
	worker  *queue.Worker
	service *mintlifytest.Service
}

func newReviewed(t *testing.T, url string) reviewed {
	s := openStore(t, url)
	service := mintlifytest.NewService()
	w := workerOf(t, s, service)
	w.Decide = github.Docs{Queue: s}.DecideReviews
	hooks := github.NewWebhooks(w, testSecret, github.Projects{"": testProject}, merges.DefaultAuthors(), 2)
	server := httptest.NewServer(hooks.Handler())
	t.Cleanup(server.Close)
	add(t, s, database.Prompt{Key: "acme/api@5907854", Project: testProject, Prompt: "x", Priority: 2})
	return reviewed{url, receiver{t, s, server.URL}, w, service}
}

// is makes the record what a test needs.
func (r reviewed) is(state once.State, link string) {
	put(r.t, r.store, "acme/api@5907854", func(record *once.Record) {
		record.State, record.PRLink, record.JobID = state, link, "job_1"
	})
}

func (r reviewed) comment(e fields) (int, string) { return r.post("issue_comment", event(r.t, e), nil) }

// order returns the ids of the comments that are messages, in their order.
func (r reviewed) order() []string {
	thread, err := r.store.ThreadOf(r.t.Context(), "acme/api@5907854")
	require.NoError(r.t, err)
	var order []string
	for _, message := range thread[1:] {
		_, id, _ := strings.Cut(message.Key, "#comment-")
		order = append(order, id)
		assert.Equal(r.t, "acme/api@5907854", message.After)
	}
	return order
}

func (r reviewed) followUps() []database.Row {
	rows, err := r.store.Rows(r.t.Context(), "p.thread <> '' ORDER BY p.added, p.key")
	require.NoError(r.t, err)
	return rows
}

// keep keeps a comment by jane on the pull request of the prompt, which a test may change.
func (r reviewed) keep(id int64, change func(*github.Review)) github.Review {
	review := github.Review{
		ID: id, Key: "acme/api@5907854", Pull: "acme/docs#12", URL: docsPull, Author: "jane", Text: "x", MayAsk: true,
	}
	if change != nil {
		change(&review)
	}
	require.NoError(r.t, github.Docs{Queue: r.store}.KeepReview(r.t.Context(), review))
	return review
}

// TestReview is a comment that becomes a follow-up, once.
func TestReview(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		r.is(once.Done, docsPull)
		for range 2 {
			status, text := r.comment(reviewComment(nil, nil))
			assert.Equal(t, 202, status)
			assert.Equal(t, "enqueued: acme/api@5907854#comment-5\n", text)
		}
		followUps := r.followUps()
		require.Len(t, followUps, 1)
		assert.Equal(t, "acme/api@5907854", followUps[0].After)
		assert.Equal(t, testProject, followUps[0].ProjectID)
		assert.Equal(t, "acme/docs#12", followUps[0].Pulls, "which is told the result")
		assert.Equal(t, "jane reviews your pull request "+docsPull+" and asks for a change:\n\nMention --json in the tutorial, too.",
			followUps[0].Prompt)
		assert.Zero(t, kept(t, r.store))
	})
}

// TestCommentsThatAskForNothing are 200 and nothing.
func TestCommentsThatAskForNothing(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	r.is(once.Done, docsPull)
	edited := reviewComment(nil, nil)
	edited["action"] = "edited"
	for name, e := range map[string]fields{
		"edited":            edited,
		"a stranger's":      reviewComment(fields{"author_association": "NONE"}, nil),
		"a contributor's":   reviewComment(fields{"author_association": "CONTRIBUTOR"}, nil),
		"nobody's":          reviewComment(fields{"author_association": nil}, nil),
		"not for the agent": reviewComment(fields{"body": "Nice. /docs Mention --json"}, nil),
		"another command":   reviewComment(fields{"body": "/docs-preview now"}, nil),
		"no request":        reviewComment(fields{"body": "/docs  \n"}, nil),
		"on an issue":       reviewComment(nil, fields{"pull_request": nil}),
		"without a marker":  reviewComment(nil, fields{"body": "By hand."}),
		"of an unknown key": reviewComment(nil, fields{"body": "docs-job: acme/api@1"}),
		"with a copied one": reviewComment(
			nil, fields{"pull_request": fields{"html_url": "https://github.com/acme/docs/pull/13"}},
		),
		"without a link": reviewComment(nil, fields{"pull_request": fields{}}),
		"on another forge": reviewComment(
			nil, fields{"pull_request": fields{"html_url": "https://example.com/acme/docs/pull/12"}},
		),
		"an event of nothing": {},
	} {
		status, text := r.comment(e)
		assert.Equal(t, 200, status, "%s: %s", name, text)
		assert.Contains(t, text, "nothing to do", name)
	}
	assert.Empty(t, r.followUps())
	assert.Zero(t, kept(t, r.store))

	for _, state := range []once.State{once.Done, once.Failed, once.Refused, once.Canceled} {
		r.is(state, "")
		status, _ := r.comment(reviewComment(nil, nil))
		assert.Equal(t, 200, status, "%s, without a pull request", state)
	}
	assert.Empty(t, r.followUps())
}

// TestCommentThatCannotBeSent is left out, says so, and holds up nothing else.
func TestCommentThatCannotBeSent(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	r.is(once.Done, docsPull)
	status, text := r.comment(reviewComment(fields{"body": "/docs " + strings.Repeat("x", database.MaxPrompt)}, nil))
	assert.Equal(t, 200, status)
	assert.Contains(t, text, "nothing to do: ")
	assert.Contains(t, text, "want at most 65536")
	assert.Zero(t, kept(t, r.store))

	r.keep(7, func(review *github.Review) { review.Pull = "not one" })
	require.NoError(t, r.worker.MakePass(t.Context()))
	assert.Zero(t, kept(t, r.store))
	assert.Empty(t, r.followUps())

	r.keep(9, nil) // by a process that saw no deletion yet
	_, err := r.store.NoteComment(t.Context(), database.CommentEvent{ID: 9, IsDeleted: true})
	require.NoError(t, err)
	require.NoError(t, r.worker.MakePass(t.Context()))
	assert.Zero(t, kept(t, r.store))
	assert.Empty(t, r.followUps())

	// Another program keeps its records in the same table. Fleet has no prompt of this one.
	execute(t, r.store, "DELETE FROM fleet_prompts")
	r.keep(8, nil)
	require.NoError(t, r.worker.MakePass(t.Context()))
	assert.Zero(t, kept(t, r.store))

	h := webhooksOf(r.store, nil)
	h.LookUp = func(context.Context, string) error { return nil }
	for name, e := range map[string]fields{
		"no prompt":     reviewComment(nil, nil),
		"copied marker": reviewComment(nil, fields{"pull_request": fields{"html_url": docsPull + "3"}}),
	} {
		var comment gogithub.IssueCommentEvent
		require.NoError(t, json.Unmarshal([]byte(event(t, e)), &comment))
		resp := h.Review(t.Context(), &comment)
		assert.NotEmpty(t, resp.Reason, name)
		assert.Equal(t, "Acme/Docs", resp.About.Repository, "%s: which the log says", name)
		assert.Equal(t, []int{12}, resp.About.Pulls, name)
	}
}

// TestCommentDuringAnUpgrade stays if a newer fleet changes the tables after they were checked.
func TestCommentDuringAnUpgrade(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		r.is(once.Done, docsPull)
		h := webhooksOf(r.store, nil)
		h.LookUp = func(ctx context.Context, _ string) error {
			_, err := r.store.ExecContext(ctx, "UPDATE fleet_schema SET version = version + 1")
			return err
		}
		server := httptest.NewServer(h.Handler())
		defer server.Close()

		for id := 5; id <= 6; id++ { // the second one waits for the first
			old := receiver{t, r.store, server.URL}
			status, text := old.post("issue_comment", event(t, reviewComment(fields{"id": id}, nil)), nil)
			assert.Equal(t, 503, status, text)
			assert.EqualValues(t, id-4, kept(t, r.store))
			execute(t, r.store, "UPDATE fleet_schema SET version = version - 1")
		}

		require.NoError(t, r.worker.MakePass(t.Context()))
		assert.Equal(t, []string{"5", "6"}, r.order())
		assert.Zero(t, kept(t, r.store))
	})
}

// TestCommentAfterOneWithoutAJob: a comment that was canceled, refused or closed does not hold up those
// that come later.
func TestCommentAfterOneWithoutAJob(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		r.is(once.Done, docsPull)
		dropped := []once.State{once.Canceled, once.Refused, once.Done}
		for i, state := range dropped {
			r.comment(reviewComment(fields{"id": i + 1}, nil))
			key := fmt.Sprint("acme/api@5907854#comment-", i+1)
			put(t, r.store, key, func(record *once.Record) { record.State = state })
			execute(t, r.store, "UPDATE fleet_prompts SET told = $2 WHERE key = $1", key, string(state))
		}
		for id := 4; id <= 5; id++ {
			_, text := r.comment(reviewComment(fields{"id": id}, nil))
			assert.Contains(t, text, "enqueued")
		}

		assert.Equal(t, []string{"1", "2", "3", "4", "5"}, r.order())
		assert.Equal(t, []string{"acme/api@5907854#comment-4", "acme/api@5907854#comment-5"}, ready(t, r.store),
			"those before them hold up none")

		untold, err := r.store.Untold(t.Context())
		require.NoError(t, err)
		require.Len(t, untold, 1, "what became of the others is told already")
		assert.Equal(t, "acme/api@5907854", untold[0].Key)
	})
}

// TestCommentBeforeTheLink is kept until the record has the link, or will not get it.
func TestCommentBeforeTheLink(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		for _, c := range []struct {
			name string
			link string
			want int
		}{{"its pull request", docsPull + "/", 1}, {"another one", docsPull + "3", 0}, {"none", "", 0}} {
			r := newReviewed(t, url)
			execute(t, r.store, "DELETE FROM fleet_prompts WHERE thread <> ''")
			execute(t, r.store, "DELETE FROM fleet_comment_events")
			for _, state := range []once.State{once.Pending, once.Sending, once.Unknown, once.Running} {
				r.is(state, "")
				status, text := r.comment(reviewComment(fields{"id": 100 + len(c.name)}, nil))
				assert.Equal(t, 202, status)
				assert.Contains(t, text, "noted", state)

				require.NoError(t, r.worker.MakePass(t.Context()))
				assert.EqualValues(t, 1, kept(t, r.store), state)
				if state == once.Pending {
					assert.Empty(t, r.service.Requests(), "a prompt that is queued is left to its turn")
				}
			}
			r.is(once.Done, c.link)
			require.NoError(t, r.worker.MakePass(t.Context()))
			require.NoError(t, r.worker.MakePass(t.Context()))
			assert.Len(t, r.followUps(), c.want, c.name)
			assert.Zero(t, kept(t, r.store), c.name)
		}
	})
}

// TestJobIsLookedUp: the service knows the link before the record has it.
func TestJobIsLookedUp(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	r.service.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobActive, PRLink: docsPull})
	client, err := r.service.Client().ForProject(testProject)
	require.NoError(t, err)
	job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(t, err)
	put(t, r.store, "acme/api@5907854", func(record *once.Record) { record.State, record.JobID = once.Running, job.ID })
	status, text := r.comment(reviewComment(nil, nil))
	assert.Equal(t, 202, status)
	assert.Contains(t, text, "enqueued")
	require.Len(t, r.followUps(), 1)

	record := r.record("acme/api@5907854")
	assert.Equal(t, once.Running, record.State, "it is sent once the job has ended")
}

// TestReviewersAreToldOnThePullRequest, though all other results go to a chat.
func TestReviewersAreToldOnThePullRequest(t *testing.T) {
	chat, gh := newGitHub(t), newGitHub(t)
	tell := tellerOf(
		t,
		map[string]string{"FLEET_RESULTS_URL": chat.URL + "/T0", "FLEET_GITHUB_TOKEN": "x", "GITHUB_API_URL": gh.URL},
	)
	asked := resultOfA(once.Done, func(r *database.Row) { r.Pulls, r.After, r.PRLink = "acme/docs#12", "k", docsPull })
	told, err := tell(t.Context(), []database.Row{testResult, asked})
	require.NoError(t, err)
	assert.Len(t, told, 2)
	assert.Contains(t, strings.Join(chat.saw(), "\n"), "POST /T0 ")
	requests := gh.saw()
	require.Len(t, requests, 1)
	assert.Contains(t, requests[0], "POST acme/docs/issues/12/comments ")

	gh.status = 403
	asked.Version++
	told, err = tell(t.Context(), []database.Row{testResult, asked})
	assert.Error(t, err)
	assert.Len(t, told, 1)
}

// TestCancelDropsKeptComments: a restored backup may hold one that was sent since.
func TestCancelDropsKeptComments(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		r.is(once.Running, "")
		r.comment(reviewComment(nil, nil))
		require.EqualValues(t, 1, kept(t, r.store))

		c := terminal{t, url}
		plan, problem, code := c.runAll("", nil, "cancel", "-all")
		assert.Equal(t, 2, code)
		assert.Contains(t, plan, "would drop acme/api@5907854#comment-5, a comment on acme/docs#12")
		assert.Contains(t, problem, "nothing is changed without -yes")
		c.wants(2, "cancel", "-project", "another", "-yes")
		assert.EqualValues(t, 1, kept(t, r.store))

		out := c.wants(0, "cancel", "-all", "-yes")
		assert.Contains(t, out, "dropped acme/api@5907854#comment-5")
		r.is(once.Done, docsPull)
		require.NoError(t, r.worker.MakePass(t.Context()))
		assert.Empty(t, r.followUps())
	})
}

// ready returns the keys of the prompts that are in the queue: package once decides which of a thread is sent.
func ready(t *testing.T, s queue.Queue) []string {
	keys, err := sqldb.Strings(t.Context(), s.DB, `SELECT p.key
FROM fleet_prompts p WHERE p.state = 'pending' AND p.not_before < $1 ORDER BY p.added`, time.Now().UnixNano())
	require.NoError(t, err)
	return keys
}

// TestCommentWaitsForAnEarlierOne that cannot be decided about, here without a token.
func TestCommentWaitsForAnEarlierOne(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		r.is(once.Done, docsPull)
		r.keep(4, func(review *github.Review) { review.MayAsk = false })

		_, text := r.comment(reviewComment(nil, nil))
		assert.Contains(t, text, "noted until it can be decided about")
		require.NoError(t, r.worker.MakePass(t.Context()))
		assert.Empty(t, r.followUps())
		assert.EqualValues(t, 2, kept(t, r.store))
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

// gitHub is a fake of GitHub's API, and of other services that are told something.
type gitHub struct {
	*httptest.Server
	mu         sync.Mutex
	permission string // "" is down
	status     int    // of what lists or makes something; 0 if it works
	location   string // to which it redirects
	token      string // the header that came last
	broken     string // a part of the paths that respond with 502
	pulls      []fields
	requests   []string
	reacting   func() // what happens while a reaction is made; nil is nothing
}

func newGitHub(t *testing.T) *gitHub {
	g := &gitHub{}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *gitHub) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if g.reacting != nil && strings.HasSuffix(r.URL.Path, "/reactions") {
		g.reacting()
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	path := strings.TrimPrefix(r.URL.Path, "/api/v3/repos/")
	g.token = r.Header.Get("Authorization")
	g.requests = append(g.requests, strings.TrimSpace(r.Method+" "+path+" "+string(body)))
	switch {
	case g.broken != "" && strings.Contains(path, g.broken):
		rw.WriteHeader(http.StatusBadGateway)
	case strings.HasSuffix(path, "/permission") && g.permission == "":
		rw.WriteHeader(http.StatusBadGateway)
	case strings.HasSuffix(path, "/permission"):
		_ = json.NewEncoder(rw).Encode(fields{"permission": g.permission})
	case g.status > 0:
		rw.Header().Set("Location", g.location)
		rw.WriteHeader(g.status)
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

// onGitHub gives the receiver and the worker a token for GitHub.
func (r *reviewed) onGitHub() *gitHub {
	g := newGitHub(r.t)
	hooks := github.NewWebhooks(r.worker, testSecret, github.Projects{"": testProject}, merges.DefaultAuthors(), 2)
	hooks.API = g.api(r.t)
	r.worker.Decide = github.Docs{Queue: r.store, API: hooks.API}.DecideReviews
	server := httptest.NewServer(hooks.Handler())
	r.t.Cleanup(server.Close)
	r.url = server.URL
	return g
}

// TestPrivateMembersMayAsk: GitHub calls one a contributor, and says on demand what it may do.
func TestPrivateMembersMayAsk(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	g := r.onGitHub()

	r.is(once.Done, docsPull+"3")
	contributor := fields{"author_association": "CONTRIBUTOR", "body": "/DOCS\nMention --json."}
	_, text := r.comment(reviewComment(contributor, nil))
	assert.Contains(t, text, "another pull request")
	assert.Equal(t, []string{`POST acme/docs/issues/comments/5/reactions {"content":"confused"}`}, g.saw(),
		"the permission is asked for last")

	r.is(once.Done, docsPull)
	_, text = r.comment(reviewComment(contributor, nil))
	assert.Contains(t, text, "noted until it can be decided about: ", "GitHub is down")
	assert.EqualValues(t, 1, kept(t, r.store))
	c := terminal{t, r.databaseURL}
	assert.Contains(t, c.wants(0, "status"), "\nUntil GitHub says whether its author may write waits 1 comment; fleet "+
		"asks again by itself: ask GitHub for the permission of jane: GET ")
	for _, name := range []string{"acme/docs#12", "acme/api@5907854"} {
		assert.Contains(t, c.wants(0, "show", name), "comment 5 by jane on acme/docs#12 waits until GitHub says whether its author "+
			"may write; fleet asks again by itself: ask GitHub for the permission of jane: GET ")
	}
	g.saw()

	g.permission = "write"
	require.NoError(t, r.worker.MakePass(t.Context()))
	require.Len(t, r.followUps(), 1)
	assert.Contains(t, r.followUps()[0].Prompt, "asks for a change:\n\nMention --json.")
	assert.NotContains(t, c.wants(0, "status"), "comment")
	assert.Equal(t, []string{
		"GET acme/docs/collaborators/jane/permission",
		`POST acme/docs/issues/comments/5/reactions {"content":"eyes"}`,
	}, g.saw())

	g.permission = "read"
	contributor["id"] = 6
	_, text = r.comment(reviewComment(contributor, nil))
	assert.Contains(t, text, "may not write")
	assert.Len(t, r.followUps(), 1)
	assert.Contains(t, r.show(), "comment 6 by jane on acme/docs#12: its author may not write to the repository")
}

// follow works at the alarm of a prompt's follower.
func (r reviewed) follow(key string) {
	r.t.Helper()
	id := number(r.t, r.store, "SELECT river FROM fleet_prompts WHERE key = $1", key)
	job := &river.Job[database.FollowArgs]{JobRow: &rivertype.JobRow{ID: id}, Args: database.FollowArgs{Key: key}}
	require.NoError(r.t, r.worker.Follow(r.t.Context(), job))
}

// makeUnknown makes prompts unknown that were sent some time ago.
func (r reviewed) makeUnknown(ago time.Duration, keys ...string) {
	for _, key := range keys {
		put(r.t, r.store, key, func(record *once.Record) {
			record.State, record.Sends, record.JobID, record.PRLink = once.Unknown, 1, "", ""
			record.Deadline, record.UpdatedAt = time.Now().Add(-ago), time.Now().Add(-ago)
		})
	}
}

// markedPull is the agent's pull request, as GitHub lists it.
func markedPull() fields {
	return fields{
		"number": 12, "body": "docs-job: acme/api@5907854", "html_url": docsPull,
		"created_at": time.Now().Format(time.RFC3339), "head": fields{"repo": fields{"full_name": "acme/docs"}},
	}
}

// TestUnknownIsLookedFor with a token: at once, then 5, 10, 20 … minutes apart, with one listing for all.
func TestUnknownIsLookedFor(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	g := newGitHub(t)
	for _, key := range []string{"acme/api@2222222", "named"} {
		add(t, r.store, database.Prompt{Key: key, Project: testProject, Prompt: "x"})
	}
	r.makeUnknown(0, "acme/api@5907854", "acme/api@2222222", "named")
	api := g.api(t)
	require.NoError(t, r.store.SetDocs(t.Context(), []string{"acme/docs"}))
	c := terminal{t, r.databaseURL}
	r.worker.Find = github.Docs{Queue: r.store}.Find
	require.NoError(t, r.store.KeepFound(t.Context(), "named", docsPull))
	r.follow("named")
	r.follow("acme/api@5907854")
	status := c.wants(0, "status")
	assert.Contains(t, status, "Nobody has looked on GitHub yet. The next look is at about ")
	assert.Contains(t, status, "a job may take 25 minutes to open its pull request")
	assert.Equal(t, docsPull, r.record("named").PRLink, "a webhook has named it")

	r.worker.Find = github.Docs{Queue: r.store, API: api}.Find
	r.follow("acme/api@5907854")
	r.follow("acme/api@2222222")
	assert.Regexp(t, "for 7 days, last tried at .* The next look is at about ", c.wants(0, "status"))
	assert.Equal(t, []string{"GET acme/docs/pulls"}, g.saw(), "one listing for both")

	g.pulls = []fields{markedPull()}
	r.follow("acme/api@5907854")
	assert.Empty(t, g.saw(), "it is not due yet")

	execute(t, r.store, "UPDATE fleet_prompts SET looked = 0")
	r.worker.Find = github.Docs{Queue: r.store, API: g.api(t)}.Find // whose listing is not cached
	r.follow("acme/api@5907854")
	assert.Equal(t, docsPull, r.record("acme/api@5907854").PRLink)
	assert.Equal(t, once.Unknown, r.record("acme/api@2222222").State)
}

// TestRetryAgainLooks: what nobody has looked for is not sent again, unless a person says that they have.
func TestRetryAgainLooks(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	g := newGitHub(t)
	withToken := environment{"FLEET_GITHUB_TOKEN": " token\r\n", "GITHUB_API_URL": g.URL}
	refuses := func(env environment, why string) {
		t.Helper()
		_, text, code := terminal{t, r.databaseURL}.runAll("", env, "retry", "-key", "acme/api@5907854", "-again")
		assert.Equal(t, 2, code)
		assert.Contains(t, text, "nobody has looked for the pull request of acme/api@5907854: "+why)
		assert.Equal(t, once.Unknown, r.record("acme/api@5907854").State)
	}

	r.makeUnknown(time.Hour, "acme/api@5907854")
	refuses(nil, "FLEET_GITHUB_TOKEN is not set")
	refuses(withToken, "no repository of the documentation is known of project "+testProject+": fleet serve "+
		"-project OWNER/DOCS= makes one known")
	add(t, r.store, database.Prompt{Key: "acme/api@2222222", Project: testProject, Prompt: "x"})
	put(t, r.store, "acme/api@2222222", func(record *once.Record) {
		record.State, record.PRLink = once.Done, "https://github.com/acme/docs/pull/3"
	})
	g.status = http.StatusBadGateway
	refuses(withToken, "no repository of the documentation could be listed")
	g.status = 0
	add(t, r.store, database.Prompt{Key: "acme/api@3333333", Project: testProject, Prompt: "x"})
	put(t, r.store, "acme/api@3333333", func(record *once.Record) {
		record.State, record.PRLink = once.Done, "https://github.com/acme/old-docs/pull/3"
	})
	g.broken = "acme/docs/"
	refuses(withToken, "not each repository of the documentation could be listed")
	g.broken = ""
	r.makeUnknown(29*time.Minute, "acme/api@5907854")
	refuses(withToken, "a job may take 25 minutes to open it. Wait until ")

	c := terminal{t, r.databaseURL}
	r.makeUnknown(31*time.Minute, "acme/api@5907854")
	_, text, code := c.runAll("", withToken, "retry", "-key", "acme/api@5907854", "-again")
	assert.Zero(t, code, text)
	assert.Equal(t, once.Pending, r.record("acme/api@5907854").State)

	r.makeUnknown(0, "acme/api@5907854")
	assert.Contains(t, c.wants(0, "retry", "-key", "acme/api@5907854", "-again", "-yes"), "is queued")
	c.wants(0, "cancel", "-key", "acme/api@5907854")
	assert.Contains(t, c.wants(2, "retry", "-state", "canceled", "-again"), "1 of them were sent before, and nobody has looked for their pull requests")
}

// TestRetryAgainKnowsWhatServeLeavesOut: the repositories of the documentation, of the serve that was started last.
func TestRetryAgainKnowsWhatServeLeavesOut(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		g := newGitHub(t)
		g.pulls = []fields{markedPull()}
		serve := func(known github.Projects) { require.NoError(t, webhooksOf(r.store, known).NoteProjects(t.Context())) }
		serve(github.Projects{"acme/old-docs": "", "acme/docs": "", "acme/api": testProject})
		serve(github.Projects{"acme/docs": "", "acme/api": testProject})

		r.makeUnknown(0, "acme/api@5907854")
		env := environment{"FLEET_GITHUB_TOKEN": "token", "GITHUB_API_URL": g.URL}
		out, text, code := terminal{t, url}.runAll("", env, "retry", "-key", "acme/api@5907854", "-again")
		assert.Zero(t, code, text)
		assert.Contains(t, out, "is done, nothing is sent: its pull request is "+docsPull)
		assert.Equal(t, []string{"GET acme/docs/pulls"}, g.saw())
	})
}

// TestFoundWhileItWaitsToBeSentAgain: a pull request that a webhook, or a look, names ends the prompt.
func TestFoundWhileItWaitsToBeSentAgain(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	c := terminal{t, r.databaseURL}
	again := func() {
		r.makeUnknown(time.Minute, "acme/api@5907854")
		c.wants(0, "retry", "-key", "acme/api@5907854", "-again", "-yes")
		require.Equal(t, once.Pending, r.record("acme/api@5907854").State)
	}

	again()
	require.NoError(t, r.store.KeepFound(t.Context(), "acme/api@5907854", docsPull))
	r.worker.Find = github.Docs{Queue: r.store}.Find
	r.follow("acme/api@5907854")
	assert.Equal(t, once.Done, r.record("acme/api@5907854").State)

	execute(t, r.store, "DELETE FROM fleet_found")
	again()
	pr := markedPull()
	pr["user"] = fields{"login": "mintlify[bot]"}
	r.post("pull_request", event(t, fields{
		"action": "opened", "pull_request": pr, "repository": fields{"full_name": "acme/docs", "default_branch": "main"},
	}), nil)
	assert.Equal(t, once.Done, r.record("acme/api@5907854").State)
	assert.Equal(t, docsPull, r.record("acme/api@5907854").PRLink)
}

// TestPullRequestOfAFailedJob ends no prompt that waits to be sent again: it was opened before a person decided.
func TestPullRequestOfAFailedJob(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	put(t, r.store, "acme/api@5907854", func(record *once.Record) {
		record.State, record.Sends, record.JobID = once.Failed, 1, "job_1"
		record.Deadline = time.Now().Add(-time.Hour)
	})
	terminal{t, r.databaseURL}.wants(0, "retry", "-key", "acme/api@5907854", "-again")

	pr := markedPull()
	pr["user"] = fields{"login": "mintlify[bot]"}
	pr["created_at"] = time.Now().Add(-30 * time.Minute).Format(time.RFC3339)
	r.post("pull_request", event(t, fields{
		"action": "closed", "pull_request": pr, "repository": fields{"full_name": "acme/docs", "default_branch": "main"},
	}), nil)
	assert.Equal(t, once.Pending, r.record("acme/api@5907854").State)

	r.worker.Find = github.Docs{Queue: r.store}.Find
	r.follow("acme/api@5907854")
	assert.Equal(t, once.Pending, r.record("acme/api@5907854").State)
}

// show returns what fleet show says of the documentation's pull request.
func (r reviewed) show() string {
	return terminal{r.t, r.databaseURL}.wants(0, "show", "acme/docs#12")
}

// TestCommentThatDoesNothingIsShown, with why: somebody has meant it for the agent.
func TestCommentThatDoesNothingIsShown(t *testing.T) {
	t.Parallel()
	for body, isKept := range map[string]bool{
		"  /docs Mention --json.":          true,
		"\r\n\t/docs Mention --json.":      true,
		"> /docs Mention --json.":          true,
		">>/docs Mention --json.\n\nDone?": true,
		"`/docs Mention --json.`":          true,
		"```sh\n/docs Mention --json.":     true,
		"\"/docs Mention --json.\"":        true,
		"/docs":                            true,
		"Nice.\n/docs Mention --json.":     true,
		"> Nice.\n\n/docs Mention --json.": true,
		"```\ngo run\n/docs Mention it.":   true,
		"/docs-preview now":                false,
		"See /docs for more.":              false,
	} {
		r := newReviewed(t, "sqlite:"+sqliteFile(t))
		r.is(once.Done, docsPull)
		status, text := r.comment(reviewComment(fields{"body": body}, nil))
		assert.Equal(t, 200, status, body)
		assert.Contains(t, text, "does not begin with /docs and a request", body)
		assert.Empty(t, r.followUps(), body)

		leftOut, err := r.store.FindLeftOut(t.Context(), "acme/docs#12")
		require.NoError(t, err)
		assert.Equal(t, isKept, len(leftOut) == 1, body)
	}
}

// TestCommentOnAClosedPullRequest is left out, with a reason.
func TestCommentOnAClosedPullRequest(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	g := r.onGitHub()
	r.is(once.Done, docsPull)
	status, text := r.comment(reviewComment(nil, fields{"state": "closed"}))
	assert.Equal(t, 200, status)
	assert.Contains(t, text, "nothing to do: the pull request is closed")
	assert.Empty(t, r.followUps())
	assert.Contains(t, r.show(), "comment 5 by jane on acme/docs#12: the pull request is closed")
	assert.Equal(t, []string{`POST acme/docs/issues/comments/5/reactions {"content":"confused"}`}, g.saw())

	g.permission = "write"
	_, text = r.comment(reviewComment(nil, fields{"state": "open"}))
	assert.Contains(t, text, "enqueued")
}

// TestCanceledComment gets its reaction, whoever has canceled it: a person's command has no token.
func TestCanceledComment(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		g := r.onGitHub()
		g.permission = "write"
		const asks = "GET acme/docs/collaborators/jane/permission"
		r.is(once.Done, docsPull)
		r.comment(reviewComment(nil, nil))
		require.NoError(t, r.worker.MakePass(t.Context()))
		assert.Equal(t, []string{asks, `POST acme/docs/issues/comments/5/reactions {"content":"eyes"}`}, g.saw())

		terminal{t, url}.wants(0, "cancel", "-key", "acme/api@5907854#comment-5")
		for range 2 {
			require.NoError(t, r.worker.MakePass(t.Context()))
		}
		assert.Equal(t, []string{`POST acme/docs/issues/comments/5/reactions {"content":"confused"}`}, g.saw(), "once")

		r.is(once.Pending, "")
		r.comment(reviewComment(fields{"id": 6}, nil))
		terminal{t, url}.wants(0, "cancel", "-key", "acme/api@5907854")
		require.NoError(t, r.worker.MakePass(t.Context()))
		assert.Equal(t, []string{`POST acme/docs/issues/comments/6/reactions {"content":"confused"}`}, g.saw(),
			"the prompt that it waited for is canceled")
	})
}

// as returns the event with another action.
func as(action string, e fields) fields {
	e["action"] = action
	return e
}

// TestDeletedComment is not sent, if it waits still.
func TestDeletedComment(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		for _, name := range []string{"deleted", "edited"} {
			r := newReviewed(t, url)
			execute(t, r.store, "DELETE FROM fleet_prompts WHERE thread <> ''")
			execute(t, r.store, "DELETE FROM fleet_comment_events")
			deleted := func(id int) (int, string) {
				body := "/docs Mention --json in the tutorial, too."
				if name == "edited" {
					body = "Never mind."
				}
				return r.comment(as(name, reviewComment(fields{"id": id, "body": body}, nil)))
			}

			r.is(once.Running, "")
			r.comment(reviewComment(nil, nil))
			require.EqualValues(t, 1, kept(t, r.store))
			status, text := deleted(5)
			assert.Equal(t, 200, status)
			assert.Contains(t, text, "not sent: acme/api@5907854#comment-5")
			assert.Zero(t, kept(t, r.store))
			r.is(once.Done, docsPull)
			assert.Contains(t, r.show(), "comment 5 by jane on acme/docs#12: it was deleted, or asks for nothing any more")

			r.comment(reviewComment(fields{"id": 6}, nil))
			_, text = deleted(6)
			assert.Contains(t, text, "not sent: acme/api@5907854#comment-6")
			assert.Equal(t, once.Canceled, r.record("acme/api@5907854#comment-6").State)

			r.comment(reviewComment(fields{"id": 7}, nil))
			put(t, r.store, "acme/api@5907854#comment-7", func(record *once.Record) { record.State = once.Running })
			_, text = deleted(7)
			assert.Contains(t, text, "too late")
			assert.Contains(t, r.show(), "it was "+name+" too late: acme/api@5907854#comment-7 is running")

			_, text = deleted(8)
			assert.Contains(t, text, "nothing to do", "fleet knows no such comment")
		}
	})
}

// TestEditedComment is sent as it is now, if it waits still.
func TestEditedComment(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		edit := func(id int) string {
			_, text := r.comment(as("edited", reviewComment(fields{"id": id, "body": "/docs Mention --yaml."}, nil)))
			return text
		}
		const now = "jane reviews your pull request " + docsPull + " and asks for a change:\n\nMention --yaml."

		r.is(once.Running, "")
		r.comment(reviewComment(nil, nil))
		assert.Contains(t, edit(5), "changed: acme/api@5907854#comment-5")
		r.is(once.Done, docsPull)
		require.NoError(t, r.worker.MakePass(t.Context()))
		assert.Equal(t, now, r.record("acme/api@5907854#comment-5").Prompt)

		r.comment(reviewComment(fields{"id": 6}, nil))
		before := r.record("acme/api@5907854#comment-6")
		assert.Contains(t, edit(6), "changed: acme/api@5907854#comment-6")
		after := r.record("acme/api@5907854#comment-6")
		assert.Equal(t, now, after.Prompt)
		assert.Equal(t, before.Version+1, after.Version)
		r.comment(reviewComment(fields{"id": 6}, nil))
		assert.Equal(t, now, r.record("acme/api@5907854#comment-6").Prompt, "its first event was delivered again")

		put(t, r.store, "acme/api@5907854#comment-6", func(record *once.Record) { record.State = once.Sending })
		assert.Contains(t, edit(6), "changed: acme/api@5907854#comment-6", "it has that text already")
		r.comment(reviewComment(fields{"id": 7}, nil))
		put(t, r.store, "acme/api@5907854#comment-7", func(record *once.Record) { record.State = once.Sending })
		assert.Contains(t, edit(7), "too late")
		assert.NotEqual(t, now, r.record("acme/api@5907854#comment-7").Prompt)
		assert.Contains(t, r.show(), "it was edited too late: acme/api@5907854#comment-7 is sending")

		assert.Contains(t, edit(8), "nothing to do")
		assert.Contains(t, r.show(), "comment 8 by jane on acme/docs#12: it was edited, and only a new one counts")
	})
}

// TestCommentChangedWhileGitHubReacts: it is on its way into the queue, and neither sent after its deletion nor with its
// old text.
func TestCommentChangedWhileGitHubReacts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReviewed(t, url)
		g := r.onGitHub()
		g.permission = "write"
		r.is(once.Done, docsPull)

		g.reacting = func() { r.comment(as("deleted", reviewComment(nil, nil))) }
		r.comment(reviewComment(nil, nil))
		assert.Equal(t, once.Canceled, r.record("acme/api@5907854#comment-5").State)

		edited := as("edited", reviewComment(fields{"id": 6, "body": "/docs Mention --yaml."}, nil))
		g.reacting = func() { r.comment(edited) }
		r.comment(reviewComment(fields{"id": 6}, nil))
		assert.Contains(t, r.record("acme/api@5907854#comment-6").Prompt, "Mention --yaml.")
	})
}

// TestCommentEditedInItsTurn: fleet has asked the service already, and sends the new text all the same.
func TestCommentEditedInItsTurn(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.svc.svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: docsPull})
		hooks := github.NewWebhooks(b.Worker, testSecret, github.Projects{"": testProject}, merges.DefaultAuthors(), 2)
		comment := func(e fields) string {
			body := event(t, e)
			request := httptest.NewRequestWithContext(b.ctx, http.MethodPost, "/github", strings.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("X-GitHub-Event", "issue_comment")
			request.Header.Set("X-Hub-Signature-256", signature(body, testSecret))
			response := httptest.NewRecorder()
			hooks.Handler().ServeHTTP(response, request)
			return response.Body.String()
		}

		var edit sync.Once
		b.svc.fails = func(*http.Request) int {
			record, err := b.Records().Get(b.ctx, "acme/api@5907854#comment-5")
			if err == nil && record.State == once.Pending {
				edit.Do(func() {
					edited := as("edited", reviewComment(fields{"body": "/docs Mention --yaml."}, nil))
					assert.Contains(t, comment(edited), "changed")
				})
			}
			return 0
		}
		b.enqueue(database.Prompt{Key: "acme/api@5907854", Project: testProject, Prompt: "x"})
		time.Sleep(time.Minute)
		assert.Contains(t, comment(reviewComment(nil, nil)), "enqueued")
		time.Sleep(10 * time.Minute)

		var sent []string
		for _, r := range b.svc.svc.Requests() {
			if strings.HasSuffix(r.Path, "/message") {
				sent = append(sent, r.Prompt)
			}
		}
		require.Len(t, sent, 1)
		assert.Contains(t, sent[0], "Mention --yaml.")
	})
}

// TestEventsOfACommentInAnyOrder: a deletion is final, else the event with the newest time counts, of two with the same
// one that came last.
func TestEventsOfACommentInAnyOrder(t *testing.T) {
	at := time.Date(2026, 11, 29, 4, 0, 0, 0, time.UTC)
	comment := func(action, text string, seconds int) fields {
		e := reviewComment(fields{
			"body": text, "updated_at": at.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339),
		}, nil)
		e["action"] = action
		return e
	}
	created := comment("created", "/docs one", 0)
	edited := comment("edited", "/docs two", 10)
	editedAgain := comment("edited", "/docs three", 20)
	asksNothing := comment("edited", "never mind", 30)
	deleted := comment("deleted", "/docs one", 5)

	for name, c := range map[string]struct {
		events []fields
		want   string // "" if it is not sent
	}{
		"as they happened":               {[]fields{created, edited, editedAgain}, "three"},
		"edits the other way round":      {[]fields{created, editedAgain, edited}, "three"},
		"an edit before the creation":    {[]fields{edited, created}, "two"},
		"both edits before it":           {[]fields{editedAgain, edited, created}, "three"},
		"of two equal ones the last":     {[]fields{created, comment("edited", "/docs a", 10), comment("edited", "/docs b", 10)}, "b"},
		"edited to nothing before it":    {[]fields{asksNothing, created}, ""},
		"a deletion":                     {[]fields{created, deleted}, ""},
		"a deletion before the creation": {[]fields{deleted, created}, ""},
		"a deletion before an edit":      {[]fields{created, deleted, edited}, ""},
		"a creation that comes again":    {[]fields{created, edited, created}, "two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReviewed(t, "sqlite:"+sqliteFile(t))
			r.is(once.Done, docsPull)
			for _, e := range c.events {
				status, text := r.comment(e)
				assert.Less(t, status, 300, text)
			}

			sent := ""
			for _, row := range r.followUps() {
				if row.State == once.Pending {
					_, sent, _ = strings.Cut(row.Prompt, "\n\n")
				}
			}
			assert.Equal(t, c.want, sent)
		})
	}
}

// TestRequestsElsewhere: a review, and a comment on a line, have no conversation; a comment in HTML asks for nothing.
func TestRequestsElsewhere(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, "sqlite:"+sqliteFile(t))
	r.is(once.Done, docsPull)
	pr := fields{"number": 12}
	repo := fields{"full_name": "acme/docs"}
	text := fields{"id": 77, "body": "/docs Mention it.", "user": fields{"login": "jane"}}
	for kind, name := range map[string]string{"pull_request_review": "review", "pull_request_review_comment": "comment"} {
		status, _ := r.post(kind, event(t, fields{"action": "submitted", name: text, "pull_request": pr, "repository": repo}), nil)
		assert.Equal(t, http.StatusOK, status)
	}
	r.comment(reviewComment(fields{"id": 78, "body": "/docs <!-- write\nhere -->"}, nil))
	assert.Empty(t, r.followUps())

	shown := r.show()
	assert.Contains(t, shown, "comment 77 by jane on acme/docs#12: only comments of the conversation count")
	assert.Contains(t, shown, "comment 78 by jane on acme/docs#12: the comment does not begin with /docs and a request")
}

//go:build unix

package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/once"
)

// notebook has a teller that keeps what it is told.
type notebook struct {
	rows  []database.Row
	tells int
	fails error
}

func (n *notebook) tell(_ context.Context, rows []database.Row) (told []database.Row, err error) {
	n.tells++
	if n.fails != nil {
		return nil, n.fails
	}
	n.rows = append(n.rows, rows...)
	return rows, nil
}

// TestResultsAreGathered: the first goes at once, all of the next minute together, and
// what fails is told again within 100 s.
func TestResultsAreGathered(t *testing.T) {
	inBubble(t, func(b *bench) {
		told := &notebook{}
		tell := queue.NewWorker(b.Queue, nil, told.tell)
		work := func() time.Duration {
			err := tell.Tell(b.ctx, nil)
			if snooze, found := errors.AsType[*river.JobSnoozeError](err); found {
				return snooze.Duration
			}
			require.NoError(b.t, err)
			return 0
		}
		b.stop() // its pass would have results told, too
		assert.Zero(t, work(), "nothing to tell")

		_, err := b.Enqueue(b.ctx, prompts(4, 1)...)
		require.NoError(t, err)
		end := func(i int, state once.State) {
			put(b.t, b.Queue, promptOf(i, "").Key, func(r *once.Record) { r.State, r.UpdatedAt = state, time.Now() })
		}
		end(0, once.Done)
		wait := work()
		require.Len(t, told.rows, 1)
		assert.Equal(t, time.Minute, wait)

		end(1, once.Failed)
		end(2, once.Unknown)
		time.Sleep(wait) // until then the job is there, so that no other is inserted
		wait = work()
		assert.Equal(t, 2, told.tells)
		assert.Len(t, told.rows, 3)

		end(3, once.Refused)
		told.fails = errors.New("nobody there")
		time.Sleep(wait)
		assert.LessOrEqual(t, work(), 95*time.Second, "River may take 5 s more")

		time.Sleep(80 * time.Second)
		told.fails = nil
		assert.Equal(t, time.Minute, work())
		assert.Len(t, told.rows, 4)
		assert.Zero(t, work(), "each once")
	})
}

// TestFailingResultsHoldUpNoOther: those that cannot be told take turns with those that can.
func TestFailingResultsHoldUpNoOther(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.stop()
		_, err := b.Enqueue(b.ctx, prompts(50, 1)...)
		require.NoError(t, err)
		for i := range 50 {
			put(b.t, b.Queue, promptOf(i, "").Key, func(r *once.Record) {
				r.State = once.Done
				r.UpdatedAt = time.Now()
			})
			time.Sleep(time.Second)
		}

		last := promptOf(49, "").Key
		tries := map[string]int{}
		tell := queue.NewWorker(b.Queue, nil, func(_ context.Context, rows []database.Row) ([]database.Row, error) {
			for _, r := range rows {
				tries[r.Key]++
				if r.Key == last {
					return []database.Row{r}, errors.New("the others cannot be told")
				}
			}
			return nil, errors.New("none can be told")
		})
		for range 9 {
			_ = tell.Tell(b.ctx, nil)
			time.Sleep(time.Minute)
		}
		assert.Equal(t, 1, tries[last], "told in the third message, and only once")
		for i := range 49 {
			assert.InDelta(t, 3.5, tries[promptOf(i, "").Key], 0.5, "each is tried as often as the others")
		}
	})
}

func tellerOf(t *testing.T, environment map[string]string) queue.Teller {
	getenv := func(name string) string { return environment[name] }
	api, err := newAPI(getenv)
	require.NoError(t, err)
	told, err := newTeller(getenv, api)
	require.NoError(t, err)
	return told
}

func resultOfA(state once.State, change func(*database.Row)) database.Row {
	r := database.Row{Record: once.Record{Task: once.Task{Key: "k"}, State: state}}
	if change != nil {
		change(&r)
	}
	return r
}

var testResult = resultOfA(once.Done, func(r *database.Row) {
	r.PRLink, r.Pulls = "https://github.com/acme/docs/pull/9", "acme/repo#7 acme/repo#8"
})

func TestResultsToAWebhook(t *testing.T) {
	s := newGitHub(t)
	tell := tellerOf(t, map[string]string{"FLEET_RESULTS_URL": s.URL + "/T0/secret", "FLEET_GITHUB_TOKEN": "x"})
	hostile := resultOfA(once.Failed, func(r *database.Row) { r.Problem = "<!channel> & `more`\nlines" })
	told, err := tell(t.Context(), []database.Row{testResult, hostile})
	require.NoError(t, err)
	assert.Len(t, told, 2)
	requests := s.saw()
	require.Len(t, requests, 1)
	body, found := strings.CutPrefix(requests[0], "POST /T0/secret ")
	assert.True(t, found, requests)
	assert.JSONEq(t, `{"text":"Docs for k: done, https://github.com/acme/docs/pull/9\n`+
		"Docs for k: failed: `&lt;!channel&gt; &amp; 'more' lines`"+`"}`, body)
}

// TestRedirectsAreFailures: what follows one may be a page that says 200 to anything.
func TestRedirectsAreFailures(t *testing.T) {
	elsewhere, s := newGitHub(t), newGitHub(t)
	s.status, s.location = http.StatusFound, elsewhere.URL
	for _, environment := range []map[string]string{
		{"FLEET_RESULTS_URL": s.URL + "/secret"}, {"FLEET_GITHUB_TOKEN": "ghp_x", "GITHUB_API_URL": s.URL},
	} {
		told, err := tellerOf(t, environment)(t.Context(), []database.Row{testResult})
		require.Error(t, err)
		assert.Empty(t, told)
		assert.NotContains(t, err.Error(), "secret")
	}
	assert.Empty(t, elsewhere.saw())
}

func TestResultsURLIsASecret(t *testing.T) {
	s := newGitHub(t)
	s.status = http.StatusInternalServerError
	tell := tellerOf(t, map[string]string{"FLEET_RESULTS_URL": s.URL + "/T0/secret"})
	_, refused := tell(t.Context(), []database.Row{testResult})
	require.ErrorContains(t, refused, "500")

	s.Close()
	_, down := tell(t.Context(), []database.Row{testResult})
	require.Error(t, down)

	_, malformed := newTeller(func(string) string { return "T0/secret" }, nil)
	require.Error(t, malformed)

	for _, err := range []error{refused, down, malformed} {
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestResultsAsComments(t *testing.T) {
	s := newGitHub(t)
	tell := tellerOf(t, map[string]string{"FLEET_GITHUB_TOKEN": "ghp_x", "GITHUB_API_URL": s.URL})
	_, err := tell(t.Context(), []database.Row{testResult, resultOfA(once.Done, nil)})
	require.NoError(t, err)
	const comment = `{"body":"Docs for k: done, https://github.com/acme/docs/pull/9"}`
	assert.Equal(t, []string{
		"POST acme/repo/issues/7/comments " + comment, "POST acme/repo/issues/8/comments " + comment,
	}, s.saw())
	assert.Equal(t, "Bearer ghp_x", s.token)

	s.status = 403
	another := testResult
	another.Version++
	told, err := tell(t.Context(), []database.Row{another, resultOfA(once.Done, nil)})
	require.Error(t, err)
	assert.Len(t, told, 1, "it keeps no other from being told")
	assert.NotContains(t, err.Error(), "ghp_x")
}

// TestCommentIsMadeOnce though another pull request of the result fails.
func TestCommentIsMadeOnce(t *testing.T) {
	g := newGitHub(t)
	g.broken = "issues/8"
	api := g.api(t)
	row := testResult
	row.Pulls = "acme/repo#7 acme/repo#8 acme/repo#9"
	comments := func() (numbers string) {
		for _, request := range g.saw() {
			numbers += strings.Split(request, "/")[3]
		}
		return numbers
	}

	for _, want := range []string{"789", "8"} {
		told, err := api.Tell(t.Context(), []database.Row{row})
		require.ErrorContains(t, err, "comment on acme/repo#8")
		assert.Empty(t, told)
		assert.Equal(t, want, comments())
	}

	g.broken = ""
	for _, want := range []string{"8", ""} {
		told, err := api.Tell(t.Context(), []database.Row{row})
		require.NoError(t, err)
		assert.Len(t, told, 1)
		assert.Equal(t, want, comments())
	}

	row.Version++
	_, err := api.Tell(t.Context(), []database.Row{row})
	require.NoError(t, err)
	assert.Equal(t, "789", comments(), "another result")
}

func TestSentences(t *testing.T) {
	for want, r := range map[string]database.Row{
		"without a pull request":          resultOfA(once.Done, nil),
		"failed: `the agent's words`":     resultOfA(once.Failed, func(r *database.Row) { r.Problem = "the agent's words" }),
		"refused: `too long`":             resultOfA(once.Refused, func(r *database.Row) { r.Problem = "too long" }),
		"it is unknown whether the agent": resultOfA(once.Unknown, nil),
		"for more than a day":             resultOfA(once.Running, nil),
		"…`":                              resultOfA(once.Failed, func(r *database.Row) { r.Problem = strings.Repeat("x", 1000) }),
	} {
		assert.Contains(t, queue.Sentence(r), want)
	}
}

// TestRefusedResultIsNamedAtOnce: GitHub refuses it, so that status and show need not wait for an hour.
func TestRefusedResultIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	g := newGitHub(t)
	prompt := promptOf(1, testProject)
	prompt.Pull = "acme/repo#7"
	add(t, s, prompt)
	put(t, s, prompt.Key, func(r *once.Record) { r.State, r.UpdatedAt = once.Done, time.Now() })
	tell := queue.NewWorker(s, nil, g.api(t).Tell)

	g.status = http.StatusBadGateway
	require.Error(t, tell.Tell(t.Context(), nil), "River comes again")
	assert.NotContains(t, c.wants(0, "status"), "could not be told")
	g.status = http.StatusForbidden
	_ = tell.Tell(t.Context(), nil)
	assert.Regexp(t, `its result could not be told: comment on acme/repo#7: .*403`, c.wants(0, "status"))
	assert.Regexp(t, `untold +comment on acme/repo#7: .*403`, c.wants(0, "show", prompt.Key))

	g.status = 0
	_ = tell.Tell(t.Context(), nil)
	assert.NotContains(t, c.wants(0, "status")+c.wants(0, "show", prompt.Key), "403")
}

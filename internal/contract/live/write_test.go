package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

func TestItAsksAsPackageOnceDoes(t *testing.T) {
	svc := newService()
	session{service: svc, args: []string{"-yes", "-job"}}.run(t)
	prompt := promptOf(svc)
	require.Contains(t, prompt, "Add one line to a page named docs-sdk-check.")

	other := mintlifytest.NewService()
	store, err := once.NewDir(t.TempDir())
	require.NoError(t, err)
	runner, err := once.New(other.Client(), store)
	require.NoError(t, err)
	task := once.Task{Key: markerKey, Prompt: "Add one line to a page named docs-sdk-check."}
	_, err = runner.Do(t.Context(), task)
	require.NoError(t, err)
	assert.Equal(t, promptOf(other), prompt)

	asked := other.Requests()[0].Path
	isAsked := func(request mintlifytest.Request) bool { return request.Path == asked }
	assert.True(t, slices.ContainsFunc(svc.Requests(), isAsked), "%s, before a prompt", asked)
}

// The rows about asking first go by the rule of package once itself.
func TestAStatusThatStopsPackageOnceDiffers(t *testing.T) {
	for status := 200; status < 600; status++ {
		if http.StatusText(status) == "" && status != 499 {
			continue
		}

		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpGetJob, 9, mintlifytest.Fault{Status: status, Body: `{"id":"x","status":"completed"}`})
		store, err := once.NewDir(t.TempDir())
		require.NoError(t, err)
		runner, err := once.New(svc.Client(), store)
		require.NoError(t, err)

		_, _, err = runner.Add(t.Context(), once.Task{Key: markerKey, Prompt: "x"})
		require.NoError(t, err)
		_, _ = runner.Step(t.Context(), markerKey) // what counts is what was sent
		sends := creations(svc) > 0
		assert.Equal(t, sends, !provesNothing(status), status)
	}
}

// promptOf returns the first prompt that came.
func promptOf(svc *mintlifytest.Service) string {
	for _, request := range svc.Requests() {
		if request.Prompt != "" {
			return request.Prompt
		}
	}
	return ""
}

func TestTheMarkerIsReadFromThePullRequest(t *testing.T) {
	for name, test := range map[string]struct {
		description string
		status      int
		result      result
	}{
		"as asked for":      {"What the agent did.\n\ndocs-job: docs-sdk-check@1", 200, asExpected},
		"in Markdown":       {"What the agent did.\n\n> **docs-job:** `docs-sdk-check@1`", 200, asExpected},
		"not there":         {"What the agent did.", 200, differs},
		"of something else": {"docs-job: other", 200, differs},
		"no description":    {"", 200, differs},
		"not to be seen":    {"docs-job: docs-sdk-check@1", 404, notTried},
	} {
		t.Run(name, func(t *testing.T) {
			gitHub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/repos/example/docs/pulls/1", r.URL.Path)
				assert.Equal(t, "Bearer planted-token", r.Header.Get("Authorization"))
				w.WriteHeader(test.status)
				_ = json.NewEncoder(w).Encode(map[string]string{"body": test.description})
			}))
			defer gitHub.Close()

			t.Setenv("GITHUB_TOKEN", "planted-token")
			t.Setenv("GITHUB_API_URL", gitHub.URL)
			got := session{service: newService(), args: []string{"-yes", "-job"}}.run(t)
			assert.Equal(t, string(test.result), find(t, got.report, expectMarker).result)
			assert.NotContains(t, got.report, "What the agent did")
			assert.NotContains(t, got.report, "planted")
		})
	}
}

func TestTheTokenGoesToGitHubAlone(t *testing.T) {
	for _, link := range []string{
		"https://gitlab.com/example/docs/-/merge_requests/7", "https://evil.example.com/example/docs/pull/7",
		"https://github.com/example/docs/issues/7", "https://github.com/../docs/pull/x", ":", "not a link",
	} {
		_, err := describing(t.Context(), link, "token")
		assert.Error(t, err, link)
	}
}

func TestWithoutATokenAPersonIsAskedForTheMarker(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "")
	for typed, want := range map[string]result{"y": asExpected, "yes": asExpected, "n": differs, "": notTried} {
		got := session{service: newService(), args: []string{"-job"}, typed: "y\n" + typed + "\n"}.run(t)
		assert.Equal(t, string(want), find(t, got.report, expectMarker).result, typed)
		assert.Contains(t, got.stderr, "https://github.com/example/docs/pull/1")
	}
}

func TestAKeyThatMayWriteIsNotAReader(t *testing.T) {
	setVariable(t, "MINTLIFY_READ_ONLY_KEY", mintlifytest.APIKey)
	svc := newService()
	got := session{service: svc, args: []string{"-yes", "-scope"}}.run(t)
	assert.Equal(t, []expectation{expectScope}, differing(t, got.report))
	assert.Equal(t, "404", find(t, got.report, expectScope).came)
	for _, request := range svc.Requests() {
		isPost := request.Method == http.MethodPost
		assert.False(t, isPost && request.Acted, "it is a message to a job that does not exist")
	}
}

func TestAJobWithoutAPullRequestHasNoMarker(t *testing.T) {
	svc := newService()
	svc.ScriptJob(mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobCompleted})
	got := session{service: svc, args: []string{"-yes", "-job"}}.run(t)
	assert.Equal(t, exitAsExpected, got.code)
	assert.Equal(t, "the job has no pull request", find(t, got.report, expectMarker).came)
}

func TestAJobThatFailsHasEnded(t *testing.T) {
	svc := newService()
	svc.ScriptJob(mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobFailed})
	got := session{service: svc, args: []string{"-yes", "-job"}}.run(t)
	assert.Equal(t, exitAsExpected, got.code)
	assert.Equal(t, "active, then failed, in 0s", find(t, got.report, expectJobEnds).came)
}

func TestAJobThatIsNotCreatedIsNotWaitedFor(t *testing.T) {
	for _, status := range []int{429, 500} {
		svc := newService()
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{
			Status: status, Body: `{"error":"planted words"}`, Header: http.Header{"Retry-After": {"60"}},
		})
		got := session{service: svc, args: []string{"-yes", "-job", "-message"}}.run(t)
		assert.Equal(t, "the job was not created", find(t, got.report, expectJobEnds).came)
		assert.Equal(t, "no job's id is known", find(t, got.report, expectActiveAgain).came)
		assert.NotContains(t, got.report, "planted")
		assert.Equal(t, 1, creations(svc), "a POST is made once")
	}
}

func creations(svc *mintlifytest.Service) int {
	n := 0
	for _, request := range svc.Requests() {
		if request.Operation == mintlify.OpCreateJob {
			n++
		}
	}
	return n
}

func TestAnEarlierEndIsNotTakenForTheMessagesOwn(t *testing.T) {
	svc := newService()
	svc.ScriptJob(
		mintlifytest.JobStep{Status: mintlify.JobCompleted},
		mintlifytest.JobStep{Status: mintlify.JobCompleted}, // the first poll after the message
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Status: mintlify.JobFailed},
	)
	got := session{service: svc, args: []string{"-yes", "-job", "-message"}}.run(t)
	assert.Equal(t, "seen after 0s", find(t, got.report, expectActiveAgain).came)
	assert.Equal(t, "completed, then active, then failed, in 0s", find(t, got.report, expectMessageEnds).came)
}

func TestAJobHas30SecondsToBeActiveAgain(t *testing.T) {
	over := &mintlify.WaitError{}
	for name, test := range map[string]struct {
		wait wait
		want result
	}{
		"at once":         {wait{active: 0}, asExpected},
		"after 30 s":      {wait{active: 30 * time.Second}, asExpected},
		"after 31 s":      {wait{active: 31 * time.Second}, differs},
		"never":           {wait{active: -1}, differs},
		"not yet":         {wait{active: -1, err: over}, notTried},
		"not interrupted": {wait{active: -1, interrupted: true}, notTried},
	} {
		c := &check{report: newReport()}
		c.judgeActive(&test.wait)
		assert.Equal(t, test.want, c.report.row(expectActiveAgain).result, name)
	}
}

func TestAnIDIsLikeTheKnownOne(t *testing.T) {
	for _, id := range []string{
		"", "01JHZX3V5Q8E9RATBWGK2MCN4D", "66f0a1b2c3d4e5f601020304", "0b6ef8a2-3c41-4d2b-9f10-8a7b6c5d4e3f", "job_1",
	} {
		like := idLike(id)
		assert.NotEqual(t, id, like)
		if id == "" {
			assert.Len(t, like, 36)
			continue
		}

		kinds := func(r rune) rune {
			switch {
			case r >= '0' && r <= '9':
				return '0'
			case r >= 'a' && r <= 'z':
				return 'a'
			case r >= 'A' && r <= 'Z':
				return 'A'
			}
			return r
		}
		assert.Equal(t, strings.Map(kinds, id), strings.Map(kinds, like))
	}
}

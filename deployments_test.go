package mintlify_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestTriggerUpdate(t *testing.T) {
	rt := kit.NewRecording(kit.RespondWith(202, `{"statusId":"dep_1"}`))
	queued, err := kit.NewClient(t, rt).Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)
	assert.Equal(t, &mintlify.QueuedDeployment{ID: "dep_1"}, queued)
	assert.Equal(t, "POST /v1/project/update/proj", rt.Last().Method+" "+rt.Last().URL.EscapedPath())
	kit.AssertRoundTrip(t, queued)

	assert.Empty(t, rt.Last().Text)
	assert.Zero(t, rt.Last().ContentLength)
	assert.Empty(t, rt.Last().Header.Get("Content-Type"))
}

func TestTriggerPreview(t *testing.T) {
	taken := kit.RespondWith(202, `{"statusId":"dep_1","previewUrl":"https://acme-docs.example.app"}`)
	rt := kit.NewRecording(taken)
	client := kit.NewClient(t, rt)
	queued, err := client.Deployments.TriggerPreview(t.Context(), mintlify.TriggerPreviewParams{Branch: "docs/<new>"})
	require.NoError(t, err)
	assert.Equal(t, &mintlify.QueuedDeployment{ID: "dep_1", PreviewURL: "https://acme-docs.example.app"}, queued)
	assert.Equal(t, "/v1/project/preview/proj", rt.Last().URL.EscapedPath())
	assert.Equal(t, `{"branch":"docs/<new>"}`, rt.Last().Text)

	for _, branch := range []string{"", " \t", "\xff"} {
		_, err = client.Deployments.TriggerPreview(t.Context(), mintlify.TriggerPreviewParams{Branch: branch})
		kit.RequireArgumentError(t, err, "branch")
	}
}

func TestTriggerErrorsSpeakOfWhatWasTried(t *testing.T) {
	for status, body := range map[int]string{400: "", 402: "", 404: "", 413: "", 429: "", 500: "", 202: "<html>"} {
		client := kit.NewClient(t, kit.RespondWith(status, body), mintlify.WithMaxRetries(0))
		for _, op := range operations.All() {
			if !op.IsPost() || kit.ReturnsJob(op) {
				continue
			}
			err := op.Do(t.Context(), client)
			require.ErrorContains(t, err, op.String())
			assert.NotContains(t, err.Error(), "prompt")
			assert.NotContains(t, err.Error(), "job id")
			assert.Equal(t, status == 500 || status == 202, kit.IsOutcomeUnknown(err), "%v", err)
		}
	}
}

func TestQueuedDeploymentThatIsNotWhatTheInterfacePromises(t *testing.T) {
	for body, id := range map[string]string{
		"[]":                                "",
		`{"statusId":5.5}`:                  "",
		`{"statusId":""}`:                   "",
		`{"statusId":"dep_1","previewUrl":`: "dep_1",
		`{"statusId":"dep_1"} x`:            "dep_1",
	} {
		client := kit.NewClient(t, kit.RespondWith(202, body))
		queued, err := client.Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse, body)
		require.True(t, kit.IsOutcomeUnknown(err))

		if id == "" {
			assert.Nil(t, queued)
			continue
		}
		require.NotNil(t, queued, body)
		assert.Equal(t, id, queued.ID)
		assert.ErrorContains(t, err, "deployment dep_1 was queued")
	}
}

const deploymentJSON = `{"_id":"dep_1","projectId":"p","status":"failure","summary":"links are broken","logs":["a","b"],
	"createdAt":"2026-03-05T12:00:00.000Z","endedAt":"2026-03-05T14:00:00+02:00","subdomain":"acme",
	"screenshot":"s","screenshotLight":"l","screenshotDark":"d",
	"author":{"name":"Ann","avatarUrl":"u","githubUserId":7.0},
	"commit":{"sha":"5907854","ref":"main","message":"m","filesChanged":{"added":["a"],"modified":[],"removed":null}},
	"source":"bitbucket"}`

func TestDeploymentOfOtherTypes(t *testing.T) {
	client := kit.NewClient(t, kit.RespondWith(200, `{"statusId":68,"_id":68,"projectId":7,"status":"SUCCESS"}`))
	queued, err := client.Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)
	assert.Equal(t, "68", queued.ID)

	deployment, err := client.Deployments.WaitUntilDone(t.Context(), queued.ID)
	require.NoError(t, err)
	assert.Equal(t, &mintlify.Deployment{ID: "68", ProjectID: "7", Status: mintlify.DeploymentSucceeded}, deployment)
}

func TestDeploymentsGet(t *testing.T) {
	rt := kit.NewRecording(kit.RespondWith(200, deploymentJSON))
	deployment, err := kit.NewClient(t, rt).Deployments.Get(t.Context(), "dep/1")
	require.NoError(t, err)

	assert.Equal(t, http.MethodGet, rt.Last().Method)
	assert.Equal(t, "/v1/project/update-status/dep%2F1", rt.Last().URL.EscapedPath(), "no project in the path")
	assert.Equal(t, &mintlify.Deployment{
		ID:        "dep_1",
		ProjectID: "p",
		Status:    mintlify.DeploymentFailed,
		Summary:   "links are broken",
		Logs:      []string{"a", "b"},
		Subdomain: "acme",
		Source:    "bitbucket",
		Commit: mintlify.DeploymentCommit{
			SHA:          "5907854",
			Ref:          "main",
			Message:      "m",
			FilesChanged: mintlify.DeploymentFiles{Added: []string{"a"}, Modified: []string{}},
		},
		Author:          mintlify.DeploymentAuthor{Name: "Ann", AvatarURL: "u", GitHubUserID: 7},
		Screenshot:      "s",
		ScreenshotLight: "l",
		ScreenshotDark:  "d",
		CreatedAt:       kit.Noon,
		EndedAt:         kit.Noon,
	}, deployment)
	kit.AssertRoundTrip(t, deployment)
}

func TestOddOptionalFieldsNeverCostTheDeployment(t *testing.T) {
	for _, odd := range []string{
		`"author":"Ann"`,
		`"author":null`,
		`"author":5`,
		`"logs":"none"`,
		`"logs":[5]`,
		`"logs":null`,
		`"commit":"5907854"`,
		`"commit":null`,
		`"commit":{"filesChanged":[]}`,
		`"commit":{"filesChanged":{"added":"a"}}`,
		`"createdAt":5`,
		`"endedAt":""`,
		`"summary":{}`,
		`"source":null`,
	} {
		body := `{` + odd + `,"_id":"dep_1","status":"queued"}`
		deployment, err := kit.NewClient(t, kit.RespondWith(200, body)).Deployments.Get(t.Context(), "dep_1")
		require.NoError(t, err, odd)
		assert.Equal(t, "dep_1", deployment.ID)
		assert.Equal(t, mintlify.DeploymentQueued, deployment.Status)
	}

	named := kit.RespondWith(200, `{"_id":"d","status":"queued","author":"Ann"}`)
	deployment, err := kit.NewClient(t, named).Deployments.Get(t.Context(), "d")
	require.NoError(t, err)
	assert.Equal(t, "Ann", deployment.Author.Name)
}

// deploymentOf is a service whose deployment has these statuses, poll by poll. If a status is
// empty, the connection is lost.
func deploymentOf(statuses ...string) *kit.Recording {
	rt := kit.NewRecording()
	for _, status := range statuses {
		step := kit.RespondWith(200, `{"_id":"dep_1","status":"`+status+`","summary":"links are broken","logs":["a"]}`)
		if status == "" {
			step = kit.FailWith(errors.New("connection reset"))
		}
		rt.Steps = append(rt.Steps, step)
	}
	return rt
}

func TestDeploymentsWaitUntilDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := deploymentOf("queued", "", "in_progress", "paused", "success")
		start := time.Now()
		var polls []mintlify.Poll
		var records []slog.Record
		client := kit.NewClient(t, rt, kit.LogRecords(&records))
		deployment, err := client.Deployments.WaitUntilDone(t.Context(), "dep_1", kit.KeepPolls(&polls))
		require.NoError(t, err)
		assert.Equal(t, mintlify.DeploymentSucceeded, deployment.Status)
		assert.InDelta(t, 20, time.Since(start).Seconds(), 2, "the schedule of a job")
		warnings := kit.Logged(records, "unknown status")
		require.Len(t, warnings, 1)
		assert.Equal(t, "paused", warnings[0]["status"])

		var seen []mintlify.DeploymentStatus
		for _, poll := range polls {
			assert.Zero(t, poll.Job)
			assert.Equal(t, string(poll.Deployment.Status), poll.Status)
			seen = append(seen, poll.Deployment.Status)
		}
		assert.Equal(t, []mintlify.DeploymentStatus{"queued", "queued", "in_progress", "paused", "success"}, seen)
	})
}

func TestDeploymentsWaitUntilDoneReturnsTheFailedDeployment(t *testing.T) {
	deployment, err := kit.NewClient(t, deploymentOf("failure")).Deployments.WaitUntilDone(t.Context(), "dep_1")
	require.ErrorIs(t, err, mintlify.ErrDeploymentFailed)
	require.NotErrorIs(t, err, mintlify.ErrJobFailed)
	assert.EqualError(t, err, "mintlify: deployment dep_1 failed: links are broken")
	require.NotNil(t, deployment)
	assert.Equal(t, []string{"a"}, deployment.Logs)

	failed := kit.RequireAs[*mintlify.DeploymentFailedError](t, err)
	assert.Same(t, deployment, failed.Deployment)

	_, again := mintlify.RetryAfter(err)
	assert.False(t, again)
}

func TestDeploymentsWaitThatIsInterruptedHasTheDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kit.NewClient(t, deploymentOf("in_progress", ""))
		deployment, err := client.Deployments.WaitUntilDone(t.Context(), "dep_1")
		waitErr := kit.RequireAs[*mintlify.WaitError](t, err)
		assert.Equal(t, *deployment, waitErr.Deployment)
		assert.Zero(t, waitErr.Job)
		assert.ErrorContains(t, err, "wait for deployment dep_1: polls have failed for 10m")
		assert.ErrorContains(t, err, "last seen in_progress")
	})
}

func TestDeploymentsPoll(t *testing.T) {
	rt := deploymentOf("queued", "", "failure")
	client := kit.NewClient(t, rt)

	poll, err := client.Deployments.Poll(t.Context(), "dep_1", 10*time.Minute)
	require.NoError(t, err)
	assert.Equal(t, mintlify.DeploymentQueued, poll.Deployment.Status)
	assert.InDelta(t, 30, poll.Next.Seconds(), 3.1)

	poll, err = client.Deployments.Poll(t.Context(), "dep_1", 0)
	require.NoError(t, err)
	assert.Error(t, poll.Err)
	assert.Zero(t, poll.Deployment)
	assert.Positive(t, poll.Next)

	poll, err = client.Deployments.Poll(t.Context(), "dep_1", 0)
	require.ErrorIs(t, err, mintlify.ErrDeploymentFailed)
	assert.Zero(t, poll.Next)
	assert.Equal(t, 3, rt.Count(), "one request a poll")
}

func TestKeyThatABuildHasPrintedIsRedacted(t *testing.T) {
	body := `{"_id":"dep_1","status":"failure","summary":"bad key ` + kit.Key + `",` +
		`"logs":["MINTLIFY_API_KEY=` + kit.Key + `"`
	logs := strings.Repeat(`,"compiling `+strings.Repeat("x", 80)+`"`, 1<<17)

	for name, rt := range map[string]kit.Transport{
		"whole":                kit.RespondWith(200, body+"]}"),
		"oversized":            kit.RespondWith(200, body+logs+"]}"),
		"truncated":            kit.BreakOff(200, body+`,"compil`),
		"truncated in the key": kit.BreakOff(200, body+`,"`+kit.Key[:len(kit.Key)-1]),
	} {
		t.Run(name, func(t *testing.T) {
			deployment, err := kit.NewClient(t, rt).Deployments.WaitUntilDone(t.Context(), "dep_1")
			require.ErrorIs(t, err, mintlify.ErrDeploymentFailed)
			assert.NotContains(t, err.Error(), "secret")
			assert.Equal(t, "bad key [API key]", deployment.Summary)
			require.NotEmpty(t, deployment.Logs)
			assert.Equal(t, "MINTLIFY_API_KEY=[API key]", deployment.Logs[0])
			assert.NotContains(t, strings.Join(deployment.Logs, " "), "secret")
		})
	}
}

// A deployment may have no id, and its logs may have any size.
func TestWaitEndsWithADeploymentThatCannotBeReadWhole(t *testing.T) {
	logs := strings.Repeat(`"compiling `+strings.Repeat("x", 80)+`",`, 1<<17)
	for name, tc := range map[string]struct {
		rt   kit.Transport
		logs int // at least
	}{
		"no id":     {kit.RespondWith(200, `{"status":"failure","logs":["oh"]}`), 1},
		"oversized": {kit.RespondWith(200, `{"status":"failure","_id":"d","logs":[`+logs+`"oh"]}`), 100_000},
		"truncated": {kit.BreakOff(200, `{"status":"failure","logs":["compiling","broken","by t`), 2},
	} {
		t.Run(name, func(t *testing.T) {
			rt := kit.NewRecording(tc.rt)
			deployment, err := kit.NewClient(t, rt).Deployments.WaitUntilDone(t.Context(), "d")
			require.ErrorIs(t, err, mintlify.ErrDeploymentFailed)
			assert.Equal(t, "d", deployment.ID)
			assert.Equal(t, mintlify.DeploymentFailed, deployment.Status)
			assert.GreaterOrEqual(t, len(deployment.Logs), tc.logs)
			assert.Equal(t, 1, rt.Count())

			failed := kit.RequireAs[*mintlify.DeploymentFailedError](t, err)
			assert.Same(t, deployment, failed.Deployment)
		})
	}
}

// A status that is not terminal can wait: the next poll brings one, too.
func TestWaitGoesOnAfterADeploymentThatCannotBeReadWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := kit.NewRecording(
			kit.BreakOff(200, `{"status":"queued","logs":["comp`),
			kit.BreakOff(200, `{"logs":["comp`),
			kit.RespondWith(200, `{"status":"success"}`))
		_, err := kit.NewClient(t, rt).Deployments.WaitUntilDone(t.Context(), "d")
		require.NoError(t, err)
		assert.Equal(t, 3, rt.Count())
	})
}

func TestWaitEndsWithASkippedDeployment(t *testing.T) {
	assert.True(t, mintlify.DeploymentSkipped.IsTerminal())

	svc := mintlifytest.NewService()
	svc.AddDeployment("d", mintlifytest.DeploymentStep{}, mintlifytest.DeploymentStep{Status: "skipped"})
	deployment, err := svc.Client().Deployments.WaitUntilDone(t.Context(), "d")
	require.NoError(t, err)
	assert.Equal(t, mintlify.DeploymentSkipped, deployment.Status)
	assert.NotZero(t, deployment.EndedAt)
}

package mintlifytest_test

import (
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestDeployments(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	svc.ScriptDeployment(
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentQueued},
		mintlifytest.DeploymentStep{Fault: &mintlifytest.Fault{Status: 502}},
		mintlifytest.DeploymentStep{},
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentFailed, Summary: "broken", Logs: []string{"a", "b"}})

	queued, err := client.Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)
	var seen []mintlify.DeploymentStatus
	keep := mintlify.WithOnPoll(func(p mintlify.Poll) { seen = append(seen, p.Deployment.Status) })
	deployment, err := client.Deployments.WaitUntilDone(t.Context(), queued.ID, keep)
	require.ErrorIs(t, err, mintlify.ErrDeploymentFailed)
	assert.Equal(t, []mintlify.DeploymentStatus{"queued", "queued", "in_progress", "failure"}, seen)
	assert.Equal(t, []string{"a", "b"}, deployment.Logs)
	assert.Equal(t, "broken", deployment.Summary)
	assert.False(t, deployment.EndedAt.IsZero())
	assert.Equal(t, []mintlify.Deployment{*deployment}, svc.Deployments())

	preview, err := client.Deployments.TriggerPreview(t.Context(), mintlify.TriggerPreviewParams{Branch: "b"})
	require.NoError(t, err)
	again, err := client.Deployments.TriggerPreview(t.Context(), mintlify.TriggerPreviewParams{Branch: "b"})
	require.NoError(t, err)
	other, err := client.Deployments.TriggerPreview(t.Context(), mintlify.TriggerPreviewParams{Branch: "c"})
	require.NoError(t, err)
	assert.Equal(t, preview.PreviewURL, again.PreviewURL, "a branch keeps its preview")
	assert.NotEqual(t, preview.PreviewURL, other.PreviewURL)
	assert.NotEqual(t, preview.ID, again.ID)

	deployment, err = client.Deployments.WaitUntilDone(t.Context(), preview.ID)
	require.NoError(t, err)
	assert.Equal(t, mintlify.DeploymentSucceeded, deployment.Status)
	assert.Equal(t, "b", deployment.Commit.Ref)

	svc.AddDeployment("mine", mintlifytest.DeploymentStep{Status: mintlify.DeploymentSucceeded})
	_, err = client.Deployments.WaitUntilDone(t.Context(), "mine")
	require.NoError(t, err)
	_, err = client.Deployments.Get(t.Context(), "unknown")
	require.ErrorIs(t, err, mintlify.ErrNotFound)
}

func TestAutomations(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddAutomation("a")
	run, err := svc.Client().Automations.Trigger(t.Context(), "a", mintlify.TriggerAutomationParams{})
	require.NoError(t, err)
	assert.Equal(t, &mintlify.AutomationRun{SchemaID: "a", InstanceID: "run_1", JobID: "automation_job_1"}, run)
	_, err = svc.Client().Automations.Trigger(t.Context(), "b", mintlify.TriggerAutomationParams{})
	require.ErrorIs(t, err, mintlify.ErrNotFound)
}

func TestExportsDeliverTheRowsThatWereSet(t *testing.T) {
	at := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	helpful := false
	svc := mintlifytest.NewService()
	client := svc.Client()

	views := make([]mintlify.View, 600)
	searches := make([]mintlify.SearchTerm, 250)
	feedback := make([]mintlify.Feedback, 250)
	conversations := make([]mintlify.Conversation, 600)
	for i := range views {
		views[i] = mintlify.View{Path: fmt.Sprint("/", i), Human: 2, AI: 1, Total: 3}
		conversations[i] = mintlify.Conversation{
			ID:               fmt.Sprint("c", i/2),
			Timestamp:        at.Add(-time.Duration(i) * time.Second),
			Query:            "how?",
			Response:         "so",
			ResolutionStatus: mintlify.ResolutionAnswered,
			Sources:          []mintlify.ConversationSource{{Title: "A", URL: "/a"}},
		}
	}

	for i := range searches {
		searches[i] = mintlify.SearchTerm{
			Query:          fmt.Sprint("q", i),
			Hits:           int64(1000 - i),
			CTR:            0.5,
			TopClickedPage: "/a",
			LastSearchedAt: at,
		}
		feedback[i] = mintlify.Feedback{
			ID:        fmt.Sprint("f", i),
			Path:      fmt.Sprint("/", i%3),
			Comment:   "c",
			CreatedAt: at,
			Source:    mintlify.FeedbackContextual,
			Status:    mintlify.FeedbackPending,
			Helpful:   &helpful,
			Contact:   "reader@example.com",
		}
	}

	svc.SetViews(views)
	svc.SetSearches(searches)
	svc.SetFeedback(feedback)
	svc.SetConversations(conversations)
	svc.SetCallerStats(mintlify.CallerStats{Web: 1, API: 2, Other: 3, Total: 6})

	analytics := client.Analytics
	march := mintlify.Day(2026, 3, 1)
	april := mintlify.Day(2026, 4, 1)
	for _, prefetch := range []int{0, 1, 4} {
		ahead := mintlify.WithPrefetch(prefetch)
		rows, err := mintlify.Collect(analytics.Views(t.Context(), mintlify.ViewsParams{DateFrom: march, DateTo: april}, ahead))
		require.NoError(t, err)
		assert.Equal(t, views, rows)

		terms, err := mintlify.Collect(analytics.Searches(t.Context(), mintlify.SearchesParams{DateFrom: march}, ahead))
		require.NoError(t, err)
		assert.Equal(t, searches, terms)

		said, err := mintlify.Collect(analytics.Feedback(t.Context(), mintlify.FeedbackParams{DateTo: april}, ahead))
		require.NoError(t, err)
		assert.Equal(t, feedback, said)

		turns, err := mintlify.Collect(analytics.Conversations(t.Context(), mintlify.ConversationsParams{}, ahead))
		require.NoError(t, err)
		assert.Equal(t, conversations, turns)
	}

	none, err := mintlify.Collect(analytics.Feedback(t.Context(), mintlify.FeedbackParams{DateFrom: april}))
	require.NoError(t, err)
	assert.Empty(t, none)
	done := []mintlify.FeedbackStatus{"resolved", "dismissed"}
	none, err = mintlify.Collect(analytics.Feedback(t.Context(), mintlify.FeedbackParams{Statuses: done}))
	require.NoError(t, err)
	assert.Empty(t, none)

	byPage, err := analytics.GetFeedbackCounts(t.Context(), mintlify.FeedbackCountsParams{Limit: 2})
	require.NoError(t, err)
	assert.True(t, byPage.HasMore)
	assert.Equal(t, []mintlify.FeedbackCount{
		{Path: "/0", ThumbsDown: 84, Total: 84},
		{Path: "/1", ThumbsDown: 83, Total: 83},
	}, byPage.Counts)

	thread, err := analytics.GetThread(t.Context(), "c1")
	require.NoError(t, err)
	assert.Len(t, thread.Messages, 4, "two turns")
	for id, kind := range map[string]error{
		"01JXZ8Q4M6T2V0B3C5D7F9G1HK":  mintlify.ErrNotFound,
		"01jxz8q4m6t2v0b3c5d7f9g1hk":  mintlify.ErrNotFound,
		"01JXZ8Q4M6T2V0B3C5D7F9G1HKX": mintlify.ErrBadRequest,
		"81JXZ8Q4M6T2V0B3C5D7F9G1HK":  mintlify.ErrBadRequest,
		"01JXZ8Q4M6T2V0B3C5D7F9G1HU":  mintlify.ErrBadRequest,
		"unknown":                     mintlify.ErrBadRequest,
	} {
		_, err = analytics.GetThread(t.Context(), id)
		require.ErrorIs(t, err, kind, id)
	}

	stats, err := analytics.GetCallerStats(t.Context(), mintlify.CallerStatsParams{})
	require.NoError(t, err)
	assert.EqualValues(t, 6, stats.Total)

	_, err = analytics.GetSearchPage(t.Context(), mintlify.SearchesParams{Cursor: "of another export"})
	require.ErrorIs(t, err, mintlify.ErrBadRequest)
}

// internal/test/contract has the quotas of all operations.
func TestQuotaOfUpdatesIsOfTenSecondsAndSharedWithAutomations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.EnforceQuotas()
		svc.AddAutomation("a")
		client := svc.Client(mintlify.WithMaxRetries(0))

		update := func() error {
			_, err := client.Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
			return err
		}
		for range 9 {
			require.NoError(t, update())
		}
		_, err := client.Automations.Trigger(t.Context(), "a", mintlify.TriggerAutomationParams{})
		require.NoError(t, err)
		err = update()
		require.ErrorIs(t, err, mintlify.ErrRateLimited, "shared with automations")

		wait, ok := mintlify.RetryAfter(err)
		require.True(t, ok)
		assert.Equal(t, 10*time.Second, wait)
		time.Sleep(wait)
		require.NoError(t, update())
	})
}

// A row's time may be in any zone, and the service writes all times in UTC.
func TestTimesInAnyZoneArriveAsTheSameInstant(t *testing.T) {
	utc := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	at := utc.In(time.FixedZone("", -5*60*60))
	svc := mintlifytest.NewService()
	svc.SetSearches([]mintlify.SearchTerm{{Query: "auth", LastSearchedAt: at}})
	svc.SetFeedback([]mintlify.Feedback{{ID: "f", CreatedAt: at}})
	svc.SetConversations([]mintlify.Conversation{{ID: "c", Timestamp: at}})
	analytics := svc.Client().Analytics

	searches, err := analytics.GetSearchPage(t.Context(), mintlify.SearchesParams{})
	require.NoError(t, err)
	assert.Equal(t, utc, searches.Searches[0].LastSearchedAt)

	feedback, err := analytics.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{})
	require.NoError(t, err)
	assert.Equal(t, utc, feedback.Feedback[0].CreatedAt)

	conversations, err := analytics.GetConversationPage(t.Context(), mintlify.ConversationsParams{})
	require.NoError(t, err)
	assert.Equal(t, utc, conversations.Conversations[0].Timestamp)

	thread, err := analytics.GetThread(t.Context(), "c")
	require.NoError(t, err)
	assert.Equal(t, utc, thread.CreatedAt)
	assert.Equal(t, utc, thread.Messages[1].CreatedAt)
}

func TestATimeThatIsNotSetIsNull(t *testing.T) {
	svc := mintlifytest.NewService()
	row := mintlify.Feedback{ID: "f", Source: mintlify.FeedbackFromAgent, Status: mintlify.FeedbackPending}
	svc.SetFeedback([]mintlify.Feedback{row})
	_, body := get(t, svc, "/v1/analytics/any/feedback")
	assert.JSONEq(t, `{"nextCursor": null, "hasMore": false, "feedback": [
		{"id": "f", "path": "", "comment": null, "createdAt": null, "source": "agent", "status": "pending"}
	]}`, body)
}

// internal/test/contract has all filters that the service refuses.
func TestARefusedFilterOfFeedbackNamesTheValuesThereAre(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetFeedback([]mintlify.Feedback{{ID: "f", Source: "widget", Status: "new"}})
	for query, wrong := range map[string]string{
		"?source=widget": "source must be one of code_snippet, contextual, agent, thumbs_only",
		"?status=new":    "status must be one of pending, in_progress, resolved, dismissed", // though a row has it
	} {
		for _, path := range []string{"", "/by-page"} {
			status, body := get(t, svc, "/v1/analytics/any/feedback"+path+query)
			assert.Equal(t, 400, status, path+query)
			want := `{"error":"Invalid query parameters","details":[{"message":"` + wrong + `"}]}`
			assert.JSONEq(t, want, body, path+query)
		}
	}
}

// The next tests hold the fake to what was recorded of the service itself.

func TestRowsComeNewestFirstAndThoseOfOneTimeInTheOrderTheyWereSet(t *testing.T) {
	old := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	young := old.Add(time.Hour)
	svc := mintlifytest.NewService()
	svc.SetFeedback([]mintlify.Feedback{
		{ID: "a"}, {ID: "b", CreatedAt: old}, {ID: "c", CreatedAt: young}, {ID: "d", CreatedAt: old},
	})
	svc.SetConversations([]mintlify.Conversation{
		{ID: "c", Timestamp: young, Query: "second"}, {ID: "d", Timestamp: young}, {ID: "c", Timestamp: old, Query: "first"},
	})
	analytics := svc.Client().Analytics

	feedback, err := analytics.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{})
	require.NoError(t, err)
	ids := ""
	for _, row := range feedback.Feedback {
		ids += row.ID
	}
	assert.Equal(t, "cbda", ids)

	conversations := func() (ids string) {
		page, err := analytics.GetConversationPage(t.Context(), mintlify.ConversationsParams{})
		require.NoError(t, err)
		for _, row := range page.Conversations {
			ids += row.ID + row.Query + " "
		}
		return ids
	}
	assert.Equal(t, "csecond d cfirst ", conversations())
	svc.ShareTurnTimes()
	assert.Equal(t, "d csecond cfirst ", conversations())

	thread, err := analytics.GetThread(t.Context(), "c")
	require.NoError(t, err)
	assert.Equal(t, "first", thread.Messages[0].Content)
	assert.Equal(t, "second", thread.Messages[2].Content)
}

func TestFeedbackHasTheFieldsOfItsSource(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetFeedback([]mintlify.Feedback{
		{ID: "a", Source: mintlify.FeedbackContextual},
		{ID: "b", Source: mintlify.FeedbackFromCodeSnippet, Language: "go"},
		{ID: "c", Source: mintlify.FeedbackFromCodeSnippet},
	})
	_, body := get(t, svc, "/v1/analytics/any/feedback")
	assert.JSONEq(t, `{"nextCursor": null, "hasMore": false, "feedback": [
		{"id": "a", "path": "", "comment": null, "createdAt": null, "source": "contextual", "status": "", "contact": null},
		{"id": "b", "path": "", "comment": null, "createdAt": null, "source": "code_snippet", "status": "",
			"code": "", "filename": "", "lang": "go"},
		{"id": "c", "path": "", "comment": null, "createdAt": null, "source": "code_snippet", "status": "",
			"code": "", "filename": null, "lang": null}
	]}`, body)
}

func TestTimesHaveThreeDigitsAndListsOfFilesAreEmptyRatherThanMissing(t *testing.T) {
	at := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	svc := mintlifytest.NewService()
	svc.SetSearches([]mintlify.SearchTerm{{Query: "auth", LastSearchedAt: at}})
	svc.SetFeedback([]mintlify.Feedback{{ID: "f", CreatedAt: at}})
	svc.SetConversations([]mintlify.Conversation{{ID: "c", Timestamp: at}})
	svc.AddJob("j", mintlifytest.JobStep{Status: mintlify.JobArchived})
	svc.AddDeployment("d", mintlifytest.DeploymentStep{Status: mintlify.DeploymentSucceeded})

	for path, times := range map[string]int{
		"/v1/analytics/any/searches":            1,
		"/v1/analytics/any/feedback":            1,
		"/v1/analytics/any/assistant":           1,
		"/v1/analytics/any/assistant/threads/c": 3,
		"/v2/agent/test-project/job/j":          2,
		"/v1/project/update-status/d":           2,
	} {
		_, body := get(t, svc, path)
		assert.Len(t, regexp.MustCompile(`:"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`).FindAllString(body, -1), times, body)
	}

	_, body := get(t, svc, "/v1/project/update-status/d")
	assert.Contains(t, body, `"filesChanged":{"added":[],"modified":["introduction.mdx"],"removed":[]}`)
}

func TestAMessageToAnEndedJobIsRefusedIfTheTestAsksForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.RefuseMessagesToEndedJobs()
		svc.AddJob("scripted", mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		svc.SetJobTime(time.Minute)
		client := svc.Client()
		byClock, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
		require.NoError(t, err)
		message := func(id string) error {
			_, err := client.Jobs.Message(t.Context(), id, mintlify.MessageParams{Prompt: "x"})
			return err
		}

		for _, id := range []string{"scripted", byClock.ID} {
			require.NoError(t, message(id))
		}
		poll(t, client, "scripted")
		poll(t, client, "scripted")
		time.Sleep(time.Minute)
		for _, id := range []string{"scripted", byClock.ID} {
			require.ErrorIs(t, message(id), mintlify.ErrBadRequest)
		}
	})
}

package mintlifytest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The tests below change what they gave to the fake or got from it, and ask the fake again.

func TestStepsAreTheServicesOwn(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithMaxRetries(0))

	fault := &mintlifytest.Fault{Status: 503, Header: http.Header{"Retry-After": {"7"}}}
	logs := []string{"Building"}
	svc.ScriptJob(mintlifytest.JobStep{Fault: fault})
	svc.ScriptDeployment(mintlifytest.DeploymentStep{Logs: logs}, mintlifytest.DeploymentStep{Fault: fault})
	svc.AddJob("j", mintlifytest.JobStep{Fault: fault})
	svc.AddDeployment("d", mintlifytest.DeploymentStep{Logs: logs}, mintlifytest.DeploymentStep{Fault: fault})
	svc.FailNext(mintlify.OpCreateJob, 1, *fault)

	fault.Status = 404
	fault.Header.Set("Retry-After", "9")
	logs[0] = "mine"

	requireRetryAfter := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, mintlify.ErrServer)
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		require.Equal(t, 7*time.Second, apiErr.RetryAfter)
	}

	_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	requireRetryAfter(err)
	created, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(t, err)
	triggered, err := client.Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)

	for _, id := range []string{created.ID, "j"} {
		_, err = client.Jobs.Get(t.Context(), id)
		requireRetryAfter(err)
	}
	for _, id := range []string{triggered.ID, "d"} {
		deployment, err := client.Deployments.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, []string{"Building"}, deployment.Logs)
		_, err = client.Deployments.Get(t.Context(), id)
		requireRetryAfter(err)
	}
}

func TestDeploymentsAreTheTestsOwn(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddDeployment("d", mintlifytest.DeploymentStep{Logs: []string{"Building"}})
	_, err := svc.Client().Deployments.Get(t.Context(), "d")
	require.NoError(t, err)

	mine := svc.Deployments()[0]
	mine.Logs[0] = "mine"
	mine.Commit.FilesChanged.Modified[0] = "mine"

	assert.Equal(t, []string{"Building"}, svc.Deployments()[0].Logs)
	assert.Equal(t, []string{"introduction.mdx"}, svc.Deployments()[0].Commit.FilesChanged.Modified)
	reported, err := svc.Client().Deployments.Get(t.Context(), "d")
	require.NoError(t, err)
	assert.Equal(t, []string{"introduction.mdx"}, reported.Commit.FilesChanged.Modified)
}

func TestRequestsAreTheTestsOwn(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(t, err)
	_, err = client.Analytics.GetViewPage(t.Context(), mintlify.ViewsParams{PageSize: 5})
	require.NoError(t, err)

	mine := svc.Requests()
	mine[0].Body[0] = 'm'
	mine[1].Query["limit"][0] = "mine"
	mine[1].Query.Set("mine", "1")

	again := svc.Requests()
	assert.JSONEq(t, `{"prompt":"x"}`, string(again[0].Body))
	assert.Equal(t, "limit=5", again[1].Query.Encode())
}

func TestRowsAreTheServicesOwn(t *testing.T) {
	svc := mintlifytest.NewService()
	analytics := svc.Client().Analytics

	helpful := true
	views := []mintlify.View{{Path: "/a"}}
	searches := []mintlify.SearchTerm{{Query: "a"}}
	feedback := []mintlify.Feedback{{ID: "a", Helpful: &helpful}}
	conversations := []mintlify.Conversation{{ID: "a", Sources: []mintlify.ConversationSource{{Title: "a"}}}}
	svc.SetViews(views)
	svc.SetSearches(searches)
	svc.SetFeedback(feedback)
	svc.SetConversations(conversations)

	views[0].Path = "mine"
	searches[0].Query = "mine"
	feedback[0].ID = "mine"
	helpful = false
	conversations[0].ID = "mine"
	conversations[0].Sources[0].Title = "mine"

	viewPage, err := analytics.GetViewPage(t.Context(), mintlify.ViewsParams{})
	require.NoError(t, err)
	assert.Equal(t, "/a", viewPage.Views[0].Path)

	searchPage, err := analytics.GetSearchPage(t.Context(), mintlify.SearchesParams{})
	require.NoError(t, err)
	assert.Equal(t, "a", searchPage.Searches[0].Query)

	feedbackPage, err := analytics.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{})
	require.NoError(t, err)
	assert.Equal(t, "a", feedbackPage.Feedback[0].ID)
	assert.True(t, *feedbackPage.Feedback[0].Helpful)

	conversationPage, err := analytics.GetConversationPage(t.Context(), mintlify.ConversationsParams{})
	require.NoError(t, err)
	assert.Equal(t, "a", conversationPage.Conversations[0].ID)
	assert.Equal(t, "a", conversationPage.Conversations[0].Sources[0].Title)
}

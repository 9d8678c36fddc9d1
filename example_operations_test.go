package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// A step of a build that publishes: it fails with the logs of the deployment, unless the
// deployment succeeds.
func ExampleDeploymentsService_WaitUntilDone() {
	svc := mintlifytest.NewService()
	svc.ScriptDeployment(
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentQueued},
		mintlifytest.DeploymentStep{Fault: &mintlifytest.Fault{Status: 503}}, // a poll that fails
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentFailed, Summary: "2 links are broken", Logs: []string{"Checking links", "/api/jobs: no such page"}})
	client, ctx := svc.Client(), context.Background()

	queued, err := client.Deployments.TriggerUpdate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	deployment, err := client.Deployments.WaitUntilDone(ctx, queued.ID)
	if errors.Is(err, mintlify.ErrDeploymentFailed) {
		for _, line := range deployment.Logs {
			fmt.Println(line)
		}
	}
	fmt.Println(err) // os.Exit(1), if it is not nil
	// Output:
	// Checking links
	// /api/jobs: no such page
	// mintlify: deployment deployment_1 failed: 2 links are broken
}

func ExampleDeploymentsService_TriggerPreview() {
	client := mintlifytest.NewService().Client()
	ctx := context.Background()

	preview, err := client.Deployments.TriggerPreview(ctx, mintlify.PreviewParams{Branch: "docs/flags"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Deployments.WaitUntilDone(ctx, preview.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(preview.PreviewURL)
	// Output: https://test-project-preview-1.example.com
}

// A run that may have begun is not triggered again: a second one costs credits too.
func ExampleAutomationsService_Trigger() {
	svc := mintlifytest.NewService()
	svc.AddAutomation("weekly-changelog")
	svc.SucceedNext(mintlify.OpTriggerAutomation, 1)
	svc.FailNext(mintlify.OpTriggerAutomation, 1, mintlifytest.Fault{Status: http.StatusBadGateway, Acted: true})
	client := svc.Client()

	for range 2 {
		run, err := client.Automations.Trigger(context.Background(), "weekly-changelog")
		switch {
		case errors.Is(err, mintlify.ErrOutcomeUnknown):
			fmt.Println("look in the dashboard before triggering it again")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("triggered", run.InstanceID)
		}
	}
	// Output:
	// triggered run_1
	// look in the dashboard before triggering it again
}

// What readers searched for without a click on any result is what they did not find.
func ExampleAnalyticsService_Searches() {
	svc := mintlifytest.NewService()
	svc.SetSearches([]mintlify.SearchTerm{
		{Query: "api key", Hits: 120, CTR: 61.7, TopClickedPage: "/quickstart"},
		{Query: "webhook", Hits: 48},
		{Query: "rate limit", Hits: 31, CTR: 38.7, TopClickedPage: "/limits"},
		{Query: "saml", Hits: 12},
	})

	january := mintlify.SearchesParams{DateFrom: mintlify.Day(2026, time.January, 1), DateTo: mintlify.Day(2026, time.February, 1)}
	for term, err := range svc.Client().Analytics.Searches(context.Background(), january) {
		if err != nil {
			log.Fatal(err)
		}
		if term.TopClickedPage == "" {
			fmt.Println(term.Hits, term.Query)
		}
	}
	// Output:
	// 48 webhook
	// 12 saml
}

// Thumbs down that nobody has looked into yet. Helpful is nil where the source does not ask.
func ExampleAnalyticsService_Feedback() {
	yes, no := true, false
	svc := mintlifytest.NewService()
	svc.SetFeedback([]mintlify.Feedback{
		{ID: "f1", Path: "/quickstart", Comment: "Thanks!", Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending, Helpful: &yes},
		{ID: "f2", Path: "/api/jobs", Comment: "What is the default?", Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending, Helpful: &no},
		{ID: "f3", Path: "/api/jobs", Comment: "Typo", Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackResolved, Helpful: &no},
	})

	params := mintlify.FeedbackParams{
		Source:   mintlify.FeedbackContextual,
		Statuses: []mintlify.FeedbackStatus{mintlify.FeedbackPending, mintlify.FeedbackInProgress},
	}
	for feedback, err := range svc.Client().Analytics.Feedback(context.Background(), params) {
		if err != nil {
			log.Fatal(err)
		}
		if feedback.Helpful != nil && !*feedback.Helpful {
			fmt.Println(feedback.Path, feedback.Comment)
		}
	}
	// Output: /api/jobs What is the default?
}

// Questions that the assistant could not help with. The turns of a conversation share its id:
// a row is told apart by ID and Timestamp.
func ExampleAnalyticsService_Conversations() {
	at := time.Date(2026, time.January, 15, 10, 30, 0, 0, time.UTC)
	svc := mintlifytest.NewService()
	svc.SetConversations([]mintlify.Conversation{
		{ID: "c1", Timestamp: at, Query: "How do I set a key?", Response: "In the environment.", ResolutionStatus: mintlify.ResolutionAnswered},
		{ID: "c1", Timestamp: at.Add(time.Minute), Query: "And on Windows?", ResolutionStatus: mintlify.ResolutionUnanswered, PageURL: "https://docs.example.com/quickstart"},
	})

	for turn, err := range svc.Client().Analytics.Conversations(context.Background(), mintlify.ConversationsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		if turn.ResolutionStatus == mintlify.ResolutionUnanswered {
			fmt.Println(turn.ID, turn.Timestamp.Format(time.TimeOnly), turn.Query, turn.PageURL)
		}
	}
	// Output: c1 10:31:00 And on Windows? https://docs.example.com/quickstart
}

func ExampleAnalyticsService_Views() {
	svc := mintlifytest.NewService()
	svc.SetViews([]mintlify.View{
		{Path: "/quickstart", Human: 900, AI: 310, Total: 1210},
		{Path: "/api/jobs", Human: 120, AI: 480, Total: 600},
	})

	for view, err := range svc.Client().Analytics.Views(context.Background(), mintlify.ViewsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		if view.AI > view.Human {
			fmt.Println(view.Path, "is read by AIs:", view.AI, "of", view.Total, "views")
		}
	}
	// Output: /api/jobs is read by AIs: 480 of 600 views
}

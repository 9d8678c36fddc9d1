package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The examples run against the fake; NewClient or NewClientFromEnv is what a
// program calls instead.

// After a Ctrl-C or a SIGTERM, Create still waits for the response and returns its job; a second
// Ctrl-C ends the program at once. A program that is killed sooner, as docker stop does after 10 s,
// may lose the response: package once notes that on record.
func Example() {
	client := mintlifytest.NewService().Client()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program

	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Document the flag --json."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("created", job.ID) // with the id another process can wait, too

	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	job, err = client.Jobs.WaitUntilDone(ctx, job.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Status, job.PRLink)
	// Output:
	// created job_1
	// completed https://github.com/example/docs/pull/1
}

func ExampleNewClient() {
	_, err := mintlify.NewClient("mint_dsc_123", "my-project")
	fmt.Println(err)
	// Output: mintlify: apiKey is an assistant key (mint_dsc_…), which does not work here: make an admin key
}

func ExampleJobsService_Create_outcomeUnknown() {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})

	_, err := svc.Client().Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
	fmt.Println(errors.Is(err, mintlify.ErrOutcomeUnknown))
	fmt.Println(len(svc.Jobs()), "job was made")
	// Output:
	// true
	// 1 job was made
}

func ExampleJobsService_Message() {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1",
		mintlifytest.JobStep{Status: mintlify.JobCompleted}, // the agent has not yet acted on the message
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/7"})
	client := svc.Client()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()

	job, err := client.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: "Add an example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err = client.Jobs.WaitUntilDone(ctx, job.ID, mintlify.WithSettleTime(30*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.PRLink)
	// Output: https://github.com/example/docs/pull/7
}

func ExampleJobsService_WaitUntilDone() {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1",
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 503}},
		mintlifytest.JobStep{Status: mintlify.JobFailed})

	onPoll := mintlify.WithOnPoll(func(p mintlify.Poll) {
		fmt.Println(p.Number, p.Job.Status, p.Err)
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	job, err := svc.Client().Jobs.WaitUntilDone(ctx, "job_1", onPoll)
	fmt.Println(job.Status, errors.Is(err, mintlify.ErrJobFailed))
	// Output:
	// 1 active <nil>
	// 2 active mintlify: get job: 503 Service Unavailable [GET /v2/agent/test-project/job/job_1]
	// 3 failed <nil>
	// failed true
}

// A worker of a job queue polls once, and has the queue run it again later.
func ExampleJobsService_Poll() {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1",
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 503}},
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/7"})
	client := svc.Client(mintlifytest.WithRealSchedule())

	// work returns how long the queue is to snooze the task; 0: it is done.
	work := func(ctx context.Context, jobID string, began time.Time) (snooze time.Duration, err error) {
		poll, err := client.Jobs.Poll(ctx, jobID, time.Since(began))
		switch {
		case poll.Next > 0:
			fmt.Println("snooze for about", poll.Next.Round(5*time.Second), "error:", poll.Err)
		case err == nil:
			fmt.Println("pull request:", poll.Job.PRLink)
		}
		return poll.Next, err
	}

	began := time.Now() // kept with the task
	for again := true; again; {
		snooze, err := work(context.Background(), "job_1", began)
		if err != nil {
			log.Fatal(err)
		}
		began = began.Add(-snooze) // the snooze is over
		again = snooze > 0
	}
	// Output:
	// snooze for about 5s error: <nil>
	// snooze for about 5s error: mintlify: get job: 503 Service Unavailable [GET /v2/agent/test-project/job/job_1]
	// pull request: https://github.com/example/docs/pull/7
}

// A queue of prompts sorts the errors of Create: later, never, or for a person to see to.
func ExampleRetryAfter() {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429}) // without Retry-After
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	client := svc.Client(mintlify.WithMaxRetries(0)) // the queue waits, not its worker

	queue := []string{"Fix the typos", "Document the flag --json"}
	for len(queue) > 0 {
		job, err := client.Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: queue[0]})
		if wait, later := mintlify.RetryAfter(err); later {
			fmt.Println("pause for", wait) // what the service asks for, else 30 s
			continue
		}

		switch {
		case err == nil:
			fmt.Println(queue[0]+":", job.ID)
		case errors.Is(err, mintlify.ErrOutcomeUnknown):
			fmt.Println(queue[0] + ": a job may exist, look before sending it again")
		default:
			fmt.Println(queue[0]+": never,", err)
		}
		queue = queue[1:]
	}
	// Output:
	// pause for 30s
	// Fix the typos: a job may exist, look before sending it again
	// Document the flag --json: job_2
}

func ExampleAPIError() {
	svc := mintlifytest.NewService()
	header := http.Header{"Retry-After": {"90"}}
	svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{
		Status: 429, Header: header, Body: `{"error":"too many requests"}`,
	})

	_, err := svc.Client().Jobs.Get(context.Background(), "job_1")
	var apiErr *mintlify.APIError
	if errors.As(err, &apiErr) {
		fmt.Println(apiErr.StatusCode, apiErr.Message, apiErr.RetryAfter)
	}
	// Output: 429 too many requests 1m30s
}

func ExampleWithKeySource() {
	rotated := func(context.Context) (string, error) { return mintlifytest.APIKey, nil } // from a vault, say
	client := mintlifytest.NewService().Client(mintlify.WithKeySource(rotated))

	job, err := client.Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
	fmt.Println(job.ID, err)
	// Output: job_1 <nil>
}

func ExampleClient_ForProject() {
	svc := mintlifytest.NewService()
	client := svc.Client()
	params := mintlify.CreateJobParams{Prompt: "Fix the typos"}
	for _, projectID := range []string{"docs-en", "docs-de"} {
		project, err := client.ForProject(projectID)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := project.Jobs.Create(context.Background(), params); err != nil {
			log.Fatal(err)
		}
	}

	for _, request := range svc.Requests() {
		fmt.Println(request.Path)
	}
	// Output:
	// /v2/agent/docs-en/job
	// /v2/agent/docs-de/job
}

// demoRows are three rows for the fake.
func demoRows() []mintlify.Visitor {
	return []mintlify.Visitor{
		{Path: "/quickstart", Human: 310, AI: 120, Total: 430},
		{Path: "/api/jobs", Human: 95, AI: 210, Total: 305},
		{Path: "/changelog", Human: 40, AI: 8, Total: 48},
	}
}

func ExampleAnalyticsService_Visitors() {
	svc := mintlifytest.NewService()
	svc.SetVisitors(demoRows())

	params := mintlify.VisitorsParams{
		DateFrom: mintlify.Day(2026, time.January, 1),
		DateTo:   mintlify.Day(2026, time.February, 1),
	}
	for row, err := range svc.Client().Analytics.Visitors(context.Background(), params) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Path, row.Human, row.AI)
	}
	// Output:
	// /quickstart 310 120
	// /api/jobs 95 210
	// /changelog 40 8
}

func ExampleAnalyticsService_VisitorPages() {
	svc := mintlifytest.NewService()
	svc.SetVisitors(demoRows())

	params := mintlify.VisitorsParams{PageSize: 2}
	prefetch := mintlify.WithPrefetch(1)
	for page, err := range svc.Client().Analytics.VisitorPages(context.Background(), params, prefetch) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(page.Visitors), "rows of a site with", page.Totals.Total, "visitors, resume at", page.NextOffset)
	}
	// Output:
	// 2 rows of a site with 430 visitors, resume at 2
	// 1 rows of a site with 430 visitors, resume at 3
}

func ExampleAnalyticsService_GetVisitorPage() {
	svc := mintlifytest.NewService()
	svc.SetVisitors(demoRows())

	page, err := svc.Client().Analytics.GetVisitorPage(context.Background(), mintlify.VisitorsParams{PageSize: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Totals.Human, page.Totals.AI, page.HasMore, page.NextOffset)
	// Output: 310 210 true 1
}

func ExampleExportError() {
	svc := mintlifytest.NewService()
	svc.SetVisitors(demoRows())
	svc.SucceedNext(mintlify.OpGetVisitors, 1)
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{
		Status: 429, Header: http.Header{"Retry-After": {"600"}},
	})
	client := svc.Client()

	params := mintlify.VisitorsParams{PageSize: 2}
	for range 2 {
		for row, err := range client.Analytics.Visitors(context.Background(), params) {
			var pageErr *mintlify.ExportError
			if errors.As(err, &pageErr) {
				fmt.Println("resume at", pageErr.Offset, "later:", errors.Is(err, mintlify.ErrRateLimited))
				params.Offset = pageErr.Offset
				break
			}
			fmt.Println(row.Path)
		}
	}
	// Output:
	// /quickstart
	// /api/jobs
	// resume at 2 later: true
	// /changelog
}

// checkpoint is what an export by cursor keeps, in a file or a table, with the rows of a page. The
// zero value begins the export. HasMore is false once it has ended: a NextCursor of "" alone would
// begin it again.
type checkpoint struct {
	Started bool
	HasMore bool
	Cursor  string
}

// exportQuestions resumes at a checkpoint, and keeps a new one with the rows of each page.
func exportQuestions(
	ctx context.Context, client *mintlify.Client, from checkpoint, keep func(checkpoint, []mintlify.Conversation) error,
) error {
	if from.Started && !from.HasMore {
		return nil
	}

	params := mintlify.ConversationsParams{
		DateFrom: mintlify.Day(2026, time.March, 1), // the same dates with each cursor
		DateTo:   mintlify.Day(2026, time.April, 1),
		PageSize: 1,
		Cursor:   from.Cursor,
	}
	for page, err := range client.Analytics.ConversationPages(ctx, params) {
		if err != nil {
			return err
		}

		next := checkpoint{Started: true, HasMore: page.HasMore, Cursor: page.NextCursor}
		if err := keep(next, page.Conversations); err != nil {
			return err
		}
	}
	return nil
}

// An export by cursor that crashes, resumes, and does nothing once it has ended.
func ExampleAnalyticsService_ConversationPages() {
	svc := mintlifytest.NewService()
	svc.SetConversations([]mintlify.Conversation{{ID: "c1", Query: "how?"}, {ID: "c2", Query: "why?"}})
	svc.SucceedNext(mintlify.OpGetConversations, 1)
	svc.FailNext(mintlify.OpGetConversations, 1, mintlifytest.Fault{Status: 400})
	client := svc.Client()

	var saved checkpoint // in a program: stored in one transaction with the rows
	keep := func(next checkpoint, rows []mintlify.Conversation) error {
		saved = next
		fmt.Println(rows[0].Query, "more:", next.HasMore)
		return nil
	}
	for range 3 {
		err := exportQuestions(context.Background(), client, saved, keep)
		fmt.Println("complete:", err == nil)
	}
	// Output:
	// how? more: true
	// complete: false
	// why? more: false
	// complete: true
	// complete: true
}

func ExampleParseDate() {
	for _, text := range []string{"2026-01-15", "2026-01-15T10:30:00+02:00", "15.01.2026"} {
		date, err := mintlify.ParseDate(text)
		fmt.Println(date, err)
	}
	// Output:
	// 2026-01-15 <nil>
	// 2026-01-15T08:30:00Z <nil>
	//  mintlify: date is "15.01.2026", want YYYY-MM-DD, or an instant such as 2006-01-02T15:04:05Z
}

func ExampleInstant() {
	berlin := time.FixedZone("CET", 60*60)
	fmt.Println(mintlify.Instant(time.Date(2026, time.January, 15, 10, 30, 0, 0, berlin)))
	// Output: 2026-01-15T09:30:00Z
}

// A step of a build that publishes: it fails with the logs of the deployment, unless the
// deployment succeeds.
func ExampleDeploymentsService_WaitUntilDone() {
	svc := mintlifytest.NewService()
	svc.ScriptDeployment(
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentQueued},
		mintlifytest.DeploymentStep{Fault: &mintlifytest.Fault{Status: 503}}, // a poll that fails
		mintlifytest.DeploymentStep{
			Status:  mintlify.DeploymentFailed,
			Summary: "2 links are broken",
			Logs:    []string{"Checking links", "/api/jobs: no such page"},
		})
	client := svc.Client()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()

	queued, err := client.Deployments.TriggerUpdate(ctx, mintlify.TriggerUpdateParams{})
	if err != nil {
		fmt.Println(err)
		return
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
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()

	preview, err := client.Deployments.TriggerPreview(ctx, mintlify.TriggerPreviewParams{Branch: "docs/flags"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.Deployments.WaitUntilDone(ctx, preview.ID); err != nil {
		fmt.Println(err)
		return
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
		run, err := client.Automations.Trigger(context.Background(), "weekly-changelog", mintlify.TriggerAutomationParams{})
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

	january := mintlify.SearchesParams{
		DateFrom: mintlify.Day(2026, time.January, 1),
		DateTo:   mintlify.Day(2026, time.February, 1),
	}
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

// Thumbs down that nobody has looked into yet. Helpful is nil if the source does not ask.
func ExampleAnalyticsService_Feedback() {
	yes := true
	no := false
	svc := mintlifytest.NewService()
	svc.SetFeedback([]mintlify.Feedback{
		{
			ID: "f1", Path: "/quickstart", Comment: "Thanks!", Helpful: &yes,
			Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending,
		},
		{
			ID: "f2", Path: "/api/jobs", Comment: "What is the default?", Helpful: &no,
			Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending,
		},
		{
			ID: "f3", Path: "/api/jobs", Comment: "Typo", Helpful: &no,
			Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackResolved,
		},
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
		{
			ID: "c1", Timestamp: at, Query: "How do I set a key?", Response: "In the environment.",
			ResolutionStatus: mintlify.ResolutionAnswered,
		},
		{
			ID: "c1", Timestamp: at.Add(time.Minute), Query: "And on Windows?",
			ResolutionStatus: mintlify.ResolutionUnanswered, PageURL: "https://docs.example.com/quickstart",
		},
	})

	params := mintlify.ConversationsParams{}
	for turn, err := range svc.Client().Analytics.Conversations(context.Background(), params) {
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

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

// The examples run against the fake; NewClient or NewClientFromEnv is what a
// program calls instead.

func Example() {
	client := mintlifytest.NewService().Client()
	ctx := context.Background()

	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Document the flag --json"})
	if err != nil {
		log.Fatal(err)
	}
	job, err = client.Jobs.WaitUntilDone(ctx, job.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Status, job.PRLink)
	// Output: completed https://github.com/example/docs/pull/1
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
		mintlifytest.Step{Status: mintlify.JobCompleted}, // the message is not yet taken up
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/7"})
	client, ctx := svc.Client(), context.Background()

	job, err := client.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: "Add an example"})
	if err != nil {
		log.Fatal(err)
	}
	job, err = client.Jobs.WaitUntilDone(ctx, job.ID, mintlify.WithSettleTime(30*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.PRLink)
	// Output: https://github.com/example/docs/pull/7
}

func ExampleJobsService_WaitUntilDone() {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1",
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Fault: &mintlifytest.Fault{Status: 503}},
		mintlifytest.Step{Status: mintlify.JobFailed})

	job, err := svc.Client().Jobs.WaitUntilDone(context.Background(), "job_1", mintlify.WithOnPoll(func(p mintlify.Poll) {
		fmt.Println(p.Number, p.Job.Status, p.Err)
	}))
	fmt.Println(job.Status, errors.Is(err, mintlify.ErrJobFailed))
	// Output:
	// 1 active <nil>
	// 2 active mintlify: get job: 503 Service Unavailable
	// 3 failed <nil>
	// failed true
}

func ExampleAPIError() {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{
		Status: 429, Body: `{"error":"too many requests"}`, Header: http.Header{"Retry-After": {"90"}}})

	_, err := svc.Client().Jobs.Get(context.Background(), "job_1")
	var apiErr *mintlify.APIError
	if errors.As(err, &apiErr) {
		fmt.Println(apiErr.StatusCode, apiErr.Message, apiErr.RetryAfter)
	}
	// Output: 429 too many requests 1m30s
}

func ExampleWithRateLimiter() {
	tokens := 1
	client := mintlifytest.NewService().Client(mintlify.WithRateLimiter(
		func(_ context.Context, op mintlify.Operation, projectID string) error {
			if tokens--; tokens < 0 {
				return fmt.Errorf("no token left for %s in %s", op, projectID)
			}
			return nil
		}))
	for range 2 {
		_, err := client.Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// mintlify: create job: POST https://api.mintlify.com/v2/agent/test-project/job: rate limiter: no token left for create job in test-project
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
	for _, projectID := range []string{"docs-en", "docs-de"} {
		project, err := client.ForProject(projectID)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := project.Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: "Fix the typos"}); err != nil {
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

	params := mintlify.VisitorsParams{DateFrom: mintlify.Day(2026, time.January, 1), DateTo: mintlify.Day(2026, time.February, 1)}
	for visitor, err := range svc.Client().Analytics.Visitors(context.Background(), params) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(visitor.Path, visitor.Human, visitor.AI)
	}
	// Output:
	// /quickstart 310 120
	// /api/jobs 95 210
	// /changelog 40 8
}

func ExampleAnalyticsService_VisitorPages() {
	svc := mintlifytest.NewService()
	svc.SetVisitors(demoRows())

	for page, err := range svc.Client().Analytics.VisitorPages(context.Background(), mintlify.VisitorsParams{Limit: 2}, mintlify.WithPrefetch(1)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(page.Visitors), "rows from", page.Offset, "of a site with", page.Totals.Total, "visitors")
	}
	// Output:
	// 2 rows from 0 of a site with 783 visitors
	// 1 rows from 2 of a site with 783 visitors
}

func ExampleAnalyticsService_GetVisitors() {
	svc := mintlifytest.NewService()
	svc.SetVisitors(demoRows())

	page, err := svc.Client().Analytics.GetVisitors(context.Background(), mintlify.VisitorsParams{Limit: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Totals.Human, page.Totals.AI, page.HasMore, page.NextOffset)
	// Output: 445 338 true 1
}

func ExamplePageError() {
	svc := mintlifytest.NewService()
	svc.SetVisitors(demoRows())
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{}) // none
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"600"}}})
	client := svc.Client()

	params := mintlify.VisitorsParams{Limit: 2}
	for range 2 {
		for visitor, err := range client.Analytics.Visitors(context.Background(), params) {
			var pageErr *mintlify.PageError
			if errors.As(err, &pageErr) {
				fmt.Println("go on at", pageErr.Offset, "later:", errors.Is(err, mintlify.ErrRateLimited))
				params.Offset = pageErr.Offset
				break
			}
			fmt.Println(visitor.Path)
		}
	}
	// Output:
	// /quickstart
	// /api/jobs
	// go on at 2 later: true
	// /changelog
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

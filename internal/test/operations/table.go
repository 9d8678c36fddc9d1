package operations

import (
	"context"
	"iter"
	"net/http"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// All returns the table.
func All() []Operation {
	return []Operation{
		{
			Name:     mintlify.OpCreateJob,
			Func:     "Jobs.Create",
			Method:   http.MethodPost,
			Path:     "/v2/agent/{projectId}/job",
			Body:     job,
			Required: []string{"id", "status"},
			Result:   (*mintlify.Job)(nil),
			Call: func(ctx context.Context, c *mintlify.Client) (any, error) {
				return c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
			},
		},
		{
			Name:     mintlify.OpSendMessage,
			Func:     "Jobs.Message",
			Method:   http.MethodPost,
			Path:     "/v2/agent/{projectId}/job/{id}/message",
			Body:     job,
			Required: []string{"id", "status"},
			Result:   (*mintlify.Job)(nil),
			Call: func(ctx context.Context, c *mintlify.Client) (any, error) {
				return c.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: "And the links"})
			},
		},
		{
			Name:     mintlify.OpGetJob,
			Func:     "Jobs.Get",
			Method:   http.MethodGet,
			Path:     "/v2/agent/{projectId}/job/{id}",
			Body:     job,
			Required: []string{"id", "status"},
			Result:   (*mintlify.Job)(nil),
			Call:     func(ctx context.Context, c *mintlify.Client) (any, error) { return c.Jobs.Get(ctx, "job_1") },
			Wait: func(ctx context.Context, c *mintlify.Client, opts ...mintlify.WaitOption) (any, error) {
				return c.Jobs.WaitUntilDone(ctx, "job_1", opts...)
			},
			Poll: func(ctx context.Context, c *mintlify.Client) (any, error) { return c.Jobs.Poll(ctx, "job_1", 0) },
		},
		{
			Name:     mintlify.OpTriggerUpdate,
			Func:     "Deployments.TriggerUpdate",
			Method:   http.MethodPost,
			Path:     "/v1/project/update/{projectId}",
			Body:     `{"statusId":"deployment_1"}`,
			Required: []string{"statusId"},
			Result:   (*mintlify.QueuedDeployment)(nil),
			Call: func(ctx context.Context, c *mintlify.Client) (any, error) {
				return c.Deployments.TriggerUpdate(ctx, mintlify.TriggerUpdateParams{})
			},
		},
		{
			Name:     mintlify.OpTriggerPreview,
			Func:     "Deployments.TriggerPreview",
			Method:   http.MethodPost,
			Path:     "/v1/project/preview/{projectId}",
			Body:     `{"statusId":"deployment_1","previewUrl":"https://acme-docs.example.com"}`,
			Required: []string{"statusId"},
			Result:   (*mintlify.QueuedDeployment)(nil),
			Call: func(ctx context.Context, c *mintlify.Client) (any, error) {
				return c.Deployments.TriggerPreview(ctx, mintlify.TriggerPreviewParams{Branch: "docs"})
			},
		},
		{
			Name:     mintlify.OpGetDeployment,
			Func:     "Deployments.Get",
			Method:   http.MethodGet,
			Path:     "/v1/project/update-status/{id}",
			Body:     deployment,
			Required: []string{"status"},
			Result:   (*mintlify.Deployment)(nil),
			Call: func(ctx context.Context, c *mintlify.Client) (any, error) {
				return c.Deployments.Get(ctx, "deployment_1")
			},
			Wait: func(ctx context.Context, c *mintlify.Client, opts ...mintlify.WaitOption) (any, error) {
				return c.Deployments.WaitUntilDone(ctx, "deployment_1", opts...)
			},
			Poll: func(ctx context.Context, c *mintlify.Client) (any, error) {
				return c.Deployments.Poll(ctx, "deployment_1", 0)
			},
		},
		{
			Name:   mintlify.OpTriggerAutomation,
			Func:   "Automations.Trigger",
			Method: http.MethodPost,
			Path:   "/v1/workflow/{projectId}/{id}/trigger",
			Body:   `{"schemaId":"automation_1","instanceId":"run_1","jobId":"job_1"}`,
			Result: (*mintlify.AutomationRun)(nil),
			Call: func(ctx context.Context, c *mintlify.Client) (any, error) {
				return c.Automations.Trigger(ctx, "automation_1", mintlify.TriggerAutomationParams{})
			},
		},
		export(Operation{
			Name: mintlify.OpGetVisitors,
			Func: "Analytics.GetVisitorPage",
			Path: "/v1/analytics/{projectId}/visitors",
			Body: `{
				"totals":{"human":3,"ai":3,"total":5},
				"visitors":[{"path":"/a","human":2,"ai":1,"total":3}],
				"hasMore":true
			}`,
			Required: []string{"totals", "visitors", "hasMore"},
		}, (*mintlify.AnalyticsService).GetVisitorPage, (*mintlify.AnalyticsService).Visitors),
		export(Operation{
			Name: mintlify.OpGetViews,
			Func: "Analytics.GetViewPage",
			Path: "/v1/analytics/{projectId}/views",
			Body: `{
				"totals":{"human":3,"ai":3,"total":6},
				"views":[{"path":"/a","human":2,"ai":1,"total":3}],
				"hasMore":true
			}`,
			Required: []string{"totals", "views", "hasMore"},
		}, (*mintlify.AnalyticsService).GetViewPage, (*mintlify.AnalyticsService).Views),
		export(Operation{
			Name: mintlify.OpGetSearches,
			Func: "Analytics.GetSearchPage",
			Path: "/v1/analytics/{projectId}/searches",
			Body: `{
				"searches":[{"searchQuery":"auth","hits":12,"ctr":41.6,"topClickedPage":"/auth",
					"lastSearchedAt":"2026-01-15T10:30:00Z"}],
				"totalSearches":99,
				"nextCursor":"c2"
			}`,
			Required: []string{"searches", "totalSearches"},
		}, (*mintlify.AnalyticsService).GetSearchPage, (*mintlify.AnalyticsService).Searches),
		export(Operation{
			Name: mintlify.OpGetFeedback,
			Func: "Analytics.GetFeedbackPage",
			Path: "/v1/analytics/{projectId}/feedback",
			Body: `{
				"feedback":[
					{"id":"f1","path":"/a","comment":"Thanks","createdAt":"2026-01-15T10:30:00Z","source":"contextual",
						"status":"pending","helpful":true,"contact":"reader@example.com"},
					{"id":"f2","path":"/a","comment":null,"createdAt":"2026-01-15T10:30:00Z","source":"code_snippet",
						"status":"resolved","code":"x[0]","filename":"a.go","lang":"go"}
				],
				"hasMore":true,
				"nextCursor":"c2"
			}`,
			Required: []string{"feedback", "hasMore"},
		}, (*mintlify.AnalyticsService).GetFeedbackPage, (*mintlify.AnalyticsService).Feedback),
		analytics(Operation{
			Name:     mintlify.OpGetFeedbackCounts,
			Func:     "Analytics.GetFeedbackCounts",
			Path:     "/v1/analytics/{projectId}/feedback/by-page",
			Body:     `{"feedback":[{"path":"/a","thumbsUp":3,"thumbsDown":1,"code":2,"total":6}],"hasMore":true}`,
			Required: []string{"feedback", "hasMore"},
		}, (*mintlify.AnalyticsService).GetFeedbackCounts, mintlify.FeedbackCountsParams{}),
		export(Operation{
			Name: mintlify.OpGetConversations,
			Func: "Analytics.GetConversationPage",
			Path: "/v1/analytics/{projectId}/assistant",
			Body: `{
				"conversations":[{"id":"01JXZ8Q4M6T2V0B3C5D7F9G1HK","timestamp":"2026-01-15T10:30:00Z",
					"query":"how?","response":"so","responseType":"answer","sources":[{"title":"A","url":"/a"}],
					"resolutionStatus":"answered",
					"queryCategory":"auth","pageUrl":"https://docs.example.com/a"}],
				"hasMore":true,
				"nextCursor":"c2"
			}`,
			Required: []string{"conversations", "hasMore"},
		}, (*mintlify.AnalyticsService).GetConversationPage, (*mintlify.AnalyticsService).Conversations),
		analytics(Operation{
			Name: mintlify.OpGetThread,
			Func: "Analytics.GetThread",
			Path: "/v1/analytics/{projectId}/assistant/threads/{id}",
			Body: `{
				"threadId":"01JXZ8Q4M6T2V0B3C5D7F9G1HK",
				"createdAt":"2026-01-15T10:30:00Z",
				"messages":[{"id":"m1","role":"user","content":"how?","createdAt":"2026-01-15T10:30:00Z"}]
			}`,
			Required: []string{"messages"},
		}, (*mintlify.AnalyticsService).GetThread, "01JXZ8Q4M6T2V0B3C5D7F9G1HK"),
		analytics(Operation{
			Name:     mintlify.OpGetCallerStats,
			Func:     "Analytics.GetCallerStats",
			Path:     "/v1/analytics/{projectId}/assistant/caller-stats",
			Body:     `{"web":5,"api":2,"other":1,"total":8}`,
			Required: []string{"web", "api", "other", "total"},
		}, (*mintlify.AnalyticsService).GetCallerStats, mintlify.CallerStatsParams{}),
	}
}

// analytics completes a GET that method sends.
func analytics[P, R any](
	op Operation, method func(*mintlify.AnalyticsService, context.Context, P) (R, error), params P,
) Operation {
	var result R
	op.Method = http.MethodGet
	op.Result = result
	op.Call = func(ctx context.Context, c *mintlify.Client) (any, error) { return method(c.Analytics, ctx, params) }
	return op
}

// export completes an export: page gets a page of it, and rows ranges over it.
func export[P, Page, Row any](
	op Operation,
	page func(*mintlify.AnalyticsService, context.Context, P) (Page, error),
	rows func(*mintlify.AnalyticsService, context.Context, P, ...mintlify.ExportOption) iter.Seq2[Row, error],
) Operation {
	var params P
	op.Rows = func(ctx context.Context, c *mintlify.Client, opts ...mintlify.ExportOption) (any, error) {
		return mintlify.Collect(rows(c.Analytics, ctx, params, opts...))
	}
	return analytics(op, page, params)
}

const job = `{
	"id":"job_1",
	"status":"archived",
	"source":{"repository":"https://github.com/example/docs","ref":"main"},
	"model":"a-model",
	"prLink":"https://github.com/example/docs/pull/7",
	"createdAt":"2026-01-15T10:30:00Z",
	"archivedAt":"2026-01-15T10:33:00Z"
}`

const deployment = `{
	"_id":"deployment_1",
	"projectId":"acme",
	"status":"success",
	"summary":"Deployed",
	"logs":["Building","Deployed"],
	"subdomain":"acme",
	"source":"api",
	"commit":{"sha":"5907854c","ref":"main","message":"Change the introduction",
		"filesChanged":{"added":["a.mdx"],"modified":["b.mdx"],"removed":["c.mdx"]}},
	"author":{"name":"Ann","avatarUrl":"https://example.com/ann.png","githubUserId":7},
	"screenshot":"https://example.com/1.png",
	"screenshotLight":"https://example.com/2.png",
	"screenshotDark":"https://example.com/3.png",
	"createdAt":"2026-01-15T10:30:00Z",
	"endedAt":"2026-01-15T10:33:00Z"
}`

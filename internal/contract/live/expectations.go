package main

import (
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

// expectation names a row of the report.
type expectation string

// The expectations that are not about one operation's body: see [bodyOf].
const (
	expectService     expectation = "service"
	expectWrongKey    expectation = "wrong key"
	expectScope       expectation = "scope"
	expectPlan        expectation = "plan"
	expectErrors      expectation = "errors"
	expectRetryAfter  expectation = "retry after"
	expectRequestID   expectation = "request id"
	expectNoRateLimit expectation = "rate limit headers"

	expectUnknownJob  expectation = "unknown job"
	expectUnparsable  expectation = "unparsable job"
	expectOldList     expectation = "old list"
	expectFirstStatus expectation = "first status"
	expectJobEnds     expectation = "job ends"
	expectMarker      expectation = "marker"
	expectActiveAgain expectation = "active again"
	expectMessageEnds expectation = "message ends"

	expectLimit       expectation = "limit"
	expectPastTheEnd  expectation = "past the end"
	expectOrder       expectation = "order"
	expectExclusive   expectation = "exclusive"
	expectUTC         expectation = "utc"
	expectNoDates     expectation = "no dates"
	expectLongAgo     expectation = "long ago"
	expectCursor      expectation = "cursor"
	expectCursorAlone expectation = "cursor alone"
	expectCursorLife  expectation = "cursor life"
	expectHasMore     expectation = "has more"
	expectCTR         expectation = "ctr"
	expectSorting     expectation = "sorting"
	expectTurns       expectation = "turns"
	expectPageSize    expectation = "page size"
	expectSums        expectation = "sums"
	expectNoThread    expectation = "unknown thread"

	expectNoDeployment     expectation = "unknown deployment"
	expectEmptyBody        expectation = "empty body"
	expectDeploymentEnds   expectation = "deployment ends"
	expectSecondUpdate     expectation = "second update"
	expectGitAppDeployment expectation = "git app"
	expectKeptDeployment   expectation = "kept deployment"
	expectAutomationJob    expectation = "automation job"
)

// bodyOf returns the expectation about an operation's good response.
func bodyOf(op mintlify.Operation) expectation { return expectation("body of " + op) }

// wording is how the report words an expectation.
type wording struct {
	name expectation
	text string
	// depends names the constant or rule that has to change if the service differs.
	depends string
	// needs says why the row is not tried unless something else is known.
	needs string
}

// expectations returns all rows in the order of the report.
func expectations() []wording {
	all := ofTheService()
	all = append(all, ofJobs()...)
	all = append(all, ofAnalytics()...)
	all = append(all, ofDeployments()...)
	return append(all, ofBodies()...)
}

const (
	notReached = "an earlier row says why"
	needsJob   = "needs -job"
)

func ofTheService() []wording {
	return []wording{
		{
			name:    expectService,
			text:    "The service itself responds, in JSON",
			depends: "The base URL, or a proxy on the way. No other row was tried",
			needs:   notReached,
		},
		{
			name:    expectWrongKey,
			text:    "A key that does not exist gets 401",
			depends: "`ErrUnauthorized`; `showsWorking` and `holdAfter` in once/project.go",
			needs:   notReached,
		},
		{
			name:    expectScope,
			text:    "A key with the read scope alone gets 403 for a POST",
			depends: "`ErrForbidden`; `holdAfter` in once/project.go",
			needs:   "needs -scope",
		},
		{
			name:    expectPlan,
			text:    "A plan without API access gets 402 or 403",
			depends: "`ErrPaymentRequired`, `ErrForbidden`",
			needs:   "needs an organization with such a plan",
		},
		{
			name:    expectErrors,
			text:    "Errors are JSON with the field `error`",
			depends: "`APIError.Message` and `APIError.Details` may miss something; `APIError.Body` has it all",
			needs:   "no error came",
		},
		{
			name:    expectRetryAfter,
			text:    "A 429 says in Retry-After when to call again",
			depends: "the waits that `RetryAfter` returns by default; `firstHold` in once/project.go",
			needs:   "no 429 came",
		},
		{
			name:    expectRequestID,
			text:    "Request ids, if there are any, come in X-Request-Id",
			depends: "`APIError.RequestID` reads no other header",
			needs:   notReached,
		},
		{
			name:    expectNoRateLimit,
			text:    "No header tells what is left of a quota",
			depends: "`WithRateLimiter`: a limiter could read these headers",
			needs:   notReached,
		},
	}
}

func ofJobs() []wording {
	return []wording{
		{
			name:    expectUnknownJob,
			text:    "The id of a job that does not exist gets 404",
			depends: "`ErrNotFound`",
			needs:   notReached,
		},
		{
			name:  expectUnparsable,
			text:  "An id that cannot be parsed gets the same, another 4xx, or 500",
			needs: notReached,
		},
		{
			name: expectOldList,
			text: "The list of version 1 does not have jobs of version 2",
			depends: "A job whose outcome is unknown could be looked for in this list, if its pull request's " +
				"marker confirms it (docs/once.md)",
			needs: "needs a list with a job in it, -job-id, or -job",
		},
		{
			name:    expectFirstStatus,
			text:    "A new job is `active`",
			depends: "`Job.Status`, `JobStatus.IsTerminal`",
			needs:   needsJob,
		},
		{
			name:    expectJobEnds,
			text:    "A job ends within -timeout",
			depends: "`WaitUntilDone`: its schedule, and the timeouts of the programs",
			needs:   needsJob,
		},
		{
			name:    expectMarker,
			text:    "The pull request's description ends with the marker that the prompt asks for",
			depends: "`once.FindMarker`, and `askForMarker` in once/send.go",
			needs:   needsJob,
		},
		{
			name:    expectActiveAgain,
			text:    "A job is active again within 30 s of a message",
			depends: "`messageTime` in memory.go, and `settleTime` in once/poll.go",
			needs:   "needs -message",
		},
		{
			name:    expectMessageEnds,
			text:    "A job ends within -timeout of a message",
			depends: "`WaitUntilDone`: its schedule, and the timeouts of the programs",
			needs:   "needs -message",
		},
	}
}

func ofAnalytics() []wording {
	return []wording{
		{
			name:    expectLimit,
			text:    "A limit above the maximum gets 400",
			depends: "`maxCountsPage` in analytics.go: a larger page may be possible, or is cut without a word",
			needs:   notReached,
		},
		{
			name:    expectPastTheEnd,
			text:    "An offset past the end gets a page without rows and without more",
			depends: "The end of an export by offset (pagination.go)",
			needs:   notReached,
		},
		{
			name:    expectOrder,
			text:    "The same page twice has the same rows in the same order",
			depends: "Paging by offset: an export may miss rows, or have them twice",
			needs:   notReached,
		},
		{
			name:    expectExclusive,
			text:    "`dateTo` is exclusive",
			depends: "`DateTo` of all params, and the days of docs-report",
			needs:   notReached,
		},
		{
			name:    expectUTC,
			text:    "A bare day is a day in UTC",
			depends: "`Day`, and the days of docs-report",
			needs:   notReached,
		},
		{
			name:    expectNoDates,
			text:    "Without dates the service chooses a range",
			depends: "The params' zero value",
			needs:   notReached,
		},
		{
			name:    expectLongAgo,
			text:    "A day two years ago gets a page",
			depends: "`Views` of a range that begins before the service's data",
			needs:   notReached,
		},
		{
			name:    expectCursor,
			text:    "A cursor leads to other rows",
			depends: "The end of an export by cursor (pagination.go)",
			needs:   notReached,
		},
		{
			name:    expectCursorAlone,
			text:    "A cursor may be sent without its dates",
			depends: "Nothing: the SDK always sends the same dates with it",
			needs:   notReached,
		},
		{
			name:    expectCursorLife,
			text:    "A cursor can be used hours later",
			depends: "`ExportError.Cursor`",
			needs:   "needs hours",
		},
		{
			name:    expectHasMore,
			text:    "`hasMore` and `nextCursor` agree",
			depends: "The end of an export by cursor (pagination.go)",
			needs:   notReached,
		},
		{
			name:    expectCTR,
			text:    "`ctr` is a percentage, from 0 to 100",
			depends: "`SearchTerm.CTR`, and docs-report",
			needs:   notReached,
		},
		{
			name:    expectSorting,
			text:    "Feedback and conversations come in any order",
			depends: "Nothing",
			needs:   notReached,
		},
		{
			name:    expectTurns,
			text:    "The turns of a conversation share its `id`",
			depends: "`Conversation.ID`",
			needs:   notReached,
		},
		{
			name:    expectPageSize,
			text:    "250 conversations are less than 10 MiB",
			depends: "`maxBody` in request.go, and `iterPageSize` in assistant.go",
			needs:   notReached,
		},
		{
			name:    expectSums,
			text:    "The total of views is sent, and need not be human + AI",
			depends: "Nothing: the SDK computes no total",
			needs:   notReached,
		},
		{
			name:    expectNoThread,
			text:    "The id of a thread that does not exist gets 404",
			depends: "`ErrNotFound`",
			needs:   notReached,
		},
	}
}

func ofDeployments() []wording {
	return []wording{
		{
			name:    expectNoDeployment,
			text:    "The id of a deployment that does not exist gets 404",
			depends: "`ErrNotFound`",
			needs:   notReached,
		},
		{
			name:    expectEmptyBody,
			text:    "An update is triggered by a POST without a body",
			depends: "`TriggerUpdate` has to send a body",
			needs:   "needs -update",
		},
		{
			name:    expectDeploymentEnds,
			text:    "A deployment ends within -timeout",
			depends: "`Deployments.WaitUntilDone`, and publish's timeout",
			needs:   "needs -update or -preview",
		},
		{
			name:    expectSecondUpdate,
			text:    "A second update while the first is queued: both end",
			depends: "`TriggerUpdate` is said to be safe to call again",
			needs:   "needs -second-update",
		},
		{
			name:    expectGitAppDeployment,
			text:    "The deployments of the Git app have a status too",
			depends: "`Deployments.Get`",
			needs:   "no endpoint lists their ids",
		},
		{
			name:    expectKeptDeployment,
			text:    "A deployment has its status days later",
			depends: "`Deployments.Get`",
			needs:   "needs days",
		},
		{
			name:    expectAutomationJob,
			text:    "The jobId of an automation's run is the id of a job",
			depends: "`AutomationRun.JobID`",
			needs:   "a run costs credits, and needs an automation",
		},
	}
}

func ofBodies() []wording {
	needs := map[mintlify.Operation]string{
		mintlify.OpCreateJob:         needsJob,
		mintlify.OpSendMessage:       "needs -message",
		mintlify.OpGetJob:            "needs -job-id or -job",
		mintlify.OpTriggerUpdate:     "needs -update",
		mintlify.OpTriggerPreview:    "needs -preview",
		mintlify.OpGetDeployment:     "needs -update or -preview",
		mintlify.OpTriggerAutomation: "a run costs credits, and needs an automation",
		mintlify.OpGetThread:         "needs a conversation in the last 30 days",
	}

	var all []wording
	for _, op := range operations.All() {
		reason := needs[op.Name]
		if reason == "" {
			reason = notReached
		}
		text := fmt.Sprintf("A good response to `%s` is as in api/openapi.yaml", op.Func)
		all = append(all, wording{name: bodyOf(op.Name), text: text, depends: "`" + op.Func + "`", needs: reason})
	}
	return all
}

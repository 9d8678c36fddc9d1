package main

import (
	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

// row is something that the SDK expects of the service.
//
// To add one: add a request to the table in requests.go if no request there tells, add the row to
// the table below, and a service that differs to the table in deviations_test.go.
type row struct {
	what string
	// depends names the operation, the field, and the constant or rule that has to change if the
	// service differs.
	depends string
	// needs is the label of the request whose response judge gets. If that response is silent, the
	// row is not tried. "" if the row is about all responses.
	needs string
	// judge compares the response with what is expected. It may ask for others.
	judge func(c *check, r *response) verdict
}

// rows returns all rows in the order of the report.
func rows() []row {
	var all []row
	for _, l := range lists() {
		all = append(all, rowsOfList(l)...)
	}
	all = append(all, rowsOfRequests()...)
	for _, op := range operations.All() {
		if op.Name != mintlify.OpTriggerAutomation { // a run costs credits, and needs an automation
			all = append(all, rowOfBody(op))
		}
	}
	return append(all, rowsOfAllResponses()...)
}

func rowsOfList(l list) []row {
	name := "`" + operations.Get(l.operation).Func + "`: "
	pages := row{name + "pages have the rows that `limit` says, and each row once",
		name + "`limit`, `hasMore`, and the end of an export in pagination.go", l.first(), l.judgePages}
	if l.next != "" {
		pages.depends += "; `" + l.next + "` of its next page"
	}
	if l.time == "" {
		return []row{pages}
	}
	return []row{pages, {name + "a bare day is a day in UTC, and `dateTo` is exclusive",
		name + "`DateFrom`, `DateTo`, `Day` in date.go, and the days of docs-report", l.day(), l.judgeDay}}
}

func rowsOfRequests() []row {
	const (
		asking  = "Package once asks for such a job before a prompt, and goes by `showsWorking` in once/project.go"
		waiting = "`status`, the schedule in poll.go, and the timeouts of the programs"
	)
	return []row{
		{"`Analytics.GetVisitorPage`: an `offset` past the end gets no rows and no promise of more",
			"`Analytics.GetVisitorPage`: `offset`, `hasMore`, and `WithPrefetch` in pagination.go",
			"visitors past the end", judgeEndOfPages},
		{"`Analytics.GetVisitorPage`: a `limit` above the maximum gets 400",
			"`Analytics.GetVisitorPage`: `limit`, and `maxCountsPage` in analytics.go", "251 visitors", judgeStatus},
		{"`Analytics.GetViewPage`: a day two years ago gets a page of its own",
			"`Analytics.GetViewPage`: `DateFrom` and `DateTo` of `ViewsParams`", oldViews, judgeOldViews},
		{"`Analytics.GetThread`: the id of a thread that does not exist gets 404",
			"`Analytics.GetThread`: the status, and `ErrNotFound`", "a thread that does not exist", judgeStatus},
		{"`Analytics.GetCallerStats`: a key that does not exist gets 401",
			"All operations: the status, and `ErrUnauthorized`", wrongKey, judgeStatus},
		{"`Jobs.Get`: the id of a job that does not exist gets 404",
			"`Jobs.Get`: the status, and `ErrNotFound`. " + asking, "an unknown job", judgeUnknownJob},
		{"`Jobs.Get`: an id that cannot be parsed gets a 4xx or 500",
			"`Jobs.Get`: the status. " + asking, preflightJob, judgeUnknownJob},
		{"The sessions of version 1 are not jobs of version 2",
			"`Jobs.Create`: a job whose outcome is unknown could be looked for by `sessionId` (docs/once.md)",
			oldSession, judgeOldSession},
		{"`Jobs.Message`: a key with the read scope alone gets 403",
			"All operations that write: the status, and `ErrForbidden`", readerMessage, judgeStatus},
		{"`Jobs.Create`: a new job is `active`",
			"`Jobs.Create`: `status`, and `JobStatus.IsTerminal`", newJob, judgeFirstStatus},
		{"`Jobs.WaitUntilDone`: a job ends within -timeout",
			"`Jobs.WaitUntilDone`: " + waiting, polls(newJob), judgeEnd},
		{"`Jobs.WaitUntilDone`: a job ends within -timeout of a message",
			"`Jobs.WaitUntilDone`: " + waiting + "; `recentTime` in memory.go", polls(message), judgeEnd},
		{"`Deployments.WaitUntilDone`: a preview ends within -timeout",
			"`Deployments.WaitUntilDone`: " + waiting, polls(preview), judgeEnd},
		{"`Deployments.WaitUntilDone`: an update ends within -timeout",
			"`Deployments.WaitUntilDone`: " + waiting, polls(update), judgeEnd},
		{"`Deployments.WaitUntilDone`: a deployment that is `skipped` has ended",
			"`Deployments.WaitUntilDone`: `status`, and `DeploymentSkipped`", polls(update), judgeSkipped},
		{"`Deployments.Get`: the id of a deployment that does not exist gets 404",
			"`Deployments.Get`: the status, and `ErrNotFound`", "a deployment that does not exist", judgeStatus},
	}
}

func rowOfBody(op operations.Operation) row {
	what := "`: a good response is as in api/openapi.yaml"
	if op.IsPost() {
		what = "`: the request is accepted, and the response as in api/openapi.yaml"
	}
	judge := func(c *check, _ *response) verdict { return c.judgeBody(op) }
	return row{"`" + op.Func + what, "`" + op.Func + "`: the request as the SDK sends it", "", judge}
}

func rowsOfAllResponses() []row {
	return []row{
		{"Errors are JSON with the field `error`",
			"All operations: `APIError.Message` and `APIError.Details`; `APIError.Body` has all", "", judgeErrors},
		{"Request ids, if there are any, come in X-Request-Id",
			"All operations: `APIError.RequestID` reads no other header", "", judgeHeaders(requestIDs, "X-Request-Id")},
		{"No header tells what is left of a quota",
			"All operations: `WithRateLimiter`: a limiter could read these headers", "", judgeHeaders(quotas, "")},
		{"Retry-After alone says when to call again",
			"All operations: `APIError.RetryAfter` reads no other header", "", judgeHeaders(retries, "Retry-After")},
	}
}

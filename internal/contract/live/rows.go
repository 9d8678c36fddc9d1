package main

import (
	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

// row is something that the SDK expects of the service.
//
// To add one: add a request to the table in requests.go if no request there tells, add the row to
// the table below, and a service that differs to the table in deviations_test.go. A row that needs
// a flag is one more that is not tried without it: live_test.go counts them.
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
	return append(all, row{what: "Errors are JSON with the field `error`", judge: judgeErrors,
		depends: "All operations: `APIError.Message` and `APIError.Details`; `APIError.Body` has all"})
}

func rowsOfList(l list) []row {
	name := "`" + operations.Get(l.operation).Func + "`: "
	pages := row{what: name + "pages have the rows that `limit` says, and each row once",
		depends: name + "`limit`, `hasMore`, and the end of an export in pagination.go",
		needs:   l.first(), judge: l.judgePages}
	if l.next != "" {
		pages.depends += "; `" + l.next + "` of its next page"
	}
	if l.time == "" {
		return []row{pages}
	}

	return []row{pages, {what: name + "a bare day is a day in UTC, and `dateTo` is exclusive",
		depends: name + "`DateFrom`, `DateTo`, `Day` in date.go, and the days of docs-report",
		needs:   l.day(), judge: l.judgeDay}}
}

func rowsOfRequests() []row {
	const (
		asking  = "Package once asks for such a job before a prompt, and goes by `showsWorking` in once/project.go"
		waiting = "`status`, the schedule in poll.go, and the timeouts of the programs"
	)
	return []row{
		{what: "`Analytics.GetVisitorPage`: an `offset` past the end gets no rows and no promise of more",
			depends: "`Analytics.GetVisitorPage`: `offset`, `hasMore`, and `WithPrefetch` in pagination.go",
			needs:   "visitors past the end", judge: judgeEndOfPages},
		{what: "`Analytics.GetVisitorPage`: a `limit` above the maximum gets 400",
			depends: "`Analytics.GetVisitorPage`: `limit`, and `maxCountsPage` in analytics.go",
			needs:   "251 visitors", judge: judgeStatus},
		{what: "`Analytics.GetViewPage`: a day two years ago gets a page of its own",
			depends: "`Analytics.GetViewPage`: `DateFrom` and `DateTo` of `ViewsParams`",
			needs:   oldViews, judge: judgeOldViews},
		{what: "`Analytics.GetThread`: the id of a thread that does not exist gets 404",
			depends: "`Analytics.GetThread`: the status, and `ErrNotFound`",
			needs:   "a thread that does not exist", judge: judgeStatus},
		{what: "`Analytics.GetCallerStats`: a key that does not exist gets 401",
			depends: "All operations: the status, and `ErrUnauthorized`", needs: wrongKey, judge: judgeStatus},
		{what: "`Jobs.Get`: the id of a job that does not exist gets 404",
			depends: "`Jobs.Get`: the status, and `ErrNotFound`. " + asking,
			needs:   "an unknown job", judge: judgeUnknownJob},
		{what: "`Jobs.Get`: an id that cannot be parsed gets a 4xx or 500",
			depends: "`Jobs.Get`: the status. " + asking, needs: preflightJob, judge: judgeUnknownJob},
		{what: "`Jobs.Create`: a new job is `active`",
			depends: "`Jobs.Create`: `status`, and `JobStatus.IsTerminal`", needs: newJob, judge: judgeFirstStatus},
		{what: "`Jobs.WaitUntilDone`: a job ends within -timeout",
			depends: "`Jobs.WaitUntilDone`: " + waiting, needs: pollsOf(newJob), judge: judgeEnd},
		{what: "`Jobs.WaitUntilDone`: a job ends within -timeout of a message",
			depends: "`Jobs.WaitUntilDone`: " + waiting + "; `recentTime` in memory.go",
			needs:   pollsOf(message), judge: judgeEnd},
		{what: "`Deployments.WaitUntilDone`: a preview ends within -timeout",
			depends: "`Deployments.WaitUntilDone`: " + waiting, needs: pollsOf(preview), judge: judgeEnd},
		{what: "`Deployments.WaitUntilDone`: an update ends within -timeout",
			depends: "`Deployments.WaitUntilDone`: " + waiting, needs: pollsOf(update), judge: judgeEnd},
		{what: "`Deployments.Get`: the id of a deployment that does not exist gets 404",
			depends: "`Deployments.Get`: the status, and `ErrNotFound`",
			needs:   "a deployment that does not exist", judge: judgeStatus},
	}
}

func rowOfBody(op operations.Operation) row {
	what := "`: a good response is as in api/openapi.yaml"
	if op.IsPost() {
		what = "`: the request is accepted, and the response as in api/openapi.yaml"
	}
	judge := func(c *check, _ *response) verdict { return c.judgeBody(op) }
	return row{what: "`" + op.Func + what, depends: "`" + op.Func + "`: the request as the SDK sends it", judge: judge}
}

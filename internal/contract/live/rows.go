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
		name := "`" + operations.Get(l.operation).Func + "`: "
		all = append(all, row{
			what:  name + "pages have the rows that `limit` says, and each row once",
			needs: l.first(),
			judge: l.judgePages,
		})
		if l.time != "" {
			all = append(all, row{
				what:  name + "a bare day is a day in UTC, and `dateTo` is exclusive",
				needs: l.day(),
				judge: l.judgeDay,
			})
		}
	}

	all = append(all, rowsOfRequests()...)
	for _, op := range operations.All() {
		if op.Name != mintlify.OpTriggerAutomation { // a run costs credits, and needs an automation
			all = append(all, rowOfBody(op))
		}
	}
	return append(all, row{what: "Errors are JSON with the field `error`", judge: judgeErrors})
}

func rowsOfRequests() []row {
	return []row{
		{"`Analytics.GetVisitorPage`: an `offset` past the end gets no rows and no promise of more",
			"visitors past the end", judgeEndOfPages},
		{"`Analytics.GetVisitorPage`: a `limit` above the maximum gets 400", "251 visitors", judgeStatus},
		{"`Analytics.GetViewPage`: a day two years ago gets a page of its own", oldViews, judgeOldViews},
		{"`Analytics.GetThread`: the id of a thread that does not exist gets 404",
			"a thread that does not exist", judgeStatus},
		{"`Analytics.GetCallerStats`: a key that does not exist gets 401", wrongKey, judgeStatus},
		{"`Jobs.Get`: the id of a job that does not exist gets 404", "an unknown job", judgeUnknownJob},
		{"`Jobs.Get`: an id that cannot be parsed gets a 4xx or 500", preflightJob, judgeUnknownJob},
		{"`Jobs.Create`: a new job is `active`", newJob, judgeFirstStatus},
		{"`Jobs.WaitUntilDone`: a job ends within -timeout", pollsOf(newJob), judgeEnd},
		{"`Jobs.WaitUntilDone`: a job ends within -timeout of a message", pollsOf(message), judgeEnd},
		{"`Deployments.WaitUntilDone`: a preview ends within -timeout", pollsOf(preview), judgeEnd},
		{"`Deployments.WaitUntilDone`: an update ends within -timeout", pollsOf(update), judgeEnd},
		{"`Deployments.Get`: the id of a deployment that does not exist gets 404",
			"a deployment that does not exist", judgeStatus},
	}
}

func rowOfBody(op operations.Operation) row {
	what := "`: a good response is as in api/openapi.yaml"
	if op.IsPost() {
		what = "`: the request is accepted, and the response as in api/openapi.yaml"
	}
	judge := func(c *check, _ *response) verdict { return c.judgeBody(op) }
	return row{what: "`" + op.Func + what, judge: judge}
}

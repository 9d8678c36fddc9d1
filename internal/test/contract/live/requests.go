package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

// request is an entry of the table of requests. Each is sent once, when a row first asks for it.
//
// To add a row to the report, add what it expects to a request, and a service that differs to the table in
// deviations_test.go. A row that needs a flag is one more that is not tried without it: live_test.go counts them.
type request struct {
	label     string // says in the report what the request is for
	operation mintlify.Operation
	id        string
	query     url.Values
	key       string             // in place of the admin key
	flag      string             // has to be given before the request is sent; "" if it only reads
	isOn      bool               // the flag is given
	does      string             // what the flag has the command do, and what that costs
	polls     bool               // waits until what after has made is done
	wants     int                // the status of the error that it should get; 0 if it should succeed
	isTyped   bool               // a person typed the id
	isJudged  bool               // a row judges whether it is refused, and not the operation's own
	leaves    string             // what it makes, and what has to be closed or deleted
	made      mintlify.Operation // that polls what it makes
	ends      string             // what the SDK expects of these polls

	after string // the label of a request that has to be good before this one is sent
	// prepare fills in an id or a query that depends on other responses.
	prepare func(c *check, q *request)
	lacks   string // what is missing if there is neither an id nor a query then; "" if q needs none

	expects string // says in a row of the report what the SDK expects of the response; "" if no row does
	// judge compares the response with that, unless it is silent. It may ask for others.
	judge func(c *check, r *response) verdict
}

// The labels that several places refer to.
const (
	callerStats  = "caller stats"
	preflightJob = "the job `preflight`, as package once asks for it"
	newJob       = "a new job"
	message      = "a message"
)

// pollsOf returns the label of the wait until what a POST has made is done.
func pollsOf(made string) string { return "polls of " + made }

// requests returns the table.
func requests(s settings) []*request {
	var all []*request
	for _, l := range lists() {
		all = append(all, l.requests()...)
	}
	all = append(all, readingRequests(s)...)

	for _, q := range writingRequests(s) {
		all = append(all, q)
		all = append(all, &request{label: pollsOf(q.label), operation: q.made, flag: q.flag, isOn: q.isOn, polls: true,
			after: q.label, prepare: anID, lacks: "an id, and none came", expects: q.ends, judge: judgeEnd})
	}
	return all
}

func readingRequests(s settings) []*request {
	month := dates(today().AddDays(-30), today())
	past := today().AddDays(-730)

	return []*request{
		{label: "visitors past the end", operation: mintlify.OpGetVisitors, isJudged: true, after: visitors.first(),
			prepare: pastTheEnd, judge: judgeEndOfPages,
			expects: "`Analytics.GetVisitorPage`: an `offset` past the end gets no rows and no promise of more"},
		{label: "251 visitors", operation: mintlify.OpGetVisitors, query: url.Values{"limit": {"251"}},
			wants: http.StatusBadRequest, after: visitors.first(), judge: judgeStatus,
			expects: "`Analytics.GetVisitorPage`: a `limit` above the maximum gets 400"},
		{label: "views of a day two years ago", operation: mintlify.OpGetViews, isJudged: true, after: views.first(),
			query: with(dates(past, past.AddDays(1)), "limit", 250), judge: judgeOldViews,
			expects: "`Analytics.GetViewPage`: a day two years ago gets a page of its own"},

		{label: "the thread of a conversation", operation: mintlify.OpGetThread, after: conversations.first(),
			prepare: aThread, lacks: "a conversation in the last 30 days"},
		{label: "a thread that does not exist", operation: mintlify.OpGetThread,
			id: idLike("01JH0000000000000000000000"), wants: http.StatusNotFound, judge: judgeStatus,
			expects: "`Analytics.GetThread`: the id of a thread that does not exist gets 404"},

		{label: callerStats, operation: mintlify.OpGetCallerStats, query: month},
		{label: "caller stats, with a key that does not exist", operation: mintlify.OpGetCallerStats, query: month,
			key: "mint_" + rand.Text(), wants: http.StatusUnauthorized, after: callerStats, judge: judgeStatus,
			expects: "`Analytics.GetCallerStats`: a key that does not exist gets 401"},

		{label: "the job of -job-id", operation: mintlify.OpGetJob, id: s.jobID, isTyped: true, lacks: "-job-id"},
		{label: "an unknown job", operation: mintlify.OpGetJob, id: idLike(s.jobID), wants: http.StatusNotFound,
			judge: judgeUnknownJob, expects: "`Jobs.Get`: the id of a job that does not exist gets 404"},
		{label: preflightJob, operation: mintlify.OpGetJob, id: "preflight", wants: http.StatusNotFound,
			judge: judgeUnknownJob, expects: "`Jobs.Get`: an id that cannot be parsed gets a 4xx or 500"},

		{label: "a deployment that does not exist", operation: mintlify.OpGetDeployment,
			id: idLike("6a0000000000000000000000"), wants: http.StatusNotFound, judge: judgeStatus,
			expects: "`Deployments.Get`: the id of a deployment that does not exist gets 404"},
	}
}

// writingRequests are those that a flag allows. Each is followed by polls until what it makes has ended.
func writingRequests(s settings) []*request {
	const publishes = " The agent edits the docs: it opens a pull request, or publishes to the live site if the " +
		"project publishes without a review. It costs about 112 credits."
	const published = " and delete the branch, or revert what the agent published"

	return []*request{
		{label: newJob, operation: mintlify.OpCreateJob, flag: "-job", isOn: s.job,
			does:   "It runs a job." + publishes + " The prompt is: " + s.prompt,
			leaves: "a job: close its pull request" + published,
			judge:  judgeFirstStatus, expects: "`Jobs.Create`: a new job is `active`",
			made: mintlify.OpGetJob, ends: "`Jobs.WaitUntilDone`: a job ends within -timeout"},

		{label: message, operation: mintlify.OpSendMessage, flag: "-message", isOn: s.message,
			does:    "It asks the agent for another line in the same job." + publishes,
			leaves:  "a message: close the job's pull request" + published,
			prepare: aJob, lacks: "the id of a job",
			made: mintlify.OpGetJob, ends: "`Jobs.WaitUntilDone`: a job ends within -timeout of a message"},

		{label: "a preview", operation: mintlify.OpTriggerPreview, flag: "-preview", isOn: s.preview != "",
			does:   "It deploys a preview of a branch. It costs no credits.",
			leaves: "a preview: delete it in the dashboard, or its branch",
			made:   mintlify.OpGetDeployment, ends: "`Deployments.WaitUntilDone`: a preview ends within -timeout"},

		{label: "an update", operation: mintlify.OpTriggerUpdate, flag: "-update", isOn: s.update,
			does:   "It deploys the live site. It costs no credits.",
			leaves: "a deployment of the site: there is nothing to delete; to undo it, deploy again",
			made:   mintlify.OpGetDeployment, ends: "`Deployments.WaitUntilDone`: an update ends within -timeout"},
	}
}

func anID(c *check, q *request) { q.id = idOf(c.ask(q.after)) }

func aThread(c *check, q *request) {
	for _, row := range c.ask(conversations.first()).rows(conversations.field) {
		q.id = text(row, "id")
	}
}

// aJob takes the job of -job-id, or else the new one.
func aJob(c *check, q *request) { q.id = cmp.Or(c.settings.jobID, idOf(c.ask(newJob))) }

// idOf returns the id of what a POST has made; "" if there is none.
func idOf(r *response) string {
	if !r.isSuccess() {
		return ""
	}
	return text(r.object(), "id") + text(r.object(), "statusId")
}

// dates returns the query of a range of bare days.
func dates(from, to mintlify.Date) url.Values {
	return url.Values{"dateFrom": {from.String()}, "dateTo": {to.String()}}
}

// with returns a copy of a query with another value.
func with(query url.Values, name string, value any) url.Values {
	changed := maps.Clone(query)
	changed.Set(name, fmt.Sprint(value))
	return changed
}

// template returns the path of the request, as api/openapi.yaml writes it.
func (q *request) template() string { return operations.Get(q.operation).Path }

// part returns the part of the API that a request is for: its requests share quotas and gateways.
func (q *request) part() string { return strings.Split(q.template(), "/")[2] }

func (q *request) isPost() bool { return operations.Get(q.operation).IsPost() }

// ask returns the response to a request of the table, the last one if it polls. It sends the
// request unless that was done before.
func (c *check) ask(label string) *response {
	q := c.request(label)
	if len(c.recorder.responses(q)) == 0 {
		c.send(q)
	}
	came := c.recorder.responses(q)
	return came[len(came)-1]
}

func (c *check) request(label string) *request {
	isCalled := func(q *request) bool { return q.label == label }
	return c.requests[slices.IndexFunc(c.requests, isCalled)]
}

// send sends a request, or notes why it is not sent.
func (c *check) send(q *request) {
	if why := c.whyNot(q); why != "" {
		c.recorder.all = append(c.recorder.all, &response{request: q, missing: why})
		return
	}

	c.recorder.asking = q
	err := c.call(q)
	if len(c.recorder.responses(q)) == 0 {
		c.recorder.all = append(c.recorder.all, &response{request: q})
	}

	last := c.recorder.all[len(c.recorder.all)-1]
	last.err = err
	if last.status == 0 && c.ctx.Err() != nil {
		last.missing = "interrupted"
	}
	c.tell(last)
}

// whyNot says why a request is not sent; "" if it can be.
func (c *check) whyNot(q *request) string {
	if q.flag != "" && !q.isOn {
		return "needs " + q.flag
	}
	if q.after != "" && !c.ask(q.after).isGood() {
		return q.after + ": " + c.ask(q.after).String()
	}
	if q.prepare != nil {
		q.prepare(c, q)
	}

	switch {
	case q.lacks != "" && q.id == "" && q.query == nil:
		return "needs " + q.lacks
	case c.ctx.Err() != nil:
		return "interrupted"
	}
	for _, r := range c.recorder.responses(nil) {
		if r.status == http.StatusTooManyRequests && r.part() == q.part() {
			return "not sent after " + r.String()
		}
	}
	return ""
}

// call sends a request by the SDK.
func (c *check) call(q *request) error {
	client := c.client
	if q.key != "" {
		other, err := mintlify.NewClient(q.key, client.ProjectID(), c.options...)
		if err != nil {
			return err
		}
		client = other
	}

	if q.polls {
		return c.wait(client, q)
	}

	var err error
	switch q.operation {
	case mintlify.OpCreateJob:
		_, err = client.Jobs.Create(c.ctx, mintlify.CreateJobParams{Prompt: c.settings.prompt})
	case mintlify.OpSendMessage:
		_, err = client.Jobs.Message(c.ctx, q.id, mintlify.MessageParams{Prompt: "Add another line like it."})
	case mintlify.OpTriggerPreview:
		_, err = client.Deployments.TriggerPreview(c.ctx, mintlify.TriggerPreviewParams{Branch: c.settings.preview})
	case mintlify.OpTriggerUpdate:
		_, err = client.Deployments.TriggerUpdate(c.ctx, mintlify.TriggerUpdateParams{})
	default: // the SDK's own methods might refuse the arguments
		path := strings.Replace(q.template(), "{projectId}", url.PathEscape(client.ProjectID()), 1)
		path = strings.Replace(path, "{id}", url.PathEscape(q.id), 1)
		err = client.Call(c.ctx, mintlify.CallParams{Method: http.MethodGet, Path: path, Query: q.query}, nil)
	}
	return err
}

// wait polls until a job or a deployment is done, or -timeout has passed.
func (c *check) wait(client *mintlify.Client, q *request) error {
	fmt.Fprintf(c.terminal.err, "Waiting until it ends, up to %v.\n", c.settings.timeout)
	ctx, cancel := context.WithTimeout(c.ctx, c.settings.timeout)
	defer cancel()

	var err error
	switch q.after {
	case newJob:
		_, err = client.Jobs.WaitUntilDone(ctx, q.id)
	case message: // the job may report its earlier end first
		_, err = client.Jobs.WaitUntilDone(ctx, q.id, mintlify.WithSettleTime(5*time.Minute))
	default:
		_, err = client.Deployments.WaitUntilDone(ctx, q.id)
	}
	return err
}

// idLike returns a random id of the same form as id, or a random UUID.
func idLike(id string) string {
	like := []byte(cmp.Or(id, "a0000000-0000-4000-8000-00000000000a"))
	random := make([]byte, len(like))
	_, _ = rand.Read(random) // never fails
	for i, old := range like {
		switch {
		case i == 0 || i == 14 || i == 19: // a ULID begins with a small digit; a UUID has its version and variant here
		case old >= '0' && old <= '9':
			like[i] = '0' + random[i]%10
		case old >= 'a' && old <= 'z':
			like[i] = 'a' + random[i]%6 // a hexadecimal digit
		case old >= 'A' && old <= 'Z':
			like[i] = 'A' + random[i]%6
		}
	}
	return string(like)
}

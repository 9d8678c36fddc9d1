package main

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

type alteration func(request *http.Request, r *reply)

// deviation is a service that differs from the fake in one thing.
type deviation struct {
	name string
	// row and details are parts of the row that has to say so.
	row, details string
	// on says which requests it is about: their method, path and a $ have it in them.
	on string
	// before changes requests, alter changes responses.
	before func(query url.Values)
	alter  alteration
	// flags are those of the run.
	flags string
}

func (d deviation) handler(svc http.Handler) http.Handler {
	isAbout := func(r *http.Request) bool { return strings.Contains(r.Method+" "+r.URL.Path+"$", d.on) }
	altered := deviating(svc, func(request *http.Request, r *reply) {
		if d.alter != nil && isAbout(request) {
			d.alter(request, r)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if d.before != nil && isAbout(request) {
			query := request.URL.Query()
			d.before(query)
			request.URL.RawQuery = query.Encode()
		}
		altered.ServeHTTP(w, request)
	})
}

func TestEachDeviationIsInItsRowAndInNoOther(t *testing.T) {
	all := slices.Concat(deviatingPages(), deviatingDates(), deviatingBodies(), deviatingStatuses(), deviatingWrites())
	require.GreaterOrEqual(t, len(all), 50)
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			service := dated(newService())
			got := session{service: d.handler(service), args: strings.Fields(d.flags)}.run(t)
			assert.Equal(t, exitDiffers, got.code, got.stderr)

			found := differing(t, got.report)
			require.Len(t, found, 1, "%s\n%s", found, got.report)
			assert.Contains(t, strings.ReplaceAll(found[0].what, "`", ""), d.row)
			assert.Contains(t, found[0].details, d.details)
			assert.NotContains(t, got.report, "planted")
		})
	}
}

// onBody is an alteration of good bodies.
func onBody(change func(body map[string]any)) alteration {
	return func(_ *http.Request, r *reply) {
		if r.status < 300 {
			r.change(change)
		}
	}
}

// set sets a field of good bodies.
func set(name string, value any) alteration {
	return onBody(func(body map[string]any) { body[name] = value })
}

// setInRow sets a field of the first row; deletes it if value is "".
func setInRow(list, name string, value any) alteration {
	return onBody(func(body map[string]any) {
		if rows, _ := body[list].([]any); len(rows) > 0 {
			row := rows[0].(map[string]any)
			row[name] = value
			if value == "" {
				delete(row, name)
			}
		}
	})
}

func unset(name string) alteration {
	return onBody(func(body map[string]any) { delete(body, name) })
}

// more repeats the rows of good bodies until there are more than asked for.
func more(list string, above int) alteration {
	return onBody(func(body map[string]any) {
		rows, _ := body[list].([]any)
		for len(rows) > 0 && len(rows) <= above {
			rows = append(rows, rows[0])
		}
		body[list] = rows
	})
}

// failing is an alteration that responds with an error of the service.
func failing(status int) alteration {
	return func(_ *http.Request, r *reply) {
		r.status = status
		r.body = []byte(`{"error":"planted words"}`)
	}
}

// answering is an alteration that responds with another body.
func answering(body string) alteration {
	return func(_ *http.Request, r *reply) {
		r.status = http.StatusOK
		r.body = []byte(body)
	}
}

// insteadOf alters responses of a status.
func insteadOf(status int, alter alteration) alteration {
	return func(request *http.Request, r *reply) {
		if r.status == status {
			alter(request, r)
		}
	}
}

// asked alters the responses to queries that have such a value.
func asked(name, value string, alter alteration) alteration {
	return func(request *http.Request, r *reply) {
		if got := request.URL.Query().Get(name); got == value || value == "any" && got != "" {
			alter(request, r)
		}
	}
}

// capped caps pages.
func capped(rows int) func(url.Values) {
	return func(query url.Values) {
		if limit, _ := strconv.Atoi(query.Get("limit")); limit > rows && limit <= 250 {
			query.Set("limit", strconv.Itoa(rows))
		}
	}
}

// shifted moves offsets.
func shifted(move func(offset int) int) func(url.Values) {
	return func(query url.Values) {
		if offset, _ := strconv.Atoi(query.Get("offset")); offset > 0 {
			query.Set("offset", strconv.Itoa(move(offset)))
		}
	}
}

func withoutCursor(query url.Values) { query.Del("cursor") }

// repeating has a page after the first begin with a row of the first.
func repeating(list string) alteration {
	var first any
	return func(request *http.Request, r *reply) {
		r.change(func(body map[string]any) {
			rows := body[list].([]any)
			if request.URL.Query().Has("cursor") {
				rows[0] = first
			} else {
				first = rows[0]
			}
		})
	}
}

// doubled has a row twice in one page.
func doubled(list string) alteration {
	return onBody(func(body map[string]any) {
		if rows, _ := body[list].([]any); len(rows) > 3 {
			rows[3] = rows[1]
		}
	})
}

func deviatingPages() []deviation {
	const pages = "Page: pages"
	none := func(int) int { return 0 }
	return []deviation{
		{name: "capped visitors", on: "/visitors", row: "Visitor" + pages, details: "promise of more", before: capped(30)},
		{name: "capped views", on: "/views", row: "View" + pages, details: "promise of more", before: capped(100)},
		{name: "capped searches", on: "/searches", row: "Search" + pages, details: "promise of more", before: capped(20)},
		{name: "capped feedback", on: "/feedback$", row: "Feedback" + pages, details: "`feedback` has 50", before: capped(50)},
		{name: "capped conversations", on: "/assistant$", row: "Conversation" + pages, details: "promise of more",
			before: capped(100)},
		{name: "an offset one too small", on: "/visitors", row: "Visitor" + pages, details: "begins one place",
			before: shifted(func(offset int) int { return offset - 1 })},
		{name: "an offset one too large", on: "/views", row: "View" + pages, details: "begins one place",
			before: shifted(func(offset int) int { return offset + 1 })},
		{name: "an overlap", on: "/views", row: "View" + pages, details: "is not what follows",
			before: shifted(func(offset int) int { return offset - 10 })},
		{name: "ignored offsets", on: "/visitors", row: "Visitor" + pages, details: "is not what follows", before: shifted(none)},
		{name: "visitors that never have more", on: "/visitors", row: "Visitor" + pages, details: "`hasMore` is false",
			alter: set("hasMore", false)},
		{name: "views that never have more", on: "/views", row: "View" + pages, details: "`hasMore` is false",
			alter: set("hasMore", false)},
		{name: "visitors that always have more", on: "/visitors", row: "Visitor" + pages, details: "promise of more",
			alter: set("hasMore", true)},
		{name: "a refused offset", on: "/views", row: "View" + pages, details: "400 with JSON",
			alter: asked("offset", "any", failing(400))},
		{name: "too many visitors", on: "/visitors", row: "Visitor" + pages, details: "`visitors` has 51 rows",
			alter: asked("limit", "50", asked("offset", "50", more("visitors", 50)))},
		{name: "too many searches", on: "/searches", row: "Search" + pages, details: "`searches` has 101 rows",
			alter: more("searches", 100)},
		{name: "too many feedback counts", on: "/by-page", row: "GetFeedbackCounts: pages", details: "`feedback` has 101 rows",
			alter: more("feedback", 100)},
		{name: "searches whose cursor stands still", on: "/searches", row: "Search" + pages, details: "the same again",
			before: withoutCursor},
		{name: "feedback whose cursor stands still", on: "/feedback$", row: "Feedback" + pages, details: "the same again",
			before: withoutCursor},
		{name: "conversations whose cursor stands still", on: "/assistant$", row: "Conversation" + pages,
			details: "the same again", before: withoutCursor},
		{name: "a row twice", on: "/searches", row: "Search" + pages, details: "rows of the page before",
			alter: repeating("searches")},
		{name: "a row of feedback twice", on: "/feedback$", row: "Feedback" + pages, details: "rows of the page before",
			alter: asked("limit", "100", repeating("feedback"))},
		{name: "a visitor twice in a page", on: "/visitors", row: "Visitor" + pages, details: "a row twice",
			alter: asked("limit", "250", doubled("visitors"))},
		{name: "a search twice in a page", on: "/searches", row: "Search" + pages, details: "a row twice",
			alter: doubled("searches")},
		{name: "a turn twice in a page", on: "/assistant$", row: "Conversation" + pages, details: "a row twice",
			alter: doubled("conversations")},
		{name: "a cursor that leads to nothing", on: "/searches", row: "Search" + pages, details: "0 rows",
			alter: asked("cursor", "any", answering(`{"searches":[],"totalSearches":0,"nextCursor":null}`))},
		{name: "a cursor that is refused", on: "/searches", row: "Search" + pages, details: "414",
			alter: asked("cursor", "any", failing(414))},
		{name: "a cursor, and no more", on: "/feedback$", row: "Feedback" + pages, details: "`nextCursor` says something else",
			alter: set("hasMore", false)},
		{name: "more, and no cursor", on: "/assistant$", row: "Conversation" + pages, details: "`hasMore` is true",
			alter: set("nextCursor", nil)},
		{name: "an error past the end", on: "/visitors", row: "past the end", details: "400",
			alter: asked("offset", "120", failing(400))},
		{name: "more past the end", on: "/visitors", row: "past the end", details: "`hasMore` is true",
			alter: asked("offset", "120", set("hasMore", true))},
		{name: "a cap that hides what follows", on: "/visitors", row: "past the end", details: "`visitors` has 20 rows",
			before: capped(100), alter: set("hasMore", false)},
		{name: "a larger limit", on: "/visitors", row: "limit above the maximum", details: "200",
			alter: asked("limit", "251", answering(`{"visitors":[]}`))},
	}
}

// moved moves a range of one day.
func moved(from, to time.Duration) func(url.Values) {
	return func(query url.Values) {
		begin, _ := time.Parse(time.DateOnly, query.Get("dateFrom"))
		end, _ := time.Parse(time.DateOnly, query.Get("dateTo"))
		if end.Sub(begin) == wholeDay {
			query.Set("dateFrom", begin.Add(from).Format(time.RFC3339))
			query.Set("dateTo", end.Add(to).Format(time.RFC3339))
		}
	}
}

func deviatingDates() []deviation {
	const feedbackDay, conversationDay = "GetFeedbackPage: a bare day", "GetConversationPage: a bare day"
	const hour, month = time.Hour, 30 * wholeDay
	lastMonth := func(query url.Values) {
		if isLongAgo(query) {
			query.Set("dateFrom", today().AddDays(-30).String())
			query.Set("dateTo", today().String())
		}
	}
	return []deviation{
		{name: "inclusive", on: "/assistant$", row: conversationDay, details: "inclusive", before: moved(0, wholeDay)},
		{name: "inclusive feedback", on: "/feedback$", row: feedbackDay, details: "inclusive", before: moved(0, wholeDay)},
		{name: "west", on: "/assistant$", row: conversationDay, details: "not UTC", before: moved(7*hour, 7*hour)},
		{name: "east", on: "/feedback$", row: feedbackDay, details: "not UTC", before: moved(-9*hour, -9*hour)},
		{name: "rows missing", on: "/assistant$", row: conversationDay, details: "missing", before: moved(8*hour, 0)},
		{name: "ignored", on: "/assistant$", row: conversationDay, details: "ignored", before: moved(-month, month)},
		{name: "ignored of feedback", on: "/feedback$", row: feedbackDay, details: "ignored", before: moved(-month, month)},
		{name: "ignored of views", on: "/views", row: "two years ago", details: "ignored", before: lastMonth},
		{name: "nothing of two years ago", on: "/views", row: "two years ago", details: "400",
			alter: func(request *http.Request, r *reply) {
				if isLongAgo(request.URL.Query()) {
					failing(400)(request, r)
				}
			}},
	}
}

func deviatingBodies() []deviation {
	const good = ": a good response"
	planted := "planted yesterday"
	return []deviation{
		{name: "a missing field", on: "/visitors", row: "GetVisitorPage" + good, details: "`/visitors/*/ai` is missing",
			alter: setInRow("visitors", "ai", "")},
		{name: "no hasMore", on: "/feedback$", row: "GetFeedbackPage" + good, details: "`/hasMore` is missing",
			alter: unset("hasMore")},
		{name: "no nextCursor", on: "/searches", row: "GetSearchPage" + good, details: "`/nextCursor` is missing",
			alter: unset("nextCursor")},
		{name: "an unknown field", on: "/views", row: "GetViewPage" + good, details: "unknown field `bounces` in `/views/*`",
			alter: setInRow("views", "bounces", "planted")},
		{name: "a count as text", on: "/caller-stats", row: "GetCallerStats" + good, details: "`/web` breaks the rule `type`",
			alter: set("web", "3")},
		{name: "null", on: "/assistant$", row: "GetConversationPage" + good, details: "`/conversations/*/response`",
			alter: setInRow("conversations", "response", nil)},
		{name: "a time", on: "/searches", row: "GetSearchPage" + good, details: "`/searches/*/lastSearchedAt` breaks the rule",
			alter: setInRow("searches", "lastSearchedAt", planted)},
		{name: "a new source", on: "/feedback$", row: "GetFeedbackPage" + good, details: "the new value `voice`",
			alter: setInRow("feedback", "source", "voice")},
		{name: "a list that is an object", on: "/by-page", row: "GetFeedbackCounts" + good, details: "`/feedback` breaks",
			alter: set("feedback", map[string]any{})},
		{name: "a role", on: "/threads/", row: "GetThread" + good, details: "the new value `tool`",
			alter: setInRow("messages", "role", "tool")},
		{name: "an export that is gone", on: "/by-page", row: "GetFeedbackCounts" + good, details: "404",
			alter: failing(404)},
		{name: "visitors that are gone", on: "/visitors", row: "GetVisitorPage" + good, details: "404",
			alter: failing(404)},
		{name: "a page without a body", on: "/searches", row: "GetSearchPage" + good, details: "200 with no body",
			alter: asked("cursor", "", answering(""))},
		{name: "a thread that is not there", on: "/threads/planted", row: "GetThread" + good, details: "404",
			alter: failing(404)},
		{name: "errors under another name", on: "/", row: "Errors", details: "`/error` is missing",
			alter: insteadOf(404, func(_ *http.Request, r *reply) { r.body = []byte(`{"message":"planted words"}`) })},
		{name: "errors without a body", on: "/", row: "Errors", details: "404 with no body",
			alter: insteadOf(404, func(_ *http.Request, r *reply) { r.body = nil })},
	}
}

func deviatingStatuses() []deviation {
	const unknown, unparsable = "a job that does not exist", "an id that cannot be parsed"
	all := []deviation{
		{name: "410 for a thread", on: "/threads/", row: "a thread that does not exist", details: "410",
			alter: insteadOf(404, failing(410))},
		{name: "500 for a thread", on: "/threads/", row: "a thread that does not exist", details: "500",
			alter: insteadOf(404, failing(500))},
		{name: "400 for a deployment", on: "/update-status/", row: "a deployment that does not exist", details: "400",
			alter: insteadOf(404, failing(400))},
		{name: "a wrong key that works", on: "/", row: "a key that does not exist", details: "200",
			alter: insteadOf(401, answering(`{"web":0,"api":0,"other":0,"total":0}`))},
		{name: "400 for a wrong key", on: "/", row: "a key that does not exist", details: "400",
			alter: insteadOf(401, failing(400))},
		{name: "500 for a wrong key", on: "/", row: "a key that does not exist", details: "500",
			alter: insteadOf(401, failing(500))},
		{name: "400 for a job", on: "/v2/agent/", row: unknown, details: "400", alter: insteadOf(404, failing(400))},
		{name: "a job that cannot be", on: "/preflight", row: unparsable, details: "send nothing", alter: answering(`{}`)},
	}
	for _, status := range []int{407, 408, 425, 499} {
		all = append(all, deviation{name: "an unknown job gets " + strconv.Itoa(status), on: "/v2/agent/", row: unknown,
			details: "send nothing", alter: func(request *http.Request, r *reply) {
				if r.status == 404 && !strings.HasSuffix(request.URL.Path, "/preflight") {
					failing(status)(request, r)
				}
			}})
	}
	return all
}

// after alters what comes after a POST whose path ends so.
func after(path string, alter alteration) alteration {
	var sent atomic.Bool
	return func(request *http.Request, r *reply) {
		if strings.HasSuffix(request.URL.Path, path) {
			sent.Store(true)
		} else if sent.Load() && r.status == 200 {
			alter(request, r)
		}
	}
}

// statusFor alters a status to another.
func statusFor(before, status string) alteration {
	return onBody(func(body map[string]any) {
		if body["status"] == before {
			body["status"] = status
		}
	})
}

func deviatingWrites() []deviation {
	const job, short = "-yes -job", " -timeout 10m"
	const accepted = ": the request is accepted"
	return []deviation{
		{name: "a refused prompt", on: "POST /v2/agent/", row: "Jobs.Create" + accepted, details: "400", flags: job,
			alter: failing(400)},
		{name: "a refused message", on: "/message", row: "Jobs.Message" + accepted, details: "422", flags: job + " -message",
			alter: failing(422)},
		{name: "a refused branch", on: "/preview/", row: "TriggerPreview" + accepted, details: "415",
			flags: "-yes -preview planted", alter: failing(415)},
		{name: "a refused empty body", on: "POST /v1/project/update/", row: "TriggerUpdate" + accepted, details: "411",
			flags: "-yes -update", alter: failing(411)},
		{name: "a job without an id", on: "POST /v2/agent/", row: "Jobs.Create" + accepted, details: "`/id` is missing",
			flags: job, alter: unset("id")},
		{name: "an update without an id", on: "POST /v1/project/", row: "TriggerUpdate" + accepted,
			details: "`/statusId` is missing", flags: "-yes -update", alter: unset("statusId")},
		{name: "a new first status", on: "POST /v2/agent/", row: "Jobs.Create" + accepted, details: "`queued_up`", flags: job,
			alter: set("status", "queued_up")},
		{name: "another first status", on: "POST /v2/agent/", row: "a new job is active", details: "`completed`", flags: job,
			alter: set("status", "completed")},
		{name: "a new status", on: "GET /v2/agent/", row: "Jobs.Get: a good", details: "`reviewing`", flags: job,
			alter: statusFor("active", "reviewing")},
		{name: "a new last status", on: "GET /v2/agent/", row: "Jobs.Get: a good", details: "`errored`", flags: job + short,
			alter: statusFor("completed", "errored")},
		{name: "a job that never ends", on: "GET /v2/agent/", row: "a job ends within -timeout", details: "not ended: active",
			flags: job + short, alter: statusFor("completed", "active")},
		{name: "a job that does not end after a message", on: "/v2/agent/", row: "-timeout of a message",
			details: "not ended: active", flags: job + " -message" + short, alter: after("/message", set("status", "active"))},
		{name: "a deployment of a new status", on: "/update-status/", row: "Deployments.Get: a good", details: "`building`",
			flags: "-yes -update", alter: statusFor("in_progress", "building")},
		{name: "an author", on: "/update-status/", row: "Deployments.Get: a good", details: "`/author` breaks",
			flags: "-yes -preview planted", alter: set("author", 7)},
		{name: "an update that never ends", on: "/update-status/", row: "an update ends", details: "not ended: queued",
			flags: "-yes -update" + short, alter: set("status", "queued")},
		{name: "a preview that never ends", on: "/update-status/", row: "a preview ends", details: "not ended: queued",
			flags: "-yes -preview planted" + short, alter: set("status", "queued")},
	}
}

// A row that moved by one place, and one that came in, are as expected: counts are live.
func TestRowsThatMovedByOnePlaceAreAsExpected(t *testing.T) {
	swapped := deviation{on: "/visitors", alter: asked("offset", "50", onBody(func(body map[string]any) {
		rows := body["visitors"].([]any)
		rows[3], rows[4] = rows[4], rows[3]
	}))}
	got := session{service: swapped.handler(dated(newService()))}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
}

func TestARowAboutAListWithoutRowsIsNotTried(t *testing.T) {
	got := session{service: dated(mintlifytest.NewService())}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	for _, what := range []string{"GetVisitorPage: pages", "GetVisitorPage: a good", "GetFeedbackCounts: a good", "two years"} {
		assert.Equal(t, "0 rows", find(t, got.report, what).details, what)
	}

	svc := newService()
	svc.SetVisitors(newRows(1, visitor))
	got = session{service: dated(svc)}.run(t)
	assert.Equal(t, string(untried), find(t, got.report, "GetVisitorPage: pages").verdict)
}

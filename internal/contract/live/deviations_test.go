package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// reply is a response of the fake that a deviation may change.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// change decodes the body, has alter change it, and encodes it again.
func (r *reply) change(alter func(body map[string]any)) {
	var body map[string]any
	if json.Unmarshal(r.body, &body) != nil {
		return
	}
	alter(body)
	r.body, _ = json.Marshal(body)
}

// fail replaces the response by an error of the service.
func (r *reply) fail(status int) {
	r.status = status
	r.body = []byte(`{"error":"planted words"}`)
}

// deviating is the fake with alter between it and its clients.
func deviating(svc http.Handler, alter func(request *http.Request, r *reply)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		recorded := httptest.NewRecorder()
		svc.ServeHTTP(recorded, request)
		r := &reply{status: recorded.Code, header: recorded.Header(), body: recorded.Body.Bytes()}
		alter(request, r)

		r.header.Del("Content-Length")
		maps.Copy(w.Header(), r.header)
		w.WriteHeader(r.status)
		_, _ = w.Write(r.body)
	})
}

// rowOf returns the first row of a list in a body.
func rowOf(body map[string]any, list string) map[string]any {
	rows, _ := body[list].([]any)
	if len(rows) == 0 {
		return map[string]any{}
	}
	return rows[0].(map[string]any)
}

// deviation is a service that differs from the fake in one thing.
type deviation struct {
	args []string
	// row is the row that has to say so.
	row expectation
	// came and depends are parts of what the row says.
	came, depends string
	// on says which requests it is about: their method, path and a $ have it in them.
	on string
	// before changes requests, alter changes responses.
	before func(query url.Values)
	alter  func(request *http.Request, r *reply)
}

func (d deviation) handler(svc http.Handler) http.Handler {
	altered := deviating(svc, func(request *http.Request, r *reply) {
		if d.alter != nil && d.isAbout(request) {
			d.alter(request, r)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if d.before != nil && d.isAbout(request) {
			query := request.URL.Query()
			d.before(query)
			request.URL.RawQuery = query.Encode()
		}
		altered.ServeHTTP(w, request)
	})
}

func (d deviation) isAbout(request *http.Request) bool {
	return strings.Contains(request.Method+" "+request.URL.Path+"$", d.on)
}

// onBody is an alter that changes good bodies.
func onBody(change func(body map[string]any)) func(*http.Request, *reply) {
	return func(_ *http.Request, r *reply) {
		if r.status < 300 {
			r.change(change)
		}
	}
}

// failing is an alter that responds with an error of the service.
func failing(status int) func(*http.Request, *reply) {
	return func(_ *http.Request, r *reply) { r.fail(status) }
}

// answering is an alter that responds with another body.
func answering(body string) func(*http.Request, *reply) {
	return func(_ *http.Request, r *reply) {
		r.status = http.StatusOK
		r.body = []byte(body)
	}
}

// insteadOf is an alter that responds with one error of the service instead of another.
func insteadOf(status, failure int) func(*http.Request, *reply) {
	return func(_ *http.Request, r *reply) {
		if r.status == status {
			r.fail(failure)
		}
	}
}

// asked is an alter of the responses to the requests whose query is as matches says.
func asked(matches func(query url.Values) bool, alter func(*http.Request, *reply)) func(*http.Request, *reply) {
	return func(request *http.Request, r *reply) {
		if matches(request.URL.Query()) {
			alter(request, r)
		}
	}
}

func hasOffset(query url.Values) bool   { return query.Get("offset") != "" }
func hasLimit251(query url.Values) bool { return query.Get("limit") == "251" }
func isLongAgo(query url.Values) bool {
	from := query.Get("dateFrom")
	return from != "" && from < today().AddDays(-400).String()
}
func hasNoDates(query url.Values) bool { return !query.Has("dateFrom") }

// withHeader is an alter that adds a header.
func withHeader(name, value string) func(*http.Request, *reply) {
	return func(_ *http.Request, r *reply) { r.header.Set(name, value) }
}

// withStatus is an alter that reports a job or a deployment as status.
func withStatus(status string) func(*http.Request, *reply) {
	return onBody(func(body map[string]any) { body["status"] = status })
}

// withStatusFor is withStatus for those of another status.
func withStatusFor(before, status string) func(*http.Request, *reply) {
	return onBody(func(body map[string]any) {
		if body["status"] == before {
			body["status"] = status
		}
	})
}

func TestEachDeviationIsInItsRowAndInNoOther(t *testing.T) {
	all := deviations()
	require.GreaterOrEqual(t, len(all), 15)
	for name, d := range all {
		t.Run(name, func(t *testing.T) {
			got := session{service: d.handler(newService()), args: d.args}.run(t)
			assert.Equal(t, exitDiffers, got.code, got.stderr)
			assert.Equal(t, []expectation{d.row}, differing(t, got.report), got.report)

			row := find(t, got.report, d.row)
			assert.Contains(t, row.came, d.came)
			assert.NotEmpty(t, row.depends)
			assert.Contains(t, row.depends, d.depends)
			assert.NotContains(t, got.report, "planted")
		})
	}
}

func TestWhatPackageOnceTakesForAServiceThatWorksIsAsExpected(t *testing.T) {
	for _, status := range []int{400, 404, 405, 409, 410, 422, 500} {
		d := deviation{on: "/preflight", alter: failing(status)}
		got := session{service: d.handler(newService())}.run(t)
		assert.Equal(t, exitAsExpected, got.code, status)
		assert.Contains(t, find(t, got.report, expectUnparsable).came, strconv.Itoa(status))
	}
}

// A row that no deviation reaches could never differ.
func TestEachRowThatCanDifferHasADeviation(t *testing.T) {
	never := map[expectation]string{
		expectService:                        "TestAForeignResponderIsOneRowAndEndsTheRun",
		expectScope:                          "TestAKeyThatMayWriteIsNotAReader",
		expectMarker:                         "TestTheMarkerIsReadFromThePullRequest",
		expectPlan:                           "is never tried",
		expectCursorLife:                     "is never tried",
		expectGitAppDeployment:               "is never tried",
		expectAutomationJob:                  "is never tried",
		bodyOf(mintlify.OpTriggerAutomation): "is never tried",
		bodyOf(mintlify.OpGetThread):         "its schema is checked as the others are",
		expectKeptDeployment:                 "is never tried",
		expectSorting:                        "only says what came",
		expectSums:                           "only says what came",
		expectTurns:                          "only says what came",
	}
	reached := map[expectation]bool{}
	for _, d := range deviations() {
		reached[d.row] = true
	}
	for _, e := range expectations() {
		assert.NotEqual(t, reached[e.name], never[e.name] != "", e.name)
	}
}

func deviations() map[string]deviation {
	all := map[string]deviation{}
	maps.Copy(all, deviatingBodies())
	maps.Copy(all, deviatingJobs())
	maps.Copy(all, deviatingAnalytics())
	maps.Copy(all, deviatingDeployments())
	maps.Copy(all, deviatingErrors())
	return all
}

func deviatingBodies() map[string]deviation {
	yes := []string{"-yes", "-job"}
	return map[string]deviation{
		"a missing field": {
			row: bodyOf(mintlify.OpGetVisitors), came: "`/visitors/*/ai` is missing", depends: "as zero",
			on:    "/visitors",
			alter: onBody(func(body map[string]any) { delete(rowOf(body, "visitors"), "ai") }),
		},
		"hasMore missing": {
			row: bodyOf(mintlify.OpGetFeedback), came: "`/hasMore` is missing", depends: "ErrMalformedResponse",
			on:    "/feedback$",
			alter: onBody(func(body map[string]any) { delete(body, "hasMore") }),
		},
		"an unknown field": {
			row: bodyOf(mintlify.OpGetViews), came: "unknown field `bounces` in `/views/*`", depends: "drops",
			on:    "/views",
			alter: onBody(func(body map[string]any) { rowOf(body, "views")["bounces"] = "planted" }),
		},
		"a count as text": {
			row: bodyOf(mintlify.OpGetCallerStats), came: "`/web` breaks the rule `type`",
			on:    "/caller-stats",
			alter: onBody(func(body map[string]any) { body["web"] = "3" }),
		},
		"null where none is": {
			row: bodyOf(mintlify.OpGetConversations), came: "`/conversations/*/response` breaks the rule `nullable`",
			on:    "/assistant$",
			alter: onBody(func(body map[string]any) { rowOf(body, "conversations")["response"] = nil }),
		},
		"a time in another form": {
			row: bodyOf(mintlify.OpGetSearches), came: "`/searches/*/lastSearchedAt` breaks the rule `format`",
			on: "/searches",
			alter: onBody(func(body map[string]any) {
				rowOf(body, "searches")["lastSearchedAt"] = "planted yesterday"
			}),
		},
		"a new source of feedback": {
			row: bodyOf(mintlify.OpGetFeedback), came: "`/feedback/*/source` has the new value `voice`", depends: "constant",
			on:    "/feedback$",
			alter: onBody(func(body map[string]any) { rowOf(body, "feedback")["source"] = "voice" }),
		},
		"a new status": {
			args: yes,
			row:  bodyOf(mintlify.OpGetJob), came: "`/status` has the new value `reviewing`", depends: "`IsTerminal`",
			on:    "GET /v2/agent/",
			alter: withStatusFor("active", "reviewing"),
		},
		"a first status that is new": {
			args: yes,
			row:  bodyOf(mintlify.OpCreateJob), came: "`/status` has the new value `queued_up`",
			on:    "POST /v2/agent/",
			alter: withStatus("queued_up"),
		},
		"an export that is gone": {
			row: bodyOf(mintlify.OpGetFeedbackCounts), came: "404 with JSON",
			on:    "/feedback/by-page",
			alter: failing(http.StatusNotFound),
		},
		"a page that is HTML": {
			row: bodyOf(mintlify.OpGetSearches), came: "200 with HTML",
			on:    "/searches",
			alter: answering("<!doctype html><html>planted</html>"),
		},
	}
}

func deviatingJobs() map[string]deviation {
	yes := []string{"-yes", "-job"}
	all := map[string]deviation{
		"400 for an unknown id": {
			row: expectUnknownJob, came: "400", depends: "Asking first still works",
			on: "/v2/agent/", alter: insteadOf(http.StatusNotFound, http.StatusBadRequest),
		},
		"503 for an id that cannot be parsed": {
			row: expectUnparsable, came: "503", depends: "`showsWorking`",
			on: "/preflight", alter: failing(http.StatusServiceUnavailable),
		},
		"a job for an id that cannot be parsed": {
			row: expectUnparsable, came: "200", depends: "`ask`",
			on: "/preflight", alter: answering(`{}`),
		},
		"a list that has the new job": {
			args: yes,
			row:  expectOldList, came: "the job is in the list", depends: "marker",
			on: "/v1/agent/", alter: answering(`{"allSessions":[{"sessionId":"job_1","title":"planted"}]}`),
		},
		"a list that has the new job's pull request": {
			args: yes,
			row:  expectOldList, came: "the job is in the list", depends: "marker",
			on:    "/v1/agent/",
			alter: answering(`{"allSessions":[{"pullRequestLink":"https://github.com/example/docs/pull/1"}]}`),
		},
		"a list whose sessions are jobs": {
			row: expectOldList, came: "gets 200", depends: "marker",
			on: "/agent/", alter: func(request *http.Request, r *reply) {
				switch {
				case strings.HasSuffix(request.URL.Path, "/jobs"):
					answering(`{"allSessions":[{"sessionId":"planted_1"}]}`)(request, r)
				case strings.HasSuffix(request.URL.Path, "/planted_1"):
					answering(`{"id":"planted_1","status":"completed"}`)(request, r)
				}
			},
		},
		"a first status that is another": {
			args: yes,
			row:  expectFirstStatus, came: "`completed`",
			on: "POST /v2/agent/", alter: withStatus("completed"),
		},
		"a job that cannot be polled": {
			args: yes,
			row:  bodyOf(mintlify.OpGetJob), came: "404 with JSON", depends: "`Jobs.Get`",
			on: "/job/job_1", alter: failing(http.StatusNotFound),
		},
		"a job that never ends": {
			args: append(slices.Clone(yes), "-timeout", "500ms"),
			row:  expectJobEnds, came: "not ended: active",
			on: "GET /v2/agent/", alter: withStatus("active"),
		},
		"a message that is refused": {
			args: append(slices.Clone(yes), "-message"),
			row:  bodyOf(mintlify.OpSendMessage), came: "409 with JSON", depends: "`Jobs.Message`",
			on: "/message", alter: failing(http.StatusConflict),
		},
		"a job that does not end after a message": {
			args: append(slices.Clone(yes), "-message", "-timeout", "500ms"),
			row:  expectMessageEnds, came: "not ended: active",
			on: "/v2/agent/", alter: alwaysAfterMessage("active"),
		},
		"a job that does not get active again": {
			args: append(slices.Clone(yes), "-message"),
			row:  expectActiveAgain, came: "never", depends: "`settleTime`",
			on: "/v2/agent/", alter: alwaysAfterMessage("completed"),
		},
	}
	for _, status := range []int{401, 402, 403, 407, 408, 425, 499, 502, 503, 504} {
		all[http.StatusText(status)+" for an unknown id"] = deviation{
			row: expectUnknownJob, depends: "would take a service that works for one that does not",
			on: "/v2/agent/", alter: insteadOf(http.StatusNotFound, status),
		}
	}
	return all
}

// alwaysAfterMessage reports one status of the job after a message, for good.
func alwaysAfterMessage(status string) func(*http.Request, *reply) {
	var sent atomic.Bool
	return func(request *http.Request, r *reply) {
		if strings.HasSuffix(request.URL.Path, "/message") {
			sent.Store(true)
		} else if sent.Load() && r.status == 200 {
			r.change(func(body map[string]any) { body["status"] = status })
		}
	}
}

func deviatingAnalytics() map[string]deviation {
	var pages atomic.Int64
	return map[string]deviation{
		"a limit that is cut": {
			row: expectLimit, came: "200", depends: "`maxCountsPage`",
			on: "/visitors", alter: asked(hasLimit251, answering(`{"visitors":[]}`)),
		},
		"an offset past the end that is refused": {
			row: expectPastTheEnd, came: "400", depends: "pagination.go",
			on: "/visitors", alter: asked(hasOffset, failing(http.StatusBadRequest)),
		},
		"more past the end": {
			row: expectPastTheEnd, came: "hasMore is true", depends: "pagination.go",
			on:    "/visitors",
			alter: asked(hasOffset, onBody(func(body map[string]any) { body["hasMore"] = true })),
		},
		"another order": {
			row: expectOrder, came: "not the same", depends: "miss rows",
			on: "/visitors", alter: onBody(func(body map[string]any) {
				if rows := body["visitors"].([]any); pages.Add(1)%2 == 0 {
					slices.Reverse(rows)
				}
			}),
		},
		"dates inclusive": {
			row: expectExclusive, came: "the rows of that day came", depends: "`DateTo`",
			on: "/assistant$", before: func(query url.Values) {
				if day, err := time.Parse(time.DateOnly, query.Get("dateTo")); err == nil {
					query.Set("dateTo", mintlify.DayOf(day).AddDays(1).String())
				}
			},
		},
		"days of another zone": {
			row: expectUTC, came: "by instants", depends: "`Day`",
			on: "/assistant$", alter: func(request *http.Request, r *reply) {
				if strings.Contains(request.URL.Query().Get("dateTo"), "T") {
					r.change(func(body map[string]any) { body["conversations"] = body["conversations"].([]any)[1:] })
				}
			},
		},
		"a cursor that leads nowhere": {
			row: expectCursor, depends: "pagination.go",
			on: "/searches", before: func(query url.Values) { query.Del("cursor") },
		},
		"dates that are required": {
			row: expectNoDates, came: "400", depends: "zero value",
			on: "/views", alter: asked(hasNoDates, failing(http.StatusBadRequest)),
		},
		"a cursor alone that breaks the service": {
			row: expectCursorAlone, came: "500", depends: "Nothing",
			on: "/searches", alter: asked(hasNoDates, failing(http.StatusInternalServerError)),
		},
		"a cursor that disagrees": {
			row: expectHasMore, came: "hasMore is true, and there is a cursor: false", depends: "pagination.go",
			on: "/feedback$", alter: onBody(func(body map[string]any) { body["hasMore"] = true }),
		},
		"a rate above 100": {
			row: expectCTR, came: "outside", depends: "`SearchTerm.CTR`",
			on: "/searches", alter: onBody(func(body map[string]any) { rowOf(body, "searches")["ctr"] = 415.0 }),
		},
		"long conversations": {
			row: expectPageSize, came: "MiB", depends: "`maxBody`",
			on: "/assistant$", alter: onBody(func(body map[string]any) {
				rows, _ := body["conversations"].([]any)
				for _, row := range rows {
					row.(map[string]any)["response"] = strings.Repeat("planted ", 6000)
				}
			}),
		},
		"410 for an unknown thread": {
			row: expectNoThread, came: "410", depends: "`ErrNotFound`",
			on: "/threads/", alter: insteadOf(http.StatusNotFound, http.StatusGone),
		},
		"nothing of two years ago": {
			row: expectLongAgo, came: "400", depends: "`Views`",
			on: "/views", alter: asked(isLongAgo, failing(http.StatusBadRequest)),
		},
	}
}

func deviatingDeployments() map[string]deviation {
	update := []string{"-yes", "-update"}
	return map[string]deviation{
		"403 for an unknown deployment": {
			row: expectNoDeployment, came: "403", depends: "`ErrNotFound`",
			on: "/update-status/", alter: failing(http.StatusForbidden),
		},
		"an empty body that is refused": {
			args: update,
			row:  expectEmptyBody, came: "400", depends: "`TriggerUpdate`",
			on: "POST /v1/project/update/", alter: failing(http.StatusBadRequest),
		},
		"an update without an id": {
			args: update,
			row:  bodyOf(mintlify.OpTriggerUpdate), came: "`/statusId` is missing", depends: "ErrMalformedResponse",
			on:    "POST /v1/project/update/",
			alter: onBody(func(body map[string]any) { delete(body, "statusId") }),
		},
		"an author of another form": {
			args: update,
			row:  bodyOf(mintlify.OpGetDeployment), came: "`/author` breaks the rule `anyOf`",
			on:    "/update-status/",
			alter: onBody(func(body map[string]any) { body["author"] = 7 }),
		},
		"a deployment without an end": {
			args: append(slices.Clone(update), "-timeout", "500ms"),
			row:  expectDeploymentEnds, came: "not ended: queued", depends: "`Deployments.WaitUntilDone`",
			on: "/update-status/", alter: withStatus("queued"),
		},
		"a deployment of a new status": {
			args: update,
			row:  bodyOf(mintlify.OpGetDeployment), came: "`/status` has the new value `building`",
			depends: "`DeploymentStatus`",
			on:      "/update-status/", alter: withStatusFor("in_progress", "building"),
		},
		"a preview without a place": {
			args: []string{"-yes", "-preview", "planted"},
			row:  bodyOf(mintlify.OpTriggerPreview), came: "403 with JSON", depends: "`Deployments.TriggerPreview`",
			on: "POST /v1/project/preview/", alter: failing(http.StatusForbidden),
		},
		"a second update that stays queued": {
			args: []string{"-yes", "-second-update", "-timeout", "500ms"},
			row:  expectSecondUpdate, came: "not ended: queued", depends: "`TriggerUpdate`",
			on: "/update-status/deployment_2", alter: withStatus("queued"),
		},
	}
}

func deviatingErrors() map[string]deviation {
	return map[string]deviation{
		"HTML errors": {
			row: expectErrors, came: "HTML instead of JSON", depends: "`APIError.Message`",
			on: "/", alter: func(_ *http.Request, r *reply) {
				if r.status >= 400 {
					r.header.Set("Content-Type", "text/html")
					r.body = []byte("<!doctype html><html>planted</html>")
				}
			},
		},
		"errors under another name": {
			row: expectErrors, came: "`/error` is missing",
			on: "/", alter: func(_ *http.Request, r *reply) {
				if r.status >= 400 {
					r.body = []byte(`{"message":"planted words"}`)
				}
			},
		},
		"a 429 without a Retry-After": {
			row: expectRetryAfter, came: "1 of 1 without", depends: "`RetryAfter`",
			on: "/searches", alter: failing(http.StatusTooManyRequests),
		},
		"403 for a wrong key": {
			row: expectWrongKey, came: "403", depends: "`ErrUnauthorized`",
			on: "/", alter: insteadOf(http.StatusUnauthorized, http.StatusForbidden),
		},
		"request ids under another name": {
			row: expectRequestID, came: "X-Correlation-Id in", depends: "`APIError.RequestID`",
			on: "/", alter: withHeader("X-Correlation-Id", "planted"),
		},
		"a header with what is left": {
			row: expectNoRateLimit, came: "X-Ratelimit-Remaining in", depends: "`WithRateLimiter`",
			on: "/", alter: withHeader("X-RateLimit-Remaining", "99"),
		},
	}
}

package recording

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// request is an entry of the table of requests. Each is sent once.
type request struct {
	label   string // says what the request is for
	method  string // "": GET
	path    string // as api/openapi.yaml writes it
	id      string
	project string     // in place of the own one
	key     string     // in place of the own one
	query   url.Values // of a GET
	body    any        // of a POST

	// prepare fills in what depends on earlier responses. It returns why the request cannot be sent.
	prepare func(r *recorder, q *request) (missing string)
	// does says what a POST does and costs, and leaves what a person may want to do afterwards.
	does, leaves string
	// wait polls what the POST has made until its end.
	wait  *request
	polls bool // is the wait of a POST
}

// The paths of the service that several requests share.
const (
	jobsPath       = "/v2/agent/{projectId}/job"
	jobPath        = jobsPath + "/{id}"
	deploymentPath = "/v1/project/update-status/{id}"
	analyticsPath  = "/v1/analytics/{projectId}/"
)

// The labels that several places refer to.
const (
	firstVisitors  = "visitors of 30 days"
	wrongProject   = "visitors, wrong project"
	jobOfID        = "the job of -job-id"
	pollsOfJob     = "polls of a new job"
	pollsOfMessage = "polls after a message"
)

// Ids that nothing has.
const (
	unknownHex  = "6a000000000000000000000f"
	unknownULID = "01JH0000000000000000000000"
	unknownUUID = "a0000000-0000-4000-8000-00000000000a"
)

// readingRequests are sent without a flag, at most 30.
func readingRequests(s Settings) []*request {
	const (
		visitors      = analyticsPath + "visitors"
		views         = analyticsPath + "views"
		searches      = analyticsPath + "searches"
		feedback      = analyticsPath + "feedback"
		conversations = analyticsPath + "assistant"
	)
	twoYearsAgo := today().AddDays(-730)

	all := []*request{
		{label: firstVisitors, path: visitors, query: month(250)},
		{label: "visitors, the next page", path: visitors, prepare: after(firstVisitors)},
		{label: "views of 30 days", path: views, query: month(250)},
		{label: "views, the next page", path: views, prepare: after("views of 30 days")},
		{label: "searches of 30 days", path: searches, query: month(100)},
		{label: "searches, the next page", path: searches, prepare: after("searches of 30 days")},
		{label: "feedback of 30 days", path: feedback, query: month(100)},
		{label: "feedback, the next page", path: feedback, prepare: after("feedback of 30 days")},
		{label: "feedback of a day", path: feedback, prepare: aDayOf("feedback of 30 days")},
		{label: "feedback counts", path: feedback + "/by-page", query: month(100)},
		{label: "conversations of 30 days", path: conversations, query: month(250)},
		{label: "conversations, the next page", path: conversations, prepare: after("conversations of 30 days")},
		{label: "conversations of a day", path: conversations, prepare: aDayOf("conversations of 30 days")},
		{label: "two conversations", path: conversations, query: month(2)},
		{label: "the next two conversations", path: conversations, prepare: after("two conversations")},
		{label: "a thread", path: conversations + "/threads/{id}", prepare: aThread},
		{label: "unknown thread", path: conversations + "/threads/{id}", id: unknownULID},
		{label: "caller stats", path: conversations + "/caller-stats", query: month(0)},

		{label: "caller stats, wrong key", path: conversations + "/caller-stats", key: "mint_" + rand.Text()},
		{label: wrongProject, path: visitors, query: month(250), project: unknownHex},
		{label: "visitors, limit 251", path: visitors, query: month(251)},
		{label: "visitors past the end", path: visitors, query: with(month(250), "offset", 10_000_000)},
		{label: "views of two years ago", path: views, query: dates(twoYearsAgo, twoYearsAgo.AddDays(1), 250)},

		{label: "unknown job", path: jobPath, id: unlike(s.JobID)},
		{label: "job id that cannot be parsed", path: jobPath, id: "preflight"},
		{label: "unknown job, wrong project", path: jobPath, id: unknownUUID, project: unknownHex},
		{label: "unknown deployment", path: deploymentPath, id: unknownHex},
	}
	if s.JobID != "" {
		all = append(all, &request{label: jobOfID, path: jobPath, id: s.JobID})
	}
	return all
}

// writingRequests are those that a flag allows.
func writingRequests(s Settings) []*request {
	const (
		agent = "The agent edits the docs: it opens a pull request, or publishes to the live site if the project " +
			"publishes without a review. It costs about 112 credits."
		undo = "close the job's pull request and delete its branch, or revert what the agent published"
	)
	var all []*request
	add := func(isOn bool, q *request, polls, path string) {
		if isOn {
			q.method = http.MethodPost
			q.wait = &request{label: polls, path: path, polls: true}
			all = append(all, q)
		}
	}

	add(s.Job, &request{label: "a new job", path: jobsPath, body: promptOf(s.Prompt),
		does:   "-job: runs a job. " + agent + " The prompt is: " + safetext.OneLine(s.Prompt, 1000),
		leaves: undo}, pollsOfJob, jobPath)
	add(s.Message, &request{label: "a message to a job that has ended", path: jobPath + "/message",
		body:    promptOf("Add another line like it."),
		does:    "-message: asks the agent for another line in the job, once it has ended. " + agent,
		prepare: endedJob, leaves: undo}, pollsOfMessage, jobPath)
	add(s.Preview != "", &request{label: "a preview", path: "/v1/project/preview/{projectId}",
		body:   map[string]string{"branch": s.Preview},
		does:   "-preview: deploys a preview of a branch.",
		leaves: "delete the preview in the dashboard, or its branch"}, "polls of a preview", deploymentPath)
	add(s.Update, &request{label: "an update", path: "/v1/project/update/{projectId}",
		does:   "-update: deploys the live site.",
		leaves: "there is nothing to delete"}, "polls of an update", deploymentPath)
	return all
}

// Writes says what the requests do that flags allow, a line each.
func (s Settings) Writes() []string {
	var all []string
	for _, q := range writingRequests(s) {
		all = append(all, q.does)
	}
	return all
}

func promptOf(text string) any { return map[string]string{"prompt": text} }

// endedJob takes the job of -job-id, or else the new one, if it has ended.
func endedJob(r *recorder, q *request) string {
	last := r.all.last(jobOfID)
	if last.text("id") == "" {
		last = r.all.last(pollsOfJob)
	}
	q.id = last.text("id")
	status := mintlify.JobStatus(last.text("status"))

	switch {
	case q.id == "":
		return "no job"
	case !status.IsTerminal():
		return "the job has not ended"
	}
	return ""
}

func aThread(r *recorder, q *request) string {
	for _, row := range r.all.last("conversations of 30 days").rows() {
		q.id, _ = row["id"].(string)
	}
	if q.id == "" {
		return "no conversation in 30 days"
	}
	return ""
}

// after prepares a request for what the cursor of a page leads to or, by offset, for rows half of which
// the page has, too.
func after(label string) func(*recorder, *request) string {
	return func(r *recorder, q *request) string {
		page := r.all.last(label)
		rows := len(page.rows())
		cursor := page.text("nextCursor")
		_, isByCursor := page.object["nextCursor"]

		switch {
		case cursor != "":
			q.query = with(page.query, "cursor", cursor)
		case isByCursor:
			return "the page before is the last"
		case rows < 2:
			return "the page before has fewer than 2 rows"
		default:
			q.query = with(with(page.query, "limit", rows-rows/2), "offset", rows/2)
		}
		return ""
	}
}

// aDayOf prepares a request for a day that has rows of a page, as days before and after it have.
func aDayOf(label string) func(*recorder, *request) string {
	return func(r *recorder, q *request) string {
		page := r.all.last(label)
		var days []time.Time
		for _, row := range page.rows() {
			for _, value := range row {
				text, _ := value.(string)
				if _, at, ok := parseTime(text); ok {
					days = append(days, at.UTC().Truncate(24*time.Hour))
				}
			}
		}

		slices.SortFunc(days, time.Time.Compare)
		days = slices.CompactFunc(days, time.Time.Equal)
		if len(days) < 3 {
			return "the page before has rows of fewer than 3 days"
		}
		day := mintlify.DayOf(days[len(days)-2])
		q.query = with(page.query, "dateFrom", day)
		q.query.Set("dateTo", day.AddDays(1).String())
		return ""
	}
}

func today() mintlify.Date { return mintlify.DayOf(time.Now().UTC()) }

// month returns the query of the last 30 days.
func month(limit int) url.Values { return dates(today().AddDays(-30), today(), limit) }

// dates returns the query of a range of days. A limit of 0 is not sent.
func dates(from, to mintlify.Date, limit int) url.Values {
	query := url.Values{"dateFrom": {from.String()}, "dateTo": {to.String()}}
	if limit > 0 {
		query = with(query, "limit", limit)
	}
	return query
}

// with returns a copy of a query with another value.
func with(query url.Values, name string, value any) url.Values {
	changed := maps.Clone(query)
	changed.Set(name, fmt.Sprint(value))
	return changed
}

// unlike returns an id of the form of another one: each digit of it is another.
func unlike(id string) string {
	other := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r ^ 1
		}
		return r
	}, id)

	if other == id {
		return unknownUUID
	}
	return other
}

// target returns the path of the request to a project.
func (q *request) target(project string) string {
	path := strings.Replace(q.path, "{projectId}", url.PathEscape(cmp.Or(q.project, project)), 1)
	return strings.Replace(path, "{id}", url.PathEscape(q.id), 1)
}

// part returns the part of the API that a request is for, whose requests share a quota.
func (q *request) part() string { return strings.Split(q.path, "/")[2] }

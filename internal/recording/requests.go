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
	"github.com/mintlify-community/mintlify-go/internal/redact"
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

// The paths of the service.
const (
	jobsPath       = "/v2/agent/{projectId}/job"
	jobPath        = jobsPath + "/{id}"
	deploymentPath = "/v1/project/update-status/{id}"
	analyticsPath  = "/v1/analytics/{projectId}/"
	statsPath      = analyticsPath + "assistant/caller-stats"
	threadPath     = analyticsPath + "assistant/threads/{id}"
)

// The labels that several places refer to.
const (
	firstVisitors = "visitors of 30 days"
	callerStats   = "caller stats"
	jobOfID       = "the job of -job-id"
	wrongProject  = "visitors, wrong project"
	pollsOfJob    = "polls of a new job"

	pollsOfMessage = "polls after a message"
)

// list is an export that comes in pages.
type list struct {
	name  string
	path  string
	field string // of a page, with the rows
	limit int
	time  string // the field with a row's time; "" if no page of a day is recorded
	small bool   // two pages of two rows are recorded, too
}

func lists() []list {
	return []list{
		{name: "visitors", path: "visitors", field: "visitors", limit: 250},
		{name: "views", path: "views", field: "views", limit: 250},
		{name: "searches", path: "searches", field: "searches", limit: 100},
		{name: "feedback", path: "feedback", field: "feedback", limit: 100, time: "createdAt"},
		{name: "conversations", path: "assistant", field: "conversations", limit: 250, time: "timestamp", small: true},
	}
}

// requests returns the first page of a list, the next one, and others of it.
func (l list) requests() []*request {
	first := &request{label: l.name + " of 30 days", path: analyticsPath + l.path, query: lastDays(30, l.limit)}
	all := []*request{first, l.nextOf(first, l.name+", the next page")}

	if l.time != "" {
		prepare := func(r *recorder, q *request) string { return r.pageOfADay(l, q) }
		all = append(all, &request{label: l.name + " of a day", path: first.path, prepare: prepare})
	}
	if l.small {
		small := &request{label: "two " + l.name, path: first.path, query: lastDays(30, 2)}
		all = append(all, small, l.nextOf(small, "the next two "+l.name))
	}
	return all
}

// nextOf returns the request for what follows a page.
func (l list) nextOf(page *request, label string) *request {
	prepare := func(r *recorder, q *request) string { return r.nextPage(l, page, q) }
	return &request{label: label, path: page.path, prepare: prepare}
}

// readingRequests are sent without a flag, at most 30.
func readingRequests(s Settings) []*request {
	visitors := analyticsPath + "visitors"
	yesterday := lastDays(1, 250)
	twoYearsAgo := today().AddDays(-730)

	all := []*request{
		{label: callerStats, path: statsPath, query: lastDays(30, 0)},
		{label: "caller stats, wrong key", path: statsPath, query: lastDays(30, 0), key: "mint_" + rand.Text()},
		{label: wrongProject, path: visitors, query: yesterday, project: randomLike(s.ProjectID)},
		{label: "visitors, limit 251", path: visitors, query: lastDays(30, 251)},
		{label: "visitors past the end", path: visitors, query: with(lastDays(30, 250), "offset", 10_000_000)},
		{label: "views of two years ago", path: analyticsPath + "views", query: dates(twoYearsAgo, twoYearsAgo.AddDays(1), 250)},
		{label: "feedback counts", path: analyticsPath + "feedback/by-page", query: lastDays(30, 100)},
		{label: "unknown thread", path: threadPath, id: randomLike("01JH0000000000000000000000")},
		{label: "a thread", path: threadPath, prepare: aThread},
		{label: "unknown job", path: jobPath, id: randomLike(cmp.Or(s.JobID, "a0000000-0000-4000-8000-00000000000a"))},
		{label: "job id that cannot be parsed", path: jobPath, id: "preflight"},
		{label: "unknown job, wrong project", path: jobPath, id: "preflight", project: randomLike(s.ProjectID)},
		{label: "unknown deployment", path: deploymentPath, id: randomLike("6a0000000000000000000000")},
	}
	if s.JobID != "" {
		all = append(all, &request{label: jobOfID, path: jobPath, id: s.JobID})
	}

	var pages []*request
	for _, l := range lists() {
		pages = append(pages, l.requests()...)
	}
	return append(pages, all...)
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
		does:   "-job: runs a job. " + agent + " The prompt is: " + redact.OneLine(s.Prompt, 1000),
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
	for _, row := range r.all.last("conversations of 30 days").rows("conversations") {
		q.id, _ = row["id"].(string)
	}
	if q.id == "" {
		return "no conversation in 30 days"
	}
	return ""
}

// nextPage asks for what a cursor leads to or, by offset, for rows half of which the page has, too.
func (r *recorder) nextPage(l list, page, q *request) string {
	first := r.all.last(page.label)
	rows := len(first.rows(l.field))
	cursor := first.text("nextCursor")
	_, isByCursor := first.object["nextCursor"]

	switch {
	case rows == 0:
		return "no rows in 30 days"
	case cursor != "":
		q.query = with(page.query, "cursor", cursor)
	case isByCursor:
		return "no more rows in 30 days"
	case rows == 1:
		return "1 row in 30 days"
	default:
		half := rows / 2
		q.query = with(with(page.query, "limit", rows-half), "offset", half)
	}
	return ""
}

// pageOfADay asks for a day that has rows, as days before and after it have.
func (r *recorder) pageOfADay(l list, q *request) string {
	var days []string
	for _, row := range r.all.last(l.name + " of 30 days").rows(l.field) {
		text, _ := row[l.time].(string)
		if _, at, ok := parseTime(text); ok {
			days = append(days, at.UTC().Format(time.DateOnly))
		}
	}

	slices.Sort(days)
	days = slices.Compact(days)
	if len(days) < 3 {
		return "rows on fewer than 3 days"
	}

	at, err := time.Parse(time.DateOnly, days[len(days)-2])
	if err != nil {
		return "a day that cannot be sent"
	}
	day := mintlify.DayOf(at)
	q.query = dates(day, day.AddDays(1), l.limit)
	return ""
}

func today() mintlify.Date { return mintlify.DayOf(time.Now().UTC()) }

func lastDays(days, limit int) url.Values { return dates(today().AddDays(-days), today(), limit) }

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

// randomLike returns a random id of the form of another one, which nothing has. A ULID begins with a
// small digit; a UUID has its version and its variant at 14 and 19.
func randomLike(id string) string {
	if len(id) < 8 { // another project may have it
		id = "6a0000000000000000000000"
	}

	like := []byte(id)
	random := make([]byte, len(like))
	_, _ = rand.Read(random) // never fails
	for i, old := range like {
		switch {
		case i == 0 || i == 14 || i == 19:
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

// target returns the path of the request to a project.
func (q *request) target(project string) string {
	path := strings.Replace(q.path, "{projectId}", url.PathEscape(cmp.Or(q.project, project)), 1)
	return strings.Replace(path, "{id}", url.PathEscape(q.id), 1)
}

// part returns the part of the API that a request is for, whose requests share a quota.
func (q *request) part() string { return strings.Split(q.path, "/")[2] }

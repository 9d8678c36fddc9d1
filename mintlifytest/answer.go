package mintlifytest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Of every job.
const (
	repository = "https://github.com/example/docs"
	ref        = "main"
	model      = "test-model"
)

const (
	quota       = 100
	quotaWindow = time.Hour
)

// job is a job of the service. Times are kept to the millisecond, as they are reported.
type job struct {
	id, project       string
	status            mintlify.JobStatus
	prLink            string
	created, archived time.Time
	steps             []Step
	next              int // step reported at the next poll
}

func (s *Service) addJob(id, project string, steps []Step) *job {
	if len(steps) == 0 {
		pullRequest := fmt.Sprintf("%s/pull/%d", repository, len(s.jobs)+1)
		steps = []Step{{Status: mintlify.JobActive}, {Status: mintlify.JobCompleted, PRLink: pullRequest}}
	}
	j := &job{id: id, project: project, status: mintlify.JobActive, created: now(), steps: steps}
	s.jobs = append(s.jobs, j)
	return j
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// step returns what the next poll reports.
func (j *job) step() Step { return j.steps[min(j.next, len(j.steps)-1)] }

// poll reports the next step.
func (j *job) poll() {
	step := j.step()
	j.next = min(j.next+1, len(j.steps))
	if step.Fault != nil {
		return
	}
	j.status, j.prLink = step.Status, step.PRLink
	if j.status == "" {
		j.status = mintlify.JobActive
	}
	if j.status == mintlify.JobArchived && j.archived.IsZero() {
		j.archived = now()
	}
}

func (j *job) message() {
	if j.next >= len(j.steps)-1 {
		j.steps, j.next = []Step{{Status: mintlify.JobActive}, j.step()}, 0
	}
	j.status, j.prLink, j.archived = mintlify.JobActive, "", time.Time{}
}

// route is where a request goes.
type route struct {
	operation mintlify.Operation // "" for nowhere
	project   string
	jobID     string
}

func routeOf(method string, u *url.URL) route {
	path := u.EscapedPath()
	// The base URL's path prefix, if any, comes before.
	if _, rest, ok := strings.Cut(path, "/v2/agent/"); ok {
		return agentRoute(method, unescape(rest))
	}
	if _, rest, ok := strings.Cut(path, "/v1/analytics/"); ok {
		if segments := unescape(rest); len(segments) == 2 && segments[1] == "visitors" && method == http.MethodGet {
			return route{mintlify.OpGetVisitors, segments[0], ""}
		}
	}
	return route{}
}

func agentRoute(method string, segments []string) route {
	switch {
	case len(segments) < 2 || segments[1] != "job":
	case len(segments) == 2 && method == http.MethodPost:
		return route{mintlify.OpCreateJob, segments[0], ""}
	case len(segments) == 3 && method == http.MethodGet:
		return route{mintlify.OpGetJob, segments[0], segments[2]}
	case len(segments) == 4 && method == http.MethodPost && segments[3] == "message":
		return route{mintlify.OpSendMessage, segments[0], segments[2]}
	}
	return route{}
}

// unescape returns the segments of an escaped path, or none if one is empty or broken.
func unescape(path string) []string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		unescaped, err := url.PathUnescape(segment)
		if err != nil || unescaped == "" {
			return nil
		}
		segments[i] = unescaped
	}
	return segments
}

// response is what the service responds, and what goes wrong on the way back.
type response struct {
	status int
	header http.Header
	body   []byte
	fault  Fault
}

// handle acts on a request that is about to reach the service.
func (s *Service) handle(r *http.Request, body []byte) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := routeOf(r.Method, r.URL)
	fault, advance := s.fault(to)
	if fault.Refuse {
		return response{fault: fault}
	}
	prompt := promptOf(r, body)
	s.requests = append(s.requests, Request{
		Operation: to.operation, Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Prompt: prompt})

	resp := response{status: fault.Status}
	if fault.Status < 300 {
		resp = s.act(r, to, prompt, advance)
	}
	return resp.apply(fault)
}

// promptOf returns the prompt of a request's body; "" if it has none that the
// service would take.
func promptOf(r *http.Request, body []byte) string {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" {
		return ""
	}
	var fields map[string]json.RawMessage // names to the letter, other than in a struct
	var prompt string
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields["prompt"], &prompt) != nil {
		return ""
	}
	return prompt
}

// fault takes the fault of a request, which may be that of a job's step, and
// reports whether a poll still advances the job's script.
func (s *Service) fault(to route) (f Fault, advance bool) {
	if queue := s.faults[to.operation]; len(queue) > 0 {
		s.faults[to.operation] = queue[1:]
		return queue[0], !queue[0].isFailure()
	}
	if j := s.find(to); to.operation == mintlify.OpGetJob && j != nil && j.step().Fault != nil {
		f = *j.step().Fault
		j.poll()
		return f, false
	}
	return Fault{}, true
}

// isFailure reports whether the response does not get through as it was.
func (f Fault) isFailure() bool {
	return f.Status != 0 || f.Body != "" || f.Refuse || f.Drop || f.Truncate
}

// act does what the service does, and responds as it responds.
func (s *Service) act(r *http.Request, to route, prompt string, advance bool) response {
	if r.Header.Get("Authorization") != "Bearer "+APIKey {
		return failure(http.StatusUnauthorized, "Invalid or missing API key")
	}
	if to.operation == "" {
		return failure(http.StatusNotFound, "No such endpoint")
	}
	if to.operation == mintlify.OpGetVisitors {
		return s.visitorPage(r.URL.Query())
	}
	j := s.find(to)
	if to.jobID != "" && j == nil {
		return failure(http.StatusNotFound, "Job not found")
	}
	if to.operation == mintlify.OpGetJob {
		if advance {
			j.poll()
		}
		return success(http.StatusOK, j.json())
	}
	if prompt == "" {
		return failure(http.StatusBadRequest, "prompt is required and must be at least 1 character")
	}
	if !s.withinQuota("agent "+to.project, time.Now()) {
		return failure(http.StatusTooManyRequests, "Rate limit exceeded: 100 requests per project per hour")
	}
	if to.operation == mintlify.OpSendMessage {
		j.message()
		return success(http.StatusOK, j.json())
	}
	var script []Step
	if len(s.scripts) > 0 {
		script, s.scripts = s.scripts[0], s.scripts[1:]
	}
	j = s.addJob(s.freeID(to), to.project, script)
	return success(http.StatusCreated, j.json())
}

func (s *Service) freeID(to route) string {
	for n := len(s.jobs) + 1; ; n++ {
		to.jobID = fmt.Sprintf("job_%d", n)
		if s.find(to) == nil {
			return to.jobID
		}
	}
}

func (s *Service) find(to route) *job {
	for _, j := range s.jobs {
		if j.id == to.jobID && j.project == to.project {
			return j
		}
	}
	return nil
}

func (s *Service) withinQuota(counted string, at time.Time) bool {
	if s.quotas == nil {
		return true
	}
	recent := slices.DeleteFunc(s.quotas[counted], func(t time.Time) bool { return at.Sub(t) >= quotaWindow })
	within := len(recent) < quota
	if within {
		recent = append(recent, at)
	}
	s.quotas[counted] = recent
	return within
}

// json is the job as the service reports it: null, not left out, where there is nothing.
func (j *job) json() map[string]any {
	fields := map[string]any{
		"id": j.id, "status": j.status, "model": model, "prLink": nil,
		"source":    map[string]any{"repository": repository, "ref": ref},
		"createdAt": timestamp(j.created), "archivedAt": nil,
	}
	if j.prLink != "" {
		fields["prLink"] = j.prLink
	}
	if !j.archived.IsZero() {
		fields["archivedAt"] = timestamp(j.archived)
	}
	return fields
}

func timestamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }

func success(status int, v any) response {
	body, err := json.Marshal(v)
	if err != nil {
		return failure(http.StatusInternalServerError, err.Error())
	}
	return response{status: status, header: http.Header{}, body: body}
}

func failure(status int, message string) response {
	return success(status, map[string]any{"error": message})
}

// apply returns the response as the fault leaves it.
func (r response) apply(f Fault) response {
	r.fault = f
	if f.Status != 0 {
		r.status, r.body = f.Status, []byte(f.Body)
	} else if f.Body != "" {
		r.body = []byte(f.Body)
	}
	r.header = http.Header{}
	for name, values := range f.Header {
		for _, value := range values {
			r.header.Add(name, value)
		}
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", contentType(r.body))
	}
	return r
}

func contentType(body []byte) string {
	if json.Valid(body) {
		return "application/json"
	}
	return http.DetectContentType(body)
}

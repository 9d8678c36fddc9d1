// Package mintlifytest is an in-memory fake of the service, for tests that need
// no network, no key and no waiting:
//
//	svc := mintlifytest.NewService()
//	svc.ScriptJob(mintlifytest.Step{Status: mintlify.JobActive}, mintlifytest.Step{Status: mintlify.JobFailed})
//	client := svc.Client() // a real *mintlify.Client, wired to svc
//
// It behaves as the service does: it checks the key, responds 400 to a bad
// argument and 404 to an unknown job, sets a messaged job back to active, and
// pages visitors by offset and limit.
// Failures are set up by [Service.FailNext] and [Step].Fault.
//
// Nothing in it opens a socket, so it runs inside a testing/synctest bubble,
// where a wait of 45 minutes takes no time.
package mintlifytest

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// What [Service.Client] is wired with, and what the service accepts: this key,
// with any project. Jobs of [Service.AddJob] are in the project ProjectID.
const (
	APIKey    = "mint_test_4f1c9d2e"
	ProjectID = "test-project"
)

// Service is a fake of the service. It is an [http.RoundTripper], which responds
// in memory, and an [http.Handler], for httptest.NewServer where a socket is
// wanted. Make it with [NewService]; there is nothing to close. It is safe for
// use by many goroutines.
type Service struct {
	mu       sync.Mutex
	scripts  [][]Step // of the jobs created next
	jobs     []*job   // in the order of their making
	faults   map[mintlify.Operation][]Fault
	visitors []mintlify.Visitor
	totals   mintlify.VisitorTotals
	requests []Request
	quotas   map[string][]time.Time // requests of the last hour that count, by what they count against; nil: no quotas
}

// Step is what a job reports at one poll.
type Step struct {
	Status mintlify.JobStatus // "" is active
	PRLink string             // completed without one is a job that changed no file
	Fault  *Fault             // this poll fails so, and Status and PRLink are not reported
}

// Fault is a way for a request to fail. One with Status below 300 or none reaches
// the service, which acts on it before its response goes wrong; the zero Fault is no fault.
type Fault struct {
	Status   int           // responded with, with Body and Header; 0 is the status without the fault
	Body     string        // the whole body of the response; "" is the one without the fault where Status is 0, else empty
	Header   http.Header   // added to the response's, such as Retry-After
	Refuse   bool          // no connection is made, and the service sees nothing (over a socket: it closes the connection)
	Drop     bool          // the connection is lost after the request was sent and acted on
	Truncate bool          // the body ends midway
	Delay    time.Duration // before the response comes
}

// Request is one request that reached the service.
type Request struct {
	Operation mintlify.Operation // "" where the service has no such operation
	Method    string             // as sent
	Path      string             // as sent, escaped
	Query     url.Values         // as sent
	Prompt    string             // of Create and Message
}

// NewService returns a service with no jobs.
func NewService() *Service {
	return &Service{faults: map[mintlify.Operation][]Fault{}}
}

// Client returns a client wired to s in memory. It retries and polls without
// waiting, unless opts, which come after, say otherwise: a wait for a job that
// never ends, or polls that never succeed, spins until its context ends. Under
// testing/synctest give it intervals, since time stands still while it spins:
//
//	svc.Client(mintlify.WithWaitDefaults(mintlify.WithPollInterval(5*time.Second, time.Minute)))
//
// A Retry-After is as it is with any client: it exceeds the longest wait before a
// retry, here 0, and so comes back as an error, and it moves the next poll of a wait.
//
// It panics on an option that NewClient refuses.
func (s *Service) Client(opts ...mintlify.Option) *mintlify.Client {
	client, err := mintlify.NewClient(APIKey, ProjectID, append([]mintlify.Option{
		mintlify.WithHTTPClient(&http.Client{Transport: s}),
		mintlify.WithRetryWait(0, 0),
		mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0)),
	}, opts...)...)
	if err != nil {
		panic(err)
	}
	return client
}

// ScriptJob sets what the next created job that has no script yet reports, poll
// by poll; the last step stays. A job without a script is active at its first
// poll and then completed with a pull request.
//
// A message sets the job back to active. Polls then go on with the steps that
// are left; where no more than the last is, they report active once before it.
func (s *Service) ScriptJob(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, slices.Clone(steps))
}

// AddJob adds a job to the project [ProjectID], or replaces the one of that id,
// as if it had been created with that script.
func (s *Service) AddJob(id string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool { return j.id == id && j.project == ProjectID })
	s.addJob(id, ProjectID, slices.Clone(steps))
}

// Jobs returns the jobs as they stand, in the order of their making, those of
// [Service.AddJob] included: what the service has acted on, whatever it responded.
func (s *Service) Jobs() []mintlify.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := make([]mintlify.Job, len(s.jobs))
	for i, j := range s.jobs {
		jobs[i] = mintlify.Job{ID: j.id, Status: j.status, PRLink: j.prLink, Model: model, CreatedAt: j.created, ArchivedAt: j.archived,
			Source: mintlify.JobSource{Repository: repository, Ref: ref}}
	}
	return jobs
}

// SetVisitors sets the rows of the analytics export, for every project and range
// of dates. Its totals are the sums of theirs.
func (s *Service) SetVisitors(rows []mintlify.Visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visitors, s.totals = slices.Clone(rows), mintlify.VisitorTotals{}
	for _, row := range rows {
		s.totals.Human += row.Human
		s.totals.AI += row.AI
		s.totals.Total += row.Total
	}
}

// FailNext has the next n requests of op fail, after those of earlier calls. A
// poll that fails so leaves the job's script where it is.
func (s *Service) FailNext(op mintlify.Operation, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.faults[op] = append(s.faults[op], f)
	}
}

// EnforceQuotas has the service respond 429 beyond its documented quotas: 100 jobs
// and messages per project and hour, 100 analytics requests per hour.
func (s *Service) EnforceQuotas() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quotas = map[string][]time.Time{}
}

// Requests returns the requests that reached the service so far, in order.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

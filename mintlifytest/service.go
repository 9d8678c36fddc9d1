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
	routes []route

	mu       sync.Mutex
	requests []Request
	faults   map[mintlify.Operation][]faults
	quotas   map[string][]time.Time // requests within the window, by quota; nil: no quotas
	jobs     jobs
	visitors visitorsFunc // nil: no rows
}

// NewService returns a service with no jobs.
func NewService() *Service {
	return &Service{
		routes: routes(),
		faults: map[mintlify.Operation][]faults{},
		jobs:   jobs{byKey: map[jobKey]*job{}},
	}
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

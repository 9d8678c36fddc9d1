package mintlifytest

import (
	"net/http"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// The service accepts APIKey with any project. [Service.Client] uses APIKey and ProjectID.
// [Service.AddJob] adds jobs to ProjectID.
const (
	APIKey    = "mint_test_4f1c9d2e"
	ProjectID = "test-project"
)

// Service is a fake of the service. It is an [http.RoundTripper], which responds in
// memory, and an [http.Handler], for httptest.NewServer if a test needs a socket.
// The zero Service has no jobs, as one of [NewService]; there is nothing to close. It is safe for
// use by many goroutines.
type Service struct {
	mu       sync.Mutex
	routes   []route // nil until the first use
	requests []Request
	faults   map[mintlify.Operation][]faults
	quotas   map[string][]time.Time // requests within the window, by quota; nil: no quotas
	jobs     jobs

	deployments deployments
	automations map[string]bool // by id
	runs        int             // of automations, so far

	sharesTurnTimes    bool // see ShareTurnTimes
	refusesLateMessage bool // see RefuseMessagesToEndedJobs
	quotasInJSON       bool // see EnforceQuotasInJSON

	visitors      visitorsFunc // nil: no rows
	views         []mintlify.View
	searches      []mintlify.SearchTerm
	feedback      []mintlify.Feedback
	conversations []mintlify.Conversation
	callerStats   mintlify.CallerStats
}

// NewService returns a service with no jobs.
func NewService() *Service { return new(Service) }

// lock locks the service, and makes what a zero Service lacks. It returns the unlock.
func (s *Service) lock() func() {
	s.mu.Lock()
	if s.routes == nil {
		s.routes = routes()
		s.faults = map[mintlify.Operation][]faults{}
		s.jobs.byKey = map[jobKey]*job{}
		s.deployments.byID = map[string]*deployment{}
		s.automations = map[string]bool{}
	}
	return s.mu.Unlock
}

// Options returns the options of [Service.Client], for code that creates its own client:
//
//	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, svc.Options()...)
//
// A client with these options sends its requests to s in memory, unless WithHTTPClient is given
// again, with a Transport. Its base URL is https://mintlifytest.invalid, so that no mistake reaches
// the service itself. It retries and polls without waiting, also after a message: s sets a job that
// gets one back to active at once. A follow-up of package once takes 30 s all the same, unless its
// Runner has once.WithSettleTime(0). [Service.Client] says what that means, and [WithRealSchedule]
// what to add in a testing/synctest bubble.
func (s *Service) Options() []mintlify.Option {
	return []mintlify.Option{
		mintlify.WithBaseURL("https://mintlifytest.invalid"),
		mintlify.WithHTTPClient(&http.Client{Transport: s}),
		mintlify.WithRetryWait(0, 0),
		mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0), mintlify.WithSettleTime(0)),
	}
}

// WithRealSchedule gives a client of [Service.Client] or [Service.Options] the SDK's
// own waits before retries, between polls and after a message. It is for a testing/synctest bubble,
// where these waits take no time:
//
//	client := svc.Client(mintlifytest.WithRealSchedule())
func WithRealSchedule() mintlify.Option {
	return both(
		mintlify.WithRetryWait(500*time.Millisecond, 30*time.Second),
		mintlify.WithWaitDefaults(
			mintlify.WithPollInterval(5*time.Second, time.Minute),
			mintlify.WithSettleTime(-1)))
}

// both combines two options. C is the SDK's own type, which has no exported name.
func both[C any](first, second func(C) error) func(C) error {
	return func(config C) error {
		if err := first(config); err != nil {
			return err
		}
		return second(config)
	}
}

// Client returns a client wired to s in memory. It retries and polls without waiting,
// unless opts say otherwise: they are applied last. If a job never ends, a wait polls without a
// pause until its context ends; the 1,000th failed poll in a row ends it. In a testing/synctest
// bubble time stands still meanwhile: there, give the client the real waits by [WithRealSchedule].
//
// A Retry-After counts as with any client. It exceeds the longest wait before a retry, which
// is 0 here, so the call returns an error; and it delays the next poll of a wait.
//
// It panics on an option that [mintlify.NewClient] refuses.
func (s *Service) Client(opts ...mintlify.Option) *mintlify.Client {
	all := append(s.Options(), opts...)
	client, err := mintlify.NewClient(APIKey, ProjectID, all...)
	if err != nil {
		panic(err)
	}
	return client
}

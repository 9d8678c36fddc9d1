package mintlifytest

import (
	"net/http"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// The service accepts this key, with any project. They are the key and the project of
// [Service.Client], and the project of jobs added by [Service.AddJob].
const (
	APIKey    = "mint_test_4f1c9d2e"
	ProjectID = "test-project"
)

// Service is a fake of the service. It is an [http.RoundTripper], which responds in
// memory, and an [http.Handler], for httptest.NewServer if a test needs a socket.
// Create it with [NewService]; there is nothing to close. It is safe for use by many
// goroutines.
type Service struct {
	routes []route

	mu       sync.Mutex
	requests []Request
	faults   map[mintlify.Operation][]faults
	quotas   map[string][]time.Time // requests within the window, by quota; nil: no quotas
	jobs     jobs

	deployments deployments
	automations map[string]bool // by id
	runs        int             // of automations, so far

	visitors      visitorsFunc // nil: no rows
	views         []mintlify.View
	searches      []mintlify.SearchTerm
	feedback      []mintlify.Feedback
	conversations []mintlify.Conversation
	callerStats   mintlify.CallerStats
}

// NewService returns a service with no jobs.
func NewService() *Service {
	return &Service{
		routes: routes(),
		faults: map[mintlify.Operation][]faults{},
		jobs:   jobs{byKey: map[jobKey]*job{}},

		deployments: deployments{byID: map[string]*deployment{}},
		automations: map[string]bool{},
	}
}

// Options returns what [Service.Client] wires a client with, for code that makes its
// own:
//
//	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, svc.Options()...)
//
// With them a client sends its requests to s in memory, and retries and polls
// without waiting. See [Service.Client] for what that means, and [WithRealSchedule]
// for what to add under testing/synctest.
func (s *Service) Options() []mintlify.Option {
	return []mintlify.Option{
		mintlify.WithHTTPClient(&http.Client{Transport: s}),
		mintlify.WithRetryWait(0, 0),
		mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0)),
	}
}

// WithRealSchedule gives a client of [Service.Client] or [Service.Options] the SDK's
// own waits before retries and between polls. It is for a testing/synctest bubble,
// where these waits take no time:
//
//	client := svc.Client(mintlifytest.WithRealSchedule())
func WithRealSchedule() mintlify.Option {
	return both(
		mintlify.WithRetryWait(500*time.Millisecond, 30*time.Second),
		mintlify.WithWaitDefaults(mintlify.WithPollInterval(5*time.Second, time.Minute)))
}

// both is two options as one. C is the SDK's own type, which has no exported name.
func both[C any](first, second func(C) error) func(C) error {
	return func(config C) error {
		if err := first(config); err != nil {
			return err
		}
		return second(config)
	}
}

// Client returns a client wired to s in memory. It retries and polls without
// waiting, unless opts, which come after, say otherwise: a wait for a job that never
// ends, or polls that never succeed, spin until their context ends. Under
// testing/synctest, where time stands still while they spin, give it the real waits,
// [WithRealSchedule].
//
// A Retry-After counts as with any client: a call returns it as an error, since it
// exceeds the longest wait before a retry, here 0, and it delays the next poll of a wait.
//
// It panics on an option that [mintlify.NewClient] refuses.
func (s *Service) Client(opts ...mintlify.Option) *mintlify.Client {
	client, err := mintlify.NewClient(APIKey, ProjectID, append(s.Options(), opts...)...)
	if err != nil {
		panic(err)
	}
	return client
}

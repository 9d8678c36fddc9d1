// Package outage counts what an outage of the service costs a queue of prompts, with each of
// three programs that send them, in virtual time.
package outage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench/retryable"
	"github.com/mintlify-community/mintlify-go/bench/service"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

const (
	queued     = 200
	latency    = time.Second // of each response
	start      = 10 * time.Second
	length     = 10 * time.Minute
	actedEvery = 10 // POSTs during the outage
)

// gateway stands before the service. During the outage it responds 503 and passes nothing on,
// but for every tenth POST: the service acts on that one, and the gateway responds 504.
type gateway struct {
	service *mintlifytest.Service
	created time.Time
	// readsWork says that only POSTs fail.
	readsWork bool
	// silent says that connections are lost instead of a response.
	silent bool
	// length is how long the outage lasts.
	length time.Duration

	mu sync.Mutex
	// failed is the number of POSTs that have failed.
	failed int
	// sent is when the service got the first prompt after the outage.
	sent time.Time
}

// RoundTrip implements [http.RoundTripper].
func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	withKey := r.Clone(r.Context())
	withKey.Header.Set("Authorization", "Bearer "+mintlifytest.APIKey) // bench's clients have a key of their own
	response, err := g.pass(withKey)

	select {
	case <-time.After(latency):
		return response, err
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// pass has the service respond, one request at a time.
func (g *gateway) pass(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fault, fails := g.next(r.Method)
	switch {
	case fails:
		g.service.FailNext(operation(r), 1, fault)
	case r.Method == http.MethodPost && g.sent.IsZero() && time.Since(g.created) > start:
		g.sent = time.Now()
	}
	return g.service.RoundTrip(r)
}

func operation(r *http.Request) mintlify.Operation {
	switch {
	case r.Method != http.MethodPost:
		return mintlify.OpGetJob
	case strings.HasSuffix(r.URL.Path, "/message"):
		return mintlify.OpSendMessage
	}
	return mintlify.OpCreateJob
}

// next returns whether and how the next request fails.
func (g *gateway) next(method string) (mintlifytest.Fault, bool) {
	isPost := method == http.MethodPost
	if !g.isDown() || g.readsWork && !isPost {
		return mintlifytest.Fault{}, false
	}

	if isPost {
		g.failed++
		if g.failed%actedEvery == 0 {
			return mintlifytest.Fault{Status: http.StatusGatewayTimeout, Acted: true}, true
		}
	}
	if g.silent {
		return mintlifytest.Fault{Drop: true}, true
	}
	return mintlifytest.Fault{Status: http.StatusServiceUnavailable}, true
}

func (g *gateway) isDown() bool {
	age := time.Since(g.created)
	return start <= age && age < start+g.length
}

// client returns the SDK's client, with its own retries and polls.
func (g *gateway) client() *mintlify.Client {
	return g.service.Client(
		mintlifytest.WithRealSchedule(),
		mintlify.WithHTTPClient(&http.Client{Transport: g}))
}

// program sends all prompts, one at a time, and returns how many it leaves unknown. It goes on
// until it has the job of each other prompt.
type program func(ctx context.Context, way *gateway, prompts []string) (unknown int, err error)

// throughOnce hands the prompts to package once.
func throughOnce(ctx context.Context, way *gateway, prompts []string) (int, error) {
	store := oncetest.NewStore()
	runner, err := once.New(way.client(), store)
	if err != nil {
		return 0, err
	}
	for i, prompt := range prompts {
		task := once.Task{Key: fmt.Sprint("acme/api@", i), Prompt: prompt}
		if _, _, err := runner.Add(ctx, task); err != nil {
			return 0, err
		}
	}

	if err := runner.Resume(ctx); err != nil {
		return 0, err
	}
	unknown, err := store.List(ctx, once.Unknown)
	return len(unknown), err
}

// create calls Create for each prompt, and sets those aside whose outcome is unknown.
func create(ctx context.Context, way *gateway, prompts []string) (int, error) {
	client := way.client()
	unknown := 0
	for _, prompt := range prompts {
		_, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
		switch {
		case errors.Is(err, mintlify.ErrOutcomeUnknown):
			unknown++
		case err != nil:
			return 0, err
		}
	}
	return unknown, nil
}

// retry has go-retryablehttp retry each prompt, as that does unless told otherwise. What still
// fails goes to the end of the queue, as in a job queue, so nothing is left unknown.
func retry(ctx context.Context, way *gateway, prompts []string) (int, error) {
	client := retryable.New(service.Nowhere, way)
	for len(prompts) > 0 && ctx.Err() == nil {
		prompt := prompts[0]
		prompts = prompts[1:]
		if _, err := client.Create(ctx, prompt); err != nil {
			prompts = append(prompts, prompt)
		}
	}
	return 0, ctx.Err()
}

type cost struct {
	// unknown is how many prompts a person has to look for.
	unknown int
	// twice is how many prompts made more than one job.
	twice int
}

// measure has a program send the queue through an outage.
func measure(ctx context.Context, send program, readsWork bool) (cost, error) {
	service := mintlifytest.NewService()
	service.EnforceQuotas()
	var prompts []string
	for i := range queued {
		prompts = append(prompts, fmt.Sprintf("Document change %d.", i))
	}

	way := &gateway{service: service, created: time.Now(), readsWork: readsWork, length: length}
	unknown, err := send(ctx, way, prompts)
	if err != nil {
		return cost{}, err
	}

	jobs := jobsByPrompt(service)
	if len(jobs) < queued-unknown {
		return cost{}, fmt.Errorf("%d prompts are unknown, and only %d have a job", unknown, len(jobs))
	}
	twice := 0
	for _, n := range jobs {
		if n > 1 {
			twice++
		}
	}
	return cost{unknown: unknown, twice: twice}, nil
}

// jobsByPrompt counts the jobs that each prompt has made. Package once adds a marker to a
// prompt, in a paragraph of its own.
func jobsByPrompt(service *mintlifytest.Service) map[string]int {
	jobs := map[string]int{}
	for _, request := range service.Requests() {
		if request.Operation == mintlify.OpCreateJob && request.Acted {
			prompt, _, _ := strings.Cut(request.Prompt, "\n")
			jobs[prompt]++
		}
	}
	return jobs
}

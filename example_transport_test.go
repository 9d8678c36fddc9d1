package mintlify_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// observed tells report of each request, also of retries, polls and redirects.
// The request's header holds the API key, and its body the prompt: report neither.
type observed struct {
	base   http.RoundTripper
	report func(req *http.Request, status int, took time.Duration)
}

func (o observed) RoundTrip(req *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := o.base.RoundTrip(req)
	status := 0
	if resp != nil {
		status = resp.StatusCode
	}
	o.report(req, status, time.Since(start))
	return resp, err
}

// Telemetry wraps the SDK's own transport, which fires httptrace events: they are how
// the SDK knows that a request was never sent. A transport of OpenTelemetry is given in
// the same way: otelhttp.NewTransport(mintlify.NewTransport()).
func ExampleNewTransport() {
	server := httptest.NewServer(mintlifytest.NewService()) // instead of the service
	defer server.Close()
	transport := mintlify.NewTransport()
	defer transport.CloseIdleConnections()

	report := func(req *http.Request, status int, took time.Duration) {
		fmt.Println(req.Method, req.URL.Path, status, took > 0)
	}
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
		mintlify.WithBaseURL(server.URL),
		mintlify.WithHTTPClient(&http.Client{Transport: observed{transport, report}}))
	if err != nil {
		fmt.Println(err)
		return
	}

	job, err := client.Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = client.Jobs.Get(context.Background(), job.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Output:
	// POST /v2/agent/test-project/job 201 true
	// GET /v2/agent/test-project/job/job_1 200 true
}

package mintlify_test

import (
	"context"
	"fmt"
	"net/http"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// responseHeaders prints what the header of each response says, also of a successful one.
type responseHeaders struct{ base http.RoundTripper }

func (t responseHeaders) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(req)
	if err == nil {
		info, _ := mintlify.RequestFromContext(req.Context())
		fmt.Println(info.Operation, info.Attempt, resp.Header.Get("X-Request-Id"), resp.Header.Get("X-RateLimit-Remaining"))
	}
	return resp, err
}

// A transport sees the header of every response, such as a request id or what is left of a
// rate limit. An [mintlify.APIError] has the header of a failed call.
func ExampleRequestFromContext() {
	service := mintlifytest.NewService() // in a program: mintlify.NewTransport()
	service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{
		Header: http.Header{"X-Request-Id": {"req_1"}, "X-Ratelimit-Remaining": {"99"}},
	})
	client := service.Client(mintlify.WithHTTPClient(&http.Client{Transport: responseHeaders{service}}))

	_, err := client.Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
	if err != nil {
		fmt.Println(err)
	}
	// Output: create job 1 req_1 99
}

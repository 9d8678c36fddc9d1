package mintlifytest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/stretchr/testify/require"
)

func BenchmarkVisitorPages(b *testing.B) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitorRows(5000))
	client := svc.Client()
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range client.Analytics.VisitorPages(b.Context(), mintlify.VisitorsParams{}) {
			require.NoError(b, err)
		}
	}
}

// The time for a job does not grow with the number of jobs.
func BenchmarkManyJobs(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				useManyJobs(b, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
		})
	}
}

// useManyJobs does all that can be done with jobs with n of them.
func useManyJobs(t testing.TB, n int) {
	svc := mintlifytest.NewService()
	svc.EnforceQuotas() // each job in a project of its own, which has a quota of its own
	header := http.Header{
		"Authorization": {"Bearer " + mintlifytest.APIKey},
		"Content-Type":  {"application/json"},
	}
	do := func(status int, method, path, body string) io.Reader {
		r := &http.Request{
			Method: method,
			URL:    &url.URL{Path: path},
			Header: header,
			Body:   io.NopCloser(strings.NewReader(body)),
		}
		resp, err := svc.RoundTrip(r)
		if err != nil || resp.StatusCode != status {
			t.Fatalf("%s %s: %v, %v", method, path, resp, err)
		}
		return resp.Body
	}

	for i := range n {
		svc.AddJob(fmt.Sprint("job_", n+i+1)) // an id that a created job would have
		svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobCompleted})
		svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503})
		svc.SucceedNext(mintlify.OpGetJob, 1)
	}

	for i := range n {
		jobs := fmt.Sprintf("/v2/agent/project-%d/job", i)
		body := do(http.StatusCreated, "POST", jobs, `{"prompt":"x"}`)
		var created struct{ ID string }
		if err := json.NewDecoder(body).Decode(&created); err != nil {
			t.Fatal(err)
		}

		job := jobs + "/" + created.ID
		do(http.StatusServiceUnavailable, "GET", job, "")
		do(http.StatusOK, "GET", job, "")
		do(http.StatusOK, "POST", job+"/message", `{"prompt":"x"}`)
		svc.AddJob(fmt.Sprint("job_", n+i+1), mintlifytest.JobStep{Status: mintlify.JobFailed}) // replaced
	}

	require.Len(t, svc.Jobs(), 2*n)
	require.Len(t, svc.Requests(), 4*n)
}

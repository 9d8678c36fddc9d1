package mintlify_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// newProgress returns a function for WithOnPoll that keeps a CI log short. It writes a
// line when the status changes, when a poll fails, and else once a minute.
func newProgress(w io.Writer) func(mintlify.Poll) {
	var shown string
	var next time.Duration
	return func(p mintlify.Poll) {
		status := cmp.Or(p.Status, "not seen yet")
		if status == shown && p.Err == nil && p.Waited < next {
			return
		}
		shown = status
		next = p.Waited + time.Minute

		fmt.Fprintf(w, "%v: job is %s", p.Waited.Round(time.Second), status)
		if p.Err != nil {
			fmt.Fprintf(w, ", poll failed: %v", p.Err)
		}
		fmt.Fprintln(w)
	}
}

func ExampleWithOnPoll() {
	svc := mintlifytest.NewService()
	svc.AddJob("job_1",
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Status: mintlify.JobActive}, // nothing new
		mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 502}},
		mintlifytest.JobStep{Status: mintlify.JobCompleted})

	onPoll := mintlify.WithOnPoll(newProgress(os.Stdout))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	_, err := svc.Client().Jobs.WaitUntilDone(ctx, "job_1", onPoll)
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0s: job is active
	// 0s: job is active, poll failed: mintlify: get job: 502 Bad Gateway [GET /v2/agent/test-project/job/job_1]
	// 0s: job is completed
}

package mintlify_test

import (
	"context"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// newLimiter admits burst requests at once and perHour more an hour, until ctx ends. In any
// hour that is burst+perHour at most: 10 and 90 keep a quota of 100 an hour, while 100
// and 100 would admit 200. A restart forgets what was sent: then give it a smaller burst, or keep the
// count elsewhere. Polls have no quota and are not held up.
func newLimiter(ctx context.Context, burst, perHour int) func(context.Context, mintlify.RequestInfo) error {
	tokens := make(chan struct{}, burst)
	for range burst {
		tokens <- struct{}{}
	}
	go func() {
		refill := time.NewTicker(time.Hour / time.Duration(perHour))
		defer refill.Stop()
		for {
			select {
			case <-refill.C:
			case <-ctx.Done():
				return
			}
			select {
			case tokens <- struct{}{}:
			default: // as many as may be sent at once
			}
		}
	}()
	return func(ctx context.Context, r mintlify.RequestInfo) error {
		if r.Operation == mintlify.OpGetJob || r.Operation == mintlify.OpGetDeployment {
			return nil
		}
		select {
		case <-tokens:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func ExampleWithRateLimiter() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // for all of them
	defer cancel()
	client := mintlifytest.NewService().Client(mintlify.WithRateLimiter(newLimiter(ctx, 10, 90)))

	for range 3 {
		job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
		if err != nil {
			fmt.Println(err)
			return
		}
		job, err = client.Jobs.WaitUntilDone(ctx, job.ID)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(job.ID, job.Status)
	}
	// Output:
	// job_1 completed
	// job_2 completed
	// job_3 completed
}

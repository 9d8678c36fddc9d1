package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// store keeps a record for each thing, where every process that may act on it sees it.
type store interface {
	// Claim makes the record of key. Of all the calls for one key, one wins.
	Claim(ctx context.Context, key string, deadline time.Time) (won bool, err error)
	// Save replaces the record.
	Save(ctx context.Context, key string, r jobRecord) error
	// Release deletes the record if its state is still claimed.
	Release(ctx context.Context, key string) error
}

type jobRecord struct{ State, JobID, PRLink string }

// createOnce creates the job of key, unless key was claimed before.
func createOnce(ctx context.Context, client *mintlify.Client, s store, key, prompt string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // shutting down: claim nothing more
	}
	ctx = context.WithoutCancel(ctx)

	deadline := time.Now().Add(time.Minute) // before the claim, see below
	sending, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	won, err := s.Claim(sending, key, deadline)
	if err != nil || !won {
		return err
	}
	job, err := client.Jobs.Create(sending, mintlify.CreateJobParams{
		Prompt: prompt + "\n\nEnd the pull request's description with: docs: " + key,
	})

	recording, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, later := mintlify.RetryAfter(err)
	switch {
	case job != nil: // it exists, whatever err says
		return s.Save(recording, key, jobRecord{State: "created", JobID: job.ID})
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		return errors.Join(err, s.Save(recording, key, jobRecord{State: "unknown"}))
	case later, sending.Err() != nil: // there is no job, and later there may be one
		return errors.Join(err, s.Release(recording, key))
	default:
		return errors.Join(err, s.Save(recording, key, jobRecord{State: "refused"}))
	}
}

// resume waits for the end of a job that is on record.
func resume(ctx context.Context, client *mintlify.Client, s store, key, jobID string) error {
	job, err := client.Jobs.WaitUntilDone(ctx, jobID)
	switch {
	case err == nil:
		return s.Save(ctx, key, jobRecord{State: "done", JobID: jobID, PRLink: job.PRLink})
	case errors.Is(err, mintlify.ErrJobFailed):
		return errors.Join(err, s.Save(ctx, key, jobRecord{State: "failed", JobID: jobID}))
	default:
		return err // the record stays as it is: resume again later
	}
}

// inTime, given to WithRateLimiter, lets no request go once its deadline has passed.
func inTime(ctx context.Context, _ mintlify.Operation, _ string) error {
	// Round(0) leaves the wall clock, which does not stand still on a suspended machine.
	if deadline, ok := ctx.Deadline(); ok && time.Now().Round(0).After(deadline.Round(0)) {
		return context.DeadlineExceeded
	}
	return nil
}

// memory is a store for an example: it does not survive the process.
type memory struct{ sync.Map }

func (m *memory) Claim(_ context.Context, key string, _ time.Time) (bool, error) {
	_, claimed := m.LoadOrStore(key, jobRecord{State: "claimed"})
	return !claimed, nil
}

func (m *memory) Save(_ context.Context, key string, r jobRecord) error {
	m.Store(key, r)
	return nil
}

func (m *memory) Release(_ context.Context, key string) error {
	m.CompareAndDelete(key, jobRecord{State: "claimed"})
	return nil
}

// At most one job of a merge, though the webhook that tells of it comes twice. See
// docs/once.md.
func Example_atMostOneJob() {
	svc := mintlifytest.NewService()
	client, ctx := svc.Client(mintlify.WithRateLimiter(inTime)), context.Background()

	var s memory
	for range 2 {
		if err := createOnce(ctx, client, &s, "acme/api@5907854", "Document the flag --json"); err != nil {
			fmt.Println(err)
		}
	}
	created, _ := s.Load("acme/api@5907854")
	if err := resume(ctx, client, &s, "acme/api@5907854", created.(jobRecord).JobID); err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Load("acme/api@5907854"))
	fmt.Println(len(svc.Jobs()), "job")
	// Output:
	// {done job_1 https://github.com/example/docs/pull/1} true
	// 1 job
}

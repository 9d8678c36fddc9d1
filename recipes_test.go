package mintlify_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// What the examples promise, where it takes time to see.

func TestLimiterOfTheExampleKeepsTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.EnforceQuotas()
		client := svc.Client(mintlify.WithRateLimiter(newLimiter(t.Context(), 10, 90)), mintlify.WithMaxRetries(0))
		start := time.Now()
		for range 400 {
			job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
			require.NoError(t, err)
			_, err = client.Jobs.Get(t.Context(), job.ID)
			require.NoError(t, err)
		}
		assert.Equal(t, 390*time.Hour/90, time.Since(start), "the polls wait too, or the quota is not used")
	})
}

func TestProgressOfTheExampleIsALineAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("job_1", mintlifytest.Step{Status: mintlify.JobActive})
		client := svc.Client(mintlifytest.WithRealSchedule())
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
		defer cancel()
		var log bytes.Buffer
		_, err := client.Jobs.WaitUntilDone(ctx, "job_1", mintlify.WithOnPoll(newProgress(&log)))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		lines := bytes.Count(log.Bytes(), []byte("\n"))
		assert.LessOrEqual(t, lines, 46)
		assert.Greater(t, lines, 20)
		assert.Greater(t, len(svc.Requests()), 80)
	})
}

// docs/once.md shows what is tested here.
func TestOnceIsTheExamplesCode(t *testing.T) {
	blocks := goBlock.FindAllStringSubmatch(readFiles(t, "docs/once.md"), -1)
	require.Len(t, blocks, 2)
	for _, block := range blocks {
		assert.Contains(t, readFiles(t, "example_once_test.go"), block[1])
	}
}

func TestCreateOnceByOutcome(t *testing.T) {
	tests := map[string]struct {
		fault mintlifytest.Fault
		delay time.Duration // of the claim
		state string        // on record then; "": no record
		jobs  int
	}{
		"success":              {state: "created", jobs: 1},
		"a job with an error":  {fault: mintlifytest.Fault{Body: `{"id":"job_1"}`}, state: "created", jobs: 1},
		"connection lost":      {fault: mintlifytest.Fault{Drop: true}, state: "unknown", jobs: 1},
		"503":                  {fault: mintlifytest.Fault{Status: 503}, state: "unknown"},
		"slower than its time": {fault: mintlifytest.Fault{Delay: time.Hour}, state: "unknown", jobs: 1},
		"connection refused":   {fault: mintlifytest.Fault{Refuse: true}},
		"429":                  {fault: mintlifytest.Fault{Status: 429}},
		"403":                  {fault: mintlifytest.Fault{Status: 403}, state: "refused"},
		"stopped at the claim": {delay: 2 * time.Minute},
		"interrupted":          {fault: mintlifytest.Fault{Delay: 40 * time.Second}, state: "created", jobs: 1},
		"claimed just in time": {delay: 50 * time.Second, state: "created", jobs: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				svc.FailNext(mintlify.OpCreateJob, 10, test.fault)
				s := &slowMemory{delay: test.delay}
				ctx, shutdown := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, shutdown)
				err := createOnce(ctx, svc.Client(), s, "key", "Fix the typos")
				assert.Equal(t, test.state == "created", err == nil, "%v", err)
				on, _ := s.Load("key")
				r, _ := on.(jobRecord)
				assert.Equal(t, test.state, r.State)
				assert.Equal(t, r.State == "created", r.JobID != "")
				assert.Len(t, svc.Jobs(), test.jobs)
			})
		})
	}
}

// slowMemory takes its time to claim.
type slowMemory struct {
	memory
	delay time.Duration
}

func (s *slowMemory) Claim(ctx context.Context, key string, deadline time.Time) (bool, error) {
	time.Sleep(s.delay)
	return s.memory.Claim(ctx, key, deadline)
}

func TestInTimeSendsNothingAfterTheDeadlineThoughTheContextHasNotHeard(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithRateLimiter(inTime))
	for passed, ctx := range map[bool]context.Context{
		true:  deadlineOnly{t.Context(), time.Now().Add(-time.Second)},
		false: deadlineOnly{t.Context(), time.Now().Add(time.Hour)},
	} {
		_, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
		assert.Equal(t, passed, err != nil)
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	}
	assert.Len(t, svc.Requests(), 1)
}

// deadlineOnly is a context whose timer does not fire.
type deadlineOnly struct {
	context.Context
	at time.Time
}

func (d deadlineOnly) Deadline() (time.Time, bool) { return d.at, true }

func TestCreateOnceClaimsNothingDuringShutdown(t *testing.T) {
	var s memory
	ctx, shutdown := context.WithCancel(t.Context())
	shutdown()
	require.ErrorIs(t, createOnce(ctx, mintlifytest.NewService().Client(), &s, "key", "Fix the typos"), context.Canceled)
	_, claimed := s.Load("key")
	assert.False(t, claimed)
}

func TestCreateOnceAmongManyProcesses(t *testing.T) {
	svc := mintlifytest.NewService()
	var s memory
	var processes sync.WaitGroup
	for range 50 {
		processes.Go(func() { assert.NoError(t, createOnce(t.Context(), svc.Client(), &s, "key", "Fix the typos")) })
	}
	processes.Wait()
	assert.Len(t, svc.Jobs(), 1)
}

func TestCreateDetachedFromASignalKeepsTheJob(t *testing.T) {
	for name, detach := range map[string]bool{"detached": true, "not detached": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
				ctx, interrupt := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, interrupt)
				create := ctx
				if detach {
					var cancel context.CancelFunc
					create, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
					defer cancel()
				}
				job, err := svc.Client().Jobs.Create(create, mintlify.CreateJobParams{Prompt: "Fix the typos"})
				require.Len(t, svc.Jobs(), 1)
				if detach {
					require.NoError(t, err)
					assert.Equal(t, svc.Jobs()[0].ID, job.ID)
					return
				}
				require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.Nil(t, job)
			})
		})
	}
}

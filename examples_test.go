package mintlify_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Promises of the examples that take time to see.

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
		svc.AddJob("job_1", mintlifytest.JobStep{Status: mintlify.JobActive})
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

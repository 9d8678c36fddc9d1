package test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The machine was suspended: the deadline has passed by the wall clock, and no timer fires.

func TestWaitEndsAtItsNextWakeUpOnceTheDeadlineHasPassedByTheWallClock(t *testing.T) {
	for name, wait := range kit.Waits {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("job_1", mintlifytest.JobStep{})
			svc.AddDeployment("deployment_1", mintlifytest.DeploymentStep{})
			var polls []mintlify.Poll
			client := svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithWaitDefaults(kit.KeepPolls(&polls)))

			start := time.Now()
			ctx := kit.LateContext(t.Context(), start.Add(time.Minute))
			err := wait(ctx, client)

			var waitErr *mintlify.WaitError
			require.ErrorAs(t, err, &waitErr, name)
			assert.ErrorIs(t, waitErr.Err, context.DeadlineExceeded, name)
			assert.NoError(t, waitErr.LastErr, name)
			_, again := mintlify.RetryAfter(err)
			assert.False(t, again, name)

			lastPoll := polls[len(polls)-1]
			assert.Less(t, lastPoll.Waited, time.Minute, name)
			assert.Equal(t, lastPoll.Waited+lastPoll.Next, time.Since(start), "%s: the next wake-up", name)
			assert.Len(t, svc.Requests(), len(polls), name)
		})
	}
}

func TestRetriesEndOnceTheDeadlineHasPassedByTheWallClock(t *testing.T) {
	for name, tc := range map[string]struct {
		attempt time.Duration // how long it takes
		ends    time.Duration
		isLate  bool // the error is the context's, too
	}{
		"during an attempt":      {attempt: 40 * time.Second, ends: 40 * time.Second, isLate: true},
		"it would in a back-off": {attempt: time.Second, ends: 22 * time.Second},
		"before any attempt":     {attempt: time.Second, ends: 0, isLate: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			rt := kit.NewRecording(respondAfter(tc.attempt, kit.RespondWith(503, "", "Retry-After", "20")))
			start := time.Now()
			deadline := start.Add(30 * time.Second)
			if tc.ends == 0 {
				deadline = start
			}
			_, err := kit.Get(kit.LateContext(t.Context(), deadline), kit.NewClient(t, rt))
			assert.Equal(t, tc.isLate, errors.Is(err, context.DeadlineExceeded), "%s: %v", name, err)
			assert.Equal(t, tc.ends > 0, errors.Is(err, mintlify.ErrServer), "%s: %v", name, err)
			assert.Equal(t, tc.ends, time.Since(start), name)
			for _, at := range rt.Times() {
				assert.Less(t, at, 30*time.Second, name)
			}
		})
	}
}

func TestExportEndsOnceTheDeadlineHasPassedByTheWallClock(t *testing.T) {
	for _, prefetch := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.SetVisitors(kit.Visitors(10))
			ctx := kit.LateContext(t.Context(), time.Now().Add(5*time.Second))
			pages := 0
			var err error
			params := mintlify.VisitorsParams{PageSize: 2}
			for _, err = range svc.Client().Analytics.VisitorPages(ctx, params, mintlify.WithPrefetch(prefetch)) {
				if err == nil {
					pages++
					time.Sleep(3 * time.Second)
				}
			}
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorAs(t, err, new(*mintlify.ExportError))
			assert.Equal(t, 2+prefetch, pages)
			assert.Len(t, svc.Requests(), 2+prefetch)
		})
	}
}

// respondAfter is a transport that responds as next after d, unless the request ends before.
func respondAfter(d time.Duration, next kit.Transport) kit.Transport {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return next(r)
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
}

func TestNothingIsSentPastTheDeadlineByTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		client := svc.Client(mintlify.WithKeySource(func(context.Context) (string, error) {
			time.Sleep(time.Minute)
			return mintlifytest.APIKey, nil
		}))

		_, err := kit.Create(kit.LateContext(t.Context(), time.Now().Add(time.Minute)), client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.Empty(t, svc.Requests())
		assert.NotContains(t, err.Error(), "attempts")
	})
}

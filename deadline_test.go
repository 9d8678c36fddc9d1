package mintlify_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// lateContext is a context whose timer has not fired yet, as after a suspend.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

func TestNothingIsSentPastTheDeadlineByTheWallClock(t *testing.T) {
	for name, test := range map[string]struct {
		keySource time.Duration // how long it takes
		sent      bool
	}{
		"in time":                 {30 * time.Second, true},
		"stopped before the send": {time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				client := svc.Client(mintlify.WithKeySource(func(context.Context) (string, error) {
					time.Sleep(test.keySource)
					return mintlifytest.APIKey, nil
				}))
				ctx := lateContext{t.Context(), time.Now().Add(time.Minute)}
				_, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
				if test.sent {
					require.NoError(t, err)
					assert.Len(t, svc.Requests(), 1)
					return
				}
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				assert.Empty(t, svc.Requests())
				assert.NotContains(t, err.Error(), "attempts")
			})
		})
	}
}

package mintlify_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// A 429's Retry-After is no outage, and the end of none: failures and 429s by turns end a
// wait once the failures' own time is that of an outage.
func TestWaitEndsWithAnOutageThoughTheServiceAsksToWaitNowAndThen(t *testing.T) {
	const asked = 30 * time.Minute
	for name, wait := range waits {
		synctest.Test(t, func(t *testing.T) {
			polls := 0
			client := newClient(t, transport(func(*http.Request) (*http.Response, error) {
				if polls++; polls%2 == 0 {
					return response(429, "", "Retry-After", "1800"), nil
				}
				return response(503, ""), nil
			}))
			start := time.Now()
			err := wait(t.Context(), client)
			require.ErrorAs(t, err, new(*mintlify.WaitError), name)
			assert.ErrorIs(t, err, mintlify.ErrServer)
			limited := time.Duration(polls/2) * asked
			assert.InDelta(t, 10*time.Minute, time.Since(start)-limited, float64(2*time.Minute), "%s: %d polls", name, polls)
		})
	}
}

// It is an outage of the failures alone: 429s for days are none.
func TestWaitOutlivesAnyNumberOf429s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := service()
		for _, op := range []mintlify.Operation{mintlify.OpGetJob, mintlify.OpGetDeployment} {
			svc.FailNext(op, 1, mintlifytest.Fault{Status: 503})
			svc.FailNext(op, 100, mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"3600"}}})
			svc.FailNext(op, 1, mintlifytest.Fault{Status: 503})
		}
		for name, wait := range waits {
			assert.NoError(t, wait(t.Context(), svc.Client(mintlifytest.WithRealSchedule())), name)
		}
	})
}

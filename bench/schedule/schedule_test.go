package schedule

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// ending is a service whose job ends at a time.
type ending struct{ at time.Time }

func (e ending) RoundTrip(*http.Request) (*http.Response, error) {
	status := mintlify.JobActive
	if !time.Now().Before(e.at) {
		status = mintlify.JobCompleted
	}
	body := io.NopCloser(strings.NewReader(fmt.Sprintf(`{"id":"job_1","status":%q}`, status)))
	return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
}

// The report simulates 100,000 jobs; here the SDK itself waits for some of them,
// in virtual time, and what is simulated has to be what it does.
func TestTheSimulatedScheduleIsTheSDKs(t *testing.T) {
	jobs := append(Jobs(2000, newRandom()), Longest)
	simulated := Simulate(SDK, jobs, newRandom())
	synctest.Test(t, func(t *testing.T) {
		var polls, late float64
		var shares []float64
		for _, length := range jobs {
			gets, lateness := reallyWait(t, length)
			polls += float64(gets)
			late += lateness.Seconds()
			shares = append(shares, float64(lateness)/float64(length))
		}
		slices.Sort(shares)
		n := float64(len(jobs))
		t.Logf("the SDK polls %.1f times a job and is %.1f s late, simulated %.1f and %.1f s", polls/n, late/n, simulated.GETs, simulated.Lateness.Seconds())
		assert.InEpsilon(t, simulated.GETs, polls/n, 0.02)
		assert.InEpsilon(t, simulated.Lateness.Seconds(), late/n, 0.1)
		assert.InEpsilon(t, simulated.LateShare95, shares[len(shares)*95/100], 0.1)
	})
}

func reallyWait(t *testing.T, length time.Duration) (gets int, lateness time.Duration) {
	end := time.Now().Add(length)
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
		mintlify.WithHTTPClient(&http.Client{Transport: ending{end}}))
	require.NoError(t, err)
	_, err = client.Jobs.WaitUntilDone(t.Context(), "job_1", mintlify.WithOnPoll(func(p mintlify.Poll) {
		gets = p.Number
		if p.Next != 0 {
			middle := float64(min(max(p.Waited/20, 5*time.Second), time.Minute))
			assert.InDelta(t, middle, float64(p.Next), 0.1*middle, "after %v", p.Waited)
		}
	}))
	require.NoError(t, err)
	return gets, time.Since(end)
}

func TestNoScheduleComparedIsBetterInEverything(t *testing.T) {
	results := Compare(Jobs(20_000, newRandom()), newRandom())
	for _, r := range results {
		t.Logf("%+v", r)
	}
	assert.True(t, results[0].OnParetoEdge)
	assert.LessOrEqual(t, results[0].LongestGETs, 100.0)
}

func TestFixedScheduleByHand(t *testing.T) {
	tenSeconds := fixed("", 10*time.Second)
	gets, lateness := wait(tenSeconds, 25*time.Second, newRandom())
	assert.Equal(t, 4, gets, "at 0, 10, 20 and 30 s")
	assert.Equal(t, 5*time.Second, lateness)
}

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

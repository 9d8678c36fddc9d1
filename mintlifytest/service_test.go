package mintlifytest_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestClientPanicsOnABadOption(t *testing.T) {
	assert.Panics(t, func() { mintlifytest.NewService().Client(mintlify.WithMaxRetries(-1)) })
}

// A fake that was made without NewService works too.
func TestPlainZeroFake(t *testing.T) {
	svc := new(mintlifytest.Service)
	svc.AddAutomation("a")
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429})
	job, err := svc.Client().Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(t, err)
	job, err = svc.Client().Jobs.WaitUntilDone(t.Context(), job.ID)
	require.NoError(t, err)
	assert.Equal(t, mintlify.JobCompleted, job.Status)

	client := new(mintlifytest.Service).Client()
	_, err = client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(t, err)
	_, err = new(mintlifytest.Service).Client().Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.NoError(t, err)
	assert.Empty(t, new(mintlifytest.Service).Jobs())
}

func TestOptionsWireAClientOfOnesOwn(t *testing.T) {
	svc := mintlifytest.NewService()
	client, err := mintlify.NewClient(mintlifytest.APIKey, "mine", svc.Options()...)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		svc.FailNext(mintlify.OpCreateJob, 3, mintlifytest.Fault{Status: 429})
		job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
		require.NoError(t, err)
		_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
		require.NoError(t, err)
		assert.Less(t, time.Since(start), time.Millisecond, "nothing waits")
	})
	assert.Equal(t, "mine", svc.Requests()[0].ProjectID)
}

// Whatever else a test gives its client, no request leaves the process.
func TestOptionsKeepRequestsFromTheServiceItself(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)
	t.Setenv("MINTLIFY_BASE_URL", mintlify.DefaultBaseURL)
	var dialed []string
	real := &http.Transport{
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = append(dialed, address)
			return nil, errors.New("no network in a test")
		},
	}
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)

	for name, hc := range map[string]*http.Client{
		"nothing":   {},
		"a timeout": {Timeout: time.Minute},
		"a jar":     {Jar: jar},
	} {
		svc := mintlifytest.NewService()
		opts := append(svc.Options(), mintlify.WithHTTPClient(hc), mintlify.WithHTTPClient(&http.Client{}))
		client, err := mintlify.NewClientFromEnv(opts...)
		require.NoError(t, err)
		_, err = client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
		require.NoError(t, err, name)
		assert.Len(t, svc.Requests(), 1)
	}
	assert.Empty(t, dialed)

	client, err := mintlify.NewClientFromEnv(append(
		mintlifytest.NewService().Options(), mintlify.WithHTTPClient(&http.Client{Transport: real}))...)
	require.NoError(t, err)
	_, err = client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.Error(t, err)
	assert.Equal(t, "mintlifytest.invalid:443", dialed[0])
}

// If the SDK's own waits change, those of WithRealSchedule have to.
func TestRealScheduleIsTheOneOfTheSDK(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{})
	realSchedule := append(svc.Options(), mintlifytest.WithRealSchedule())
	for name, opts := range map[string][]mintlify.Option{
		"the SDK's":         {mintlify.WithHTTPClient(&http.Client{Transport: svc})},
		"WithRealSchedule":  realSchedule,
		"given before more": slices.Concat(realSchedule, []mintlify.Option{mintlify.WithUserAgent("test")}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requireRealPolls(t, opts)
				requireRealRetries(t, svc, opts)
			})
		})
	}
}

func requireRealPolls(t *testing.T, opts []mintlify.Option) {
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, opts...)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
	defer cancel()

	var polls []mintlify.Poll
	keep := mintlify.WithOnPoll(func(p mintlify.Poll) { polls = append(polls, p) })
	_, err = client.Jobs.WaitUntilDone(ctx, "j", keep)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotEmpty(t, polls)
	for _, poll := range polls {
		usual := min(max(poll.Waited/20, 5*time.Second), time.Minute)
		assert.InEpsilon(t, usual, poll.Next, 0.11, "after %v", poll.Waited)
	}
}

// Each wait before a retry is drawn evenly from 0 to a bound: so is the longest of 100 near it.
func requireRealRetries(t *testing.T, svc *mintlifytest.Service, opts []mintlify.Option) {
	const retries = 9
	var attempts []time.Time
	note := mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
		attempts = append(attempts, time.Now())
		return nil
	})
	withRetries := slices.Concat(opts, []mintlify.Option{mintlify.WithMaxRetries(retries), note})
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, withRetries...)
	require.NoError(t, err)

	longest := make([]time.Duration, retries)
	for range 100 {
		attempts = nil
		svc.FailNext(mintlify.OpGetVisitors, retries+1, mintlifytest.Fault{Status: 503})
		_, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
		require.ErrorIs(t, err, mintlify.ErrServer)
		require.Len(t, attempts, retries+1)
		for i := range longest {
			longest[i] = max(longest[i], attempts[i+1].Sub(attempts[i]))
		}
	}

	for i, wait := range longest {
		bound := min(500*time.Millisecond<<i, 30*time.Second)
		assert.LessOrEqual(t, wait, bound)
		assert.Greater(t, wait, bound*4/5, "100 waits before retry %d, all of them short", i+1)
	}
}

func TestServiceIsSafeForManyGoroutines(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
			if assert.NoError(t, err) {
				_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
				assert.NoError(t, err)
			}

			svc.Requests()
			svc.Jobs()
		})
	}
	all.Wait()
	assert.Len(t, svc.Jobs(), 50)
}

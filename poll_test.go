package mintlify_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// activeFor is n polls that say active, and then the last step.
func activeFor(n int, last ...mintlifytest.JobStep) []mintlifytest.JobStep {
	steps := make([]mintlifytest.JobStep, n)
	return append(steps, last...)
}

func failing(fault mintlifytest.Fault) mintlifytest.JobStep {
	return mintlifytest.JobStep{Fault: &fault}
}

// rateLimited is a poll that gets a 429 with that Retry-After, in seconds.
func rateLimited(retryAfter string) mintlifytest.JobStep { return asking(429, retryAfter) }

func asking(status int, retryAfter string) mintlifytest.JobStep {
	header := http.Header{"Retry-After": {retryAfter}}
	return failing(mintlifytest.Fault{Status: status, Header: header})
}

// waitBySchedule waits for job "j" by the SDK's own schedule.
func waitBySchedule(
	ctx context.Context, svc *mintlifytest.Service, opts ...mintlify.WaitOption,
) (*mintlify.Job, error) {
	return svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(ctx, "j", opts...)
}

// scheduled returns the interval that follows a poll by the SDK's own schedule, without jitter.
func scheduled(p mintlify.Poll) time.Duration {
	return min(max(p.Waited/20, 5*time.Second), time.Minute)
}

func assertScheduled(t *testing.T, p mintlify.Poll) {
	t.Helper()
	want := scheduled(p).Seconds()
	assert.InDelta(t, want, p.Next.Seconds(), 0.1*want+1e-9, "the schedule goes on")
}

var (
	completed = mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/1"}
	failed    = mintlifytest.JobStep{Status: mintlify.JobFailed}
	archived  = mintlifytest.JobStep{Status: mintlify.JobArchived}
)

// ending is a transport that calls do at the end of the body.
func ending(do func(), body string) kit.Transport {
	return func(*http.Request) (*http.Response, error) {
		rest := strings.NewReader(body)
		resp := kit.Response(200, "")
		resp.Body = kit.Reading(func(p []byte) (int, error) {
			n, err := rest.Read(p)
			if err != nil {
				do()
			}
			return n, err
		})
		return resp, nil
	}
}

func TestWaitUntilDoneEndsOnEachTerminalStatus(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	for _, last := range []mintlifytest.JobStep{completed, archived, {Status: mintlify.JobCompleted}} {
		svc.AddJob("j", activeFor(3, last)...)
		job, err := client.Jobs.WaitUntilDone(t.Context(), "j")
		require.NoError(t, err)
		assert.Equal(t, last.Status, job.Status)
		assert.Equal(t, last.PRLink, job.PRLink, "empty where there is no pull request")
	}

	svc.AddJob("j", activeFor(3, failed)...)
	job, err := client.Jobs.WaitUntilDone(t.Context(), "j")
	require.ErrorIs(t, err, mintlify.ErrJobFailed)

	jobFailed := kit.RequireAs[*mintlify.JobFailedError](t, err)
	assert.Equal(t, job, jobFailed.Job)
	assert.Equal(t, mintlify.JobFailed, job.Status)
	assert.ErrorContains(t, err, "job j failed")
}

func TestWaitUntilDoneOutlivesAnUnknownStatus(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{Status: "queued"}, mintlifytest.JobStep{Status: "paused"}, completed)
	job, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j")
	require.NoError(t, err)
	assert.Equal(t, mintlify.JobCompleted, job.Status)
	assert.Len(t, svc.Requests(), 3)
}

func TestWaitUntilDonePollsBySchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", activeFor(500)...)
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
		defer cancel()

		start := time.Now()
		var polls []mintlify.Poll
		_, err := waitBySchedule(ctx, svc, mintlify.WithOnPoll(func(p mintlify.Poll) {
			assert.Equal(t, time.Since(start), p.Waited)
			polls = append(polls, p)
		}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 45*time.Minute, time.Since(start))

		require.NotEmpty(t, polls)
		assert.Zero(t, polls[0].Waited, "the first at once")
		for i, poll := range polls {
			assert.Equal(t, i+1, poll.Number)
			assertScheduled(t, poll)
			if i+1 < len(polls) {
				assert.Equal(t, poll.Waited+poll.Next, polls[i+1].Waited, "it comes when it was said to come")
			}
		}
		assert.InDelta(t, 96, len(polls), 8)

		var ratios []float64
		for _, poll := range polls {
			ratios = append(ratios, poll.Next.Seconds()/scheduled(poll).Seconds())
		}
		assert.Less(t, slices.Min(ratios), 0.95, "jitter both ways")
		assert.Greater(t, slices.Max(ratios), 1.05)
	})
}

func TestWithPollIntervalOfTheLongestDoesNotOverflow(t *testing.T) {
	const longest = 1<<63 - 1
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		onPoll := mintlify.WithOnPoll(func(p mintlify.Poll) {
			assert.Positive(t, p.Next)
			cancel()
		})

		client := kit.NewClient(t, kit.RespondWith(200, kit.JobJSON))
		_, err := client.Jobs.WaitUntilDone(ctx, "j", mintlify.WithPollInterval(longest, longest), onPoll)
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestWaitUntilDoneOutlivesFailedPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j",
			mintlifytest.JobStep{},
			failing(mintlifytest.Fault{Drop: true}),
			failing(mintlifytest.Fault{Status: 522}),
			failing(mintlifytest.Fault{Body: `{"id":"j"}`}),
			failing(mintlifytest.Fault{Delay: time.Hour}), // too long for an attempt
			completed)

		var polls []mintlify.Poll
		job, err := waitBySchedule(t.Context(), svc, kit.KeepPolls(&polls))
		require.NoError(t, err)
		assert.Equal(t, mintlify.JobCompleted, job.Status)

		require.Len(t, polls, 6, "one attempt a poll")
		for _, poll := range polls[1:5] {
			assert.Error(t, poll.Err)
			assert.Equal(t, mintlify.JobActive, poll.Job.Status, "as last seen")
			assertScheduled(t, poll)
		}
	})
}

func TestWaitUntilDoneEndsOnAStatusThatWillNotChange(t *testing.T) {
	for _, status := range []int{300, 304, 405, 410, 498, 501, 505, 511} {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.JobStep{}, failing(mintlifytest.Fault{Status: status}), completed)

		var polls []mintlify.Poll
		job, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j", kit.KeepPolls(&polls))
		assert.Equal(t, status, kit.RequireAs[*mintlify.APIError](t, err).StatusCode)
		require.NotNil(t, job, "as last seen")
		assert.Equal(t, mintlify.JobActive, job.Status)

		require.Len(t, polls, 2)
		assert.Equal(t, 2, polls[1].Number)
		assert.Equal(t, err, polls[1].Err)
		assert.Zero(t, polls[1].Next)
	}
}

func TestWaitUntilDoneOutlivesErrorsOfWithRateLimiterAndWithKeySource(t *testing.T) {
	// Each fails at the second poll.
	limiter := func(refusal error) mintlify.Option {
		asked := 0
		return mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
			asked++
			if asked == 2 {
				return refusal
			}
			return nil
		})
	}
	keySource := func(key string, err error) mintlify.Option {
		asked := 0
		return mintlify.WithKeySource(func(context.Context) (string, error) {
			asked++
			if asked == 2 {
				return key, err
			}
			return mintlifytest.APIKey, nil
		})
	}

	for name, option := range map[string]mintlify.Option{
		"limiter":                limiter(errors.New("no tokens")),
		"limiter's own deadline": limiter(context.DeadlineExceeded), // of a context of the limiter's
		"limiter's own cancel":   limiter(context.Canceled),
		"key source":             keySource("", errors.New("vault is sealed")),
		"bad key":                keySource("", nil),
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("j", mintlifytest.JobStep{}, completed)

			var polls []mintlify.Poll
			_, err := svc.Client(option).Jobs.WaitUntilDone(t.Context(), "j", kit.KeepPolls(&polls))
			require.NoError(t, err)
			require.Len(t, polls, 3)
			assert.NoError(t, polls[0].Err)
			assert.Error(t, polls[1].Err)
			assert.NoError(t, polls[2].Err)
		})
	}
}

func TestWaitUntilDoneEndsWithAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		maintenance := failing(mintlifytest.Fault{Status: 503, Body: "maintenance"})
		svc.AddJob("j", append(activeFor(20), maintenance)...)

		var polls []mintlify.Poll
		job, err := waitBySchedule(t.Context(), svc, kit.KeepPolls(&polls))
		waitErr := kit.RequireAs[*mintlify.WaitError](t, err)
		require.ErrorIs(t, err, mintlify.ErrServer, "the last poll's error")
		assert.Equal(t, mintlify.JobActive, job.Status)
		assert.Equal(t, *job, waitErr.Job)
		assert.ErrorIs(t, waitErr.LastErr, mintlify.ErrServer)

		firstFailed := slices.IndexFunc(polls, func(p mintlify.Poll) bool { return p.Err != nil })
		outage := waitErr.Waited - polls[firstFailed].Waited
		assert.GreaterOrEqual(t, outage, 10*time.Minute, "counted from the first failed poll")
		assert.Less(t, outage, 11*time.Minute+6*time.Second)
		assert.Equal(t, len(svc.Requests()), waitErr.Polls)
		assert.NotErrorIs(t, err, context.DeadlineExceeded)

		assert.Equal(t, 1, strings.Count(err.Error(), "mintlify: "))
		for _, words := range []string{"job j", "polls have failed for 10m", "last seen active", "maintenance"} {
			assert.ErrorContains(t, err, words)
		}
	})
}

func TestWaitUntilDoneCountsAnOutageFromTheLastPollThatSucceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		down := failing(mintlifytest.Fault{Drop: true})
		var steps []mintlifytest.JobStep
		for range 10 {
			steps = append(steps, down, down, down, mintlifytest.JobStep{})
		}
		svc.AddJob("j", append(steps, completed)...)

		start := time.Now()
		interval := mintlify.WithPollInterval(3*time.Minute, 3*time.Minute)
		_, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j", interval)
		require.NoError(t, err)
		assert.Greater(t, time.Since(start), 90*time.Minute)
	})
}

func TestWithMaxOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", failing(mintlifytest.Fault{Refuse: true}))
		client := svc.Client(mintlifytest.WithRealSchedule())

		start := time.Now()
		job, err := client.Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithMaxOutage(0))
		require.ErrorAs(t, err, new(*mintlify.WaitError))
		assert.Nil(t, job)
		assert.Zero(t, time.Since(start), "0: the first failed poll ends the wait")

		_, err = client.Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithMaxOutage(time.Minute))
		require.ErrorAs(t, err, new(*mintlify.WaitError))
		assert.InDelta(t, 60, time.Since(start).Seconds(), 6)
	})
}

func TestWaitUntilDoneMovesTheNextPollByTheRetryAfterOfA429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		down := failing(mintlifytest.Fault{Status: 503})
		svc.AddJob("j",
			rateLimited("1800"), rateLimited("3600"), rateLimited("3600"), down, rateLimited("1"), completed)

		var polls []mintlify.Poll
		_, err := waitBySchedule(t.Context(), svc, kit.KeepPolls(&polls))
		require.NoError(t, err)
		require.Len(t, polls, 6)
		assert.Equal(t, 30*time.Minute, polls[0].Next)
		assert.Equal(t, time.Hour, polls[1].Next)
		assert.Equal(t, time.Hour, polls[2].Next)
		assert.InDelta(t, 60, polls[4].Next.Seconds(), 6, "never sooner than the schedule")
	})
}

func TestWaitUntilDoneInterruptedByItsContext(t *testing.T) {
	deploy := errors.New("deploy window closed")

	t.Run("between polls", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			down := failing(mintlifytest.Fault{Status: 502})
			svc.AddJob("j", mintlifytest.JobStep{}, down, down, completed)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 12*time.Second, deploy)
			defer cancel()

			start := time.Now()
			job, err := waitBySchedule(ctx, svc)
			assert.Equal(t, 12*time.Second, time.Since(start))
			waitErr := kit.RequireAs[*mintlify.WaitError](t, err)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorIs(t, err, deploy)
			assert.ErrorIs(t, err, mintlify.ErrServer, "the last poll's error too")

			assert.Equal(t, "j", job.ID)
			assert.Equal(t, *job, waitErr.Job)
			assert.Equal(t, 3, waitErr.Polls)
			assert.Equal(t, 12*time.Second, waitErr.Waited)

			job, err = waitBySchedule(t.Context(), svc)
			require.NoError(t, err, "a wait can be resumed")
			assert.Equal(t, completed.PRLink, job.PRLink)
		})
	})

	t.Run("during a poll", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("j", mintlifytest.JobStep{}, failing(mintlifytest.Fault{Delay: time.Hour}))
			ctx, cancel := context.WithTimeoutCause(t.Context(), 12*time.Second, deploy)
			defer cancel()

			var polls []mintlify.Poll
			job, err := waitBySchedule(ctx, svc, kit.KeepPolls(&polls))
			waitErr := kit.RequireAs[*mintlify.WaitError](t, err)
			assert.ErrorIs(t, err, deploy)
			assert.NoError(t, waitErr.LastErr, "the poll did not fail by itself")
			assert.Equal(t, "j", job.ID)

			require.Len(t, polls, 2)
			assert.ErrorIs(t, polls[1].Err, context.DeadlineExceeded)
			assert.Zero(t, polls[1].Next)
		})
	})

	t.Run("with the response in hand", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			rt := ending(cancel, `{"id":"j","status":"completed"}`)
			job, err := kit.NewClient(t, rt).Jobs.WaitUntilDone(ctx, "j")
			require.NoError(t, err)
			assert.Equal(t, mintlify.JobCompleted, job.Status)
			assert.Error(t, ctx.Err())
		})
	})
}

func TestWithSettleTime(t *testing.T) {
	type steps = []mintlifytest.JobStep

	for name, tc := range map[string]struct {
		steps  steps
		settle time.Duration
		polls  int
	}{
		"a stale end is waited out":          {append(steps{completed, completed}, activeFor(2, completed)...), 30 * time.Second, 5},
		"seen at work, an end is an end":     {steps{{}, completed}, time.Hour, 2},
		"without it the first poll counts":   {steps{completed, {}, completed}, 0, 1},
		"after it an end is an end":          {steps{completed}, 12 * time.Second, 4},
		"a stale failure is waited out, too": {steps{failed, {}, completed}, 30 * time.Second, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				svc.AddJob("j", tc.steps...)

				settle := mintlify.WithSettleTime(tc.settle)
				interval := mintlify.WithPollInterval(5*time.Second, 5*time.Second)
				job, err := waitBySchedule(t.Context(), svc, settle, interval)
				require.NoError(t, err)
				assert.Equal(t, mintlify.JobCompleted, job.Status)
				assert.Len(t, svc.Requests(), tc.polls)
			})
		})
	}
}

func TestWaitUntilDoneWarnsOfFailedPolls(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", failing(mintlifytest.Fault{Status: 503}), mintlifytest.JobStep{}, completed)
	var lines strings.Builder
	_, err := svc.Client(mintlify.WithLogger(kit.TextLogger(&lines))).Jobs.WaitUntilDone(t.Context(), "j")
	require.NoError(t, err)
	assert.Regexp(t, `level=WARN.*poll failed.*503`, lines.String())
	assert.NotContains(t, lines.String(), "unknown status")

	lines.Reset()
	_, err = svc.Client(mintlify.WithLogger(kit.TextLogger(&lines))).Jobs.WaitUntilDone(t.Context(), "unknown")
	require.ErrorIs(t, err, mintlify.ErrNotFound)
	assert.NotContains(t, lines.String(), "poll failed", "there is no next poll to tell of")
}

func TestWaitErrorLastErrIsOfTheLastPollOfWaitUntilDone(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", failing(mintlifytest.Fault{Status: 503}), mintlifytest.JobStep{})
	ctx, cancel := context.WithCancel(t.Context())

	_, err := svc.Client().Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(p mintlify.Poll) {
		if p.Number == 2 {
			cancel()
		}
	}))
	assert.NoError(t, kit.RequireAs[*mintlify.WaitError](t, err).LastErr)
	assert.NotErrorIs(t, err, mintlify.ErrServer)
}

// The delays that the service asks for are no outage, but those of other responses than a 429 only
// for an hour in all, until a poll succeeds.
func TestWaitUntilDoneEndsThoughTheServiceAsksToWait(t *testing.T) {
	for name, tc := range map[string]struct {
		asks  []mintlifytest.JobStep // the last one for ever
		wants time.Duration
	}{
		"a 429 that does not ask":       {[]mintlifytest.JobStep{asking(429, "")}, 10 * time.Minute},
		"a maintenance page":            {[]mintlifytest.JobStep{asking(503, "1800")}, 70 * time.Minute},
		"the last delay is cut":         {[]mintlifytest.JobStep{asking(503, "2500")}, 70 * time.Minute},
		"a second, for ever":            {[]mintlifytest.JobStep{asking(503, "1")}, 70 * time.Minute},
		"more than an hour is ignored":  {[]mintlifytest.JobStep{asking(503, "7200")}, 10 * time.Minute},
		"a second more than an hour":    {[]mintlifytest.JobStep{asking(408, "3601")}, 10 * time.Minute},
		"a 429 uses nothing up":         {[]mintlifytest.JobStep{asking(503, "1800"), asking(429, "3600"), asking(503, "1800")}, 130 * time.Minute},
		"a 429 begins no new hour":      {[]mintlifytest.JobStep{asking(503, "3600"), asking(429, "60"), asking(503, "3600")}, 71 * time.Minute},
		"after a success, another hour": {[]mintlifytest.JobStep{asking(503, "3600"), {}, asking(503, "3600")}, 131 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			last := tc.asks[len(tc.asks)-1]
			svc.AddJob("j", append(tc.asks, slices.Repeat([]mintlifytest.JobStep{last}, 1000)...)...)

			_, err := waitBySchedule(t.Context(), svc)
			waited := kit.RequireAs[*mintlify.WaitError](t, err).Waited
			assert.InDelta(t, tc.wants.Minutes(), waited.Minutes(), 1.5, name)
			assert.Regexp(t, `polls have failed for \d+m\d+s,`, err.Error(), name)
		})
	}
}

func TestWaitUntilDoneOutlivesAMaintenanceThatSaysHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", asking(503, "1500"), asking(522, "300.997"), completed)

		var polls []mintlify.Poll
		_, err := waitBySchedule(t.Context(), svc, mintlify.WithMaxOutage(0), kit.KeepPolls(&polls))
		require.NoError(t, err)
		require.Len(t, polls, 3)
		assert.Equal(t, 25*time.Minute, polls[0].Next)
		assert.Equal(t, 301*time.Second, polls[1].Next)
	})
}

func TestWithWaitDefaultsAddsUpAndAWaitsOptionsAreItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		var polls []mintlify.Poll
		client := svc.Client(
			mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second)),
			mintlify.WithWaitDefaults(kit.KeepPolls(&polls)))

		own := []mintlify.WaitOption{
			mintlify.WithPollInterval(time.Hour, time.Hour),
			mintlify.WithOnPoll(func(p mintlify.Poll) {
				if p.Number == 1 {
					assert.InDelta(t, 1, p.Next.Hours(), 0.1, "the wait's own option wins")
				} else {
					assert.Zero(t, p.Next, "there is none")
				}
			}),
		}
		for _, opts := range [][]mintlify.WaitOption{nil, own, nil} {
			svc.AddJob("j", mintlifytest.JobStep{}, completed)
			_, err := client.Jobs.WaitUntilDone(t.Context(), "j", opts...)
			require.NoError(t, err)
		}

		require.Len(t, polls, 6)
		for i, want := range []float64{1, 0, 3600, 0, 1, 0} {
			assert.InDelta(t, want, polls[i].Next.Seconds(), 0.1*want)
		}
	})
}

func TestEachWithOnPollIsCalled(t *testing.T) {
	var called []string
	calling := func(name string) mintlify.WaitOption {
		return mintlify.WithOnPoll(func(mintlify.Poll) { called = append(called, name) })
	}
	svc := mintlifytest.NewService()
	client := svc.Client(
		mintlify.WithWaitDefaults(calling("client"), calling("client's second")),
		mintlify.WithWaitDefaults(calling("client's third")))

	for _, wait := range []string{"a", "b"} {
		svc.AddJob("j", completed)
		called = nil
		_, err := client.Jobs.WaitUntilDone(t.Context(), "j", calling(wait), calling(wait+"'s second"))
		require.NoError(t, err)
		assert.Equal(t,
			[]string{"client", "client's second", "client's third", wait, wait + "'s second"}, called)
	}
}

func TestPollCallsNoHook(t *testing.T) {
	called := mintlify.WithOnPoll(func(mintlify.Poll) { t.Error("a single Poll returns what a hook would get") })
	svc := mintlifytest.NewService()
	svc.AddJob("j")
	client := svc.Client(mintlify.WithWaitDefaults(called))

	poll, err := client.Jobs.Poll(t.Context(), "j", 0, called)
	require.NoError(t, err)
	assert.Equal(t, "active", poll.Status)

	svc.AddDeployment("d")
	_, err = client.Deployments.Poll(t.Context(), "d", 0, called)
	assert.NoError(t, err)
}

// Waits that run at once must not find their hooks in the slice of the client's.
func TestWithOnPollIsOfItsWaitAlone(t *testing.T) {
	svc := mintlifytest.NewService()
	silent := mintlify.WithOnPoll(func(mintlify.Poll) {})
	client := svc.Client(mintlify.WithWaitDefaults(silent, silent, silent)) // room for a fourth

	synctest.Test(t, func(t *testing.T) {
		var group sync.WaitGroup
		defer group.Wait()
		for _, id := range []string{"a", "b", "c", "d"} {
			svc.AddJob(id, activeFor(10, completed)...)
			group.Go(func() {
				_, err := client.Jobs.WaitUntilDone(t.Context(), id,
					mintlify.WithPollInterval(time.Second, time.Second),
					mintlify.WithOnPoll(func(p mintlify.Poll) { assert.Equal(t, id, p.Job.ID) }))
				assert.NoError(t, err)
			})
		}
	})
}

// span is a range of times, both ends included. The zero value is the time 0.
type span struct{ from, to time.Duration }

func TestPoll(t *testing.T) {
	schedule := mintlify.WithWaitDefaults(mintlify.WithPollInterval(5*time.Second, time.Minute))
	settle := mintlify.WithSettleTime(time.Minute)
	fiveSeconds := span{4500 * time.Millisecond, 5500 * time.Millisecond}

	for name, tc := range map[string]struct {
		step   mintlifytest.JobStep
		waited time.Duration
		opt    mintlify.WaitOption
		next   span // zero: the wait is over
		err    error
	}{
		"active at first":     {next: fiveSeconds},
		"active after 10 min": {waited: 10 * time.Minute, next: span{27 * time.Second, 33 * time.Second}},
		"active after 10 h":   {waited: 10 * time.Hour, next: span{54 * time.Second, 66 * time.Second}},
		"no interval":         {opt: mintlify.WithPollInterval(0, 0), next: span{1, time.Millisecond}},
		"completed":           {step: mintlifytest.JobStep{Status: mintlify.JobCompleted}},
		"completed, unsettled": {
			step: mintlifytest.JobStep{Status: mintlify.JobCompleted},
			opt:  settle,
			next: fiveSeconds,
		},
		"completed, settled": {
			step:   mintlifytest.JobStep{Status: mintlify.JobCompleted},
			waited: time.Minute,
			opt:    settle,
		},
		"failed": {step: failed, err: mintlify.ErrJobFailed},
		"502":    {step: failing(mintlifytest.Fault{Status: 502}), next: fiveSeconds},
		"502, no outage": {
			step: failing(mintlifytest.Fault{Status: 502}),
			opt:  mintlify.WithMaxOutage(0),
			next: fiveSeconds,
		},
		"429":           {step: rateLimited("90"), next: span{90 * time.Second, 90 * time.Second}},
		"429 for a day": {step: rateLimited("86400"), err: mintlify.ErrRateLimited},
		"403":           {step: failing(mintlifytest.Fault{Status: 403}), err: mintlify.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("j", tc.step)
			var opts []mintlify.WaitOption
			if tc.opt != nil {
				opts = append(opts, tc.opt)
			}

			poll, err := svc.Client(schedule).Jobs.Poll(t.Context(), "j", tc.waited, opts...)
			assert.ErrorIs(t, err, tc.err)
			assert.GreaterOrEqual(t, poll.Next, tc.next.from)
			assert.LessOrEqual(t, poll.Next, tc.next.to)
			assert.Equal(t, tc.step.Fault != nil, poll.Err != nil)
			assert.Equal(t, tc.step.Fault == nil, poll.Status != "")
			assert.GreaterOrEqual(t, poll.Waited, tc.waited)
			assert.Len(t, svc.Requests(), 1)
		})
	}
}

func TestPollOfAnEndedContextIsOver(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	svc := mintlifytest.NewService()
	for want, ctx := range map[error]context.Context{
		context.Canceled:         canceled,
		context.DeadlineExceeded: kit.LateContext(t.Context(), time.Now().Add(-time.Second)), // by the wall clock
	} {
		poll, err := svc.Client().Jobs.Poll(ctx, "j", time.Minute)
		assert.ErrorIs(t, err, want)
		assert.ErrorAs(t, err, new(*mintlify.WaitError))
		assert.Zero(t, poll.Next)
	}

	_, err := svc.Client().Jobs.Poll(kit.NilContext, "j", 0)
	assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	_, err = svc.Client().Jobs.Poll(t.Context(), "", 0)
	assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	assert.Empty(t, svc.Requests())
}

func TestPollTakesANegativeTimeForNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kit.NewClient(t, kit.RespondWith(200, kit.JobJSON))
		poll, err := client.Jobs.Poll(t.Context(), "job_1", -time.Hour)
		require.NoError(t, err)
		assert.Zero(t, poll.Waited)
		assert.Positive(t, poll.Next)
	})
}

// The wait for a 429's Retry-After does not count as an outage, and does not end one: a wait of
// alternating failures and 429s ends once the failures alone have lasted long enough.
func TestWaitEndsWithAnOutageThoughTheServiceAsksToWaitNowAndThen(t *testing.T) {
	const asked = 30 * time.Minute
	for name, wait := range kit.Waits {
		synctest.Test(t, func(t *testing.T) {
			polls := 0
			client := kit.NewClient(t, kit.Transport(func(*http.Request) (*http.Response, error) {
				polls++
				if polls%2 == 0 {
					return kit.Response(429, "", "Retry-After", "1800"), nil
				}
				return kit.Response(503, ""), nil
			}))

			start := time.Now()
			err := wait(t.Context(), client)
			require.ErrorAs(t, err, new(*mintlify.WaitError), name)
			assert.ErrorIs(t, err, mintlify.ErrServer)

			limited := time.Duration(polls/2) * asked
			outage := time.Since(start) - limited
			assert.InDelta(t, 10*time.Minute, outage, float64(2*time.Minute), "%s: %d polls", name, polls)
		})
	}
}

// Only failures make an outage: 429s for days do not.
func TestWaitOutlivesAnyNumberOf429s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := operations.NewService()
		for _, op := range []mintlify.Operation{mintlify.OpGetJob, mintlify.OpGetDeployment} {
			svc.FailNext(op, 1, mintlifytest.Fault{Status: 503})
			svc.FailNext(op, 100, mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"3600"}}})
			svc.FailNext(op, 1, mintlifytest.Fault{Status: 503})
		}

		for name, wait := range kit.Waits {
			assert.NoError(t, wait(t.Context(), svc.Client(mintlifytest.WithRealSchedule())), name)
		}
	})
}

// Polls without a pause must not go on for 10 minutes.
func TestWaitWithoutIntervalsEndsAfterAThousandFailures(t *testing.T) {
	limited := failing(mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"1"}}})
	refused := failing(mintlifytest.Fault{Refuse: true})
	almost := slices.Repeat([]mintlifytest.JobStep{refused}, 999)
	for name, tc := range map[string]struct {
		steps []mintlifytest.JobStep
		polls int
	}{
		"no connection":                         {[]mintlifytest.JobStep{refused}, 1000},
		"a 429 with Retry-After does not count": {slices.Concat(almost, []mintlifytest.JobStep{limited, refused}), 1001},
		"a success begins anew":                 {slices.Concat(almost, []mintlifytest.JobStep{{}, refused}), 2000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				svc.AddJob("j", tc.steps...)
				_, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j")
				assert.Equal(t, tc.polls, kit.RequireAs[*mintlify.WaitError](t, err).Polls)
				assert.ErrorContains(t, err, "polls have failed: 1000 in a row")
			})
		})
	}
}

func TestWaitErrorSaysNothingOfNoTime(t *testing.T) {
	for name, wait := range kit.Waits {
		synctest.Test(t, func(t *testing.T) {
			client := kit.NewClient(t, kit.Transport(func(*http.Request) (*http.Response, error) {
				time.Sleep(50 * time.Millisecond)
				return kit.Response(503, ""), nil
			}))

			err := wait(t.Context(), client, mintlify.WithMaxOutage(0))
			require.ErrorAs(t, err, new(*mintlify.WaitError))
			assert.ErrorContains(t, err, ": polls have failed: 1 in a row, after 50ms and 1 polls", name)

			err = wait(t.Context(), client, mintlify.WithMaxOutage(time.Second),
				mintlify.WithPollInterval(time.Second, time.Second))
			assert.Regexp(t, `: polls have failed for [12]s, after [12]\.\d+s and`, err.Error(), name)
		})
	}
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

// Only what passes may delay a poll: a 404 right after Create does not.
func TestRetryAfterOfAnEarly404DelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.ScriptJob(asking(404, "3600"), completed)
		client := svc.Client(mintlifytest.WithRealSchedule())
		job, err := kit.Create(t.Context(), client)
		require.NoError(t, err)

		start := time.Now()
		_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
		require.NoError(t, err)
		assert.Less(t, time.Since(start), time.Minute)
	})
}

// A 401 that another key has followed says nothing about the poll that then failed.
func TestPollThatFailsAfterANewKeyIsAFailedPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", completed)
		requests := 0
		limiter := mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
			requests++
			if requests == 2 {
				return errors.New("the limiter is away")
			}
			return nil
		})
		client := svc.Client(mintlifytest.WithRealSchedule(), rotating("mint_before_1", mintlifytest.APIKey), limiter)
		_, err := client.Jobs.WaitUntilDone(t.Context(), "j")
		assert.NoError(t, err)
	})
}

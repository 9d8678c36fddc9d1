package mintlify_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// activeFor is n polls that say active, and then the last step.
func activeFor(n int, last ...mintlifytest.Step) []mintlifytest.Step {
	steps := make([]mintlifytest.Step, n)
	return append(steps, last...)
}

func failing(fault mintlifytest.Fault) mintlifytest.Step { return mintlifytest.Step{Fault: &fault} }

var (
	completed = mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/1"}
	failed    = mintlifytest.Step{Status: mintlify.JobFailed}
	archived  = mintlifytest.Step{Status: mintlify.JobArchived}
)

// ending is a transport that calls do at the end of the body.
func ending(do func(), body string) transport {
	return func(*http.Request) (*http.Response, error) {
		rest := strings.NewReader(body)
		response := response(200, "")
		response.Body = reading(func(p []byte) (n int, err error) {
			if n, err = rest.Read(p); err != nil {
				do()
			}
			return n, err
		})
		return response, nil
	}
}

func TestWaitUntilDoneEndsOnEachTerminalStatus(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	for _, last := range []mintlifytest.Step{completed, archived, {Status: mintlify.JobCompleted}} {
		svc.AddJob("j", activeFor(3, last)...)
		job, err := client.Jobs.WaitUntilDone(t.Context(), "j")
		require.NoError(t, err)
		assert.Equal(t, last.Status, job.Status)
		assert.Equal(t, last.PRLink, job.PRLink, "empty where there is no pull request")
	}

	svc.AddJob("j", activeFor(3, failed)...)
	job, err := client.Jobs.WaitUntilDone(t.Context(), "j")
	require.ErrorIs(t, err, mintlify.ErrJobFailed)
	var jobFailed *mintlify.JobFailedError
	require.ErrorAs(t, err, &jobFailed)
	assert.Equal(t, job, jobFailed.Job)
	assert.Equal(t, mintlify.JobFailed, job.Status)
	assert.ErrorContains(t, err, "job j failed")
}

func TestWaitUntilDoneOutlivesAnUnknownStatus(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.Step{Status: "queued"}, mintlifytest.Step{Status: "paused"}, completed)
	job, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j")
	require.NoError(t, err)
	assert.Equal(t, mintlify.JobCompleted, job.Status)
	assert.Len(t, svc.Requests(), 3)
}

func TestWaitUntilDonePollsBySchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", activeFor(500)...)
		start := time.Now()
		var polls []mintlify.Poll
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
		defer cancel()
		_, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(p mintlify.Poll) {
			assert.Equal(t, time.Since(start), p.Waited)
			polls = append(polls, p)
		}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 45*time.Minute, time.Since(start))

		require.NotEmpty(t, polls)
		assert.Zero(t, polls[0].Waited, "the first at once")
		var ratios []float64
		for i, poll := range polls {
			assert.Equal(t, i+1, poll.Number)
			interval := min(max(poll.Waited/20, 5*time.Second), time.Minute)
			assert.InDelta(t, interval.Seconds(), poll.Next.Seconds(), 0.1*interval.Seconds()+1e-9)
			ratios = append(ratios, poll.Next.Seconds()/interval.Seconds())
			if i+1 < len(polls) {
				assert.Equal(t, poll.Waited+poll.Next, polls[i+1].Waited, "it comes when it was said to come")
			}
		}
		assert.InDelta(t, 96, len(polls), 8)
		assert.Less(t, slices.Min(ratios), 0.95, "jitter both ways")
		assert.Greater(t, slices.Max(ratios), 1.05)
	})
}

func TestWithPollInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", activeFor(9, completed)...)
		client := svc.Client(mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Hour, time.Hour)))
		_, err := client.Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithPollInterval(2*time.Second, 2*time.Second),
			mintlify.WithOnPoll(func(p mintlify.Poll) {
				if p.Number < 10 {
					assert.InDelta(t, 2, p.Next.Seconds(), 0.2, "the wait's own option wins")
				} else {
					assert.Zero(t, p.Next, "there is none")
				}
			}))
		require.NoError(t, err)
	})
}

func TestWithPollIntervalOfTheLongestDoesNotOverflow(t *testing.T) {
	const longest = 1<<63 - 1
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		client := newClient(t, respondWith(200, jobJSON))
		_, err := client.Jobs.WaitUntilDone(ctx, "j", mintlify.WithPollInterval(longest, longest), mintlify.WithOnPoll(func(p mintlify.Poll) {
			assert.Positive(t, p.Next)
			cancel()
		}))
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestWaitUntilDoneOutlivesFailedPolls(t *testing.T) {
	for name, fault := range map[string]mintlifytest.Fault{
		"refused": {Refuse: true}, "lost": {Drop: true}, "truncated": {Truncate: true},
		"408": {Status: 408}, "425": {Status: 425}, "429": {Status: 429},
		"500": {Status: 500}, "501": {Status: 501}, "502 page": {Status: 502, Body: "<html>"}, "503": {Status: 503}, "504": {Status: 504},
		"empty": {Status: 200}, "malformed": {Body: "{}"}, "HTML": {Body: "<html>"}, "no status": {Body: `{"id":"j"}`},
		"too long for an attempt": {Delay: time.Hour}, "101": {Status: 101},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				svc.AddJob("j", mintlifytest.Step{}, failing(fault), failing(fault), failing(fault), completed)
				var polls []mintlify.Poll
				job, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithOnPoll(func(p mintlify.Poll) { polls = append(polls, p) }))
				require.NoError(t, err)
				assert.Equal(t, mintlify.JobCompleted, job.Status)
				require.Len(t, polls, 5, "one attempt a poll")
				for _, poll := range polls[1:4] {
					assert.Error(t, poll.Err)
					assert.Equal(t, mintlify.JobActive, poll.Job.Status, "as last seen")
					interval := min(max(poll.Waited/20, 5*time.Second), time.Minute)
					assert.InDelta(t, interval.Seconds(), poll.Next.Seconds(), 0.1*interval.Seconds()+1e-9, "the schedule goes on")
				}
			})
		})
	}
}

func TestWaitUntilDoneEndsOnAStatusThatWillNotChange(t *testing.T) {
	for _, status := range []int{300, 301, 302, 304, 307, 400, 401, 403, 404, 405, 409, 410, 422, 451, 499} {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{}, failing(mintlifytest.Fault{Status: status}), completed)
		var last mintlify.Poll
		job, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithOnPoll(func(p mintlify.Poll) { last = p }))
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr, status)
		assert.Equal(t, status, apiErr.StatusCode)
		assert.Equal(t, 2, last.Number)
		assert.Equal(t, err, last.Err)
		assert.Zero(t, last.Next)
		require.NotNil(t, job, "as last seen")
		assert.Equal(t, mintlify.JobActive, job.Status)
	}
}

func TestWaitUntilDoneOutlivesErrorsOfWithRateLimiterAndWithKeySource(t *testing.T) {
	// Each fails at the second poll.
	limiter := func(refusal error) mintlify.Option {
		asked := 0
		return mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error {
			if asked++; asked == 2 {
				return refusal
			}
			return nil
		})
	}
	keySource := func(key string, err error) mintlify.Option {
		asked := 0
		return mintlify.WithKeySource(func(context.Context) (string, error) {
			if asked++; asked == 2 {
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
			svc.AddJob("j", mintlifytest.Step{}, completed)
			polls, errs := 0, 0
			_, err := svc.Client(option).Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithOnPoll(func(p mintlify.Poll) {
				if polls++; p.Err != nil {
					errs++
				}
			}))
			require.NoError(t, err)
			assert.Equal(t, 3, polls)
			assert.Equal(t, 1, errs)
		})
	}
}

func TestWaitUntilDoneEndsWithAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", append(activeFor(20), failing(mintlifytest.Fault{Status: 503, Body: "maintenance"}))...)
		var failingSince time.Duration
		job, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithOnPoll(func(p mintlify.Poll) {
			if p.Err != nil && failingSince == 0 {
				failingSince = p.Waited
			}
		}))
		var waitErr *mintlify.WaitError
		require.ErrorAs(t, err, &waitErr)
		require.ErrorIs(t, err, mintlify.ErrServer, "the last poll's error")
		assert.Equal(t, mintlify.JobActive, job.Status)
		assert.Equal(t, job, waitErr.Job)
		assert.ErrorIs(t, waitErr.LastErr, mintlify.ErrServer)
		outage := waitErr.Waited - failingSince
		assert.GreaterOrEqual(t, outage, 10*time.Minute, "counted from the first failed poll")
		assert.Less(t, outage, 11*time.Minute+6*time.Second)
		assert.Equal(t, len(svc.Requests()), waitErr.Polls)
		assert.NotErrorIs(t, err, context.DeadlineExceeded)
		for _, words := range []string{"job j", "polls have failed for 10m", "last seen active", "maintenance"} {
			assert.ErrorContains(t, err, words)
		}
	})
}

func TestWaitUntilDoneCountsAnOutageFromTheLastPollThatSucceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		down := failing(mintlifytest.Fault{Drop: true})
		var steps []mintlifytest.Step
		for range 10 {
			steps = append(steps, down, down, down, mintlifytest.Step{})
		}
		svc.AddJob("j", append(steps, completed)...)
		start := time.Now()
		_, err := svc.Client(mintlify.WithWaitDefaults(mintlify.WithPollInterval(3*time.Minute, 3*time.Minute))).Jobs.WaitUntilDone(t.Context(), "j")
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
		limited := func(after string) mintlifytest.Step {
			return failing(mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {after}}})
		}
		svc.AddJob("j", limited("1800"), limited("3600"), limited("3600"), failing(mintlifytest.Fault{Status: 503}), limited("1"), completed)
		var nexts []time.Duration
		_, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithOnPoll(func(p mintlify.Poll) { nexts = append(nexts, p.Next) }))
		require.NoError(t, err)
		require.Len(t, nexts, 6)
		assert.Equal(t, []time.Duration{30 * time.Minute, time.Hour, time.Hour}, nexts[:3])
		assert.InDelta(t, 60, nexts[4].Seconds(), 6, "never sooner than the schedule")
	})
}

func TestWaitUntilDoneEndsOnARetryAfterBeyondAnHour(t *testing.T) {
	for _, after := range []string{"3601", "10000000000000000000"} {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{}, failing(mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {after}}}))
		job, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j")
		require.ErrorIs(t, err, mintlify.ErrRateLimited)
		assert.Equal(t, "j", job.ID)
		assert.Len(t, svc.Requests(), 2)
	}
}

func TestWaitUntilDoneCountsA429WithoutRetryAfterAsOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", failing(mintlifytest.Fault{Status: 429}))
		_, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(t.Context(), "j")
		require.ErrorAs(t, err, new(*mintlify.WaitError))
		require.ErrorIs(t, err, mintlify.ErrRateLimited)
	})
}

func TestWaitUntilDoneInterruptedByItsContext(t *testing.T) {
	deploy := errors.New("deploy window closed")
	t.Run("between polls", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("j", mintlifytest.Step{}, failing(mintlifytest.Fault{Status: 502}))
			ctx, cancel := context.WithTimeoutCause(t.Context(), 12*time.Second, deploy)
			defer cancel()
			start := time.Now()
			job, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(ctx, "j")
			assert.Equal(t, 12*time.Second, time.Since(start))
			var waitErr *mintlify.WaitError
			require.ErrorAs(t, err, &waitErr)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorIs(t, err, deploy)
			assert.ErrorIs(t, err, mintlify.ErrServer, "the last poll's error too")
			assert.Equal(t, "j", job.ID)
			assert.Equal(t, job, waitErr.Job)
			assert.Equal(t, 3, waitErr.Polls)
			assert.Equal(t, 12*time.Second, waitErr.Waited)
		})
	})
	t.Run("during a poll", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("j", mintlifytest.Step{}, failing(mintlifytest.Fault{Delay: time.Hour}))
			ctx, cancel := context.WithTimeoutCause(t.Context(), 12*time.Second, deploy)
			defer cancel()
			polls := 0
			job, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(p mintlify.Poll) {
				if polls++; polls == 2 {
					assert.ErrorIs(t, p.Err, context.DeadlineExceeded)
					assert.Zero(t, p.Next)
				}
			}))
			var waitErr *mintlify.WaitError
			require.ErrorAs(t, err, &waitErr)
			assert.ErrorIs(t, err, deploy)
			assert.NoError(t, waitErr.LastErr, "the poll did not fail by itself")
			assert.Equal(t, 2, polls)
			assert.Equal(t, "j", job.ID)
		})
	})
	t.Run("before the first", func(t *testing.T) {
		svc := mintlifytest.NewService()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(deploy)
		job, err := svc.Client().Jobs.WaitUntilDone(ctx, "j")
		require.ErrorAs(t, err, new(*mintlify.WaitError))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, deploy)
		assert.Nil(t, job)
		assert.Empty(t, svc.Requests())
	})
	t.Run("by OnPoll", func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := svc.Client().Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(mintlify.Poll) { cancel() }))
		assert.ErrorIs(t, err, context.Canceled)
		assert.Len(t, svc.Requests(), 1)
	})
	t.Run("with the response under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			givenUp := func() { cancel(); synctest.Wait() }
			job, err := newClient(t, doing(givenUp, respondWith(200, `{"id":"j","status":"completed"}`))).Jobs.WaitUntilDone(ctx, "j")
			require.ErrorAs(t, err, new(*mintlify.WaitError))
			assert.ErrorIs(t, err, context.Canceled)
			assert.Nil(t, job)
		})
	})
	t.Run("with the response in hand", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			job, err := newClient(t, ending(cancel, `{"id":"j","status":"completed"}`)).Jobs.WaitUntilDone(ctx, "j")
			require.NoError(t, err)
			assert.Equal(t, mintlify.JobCompleted, job.Status)
			assert.Error(t, ctx.Err())
		})
	})
}

func TestWaitUntilDoneCanBeResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", activeFor(5, completed)...)
		client := svc.Client(mintlifytest.WithRealSchedule())
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		job, err := client.Jobs.WaitUntilDone(ctx, "j")
		require.ErrorAs(t, err, new(*mintlify.WaitError))
		job, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
		require.NoError(t, err)
		assert.Equal(t, completed.PRLink, job.PRLink)
	})
}

func TestWithSettleTime(t *testing.T) {
	for name, tc := range map[string]struct {
		steps  []mintlifytest.Step
		settle time.Duration
		polls  int
	}{
		"a stale end is waited out":          {[]mintlifytest.Step{completed, completed, {}, {}, completed}, 30 * time.Second, 5},
		"seen at work, an end is an end":     {[]mintlifytest.Step{{}, completed}, time.Hour, 2},
		"without it the first poll counts":   {[]mintlifytest.Step{completed, {}, completed}, 0, 1},
		"after it an end is an end":          {[]mintlifytest.Step{completed}, 12 * time.Second, 4},
		"a stale failure is waited out, too": {[]mintlifytest.Step{failed, {}, completed}, 30 * time.Second, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := mintlifytest.NewService()
				svc.AddJob("j", tc.steps...)
				job, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithSettleTime(tc.settle), mintlify.WithPollInterval(5*time.Second, 5*time.Second))
				require.NoError(t, err)
				assert.Equal(t, mintlify.JobCompleted, job.Status)
				assert.Len(t, svc.Requests(), tc.polls)
			})
		})
	}
}

func TestWaitUntilDoneWarnsOfFailedPolls(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", failing(mintlifytest.Fault{Status: 503}), completed)
	var lines strings.Builder
	_, err := svc.Client(mintlify.WithLogger(textLogger(&lines))).Jobs.WaitUntilDone(t.Context(), "j")
	require.NoError(t, err)
	assert.Regexp(t, `level=WARN.*poll failed.*503`, lines.String())

	lines.Reset()
	_, err = svc.Client(mintlify.WithLogger(textLogger(&lines))).Jobs.WaitUntilDone(t.Context(), "unknown")
	require.ErrorIs(t, err, mintlify.ErrNotFound)
	assert.NotContains(t, lines.String(), "poll failed", "there is no next poll to tell of")
}

func TestWaitUntilDoneWithoutAnyOptionPollsBySchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{})
		client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithHTTPClient(&http.Client{Transport: svc}))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
		defer cancel()
		_, err = client.Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(p mintlify.Poll) {
			interval := min(max(p.Waited/20, 5*time.Second), time.Minute)
			assert.InDelta(t, interval.Seconds(), p.Next.Seconds(), 0.1*interval.Seconds()+1e-9)
		}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestWithOnPollIsToldOfNoNextPollOnceTheContextHasEnded(t *testing.T) {
	for name, rt := range map[string]func(cancel func()) transport{
		"before the response": func(cancel func()) transport {
			return doing(func() { cancel(); synctest.Wait() }, respondWith(200, jobJSON))
		},
		"after it": func(cancel func()) transport { return ending(cancel, jobJSON) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				polls := 0
				_, err := newClient(t, rt(cancel)).Jobs.WaitUntilDone(ctx, "job_1", mintlify.WithOnPoll(func(p mintlify.Poll) {
					polls++
					assert.Zero(t, p.Next)
				}))
				require.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, 1, polls)
			})
		})
	}
}

func TestWaitErrorLastErrIsOfTheLastPollOfWaitUntilDone(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", failing(mintlifytest.Fault{Status: 503}), mintlifytest.Step{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := svc.Client().Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(p mintlify.Poll) {
		if p.Number == 2 {
			cancel()
		}
	}))
	var waitErr *mintlify.WaitError
	require.ErrorAs(t, err, &waitErr)
	assert.NoError(t, waitErr.LastErr)
	assert.NotErrorIs(t, err, mintlify.ErrServer)
}

func TestWaitUntilDoneTakesAFinalResponseThoughItsContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := newClient(t, doing(cancel, respondWith(404, ""))).Jobs.WaitUntilDone(ctx, "j")
	assert.ErrorIs(t, err, mintlify.ErrNotFound)
}

func TestWaitUntilDoneIsNotMovedByTheRetryAfterOfAServerError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", failing(mintlifytest.Fault{Status: 503, Header: http.Header{"Retry-After": {"1800"}}}))
		_, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(t.Context(), "j")
		var waitErr *mintlify.WaitError
		require.ErrorAs(t, err, &waitErr)
		assert.InDelta(t, 10, waitErr.Waited.Minutes(), 1, "it is an outage like any other")
		assert.Regexp(t, `polls have failed for \d+m\d+s,`, err.Error())
	})
}

func TestWaitUntilDoneCountsAnOutageAnewAfterTheRetryAfterOfA429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		down := failing(mintlifytest.Fault{Status: 503})
		svc.AddJob("j", down, failing(mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"1800"}}}), down, completed)
		_, err := svc.Client(mintlifytest.WithRealSchedule()).Jobs.WaitUntilDone(t.Context(), "j")
		require.NoError(t, err)
	})
}

func TestWithWaitDefaultsAddsUpAndAWaitsOptionsAreItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		polls := 0
		client := svc.Client(mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second)),
			mintlify.WithWaitDefaults(mintlify.WithOnPoll(func(p mintlify.Poll) {
				if polls++; p.Next > 0 {
					assert.InDelta(t, 1, p.Next.Seconds(), 0.1)
				}
			})))
		for _, opts := range [][]mintlify.WaitOption{{}, {mintlify.WithPollInterval(time.Hour, time.Hour), mintlify.WithOnPoll(func(mintlify.Poll) {})}, {}} {
			svc.AddJob("j", mintlifytest.Step{}, completed)
			_, err := client.Jobs.WaitUntilDone(t.Context(), "j", opts...)
			require.NoError(t, err)
		}
		assert.Equal(t, 4, polls)
	})
}

func TestPoll(t *testing.T) {
	schedule := mintlify.WithWaitDefaults(mintlify.WithPollInterval(5*time.Second, time.Minute))
	for name, tc := range map[string]struct {
		step   mintlifytest.Step
		waited time.Duration
		opts   []mintlify.WaitOption
		next   [2]time.Duration // from, to; zero: the wait is over
		err    error
	}{
		"active at first":     {step: mintlifytest.Step{}, next: [2]time.Duration{4500 * time.Millisecond, 5500 * time.Millisecond}},
		"active after 10 min": {step: mintlifytest.Step{}, waited: 10 * time.Minute, next: [2]time.Duration{27 * time.Second, 33 * time.Second}},
		"active after 10 h":   {step: mintlifytest.Step{}, waited: 10 * time.Hour, next: [2]time.Duration{54 * time.Second, 66 * time.Second}},
		"no interval":         {step: mintlifytest.Step{}, opts: []mintlify.WaitOption{mintlify.WithPollInterval(0, 0)}, next: [2]time.Duration{1, time.Millisecond}},
		"completed":           {step: mintlifytest.Step{Status: mintlify.JobCompleted}},
		"completed, unsettled": {step: mintlifytest.Step{Status: mintlify.JobCompleted}, opts: []mintlify.WaitOption{mintlify.WithSettleTime(time.Minute)},
			next: [2]time.Duration{4500 * time.Millisecond, 5500 * time.Millisecond}},
		"completed, settled": {step: mintlifytest.Step{Status: mintlify.JobCompleted}, waited: time.Minute, opts: []mintlify.WaitOption{mintlify.WithSettleTime(time.Minute)}},
		"failed":             {step: mintlifytest.Step{Status: mintlify.JobFailed}, err: mintlify.ErrJobFailed},
		"502":                {step: failing(mintlifytest.Fault{Status: 502}), next: [2]time.Duration{4500 * time.Millisecond, 5500 * time.Millisecond}},
		"502, no outage":     {step: failing(mintlifytest.Fault{Status: 502}), opts: []mintlify.WaitOption{mintlify.WithMaxOutage(0)}, next: [2]time.Duration{4500 * time.Millisecond, 5500 * time.Millisecond}},
		"429": {step: failing(mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"90"}}}),
			next: [2]time.Duration{90 * time.Second, 90 * time.Second}},
		"429 for a day": {step: failing(mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"86400"}}}), err: mintlify.ErrRateLimited},
		"403":           {step: failing(mintlifytest.Fault{Status: 403}), err: mintlify.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.AddJob("j", tc.step)
			poll, err := svc.Client(schedule).Jobs.Poll(t.Context(), "j", tc.waited, tc.opts...)
			assert.ErrorIs(t, err, tc.err)
			assert.GreaterOrEqual(t, poll.Next, tc.next[0])
			assert.LessOrEqual(t, poll.Next, tc.next[1])
			assert.Equal(t, tc.step.Fault != nil, poll.Err != nil)
			assert.Equal(t, tc.step.Fault == nil, poll.Job != nil)
			assert.GreaterOrEqual(t, poll.Waited, tc.waited)
			assert.Len(t, svc.Requests(), 1)
		})
	}
}

func TestPollOfAnEndedContextIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	poll, err := mintlifytest.NewService().Client().Jobs.Poll(ctx, "j", time.Minute)
	assert.ErrorIs(t, err, context.Canceled)
	var waitErr *mintlify.WaitError
	assert.ErrorAs(t, err, &waitErr)
	assert.Zero(t, poll.Next)

	_, err = mintlifytest.NewService().Client().Jobs.Poll(nilContext, "j", 0)
	assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	_, err = mintlifytest.NewService().Client().Jobs.Poll(t.Context(), "", 0)
	assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
}

func TestPollSaysTheStatusAsLastSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := newRecording(respondWith(503, ""), respondWith(200, jobJSON), respondWith(503, ""), respondWith(200, `{"id":"job_1","status":"completed"}`))
		var statuses []string
		_, err := newClient(t, rt).Jobs.WaitUntilDone(t.Context(), "job_1", mintlify.WithOnPoll(func(p mintlify.Poll) { statuses = append(statuses, p.Status) }))
		require.NoError(t, err)
		assert.Equal(t, []string{"", "active", "active", "completed"}, statuses)
		poll, err := newClient(t, respondWith(200, `{"status":"queued"}`)).Deployments.Poll(t.Context(), "d", 0)
		require.NoError(t, err)
		assert.Equal(t, "queued", poll.Status)
	})
}

func TestPollTakesANegativeTimeForNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poll, err := newClient(t, respondWith(200, jobJSON)).Jobs.Poll(t.Context(), "job_1", -time.Hour)
		require.NoError(t, err)
		assert.Zero(t, poll.Waited)
		assert.Positive(t, poll.Next)
	})
}

func TestUnknownStatusIsLoggedOnceInAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		paused := respondWith(200, `{"id":"job_1","status":"paused"}`)
		rt := newRecording(paused, paused, paused, respondWith(200, `{"id":"job_1","status":"completed"}`))
		var lines strings.Builder
		logger := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelWarn}))
		_, err := newClient(t, rt, mintlify.WithLogger(logger)).Jobs.WaitUntilDone(t.Context(), "job_1")
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(lines.String(), "\n"), lines.String())
		assert.Contains(t, lines.String(), "status=paused")
	})
}

// The wait for a 429's Retry-After does not count as an outage, and does not end one: a wait of
// alternating failures and 429s ends once the failures alone have lasted long enough.
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
		svc := operations.NewService()
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

package once_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// addMany adds n tasks.
func addMany(w *world, n int) {
	w.t.Helper()
	for i := range n {
		w.add(once.Task{Key: fmt.Sprint("acme/api@", i), Prompt: "x"})
	}
}

func TestOutageOfEverythingCostsNoUnknown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		addMany(w, 200)
		up := time.Now().Add(10 * time.Minute)
		requests := 0
		r := w.runnerIn(func(*http.Request) int {
			if time.Now().After(up) {
				return 0
			}
			requests++
			return http.StatusServiceUnavailable
		})
		require.NoError(t, r.Resume(t.Context()))
		assert.Equal(t, map[once.State]int{once.Done: 200}, w.states())
		assert.Len(t, w.svc.Jobs(), 200)
		assert.InDelta(t, 20, requests, 2, "one each 30 s")
	})
}

// However long an outage was, the first prompt goes out within a minute after its end, although each send
// before it has made the hold longer. If POSTs alone failed, it may take half an hour.
func TestFirstPromptAfterAnOutage(t *testing.T) {
	for name, test := range map[string]struct {
		status   int
		getsWork bool
		most     time.Duration
	}{
		"everything fails": {503, false, time.Minute},
		"nothing responds": {-1, false, time.Minute},
		"POSTs alone fail": {503, true, 30*time.Minute + 2*time.Second},
	} {
		for _, minutes := range []time.Duration{5, 29, 61, 130} {
			inBubble(t, fmt.Sprintf("%s for %d minutes", name, minutes), func(t *testing.T) {
				w := newWorld(t, oncetest.NewStore())
				addMany(w, 20)
				began := time.Now()
				up := began.Add(minutes * time.Minute)
				var first time.Time
				r := w.runnerIn(func(r *http.Request) int {
					isPost := r.Method == http.MethodPost
					switch {
					case time.Since(began) < time.Second: // it is asked, and works
					case time.Now().Before(up) && (isPost || !test.getsWork):
						return test.status
					case isPost && first.IsZero():
						first = time.Now()
					}
					if isPost {
						time.Sleep(2 * time.Second)
					}
					return 0
				})
				require.NoError(t, r.Resume(t.Context()))
				assert.LessOrEqual(t, first.Sub(up), test.most)
				assert.Positive(t, w.states()[once.Unknown], "sent into the outage")
				assert.Equal(t, 20, w.states()[once.Unknown]+w.states()[once.Done])
			})
		}
	}
}

// A poll that succeeds ends the hold after asking in vain. It ends no hold that the service has asked for, nor
// one that a person must end, nor one after a send.
func TestPollEndsTheHoldAfterAskingInVain(t *testing.T) {
	for name, test := range map[string]struct {
		op    mintlify.Operation
		fault mintlifytest.Fault
		left  time.Duration
	}{
		"asked in vain":      {mintlify.OpGetJob, mintlifytest.Fault{Status: 503}, 0},
		"asked, Retry-After": {mintlify.OpGetJob, mintlifytest.Fault{Status: 503, Header: http.Header{"Retry-After": {"90"}}}, 90 * time.Second},
		"asked, bad key":     {mintlify.OpGetJob, mintlifytest.Fault{Status: 401}, 5 * time.Minute},
		"a send":             {mintlify.OpCreateJob, mintlifytest.Fault{Status: 503}, 30 * time.Second},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.svc.AddJob("job_7", mintlifytest.JobStep{})
			w.put(once.Record{Task: task, State: once.Running, JobID: "job_7"})
			hold(w, test.op, test.fault)

			w.step(key)

			if test.left == 0 {
				assert.True(t, w.step("waiting").Sent)
				return
			}
			assertHeld(t, test.left, left(w))
		})
	}
}

// Asking in vain holds for 30 s, each time.
func TestHoldsAfterAskingInVainStayShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		for range 4 {
			assertHeld(t, 30*time.Second, hold(w, mintlify.OpGetJob, mintlifytest.Fault{Status: 503}))
			time.Sleep(30 * time.Second)
		}
	})
}

func TestOutageOfPostsCostsAFew(t *testing.T) {
	for name, test := range map[string]struct{ runners, workers, unknown int }{
		"a Runner":                {1, 1, 5},
		"a Runner, four workers":  {1, 4, 8}, // four sends in progress at first, then one at a time
		"two Runners, one worker": {2, 1, 10},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			addMany(w, 80)
			up := time.Now().Add(10 * time.Minute)
			fails := func(r *http.Request) int {
				if r.Method == http.MethodGet || time.Now().After(up) {
					return 0
				}
				time.Sleep(time.Second)
				return http.StatusServiceUnavailable
			}
			var all sync.WaitGroup
			for range test.runners {
				r := w.runnerIn(fails)
				for range test.workers {
					all.Go(func() { assert.NoError(t, r.Resume(t.Context())) })
				}
			}
			all.Wait()
			assert.Equal(t, test.unknown, w.states()[once.Unknown])
			assert.Equal(t, 80-test.unknown, w.states()[once.Done])
		})
	}
}

func TestServiceIsAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		do := func(key string) {
			_, err := w.Do(t.Context(), once.Task{Key: key, Prompt: "x", ProjectID: "project-2"})
			assert.NoError(t, err)
		}
		do("a")
		first := w.svc.Requests()[0]
		assert.Equal(t, "/v2/agent/project-2/job/preflight", first.Path)
		assert.Equal(t, mintlify.OpGetJob, first.Operation)

		do("b")
		assert.Equal(t, 1, w.preflights(), "it has just worked")

		time.Sleep(59 * time.Second)
		do("c")
		assert.Equal(t, 1, w.preflights(), "it has worked within the last minute")

		time.Sleep(61 * time.Second)
		do("d")
		assert.Equal(t, 2, w.preflights(), "that is long ago")

		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503}) // of a poll
		do("e")
		do("f")
		assert.Equal(t, 2, w.preflights(), "a later poll has worked")

		w.svc.ScriptJob(mintlifytest.JobStep{})
		w.add(once.Task{Key: "g", Prompt: "x", ProjectID: "project-2"})
		w.step("g")

		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503})
		w.step("g")

		do("h")
		assert.Equal(t, 3, w.preflights(), "the last poll has failed")

		w.do(once.Task{Key: "i", Prompt: "x", ProjectID: "project-3"})
		assert.Equal(t, 4, w.preflights(), "each project for itself")
	})
}

// What the response to the GET that asks first means: sent, or how long the project is held.
func TestWhatTheServiceRespondsWhenAsked(t *testing.T) {
	job := `{"id":"preflight","status":"%s"}`
	retryAfter := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	tests := map[string]struct {
		fault mintlifytest.Fault
		held  time.Duration // 0: the prompt is sent
	}{
		"400":                 {mintlifytest.Fault{Status: 400}, 0},
		"404":                 {mintlifytest.Fault{Status: 404}, 0},
		"405":                 {mintlifytest.Fault{Status: 405}, 0},
		"409":                 {mintlifytest.Fault{Status: 409}, 0},
		"422":                 {mintlifytest.Fault{Status: 422}, 0},
		"500":                 {mintlifytest.Fault{Status: 500}, 0},
		"401":                 {mintlifytest.Fault{Status: 401}, 5 * time.Minute},
		"402":                 {mintlifytest.Fault{Status: 402}, 5 * time.Minute},
		"403":                 {mintlifytest.Fault{Status: 403}, 5 * time.Minute},
		"407":                 {mintlifytest.Fault{Status: 407}, 5 * time.Minute},
		"415":                 {mintlifytest.Fault{Status: 415}, 0},
		"Cloudflare's page":   {cloudflarePage, 5 * time.Minute},
		"Cloudflare's 415":    {mintlifytest.Fault{Status: 415, Header: cloudflarePage.Header, Body: cloudflarePage.Body}, 30 * time.Second},
		"Cloudflare's 500":    {mintlifytest.Fault{Status: 500, Header: http.Header{"Cf-Mitigated": {"challenge"}}}, 30 * time.Second},
		"511":                 {mintlifytest.Fault{Status: 511}, 5 * time.Minute},
		"408":                 {mintlifytest.Fault{Status: 408}, 30 * time.Second},
		"425":                 {mintlifytest.Fault{Status: 425}, 30 * time.Second},
		"429":                 {mintlifytest.Fault{Status: 429}, 30 * time.Second},
		"499":                 {mintlifytest.Fault{Status: 499}, 30 * time.Second},
		"501":                 {mintlifytest.Fault{Status: 501}, 30 * time.Second},
		"502":                 {mintlifytest.Fault{Status: 502, Body: "<html>"}, 30 * time.Second},
		"503":                 {mintlifytest.Fault{Status: 503}, 30 * time.Second},
		"503 and Retry-After": {mintlifytest.Fault{Status: 503, Header: retryAfter("7")}, 7 * time.Second},
		"429 for a day":       {mintlifytest.Fault{Status: 429, Header: retryAfter("86400")}, time.Hour},
		"302":                 {mintlifytest.Fault{Status: 302}, 30 * time.Second},
		"HTML":                {mintlifytest.Fault{Status: 200, Body: "<html>Welcome to the hotel"}, 30 * time.Second},
		"a job":               {mintlifytest.Fault{Status: 200, Body: fmt.Sprintf(job, "active")}, 30 * time.Second},
		"a job that failed":   {mintlifytest.Fault{Status: 200, Body: fmt.Sprintf(job, "failed")}, 30 * time.Second},
		"no connection":       {mintlifytest.Fault{Refuse: true}, 30 * time.Second},
		"connection lost":     {mintlifytest.Fault{Drop: true}, 30 * time.Second},
		"no response":         {mintlifytest.Fault{Delay: time.Hour}, 30 * time.Second},
	}
	for name, test := range tests {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.svc.FailNext(mintlify.OpGetJob, 1, test.fault)
			record, err := w.Do(t.Context(), task)
			if test.held == 0 {
				require.NoError(t, err)
				assert.Equal(t, once.Done, record.State)
				return
			}

			require.Error(t, err)
			assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
			assert.ErrorContains(t, err, key)
			assert.Equal(t, w.get(key), record)
			assert.Equal(t, once.Pending, record.State)
			assert.Equal(t, 1, record.Version, "there was no claim")
			assert.Zero(t, record.Sends)
			assert.Contains(t, record.Problem, "nothing was sent")
			assert.Equal(t, task.Prompt, record.Prompt)
			assert.Zero(t, w.posts())

			again := w.step(key)
			assert.Equal(t, record, again.Record)
			assertHeld(t, test.held, again.Next)

			record, err = w.Do(t.Context(), task)
			require.NoError(t, err, "Do pays no attention to a hold")
			assert.Empty(t, record.Problem)
			assert.GreaterOrEqual(t, w.preflights(), 1, "but asks again")
		})
	}
}

func TestAskingInVainStoresAVersionOnlyIfTheProblemChanged(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for i, fault := range []struct{ status, version int }{{503, 1}, {503, 1}, {502, 2}, {502, 2}} {
			w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: fault.status})
			record, err := w.Do(t.Context(), task)
			require.Error(t, err)
			assert.Equal(t, fault.version, record.Version, i)
			assert.Contains(t, record.Problem, fmt.Sprint(fault.status))
		}
	})
}

func TestContextThatEndsWhileAskingStoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()} // a store that pays no attention to contexts
		store.put = func(_ context.Context, r once.Record) error { return store.Store.Put(t.Context(), r) }
		w := newWorld(t, store)
		for _, fault := range []mintlifytest.Fault{{Delay: 20 * time.Second}, {Delay: 20 * time.Second, Status: 503}} {
			w.svc.FailNext(mintlify.OpGetJob, 1, fault)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Second, cancel)
			_, err := w.Do(ctx, task)
			require.ErrorIs(t, err, context.Canceled)
			assert.ErrorContains(t, err, key)
			assert.Zero(t, w.get(key))
			assert.Zero(t, w.posts())
		}
		w.add(task)
		step := w.step(key)
		assert.Equal(t, time.Duration(1), step.Next, "nothing is held")
	})
}

func TestAskingHasASendTimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := 50 * time.Second
		limiter := mintlify.WithRateLimiter(func(ctx context.Context, info mintlify.RequestInfo) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(slow):
				return nil
			}
		})
		w := newWorld(t, oncetest.NewStore(), limiter)
		w.svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobCompleted})
		_, err := w.Do(t.Context(), task)
		require.NoError(t, err, "50 s to ask, and 50 s to send")

		time.Sleep(time.Hour)
		slow = 24 * time.Hour
		start := time.Now()
		record, err := w.Do(t.Context(), once.Task{Key: "b", Prompt: "x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, once.Pending, record.State)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

// hold fails a send or a GET that asks, and returns how long the project is held then.
func hold(w *world, op mintlify.Operation, fault mintlifytest.Fault) time.Duration {
	w.t.Helper()
	w.svc.FailNext(op, 1, fault)
	key := fmt.Sprint("hold-", len(w.svc.Requests()))
	_, err := w.Do(w.t.Context(), once.Task{Key: key, Prompt: "x"})
	require.Error(w.t, err)
	return left(w)
}

// left returns how long the project is held.
func left(w *world) time.Duration {
	w.t.Helper()
	_, _, err := w.Add(w.t.Context(), once.Task{Key: "waiting", Prompt: "x"})
	require.NoError(w.t, err)

	before := len(w.svc.Requests())
	step, err := w.Step(w.t.Context(), "waiting")
	require.NoError(w.t, err)
	require.Len(w.t, w.svc.Requests(), before, "it is held")
	return step.Next
}

func TestHoldsDouble(t *testing.T) {
	for name, fault := range map[string]mintlifytest.Fault{
		"unknown":       {Status: 504},
		"no job":        {Status: 429},
		"no connection": {Refuse: true},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			for _, minutes := range []float64{0.5, 1, 2, 4, 8, 16, 30, 30} {
				want := time.Duration(minutes * float64(time.Minute))
				assertHeld(t, want, hold(w, mintlify.OpCreateJob, fault))
				time.Sleep(want)
			}
			w.do(once.Task{Key: "good", Prompt: "x"})
			assertHeld(t, 30*time.Second, hold(w, mintlify.OpCreateJob, fault), "a job has ended it")
		})
	}
}

func TestFailureDuringAHoldDoesNotDoubleIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: 504})
		time.Sleep(10 * time.Second)
		assertHeld(t, 20*time.Second, hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: 504}))

		time.Sleep(20 * time.Second)
		assertHeld(t, time.Minute, hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: 504}))

		longer := mintlifytest.Fault{Status: 504, Header: http.Header{"Retry-After": {"300"}}}
		assertHeld(t, 5*time.Minute, hold(w, mintlify.OpCreateJob, longer), "the service asks for it")

		shorter := mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"1"}}}
		assertHeld(t, 5*time.Minute, hold(w, mintlify.OpCreateJob, shorter))
	})
}

func TestRefusedPromptEndsAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: 504})
		_, err := w.Do(t.Context(), once.Task{Key: "by-the-SDK", Prompt: "\xff"})
		require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
		assertHeld(t, 30*time.Second, left(w), "which says nothing of the service")

		w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 400})
		_, err = w.Do(t.Context(), task)
		require.ErrorIs(t, err, mintlify.ErrBadRequest)

		step := w.step("waiting")
		assert.Equal(t, once.Running, step.Record.State)
	})
}

func TestHoldsForAPersonStayFiveMinutes(t *testing.T) {
	for _, status := range []int{401, 402, 403, 404} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
				for range 3 {
					assertHeld(t, 5*time.Minute, hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: status}))

					time.Sleep(5 * time.Minute)
				}
			})
		})
	}
}

// After an outage, one send of all workers on a Runner shows whether it is over.
func TestOneSendAtATimeAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: 504})
		time.Sleep(30 * time.Second)
		for _, k := range []string{"a", "b", "c"} {
			w.add(once.Task{Key: k, Prompt: "x"})
		}
		w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 10 * time.Second})
		go w.Step(context.Background(), "a") //nolint:errcheck // the record tells
		synctest.Wait()
		posts := w.posts()
		for _, k := range []string{"b", "c"} {
			step := w.step(k)
			assert.Equal(t, once.Pending, step.Record.State)
			assert.Equal(t, time.Second, step.Next)
		}
		assert.Equal(t, posts, w.posts())

		time.Sleep(11 * time.Second)
		assert.Equal(t, once.Running, w.get("a").State)

		step := w.step("b")
		assert.Equal(t, once.Running, step.Record.State)
	})
}

// A worker whose send did not happen gives its turn to the next.
func TestTurnIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: oncetest.NewStore()}
		w := newWorld(t, store, mintlify.WithMaxRetries(0))
		hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: 504})
		time.Sleep(30 * time.Second)
		w.add(once.Task{Key: "a", Prompt: "x"}, once.Task{Key: "b", Prompt: "x"})
		store.put = func(context.Context, once.Record) error {
			store.put = nil
			return errors.New("the database is down")
		}
		_, err := w.Step(t.Context(), "a")
		require.Error(t, err)

		step := w.step("b")
		assert.Equal(t, once.Running, step.Record.State)
	})
}

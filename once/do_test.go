package once_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

func TestDoTwiceIsOneJob(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for range 2 {
			record := w.do(task)
			assert.Equal(t, once.Done, record.State)
			assert.Equal(t, "job_1", record.JobID)
			assert.Equal(t, "https://github.com/example/docs/pull/1", record.PRLink)
			assert.Equal(t, 1, record.Sends)
			assert.Equal(t, w.get(key), record)
		}
		assert.Equal(t, 3, w.get(key).Version, "sending, running, done: a poll that changes nothing stores nothing")
		assert.Equal(t, 1, w.posts())
		found, ok := once.FindMarker(w.prompts()[0])
		assert.True(t, ok)
		assert.Equal(t, key, found)
	})
}

var cloudflarePage = mintlifytest.Fault{
	Status: 403, Header: http.Header{"Server": {"cloudflare"}},
	Body: "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>",
}

// Every way a send can end, what is on record then, and what another Do does with it.
func TestOutcomesOfASend(t *testing.T) {
	inTwoMinutes := mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"120"}}}
	html := mintlifytest.Fault{Status: 201, Body: "<html>Created</html>"}
	tests := map[string]struct {
		fault mintlifytest.Fault
		state once.State
		next  time.Duration
		is    error
	}{
		"connection lost":     {mintlifytest.Fault{Drop: true}, once.Unknown, 0, mintlify.ErrOutcomeUnknown},
		"504 after acting":    {mintlifytest.Fault{Status: 504, Acted: true}, once.Unknown, 0, mintlify.ErrOutcomeUnknown},
		"HTML without an id":  {html, once.Unknown, 0, mintlify.ErrOutcomeUnknown},
		"no response in time": {mintlifytest.Fault{Delay: time.Hour}, once.Unknown, 0, mintlify.ErrOutcomeUnknown},
		"redirect":            {mintlifytest.Fault{Status: 302}, once.Unknown, 0, mintlify.ErrOutcomeUnknown},
		"400":                 {mintlifytest.Fault{Status: 400}, once.Refused, 0, mintlify.ErrBadRequest},
		"413":                 {mintlifytest.Fault{Status: 413}, once.Refused, 0, nil},
		"422":                 {mintlifytest.Fault{Status: 422}, once.Refused, 0, mintlify.ErrBadRequest},
		"429":                 {mintlifytest.Fault{Status: 429}, once.Pending, 30 * time.Second, mintlify.ErrRateLimited},
		"429 and Retry-After": {inTwoMinutes, once.Pending, 2 * time.Minute, mintlify.ErrRateLimited},
		"no connection":       {mintlifytest.Fault{Refuse: true}, once.Pending, 30 * time.Second, nil},
		"401":                 {mintlifytest.Fault{Status: 401}, once.Pending, 5 * time.Minute, mintlify.ErrUnauthorized},
		"402":                 {mintlifytest.Fault{Status: 402}, once.Pending, 5 * time.Minute, nil},
		"403":                 {mintlifytest.Fault{Status: 403}, once.Pending, 5 * time.Minute, mintlify.ErrForbidden},
		"404":                 {mintlifytest.Fault{Status: 404}, once.Pending, 5 * time.Minute, mintlify.ErrNotFound},
		"407":                 {mintlifytest.Fault{Status: 407}, once.Pending, 5 * time.Minute, nil},
		"409":                 {mintlifytest.Fault{Status: 409}, once.Pending, 30 * time.Second, nil},
		"415":                 {mintlifytest.Fault{Status: 415}, once.Refused, 0, nil},
		"451":                 {mintlifytest.Fault{Status: 451}, once.Refused, 0, nil},
		"Cloudflare's page":   {cloudflarePage, once.Refused, 0, mintlify.ErrForbidden},
	}
	for name, test := range tests {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.svc.FailNext(mintlify.OpCreateJob, 1, test.fault)
			record, err := w.Do(t.Context(), task)
			require.Error(t, err)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
			assert.Equal(t, test.state, record.State)
			assert.Equal(t, w.get(key), record)
			assert.NotEmpty(t, record.Problem)
			assert.NotContains(t, w.log.String(), task.Prompt)
			assert.Contains(t, err.Error(), key)

			sent := w.posts()
			step, err := w.Step(t.Context(), key)
			assert.Equal(t, test.state == once.Pending, err == nil, "as Do, once it is over")
			assert.Equal(t, record, step.Record, "Step sends nothing before next")
			assertHeld(t, test.next, step.Next)
			assert.Equal(t, sent, w.posts())
			if test.state == once.Pending {
				start := time.Now()
				record = w.do(task)
				assert.Less(t, time.Since(start), 20*time.Second, "Do sends at once")
				assert.Equal(t, once.Done, record.State)
				assert.Equal(t, 2, record.Sends)
				assert.Empty(t, record.Problem)
				assert.Len(t, w.svc.Jobs(), 1)
				return
			}
			_, err = w.Do(t.Context(), task)
			require.Error(t, err, "on record from before")
			if test.state == once.Unknown {
				require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
				for _, want := range []string{once.Marker(key), "Adopt", "MarkDone", "SendAgain"} {
					assert.Contains(t, err.Error(), want)
				}
			}
			require.NoError(t, w.Resume(t.Context()))
			assert.Equal(t, record, w.get(key))
			assert.Equal(t, sent, w.posts(), "never again")
			assert.Contains(t, w.log.String(), "level=WARN")
		})
	}
}

func TestBadKeyOfAKeySourceIsNotThePromptsFault(t *testing.T) {
	for name, source := range map[string]func() (string, error){
		"bad key": func() (string, error) { return "mint_dsc_1", nil },
		"error":   func() (string, error) { return "", errors.New("vault is sealed") },
	} {
		inBubble(t, name, func(t *testing.T) {
			bad := true
			w := newWorld(t, oncetest.NewStore(), mintlify.WithKeySource(func(context.Context) (string, error) {
				if bad {
					return source()
				}
				return mintlifytest.APIKey, nil
			}))
			record, err := w.Do(t.Context(), task)
			require.Error(t, err)
			assert.Equal(t, once.Pending, record.State)
			bad = false
			w.do(task)
		})
	}
}

// The service would get another prompt than the caller's.
func TestPromptThatIsNotUTF8IsNotStored(t *testing.T) {
	latin1 := once.Task{Key: key, Prompt: "gr\xfc\xdfe"}
	w := newWorld(t, oncetest.NewStore())
	assertRefused := func(err error) {
		t.Helper()
		argument := kit.RequireAs[*mintlify.ArgumentError](t, err)
		assert.Equal(t, "prompt", argument.Name)
	}

	assertRefused(latin1.Check())
	_, _, err := w.Add(t.Context(), latin1)
	assertRefused(err)
	_, err = w.Do(t.Context(), latin1)
	assertRefused(err)
	assert.Zero(t, w.get(key))

	stored := once.Record{Task: latin1, State: once.Pending, Version: 1}
	require.NoError(t, w.store.Put(t.Context(), stored))
	_, err = w.Step(t.Context(), key)
	assertRefused(err)
	assert.Equal(t, stored, w.get(key))
	assert.Empty(t, w.svc.Requests())
}

func TestJobWithAnErrorIsRunning(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Body: `{"id":"job_1"}`}) // no status
		record := w.do(task)
		assert.Equal(t, "job_1", record.JobID)
	})
}

func TestFailedAndArchivedJobs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobFailed})
		record, err := w.Do(t.Context(), task)
		require.ErrorIs(t, err, mintlify.ErrJobFailed)
		assert.Equal(t, once.Failed, record.State)
		assert.NotEmpty(t, record.Problem)
		_, err = w.Do(t.Context(), task)
		require.ErrorIs(t, err, mintlify.ErrJobFailed)
		assert.ErrorContains(t, err, "job_1")
		record = w.must(w.SendAgain(t.Context(), key))
		assert.Empty(t, record.JobID)
		record = w.do(task)
		assert.Equal(t, "job_2", record.JobID)

		w.svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobArchived, PRLink: "https://example.com/pull/2"})
		record = w.do(once.Task{Key: "acme/api@2", Prompt: "x"})
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, "https://example.com/pull/2", record.PRLink)
	})
}

func TestContextThatEndsDuringCreateLeavesTheID(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		record, err := w.Do(ctx, task)
		require.ErrorIs(t, err, context.Canceled)
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.Equal(t, once.Running, record.State)
		assert.Equal(t, "job_1", w.get(key).JobID)

		record, err = w.Do(t.Context(), once.Task{Key: key}) // no prompt needed any more
		require.NoError(t, err)
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, 1, w.posts())
	})
}

func TestEndedContextBeginsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := &hooked{Store: oncetest.NewStore()} // a store that pays no attention to contexts
	store.get = func(_ context.Context, key string) (once.Record, error) { return store.Store.Get(t.Context(), key) }
	w := newWorld(t, store)
	_, err := w.Do(ctx, task)
	require.ErrorIs(t, err, context.Canceled)
	_, err = w.Step(ctx, key)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = w.Add(ctx, task)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, w.Resume(ctx), context.Canceled)
	assert.Zero(t, w.get(key))

	ctx, cancel = context.WithCancel(t.Context())
	store.get = func(_ context.Context, key string) (once.Record, error) {
		cancel() // just now
		return store.Store.Get(t.Context(), key)
	}
	_, err = w.Do(ctx, task)
	require.ErrorIs(t, err, context.Canceled)
	store.get = nil
	assert.Zero(t, w.get(key))
	assert.Zero(t, w.posts())
}

func TestArguments(t *testing.T) {
	w := newWorld(t, oncetest.NewStore())
	for name, bad := range map[string]once.Task{
		"no key":            {Prompt: "x"},
		"space":             {Key: "a b", Prompt: "x"},
		"line break":        {Key: "a\nb", Prompt: "x"},
		"no-break space":    {Key: "a\u00a0b", Prompt: "x"},
		"control character": {Key: "a\x00b", Prompt: "x"},
		"not UTF-8":         {Key: "a\xffb", Prompt: "x"},
		"301 bytes":         {Key: string(make301()), Prompt: "x"},
		"no prompt":         {Key: "a"},
		"blank prompt":      {Key: "a", Prompt: " \n"},
		"bad project":       {Key: "a", Prompt: "x", ProjectID: "acme/docs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Do(t.Context(), bad)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			record, _, err := w.Add(t.Context(), bad)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			assert.Empty(t, record.State)
			assert.Equal(t, err.Error(), bad.Check().Error(), "without a store")
			require.ErrorIs(t, bad.Check(), mintlify.ErrInvalidArgument)
			bad.Prompt = ""
			_, err = w.Step(t.Context(), bad.Key)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
		})
	}
	all, err := w.store.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all, "nothing is stored")
	_, added, err := w.Add(t.Context(), once.Task{Key: string(make301()[:300]), Prompt: "x"})
	require.NoError(t, err)
	assert.True(t, added)

	for _, good := range []once.Task{task, {Key: "b", Prompt: "x", ProjectID: "project-1", After: key}} {
		require.NoError(t, good.Check())
	}
	require.ErrorIs(t, once.Task{Key: "b", Prompt: "x", After: "b"}.Check(), mintlify.ErrInvalidArgument)
	require.ErrorIs(t, once.Task{Key: "b", Prompt: "x", After: "a b"}.Check(), mintlify.ErrInvalidArgument)

	client := w.svc.Client()
	for name, build := range map[string]func() (*once.Runner, error){
		"no store":       func() (*once.Runner, error) { return once.New(client, nil) },
		"nil option":     func() (*once.Runner, error) { return once.New(client, w.store, nil) },
		"send time 0":    func() (*once.Runner, error) { return once.New(client, w.store, once.WithSendTime(0)) },
		"send time 61 m": func() (*once.Runner, error) { return once.New(client, w.store, once.WithSendTime(61*time.Minute)) },
		"settle time -1": func() (*once.Runner, error) { return once.New(client, w.store, once.WithSettleTime(-1)) },
		"nil onChange":   func() (*once.Runner, error) { return once.New(client, w.store, once.WithOnChange(nil)) },
	} {
		_, err := build()
		assert.ErrorIs(t, err, mintlify.ErrInvalidArgument, name)
	}
}

func make301() []byte {
	long := make([]byte, 301)
	for i := range long {
		long[i] = 'k'
	}
	return long
}

// While it is pending, the prompt and the project of the Do that sends it count.
func TestDoMendsWhatIsPending(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, added, err := w.Add(t.Context(), once.Task{Key: key, Prompt: "old", ProjectID: "wrong"})
		require.NoError(t, err)
		assert.True(t, added)
		record, added, err := w.Add(t.Context(), once.Task{Key: key, Prompt: "other"})
		require.NoError(t, err)
		assert.False(t, added)
		assert.Equal(t, "old", record.Prompt)
		record = w.do(once.Task{Key: key, Prompt: "new", ProjectID: "right"})
		assert.Equal(t, "new", record.Prompt)
		assert.Equal(t, "right", w.svc.Requests()[0].ProjectID)
		assert.Contains(t, w.prompts()[0], "new\n")
	})
}

package once_test

import (
	"context"
	"errors"
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

// What a step says of the send that it made, and the error of the step.
func TestStepOfASend(t *testing.T) {
	for name, test := range map[string]struct {
		fault  mintlifytest.Fault
		state  once.State
		sent   bool
		status int   // of the APIError in Err
		err    error // of Step
	}{
		"job":             {mintlifytest.Fault{Body: `{"id":"job_1","status":"active"}`}, once.Running, true, 0, nil},
		"connection lost": {mintlifytest.Fault{Drop: true}, once.Unknown, true, 0, mintlify.ErrOutcomeUnknown},
		"504":             {mintlifytest.Fault{Status: 504}, once.Unknown, true, 504, mintlify.ErrOutcomeUnknown},
		"400":             {mintlifytest.Fault{Status: 400}, once.Refused, true, 400, mintlify.ErrBadRequest},
		"429":             {mintlifytest.Fault{Status: 429}, once.Pending, true, 429, nil},
		"402":             {mintlifytest.Fault{Status: 402}, once.Pending, true, 402, nil},
		"no connection":   {mintlifytest.Fault{Refuse: true}, once.Pending, false, 0, nil},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
			w.add(task)
			w.svc.FailNext(mintlify.OpCreateJob, 1, test.fault)
			step, err := w.Step(t.Context(), key)
			require.ErrorIs(t, err, test.err)
			assert.Equal(t, w.get(key), step.Record)
			assert.Equal(t, test.state, step.Record.State)
			assert.Equal(t, test.sent, step.Sent)
			assert.Equal(t, test.err != nil, step.Next == 0)
			assert.Equal(t, test.state == once.Running, step.Err == nil)

			var response *mintlify.APIError
			if errors.As(step.Err, &response) {
				assert.Equal(t, test.status, response.StatusCode)
			} else {
				assert.Zero(t, test.status)
			}

			again, err := w.Step(t.Context(), key)
			assert.Equal(t, test.err == nil, err == nil, "also the next time")
			assert.False(t, again.Sent)
			if test.state == once.Pending {
				require.ErrorContains(t, again.Err, "this prompt was not sent")
				require.ErrorContains(t, again.Err, step.Err.Error(), "why the project is held")
			}
		})
	}
}

// The loop of a queue worker that only asks for the error: it must not be green for what failed.
func TestErrorOfStepIsThatOfDo(t *testing.T) {
	for _, state := range []once.State{once.Done, once.Failed, once.Refused, once.Unknown, once.Canceled} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			w.put(once.Record{Task: task, State: state, Problem: "x"})
			_, want := w.Do(t.Context(), task)
			step, err := w.Step(t.Context(), key)
			assert.Equal(t, want, err)
			assert.Equal(t, state == once.Done, err == nil)
			assert.Zero(t, step.Next)
			assert.NoError(t, step.Err)
		})
	}
}

func TestStepInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		w.add(task)
		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503})
		step := w.step(key)
		require.ErrorIs(t, step.Err, mintlify.ErrServer)
		assert.False(t, step.Sent, "it was asked in vain")
		assertHeld(t, 30*time.Second, step.Next)

		time.Sleep(step.Next)
		step = w.step(key)
		require.Equal(t, once.Running, step.Record.State)

		w.svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 503})
		step = w.step(key)
		require.ErrorIs(t, step.Err, mintlify.ErrServer, "a poll that failed")
		assert.Equal(t, 5*time.Second, step.Next.Round(time.Second))
	})
}

func TestStepThatCouldNotBeDone(t *testing.T) {
	store := &hooked{Store: oncetest.NewStore()}
	w := newWorld(t, store)

	step, err := w.Step(t.Context(), key)
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument, "no record and no prompt")
	assert.Zero(t, step.Next)

	w.add(task)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	step, err = w.Step(ctx, key)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 5*time.Second, step.Next)

	down := errors.New("the database is down")
	store.get = func(context.Context, string) (once.Record, error) { return once.Record{}, down }
	step, err = w.Step(t.Context(), key)
	require.ErrorIs(t, err, down)
	assert.Equal(t, 5*time.Second, step.Next)
	assert.False(t, step.Sent)
}

// A job was made, and the store does not take its id: Sent says so nevertheless.
func TestStepThatCouldNotRecordItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, takingNoJob(errors.New("the database is down")))
		w.add(task)
		step, err := w.Step(t.Context(), key)
		require.ErrorContains(t, err, `job "job_1" could not be recorded`)
		assert.True(t, step.Sent)
		assert.Equal(t, 5*time.Second, step.Next)
	})
}

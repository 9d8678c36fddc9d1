package once_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
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

// What somebody meets who uses the package for the first time.

func TestNewRefusesWhatIsMissing(t *testing.T) {
	var noDB *sql.DB
	for name, test := range map[string]struct {
		store once.Store
		opt   once.Option
	}{
		"a nil report":        {oncetest.NewStore(), once.WithReport(nil)},
		"a nil finder":        {oncetest.NewStore(), once.WithFinder(nil)},
		"a nil onChange":      {oncetest.NewStore(), once.WithOnChange(nil)},
		"no database":         {once.NewSQL(nil), once.WithLogger(nil)},
		"a nil *sql.DB":       {once.NewSQL(noDB), once.WithLogger(nil)},
		"the zero SQL":        {&once.SQL{}, once.WithLogger(nil)},
		"a nil pointer to it": {(*once.SQL)(nil), once.WithLogger(nil)},
	} {
		_, err := once.New(nil, test.store, test.opt)
		require.ErrorIs(t, err, mintlify.ErrInvalidArgument, name)
	}
}

func TestAddIsNilOnlyIfTheRecordIsStored(t *testing.T) {
	store := &hooked{Store: oncetest.NewStore()}
	store.put = func(context.Context, once.Record) error { return once.ErrConflict }
	w := newWorld(t, store)
	_, added, err := w.Add(t.Context(), task)
	require.ErrorIs(t, err, once.ErrConflict)
	require.ErrorContains(t, err, key)
	assert.False(t, added)
}

func TestGetThatSaysNotFound(t *testing.T) {
	errMissing := errors.New("Key Not Found")
	for name, test := range map[string]struct {
		err      error
		explains bool
	}{
		"a database without rows": {sql.ErrNoRows, true},
		"a bucket":                {errMissing, true},
		"an outage":               {errors.New("connection refused"), false},
	} {
		store := &hooked{Store: oncetest.NewStore()}
		store.get = func(context.Context, string) (once.Record, error) { return once.Record{}, test.err }
		_, _, err := newWorld(t, store).Add(t.Context(), task)
		require.ErrorIs(t, err, test.err, name)
		assert.Equal(t, test.explains, strings.Contains(err.Error(), "must return the zero Record"), name)
	}
}

// A held Step says what holds it, and that its own prompt was not sent.
func TestErrOfAHeldStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore(), mintlify.WithMaxRetries(0))
		hold(w, mintlify.OpCreateJob, mintlifytest.Fault{Status: 504})
		w.add(task)

		step := w.step(key)
		require.ErrorContains(t, step.Err, "this prompt was not sent")
		require.NotErrorIs(t, step.Err, mintlify.ErrOutcomeUnknown)
		var response *mintlify.APIError
		require.ErrorAs(t, step.Err, &response)
		assert.Equal(t, 504, response.StatusCode)
		assert.ErrorIs(t, step.Err, mintlify.ErrServer)
	})
}

// A follow-up takes the Runner's settle time, whatever the client's own waits do.
func TestTimeOfAFollowUp(t *testing.T) {
	noPause := mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0))
	for name, test := range map[string]struct {
		own  []once.Option
		want time.Duration
	}{
		"unless set": {nil, 30 * time.Second},
		"none":       {[]once.Option{once.WithSettleTime(0)}, 0},
		"longer":     {[]once.Option{once.WithSettleTime(time.Minute)}, time.Minute},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, oncetest.NewStore())
			r := w.runner(w.svc.Client(noPause, mintlify.WithWaitDefaults(mintlify.WithSettleTime(time.Hour))), test.own...)
			w.svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobCompleted})
			_, err := r.Do(t.Context(), task)
			require.NoError(t, err)

			start := time.Now()
			record, err := r.Do(t.Context(), comment)
			require.NoError(t, err)
			assert.Equal(t, once.Done, record.State)
			assert.InDelta(t, test.want, time.Since(start), float64(test.want)/5+1000)
		})
	}
}

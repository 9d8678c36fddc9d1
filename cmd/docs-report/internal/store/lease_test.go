//go:build unix

package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// setLease lets time go by: the lease ends then.
func setLease(t *testing.T, where string, until time.Time) {
	t.Helper()
	_, err := rawDatabase(t, where).ExecContext(t.Context(), `UPDATE docs_service SET held_until = $1`, until.UnixMilli())
	require.NoError(t, err)
}

// leaseEnd returns when the lease ends.
func leaseEnd(t *testing.T, where string) time.Time {
	t.Helper()
	var until int64
	err := rawDatabase(t, where).QueryRowContext(t.Context(), `SELECT held_until FROM docs_service`).Scan(&until)
	require.NoError(t, err)
	return time.UnixMilli(until)
}

func lease(t *testing.T, where string) {
	first := open(t, where)
	second := open(t, where)
	require.NoError(t, first.Take(t.Context()))
	require.NoError(t, first.Take(t.Context()), "its own")

	var held *store.HeldError
	require.ErrorAs(t, second.Take(t.Context()), &held)
	assert.Contains(t, held.Holder, "process ")
	assert.WithinDuration(t, time.Now().Add(2*time.Minute), held.Until, 10*time.Second)

	require.NoError(t, second.Release(t.Context()), "not its own")
	require.ErrorAs(t, second.Take(t.Context()), &held)

	setLease(t, where, time.Now().Add(-time.Second))
	require.NoError(t, second.Take(t.Context()), "it has ended")

	setLease(t, where, time.Now().Add(48*time.Hour))
	require.NoError(t, first.Take(t.Context()), "of a clock that was ahead")

	require.NoError(t, first.Release(t.Context()))
	require.NoError(t, second.Take(t.Context()))
}

// A run that was stopped and wakes up stores nothing if another one has taken the database, whatever the
// other has done since.
func stopped(t *testing.T, where string) {
	slow := open(t, where)
	begun := begin(t, slow)
	setLease(t, where, time.Now().Add(-time.Second))

	fast := open(t, where)
	taken, err := beginOf(fast, window, store.Visitors, time.Time{})
	require.NoError(t, err)
	next, err := fast.Append(t.Context(), taken, page("/fast", 0, 250, true))
	require.NoError(t, err)

	requireLost := func() {
		t.Helper()
		_, err := slow.Append(t.Context(), begun, page("/slow", 0, 250, true))
		require.ErrorIs(t, err, store.ErrLost)
		_, err = slow.Reserve(t.Context(), 90)
		require.ErrorIs(t, err, store.ErrLost)
		require.ErrorIs(t, slow.Keep(t.Context()), store.ErrLost)
		require.ErrorIs(t, slow.SaveSync(t.Context(), store.Sync{Project: "docs"}), store.ErrLost)
	}
	requireLost()

	_, err = fast.Append(t.Context(), next, page("/fast", 250, 2, false))
	require.NoError(t, err)
	requireLost()
	assert.Len(t, rowsOf(t, fast), 252)

	require.NoError(t, fast.Release(t.Context()))
	requireLost()
	syncs, err := fast.Syncs(t.Context())
	require.NoError(t, err)
	assert.Empty(t, syncs)
}

// Each page and each request renews the lease, and so does a run that waits.
func renewed(t *testing.T, where string) {
	s := open(t, where)
	begun := begin(t, s)
	for name, renew := range map[string]func() error{
		"a page": func() error {
			_, err := s.Append(t.Context(), begun, page("/a", 0, 250, true))
			return err
		},
		"a request": func() error {
			_, err := s.Reserve(t.Context(), 90)
			return err
		},
		"a wait": func() error { return s.Keep(t.Context()) },
	} {
		setLease(t, where, time.Now().Add(time.Second))
		require.NoError(t, renew(), name)
		assert.WithinDuration(t, time.Now().Add(2*time.Minute), leaseEnd(t, where), 10*time.Second, name)
	}
}

// Of many who want the database at once, one has it.
func manyAtOnce(t *testing.T, where string) {
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		s := open(t, where)
		all.Go(func() {
			err := s.Take(t.Context())
			if held, ok := errors.AsType[*store.HeldError](err); ok {
				assert.NotEmpty(t, held.Holder)
				return
			}
			assert.NoError(t, err)
			taken.Add(1)
		})
	}

	all.Wait()
	assert.Equal(t, int64(1), taken.Load())
}

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

// Of many who want the last request of the budget at once, one has it.
func budget(t *testing.T, where string) {
	const runs, rounds = 6, 15
	var stores []*store.Store
	for range runs {
		stores = append(stores, open(t, where))
	}

	for budget := 1; budget <= rounds; budget++ {
		var reserved atomic.Int64
		var all sync.WaitGroup

		for _, s := range stores {
			all.Go(func() {
				left, err := s.Reserve(t.Context(), budget)
				if quota, ok := errors.AsType[*store.QuotaError](err); ok {
					assert.WithinDuration(t, time.Now().Add(time.Hour), quota.Until, time.Minute)
					return
				}
				assert.NoError(t, err)
				assert.Zero(t, left)
				reserved.Add(1)
			})
		}

		all.Wait()
		require.Equal(t, int64(1), reserved.Load())
	}

	left, err := stores[0].Left(t.Context(), rounds+3)
	require.NoError(t, err)
	assert.Equal(t, 3, left)
}

func block(t *testing.T, where string) {
	s := open(t, where)
	until := time.Now().Add(50 * time.Minute).Truncate(time.Millisecond).UTC()
	require.NoError(t, s.Block(t.Context(), until))
	require.NoError(t, s.Block(t.Context(), until.Add(-time.Minute)), "the later one stands")

	_, err := s.Reserve(t.Context(), 90)
	var quota *store.QuotaError
	require.ErrorAs(t, err, &quota)
	assert.Equal(t, until, quota.Until)

	left, err := s.Left(t.Context(), 90)
	require.NoError(t, err)
	assert.Zero(t, left)
}

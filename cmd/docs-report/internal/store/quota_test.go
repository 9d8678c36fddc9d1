//go:build unix

package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// The budget is for all runs on the database, and for any hour.
func budget(t *testing.T, where string) {
	for range 3 {
		s := open(t, where)
		require.NoError(t, s.Take(t.Context()))
		_, err := s.Reserve(t.Context(), 3)
		require.NoError(t, err)
		require.NoError(t, s.Release(t.Context()))
	}

	s := open(t, where)
	require.NoError(t, s.Take(t.Context()))
	_, err := s.Reserve(t.Context(), 3)
	var quota *store.QuotaError
	require.ErrorAs(t, err, &quota)
	assert.WithinDuration(t, time.Now().Add(time.Hour), quota.Until, time.Minute)

	left, err := s.Left(t.Context(), 5)
	require.NoError(t, err)
	assert.Equal(t, 2, left)

	_, err = rawDatabase(t, where).ExecContext(t.Context(), `UPDATE docs_requests SET sent_at = sent_at - 3600000`)
	require.NoError(t, err)
	left, err = s.Reserve(t.Context(), 3)
	require.NoError(t, err)
	assert.Equal(t, 2, left)
}

func block(t *testing.T, where string) {
	s := open(t, where)
	require.NoError(t, s.Take(t.Context()))
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

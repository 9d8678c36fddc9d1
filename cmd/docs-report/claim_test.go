//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// A run that is slow between its look at an export and its claim must not load again what
// another run has loaded meanwhile: each page costs a request of the hour's quota. SQLite
// lets no other run write meanwhile.
func TestAnExportThatAnotherRunCompletesMeanwhileIsNotClaimed(t *testing.T) {
	where := startPostgres(t).Database(t)
	slow := open(t, where)
	fast := open(t, where)

	looked := false
	isEnough := func(complete store.Export) bool {
		if looked {
			return !complete.At.IsZero()
		}
		looked = true

		export := begin(t, fast)
		_, err := fast.Append(t.Context(), export, page("whole", 0, 3, false))
		require.NoError(t, err)
		return false
	}
	_, _, err := slow.Claim(t.Context(), window, store.Visitors, window.From.Time(), isEnough)

	require.ErrorIs(t, err, store.ErrOvertaken)
	assert.Len(t, rowsOf(t, slow), 3)
	_, running, err := slow.Find(t.Context(), window, store.Visitors)
	require.NoError(t, err)
	assert.Zero(t, running.At, "nothing is left of the claim")
}

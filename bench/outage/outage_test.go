package outage

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The figures of docs/performance.md.
func TestOutage(t *testing.T) {
	for _, tc := range []struct {
		outage    string
		readsWork bool
		column    string
		send      program
		want      cost
	}{
		{
			outage: "everything",
			column: "once", send: throughOnce, want: cost{unknown: 1}, // the send in progress
		},
		{
			outage: "everything",
			column: "create", send: create, want: cost{unknown: 190},
		},
		{
			outage: "everything",
			column: "retries", send: retry, want: cost{twice: 15},
		},

		{
			outage: "POSTs", readsWork: true,
			column: "once", send: throughOnce, want: cost{unknown: 5},
		},
		{
			outage: "POSTs", readsWork: true,
			column: "create", send: create, want: cost{unknown: 190},
		},
		{
			outage: "POSTs", readsWork: true,
			column: "retries", send: retry, want: cost{twice: 15},
		},
	} {
		t.Run(tc.column+" in an outage of "+tc.outage, func(t *testing.T) {
			var got cost
			synctest.Test(t, func(t *testing.T) {
				var err error
				got, err = measure(t.Context(), tc.send, tc.readsWork)
				require.NoError(t, err)
			})
			assert.Equal(t, tc.want, got)
			t.Logf("%d unknown, %d made twice", got.unknown, got.twice)
		})
	}
}

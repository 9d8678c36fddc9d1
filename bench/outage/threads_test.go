package outage

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The figures of docs/performance.md.
func TestMessagesAndReports(t *testing.T) {
	for _, tc := range []struct {
		outage    string
		readsWork bool
		column    string
		send      messenger
		want      threadsCost
	}{
		{
			outage: "everything",
			column: "once", send: messagesThroughOnce, want: threadsCost{},
		},
		{
			outage: "everything",
			column: "create", send: messageOnce, want: threadsCost{unknown: 90, untold: 81},
		},
		{
			outage: "everything",
			column: "retries", send: retryMessages, want: threadsCost{twice: 15, disordered: 15},
		},

		{
			outage: "POSTs", readsWork: true,
			column: "once", send: messagesThroughOnce,
			want: threadsCost{unknown: 5, toldTwice: 4, late: 6*time.Minute + 6*time.Second},
		},
		{
			outage: "POSTs", readsWork: true,
			column: "create", send: messageOnce, want: threadsCost{unknown: 90, untold: 90},
		},
		{
			outage: "POSTs", readsWork: true,
			column: "retries", send: retryMessages, want: threadsCost{twice: 15, disordered: 15},
		},
	} {
		t.Run(tc.column+" in an outage of "+tc.outage, func(t *testing.T) {
			var got threadsCost
			synctest.Test(t, func(t *testing.T) {
				var err error
				got, err = measureThreads(t.Context(), tc.send, tc.readsWork)
				require.NoError(t, err)
			})
			got.late = got.late.Round(time.Second)
			late := tc.want.late
			assert.InDelta(t, late, got.late, float64(late)/2, "a report is tried again after a random time")
			assert.InDelta(t, tc.want.toldTwice, got.toldTwice, 2)
			tc.want.late = got.late
			tc.want.toldTwice = got.toldTwice
			assert.Equal(t, tc.want, got)

			t.Logf("%+v", got)
		})
	}
}

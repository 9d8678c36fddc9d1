package outage

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/bench"
)

var figures = flag.String("figures", "", "append the figures to this file, for cmd/report")

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
			write(t,
				bench.Figure{Row: "outage of " + tc.outage + " unknown", Column: tc.column, Value: float64(got.unknown)},
				bench.Figure{Row: "outage of " + tc.outage + " twice", Column: tc.column, Value: float64(got.twice)})
		})
	}
}

// write appends to the file of -figures, if it is set.
func write(t *testing.T, all ...bench.Figure) {
	t.Helper()
	if *figures == "" {
		return
	}

	file, err := os.OpenFile(*figures, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	encoder := json.NewEncoder(file)
	for _, figure := range all {
		require.NoError(t, encoder.Encode(figure))
	}
	require.NoError(t, file.Close())
}

package gateways

import (
	"flag"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/clients"
	"github.com/mintlify-community/mintlify-go/bench/sdk"
	"github.com/mintlify-community/mintlify-go/internal/http2server"
)

var figures = flag.String("figures", "", "append the figures to this file, for cmd/report")

// columns are all clients, and the SDK on a transport that rewords errors.
var columns = slices.Concat(clients.All, []clients.Column{{
	Name:    "reworded",
	Package: "sdk",
	New: func(baseURL string, transport http.RoundTripper) bench.Client {
		return sdk.New(baseURL, rewording{next: transport})
	},
}})

// The figures of docs/performance.md.
func TestPromptsBehindAGatewayThatRenewsConnections(t *testing.T) {
	for _, column := range columns {
		t.Run(column.Name, func(t *testing.T) {
			got := count(t, "renewals", column, renews)
			if column.Name == "reworded" {
				// How many Creates are on their way differs a little from run to run.
				assert.InDelta(t, 650, len(got.failures), 50)
				return
			}
			assert.Empty(t, got.failures)
			assert.Zero(t, got.extra)
		})
	}
}

// The figures of docs/performance.md.
func TestPromptsBehindAGatewayThatRefusesWhatTheServiceActedOn(t *testing.T) {
	for _, column := range columns {
		t.Run(column.Name, func(t *testing.T) {
			got := count(t, "refusals", column, loses)
			if column.Package == "sdk" {
				assert.Len(t, got.failures, creates/every)
				assert.Zero(t, got.extra)
				return
			}
			assert.Empty(t, got.failures, "net/http sends again what was refused")
			assert.Equal(t, 84, got.extra)
		})
	}
}

// count measures a column in virtual time, and writes its figures.
func count(
	t *testing.T, row string, column clients.Column, refuses func(*gateway, *http2server.Stream) bool,
) cost {
	t.Helper()
	var got cost
	synctest.Test(t, func(t *testing.T) {
		got = measure(t.Context(), column.New, &gateway{refuses: refuses})
	})
	if column.Package == "sdk" {
		for _, err := range got.failures {
			require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		}
	}

	t.Logf("%d failed, %d jobs too many", len(got.failures), max(got.extra, 0))
	require.NoError(t, bench.Append(*figures,
		bench.Figure{Row: row + " failed", Column: column.Name, Value: float64(len(got.failures))},
		bench.Figure{Row: row + " extra", Column: column.Name, Value: float64(max(got.extra, 0))}))
	return got
}

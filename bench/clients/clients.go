// Package clients lists the clients that are compared, which are the columns of benchstat.
package clients

import (
	"slices"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/byhand"
	"github.com/mintlify-community/mintlify-go/bench/oapi"
	"github.com/mintlify-community/mintlify-go/bench/ogen"
	"github.com/mintlify-community/mintlify-go/bench/retryable"
	"github.com/mintlify-community/mintlify-go/bench/sdk"
)

// Column is one way to use the service.
type Column struct {
	Name     string
	New      bench.New
	Prefetch int // pages that an export prefetches
}

// All is every column. The others are compared with the first.
var All = []Column{
	{Name: "byhand", New: byhand.New},
	{Name: "retryable", New: retryable.New},
	{Name: "oapi", New: oapi.New},
	{Name: "ogen", New: ogen.New},
	{Name: "sdk", New: sdk.New},
}

// Exporting is every column, and the SDK twice more, with prefetch.
var Exporting = slices.Concat(All, []Column{
	{Name: "prefetch1", New: sdk.New, Prefetch: 1},
	{Name: "prefetch4", New: sdk.New, Prefetch: 4},
})

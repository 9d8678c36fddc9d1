// Package columns lists the clients that are compared: the columns of the table.
package columns

import (
	"slices"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/loop"
	"github.com/mintlify-community/mintlify-go/bench/oapi"
	"github.com/mintlify-community/mintlify-go/bench/ogen"
	"github.com/mintlify-community/mintlify-go/bench/retryable"
	"github.com/mintlify-community/mintlify-go/bench/sdk"
)

// Column is one way to use the service.
type Column struct {
	Name, Package string // the package is in a folder of its name
	New           bench.New
	Prefetch      int // pages, of an export
}

// All is every column. The others are compared with the first.
var All = []Column{
	{"loop", "loop", loop.New, 0},
	{"retryable", "retryable", retryable.New, 0},
	{"oapi", "oapi", oapi.New, 0},
	{"ogen", "ogen", ogen.New, 0},
	{"sdk", "sdk", sdk.New, 0},
}

// Exporting is every column, and the SDK twice more, with prefetch.
var Exporting = slices.Concat(All, []Column{
	{"prefetch1", "sdk", sdk.New, 1},
	{"prefetch4", "sdk", sdk.New, 4},
})

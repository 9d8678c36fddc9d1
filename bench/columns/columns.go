// Package columns names what is compared.
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
	Name string
	New  bench.New
}

// All is every column, the one that the others are compared with first.
var All = []Column{
	{"loop", loop.New},
	{"retryable", retryable.New},
	{"oapi", oapi.New},
	{"ogen", ogen.New},
	{"sdk", sdk.New},
}

// Exporting is every column, and the SDK twice more, with prefetch.
var Exporting = slices.Concat(All, []Column{
	{"prefetch", sdk.NewPrefetching(1)},
	{"prefetch4", sdk.NewPrefetching(4)},
})

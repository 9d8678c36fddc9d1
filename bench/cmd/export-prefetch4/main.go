// Command export-prefetch4 exports with one column, and links no other.
package main

import (
	"github.com/mintlify-community/mintlify-go/bench/export"
	"github.com/mintlify-community/mintlify-go/bench/sdk"
)

func main() { export.Main(sdk.NewPrefetching(4)) }

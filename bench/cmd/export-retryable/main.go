// Command export-retryable exports with one column, and links no other.
package main

import (
	"github.com/mintlify-community/mintlify-go/bench/export"
	"github.com/mintlify-community/mintlify-go/bench/retryable"
)

func main() { export.Main(retryable.New) }

// Command export-loop exports with one column, and links no other.
package main

import (
	"github.com/mintlify-community/mintlify-go/bench/export"
	"github.com/mintlify-community/mintlify-go/bench/loop"
)

func main() { export.Main(loop.New) }

// Command export-ogen exports with one column, and links no other.
package main

import (
	"github.com/mintlify-community/mintlify-go/bench/export"
	"github.com/mintlify-community/mintlify-go/bench/ogen"
)

func main() { export.Main(ogen.New) }

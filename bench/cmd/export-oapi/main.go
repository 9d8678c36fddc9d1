// Command export-oapi exports with one column, and links no other.
package main

import (
	"github.com/mintlify-community/mintlify-go/bench/export"
	"github.com/mintlify-community/mintlify-go/bench/oapi"
)

func main() { export.Main(oapi.New) }

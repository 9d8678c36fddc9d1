// Command programs prints what the programs of examples/ cost: cd bench && go run ./cmd/programs
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/mintlify-community/mintlify-go/bench/programs"
)

func main() {
	log.SetFlags(0)
	rows, err := programs.Measure(context.Background(), "..")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(programs.Table(rows))
}

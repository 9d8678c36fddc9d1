// Command duplicates prints how many jobs one prompt makes on a bad day, sent by
// curl with --retry and by the SDK: cd bench && go run ./cmd/duplicates
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/mintlify-community/mintlify-go/bench/duplicates"
)

func main() {
	log.SetFlags(0)
	rows, err := duplicates.Measure(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(duplicates.Table(rows))
}

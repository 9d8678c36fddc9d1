// Command report runs what measures, again and again, and writes docs/performance.md
// and the picture beside it. bench/run builds it and all that it runs.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/mintlify-community/mintlify-go/bench/figures"
	"github.com/mintlify-community/mintlify-go/bench/schedule"
)

const (
	few  = 100_000 // rows
	many = 1_000_000
)

func main() {
	log.SetFlags(0)
	bin := flag.String("bin", "", "folder of the programs to run, with the newer Go's measure in next/")
	output := flag.String("o", "../docs/performance.md", "file to write; the picture comes beside it")
	runs := flag.Int("runs", 10, "how often each figure is measured")
	flag.Parse()
	if *runs < 1 {
		log.Fatalf("-runs is %d, want 1 or more", *runs)
	}
	checkWritable(*output)
	start := time.Now()
	m := &measuring{bin: *bin, figures: figures.Set{}}
	m.all(*runs)
	polling := schedule.Compare(schedule.Jobs(few, rand.New(rand.NewPCG(1, 2))), rand.New(rand.NewPCG(3, 4)))
	picture := filepath.Join(filepath.Dir(*output), "polling.svg")
	if err := drawPicture(polling, picture); err != nil {
		log.Fatal(err)
	}
	page, err := render(m, polling, *runs, time.Since(start))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*output, page, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("wrote %s and %s\n", *output, picture)
}

// checkWritable ends the program now rather than after all measuring.
func checkWritable(path string) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}

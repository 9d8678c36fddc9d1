// Command report runs what measures, again and again, and writes docs/performance.md,
// the pictures beside it, and bench/figures.json. It says what has changed since those
// were committed. bench/run builds it and all that it runs.
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
	slow = 25_000 // rows, of exports with latency
	few  = 100_000
	many = 1_000_000
)

func main() {
	log.SetFlags(0)
	bin := flag.String("bin", "", "folder of the programs to run, with the newer Go's measure in next/")
	output := flag.String("o", "../docs/performance.md", "file to write; the pictures come beside it")
	committed := flag.String("committed", "", "file with the committed figures, to compare with")
	summarized := flag.String("figures", "figures.json", "file to write this run's figures to")
	runs := flag.Int("runs", 10, "how often each figure is measured")
	flag.Parse()
	if *runs < 1 {
		log.Fatalf("-runs is %d, want 1 or more", *runs)
	}
	checkWritable(*output)
	checkWritable(*summarized)
	start := time.Now()
	m := &measuring{bin: *bin, figures: figures.Set{}}
	m.all(*runs)
	pictures := filepath.Dir(*output)
	polling := schedule.Compare(schedule.Jobs(few, rand.New(rand.NewPCG(1, 2))), rand.New(rand.NewPCG(3, 4)))
	check(drawPicture(polling, filepath.Join(pictures, "polling.svg")))
	check(drawRatios(m.figures, filepath.Join(pictures, "ratios.svg")))
	check(drawExports(m.figures, filepath.Join(pictures, "exports.svg")))
	page, err := render(m, polling, *runs, time.Since(start))
	check(err)
	check(os.WriteFile(*output, page, 0o644))
	before, err := readCommitted(*committed)
	check(err)
	now := summary(m.figures)
	check(writeCommitted(*summarized, now))
	fmt.Printf("wrote %s, the pictures beside it, and %s\n\n%s", *output, *summarized, changes(before, now))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// checkWritable ends the program now rather than after all measuring.
func checkWritable(path string) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	check(err)
	check(file.Close())
}

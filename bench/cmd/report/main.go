// Command report makes docs/performance.md from bench/figures.json. With -runs it first
// makes figures.json from what the measuring programs have printed, read from standard input.
package main

import (
	"flag"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	path := flag.String("figures", "figures.json", "the figures")
	page := flag.String("page", "../docs/performance.md", "the page to write")
	runs := flag.Int("runs", 0, "runs that standard input has figures of")
	flag.Parse()

	if *runs > 0 {
		measured, err := read(os.Stdin)
		check(err)
		check(summarize(measured, *runs).write(*path))
	}

	all, err := load(*path)
	check(err)
	text, err := all.render()
	check(err)
	check(os.WriteFile(*page, text, 0o644))
	log.Printf("wrote %s", *page)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

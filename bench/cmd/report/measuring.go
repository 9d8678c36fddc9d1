package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/export"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

const (
	next    = "next " // before the names of rows measured on the newer Go
	batches = 5       // of calls a round, whose CPU differs most from one to the next
)

// measuring runs the programs in bin and gathers their figures.
type measuring struct {
	bin     string
	figures figures.Set
}

// all measures everything, each round every column, so that what else the machine
// does strikes all alike.
func (m *measuring) all(runs int) {
	small, large := m.serve(few), m.serve(many)
	defer small.stop()
	defer large.stop()
	m.measure("", "measure", "-group", "requests")
	start := time.Now()
	for round := range runs {
		for range batches {
			m.measure("", "measure", "-group", "operations")
			m.measure(next, "next/measure", "-group", "operations")
		}
		for _, column := range columns.All { // what goroutines took is not given back, so each has a process
			m.measure("", "measure", "-group", "waits", "-column", column.Name)
			m.measure("", "measure", "-group", "connections", "-column", column.Name, "-server", small.url)
		}
		m.measure("", "measure", "-group", "exports", "-server", small.url)
		m.memory("few", small.url, few)
		m.memory("many", large.url, many)
		spent := time.Since(start)
		left := spent / time.Duration(round+1) * time.Duration(runs-round-1)
		fmt.Printf("round %d of %d, about %v to go\n", round+1, runs, left.Round(10*time.Second))
	}
	m.sizes()
}

func (m *measuring) measure(prefix, program string, args ...string) {
	round := figures.Set{}
	if err := round.Read(bytes.NewReader(m.run(program, args...))); err != nil {
		log.Fatal(err)
	}
	for row, byColumn := range round {
		for column, values := range byColumn {
			for _, value := range values {
				m.figures.Add(figures.Figure{Row: prefix + row, Column: column, Value: value})
			}
		}
	}
}

// memory measures that of an export, of a process for each column.
func (m *measuring) memory(size, url string, rows int) {
	for _, column := range append(slices.Clip(columns.All), columns.Prefetching) {
		var memory export.Memory
		if err := json.Unmarshal(m.run("export-"+column.Name, url, strconv.Itoa(rows)), &memory); err != nil {
			log.Fatal(err)
		}
		m.figures.Add(figures.Figure{Row: "peak of " + size, Column: column.Name, Value: memory.Peak * 1024})
		m.figures.Add(figures.Figure{Row: "file of " + size, Column: column.Name, Value: memory.File * 1024})
	}
}

// sizes are of the programs that export, which have a column each.
func (m *measuring) sizes() {
	for _, column := range columns.All {
		program := "export-" + column.Name
		file, err := os.Stat(filepath.Join(m.bin, program))
		if err != nil {
			log.Fatal(err)
		}
		m.figures.Add(figures.Figure{Row: "size", Column: column.Name, Value: float64(file.Size())})
		list := exec.CommandContext(context.Background(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/"+program)
		list.Stderr = os.Stderr
		modules, err := list.Output()
		if err != nil {
			log.Fatal(err)
		}
		linked := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(modules)))))
		m.figures.Add(figures.Figure{Row: "modules", Column: column.Name, Value: float64(len(linked) - 1)}) // this one apart
	}
}

func (m *measuring) run(program string, args ...string) []byte {
	command := exec.CommandContext(context.Background(), filepath.Join(m.bin, program), args...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		log.Fatalf("%s %v: %v", program, args, err)
	}
	return output
}

// server is cmd/serve under way, which ends when its standard input does.
type server struct {
	url  string
	stop func()
}

func (m *measuring) serve(rows int) server {
	command := exec.CommandContext(context.Background(), filepath.Join(m.bin, "serve"), "-rows", strconv.Itoa(rows))
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := command.Start(); err != nil {
		log.Fatal(err)
	}
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	return server{strings.TrimSpace(url), func() {
		stdin.Close()
		_ = command.Wait()
	}}
}

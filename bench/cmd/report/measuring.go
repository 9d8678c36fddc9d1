package main

import (
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

// Before the names of rows measured otherwise.
const (
	next    = "next " // on the newer Go
	overTLS = "TLS "  // and HTTP/2
)

const batches = 3 // of calls a round, whose CPU differs most from one to the next

// measuring runs the programs in bin and gathers their figures.
type measuring struct {
	bin      string
	figures  figures.Set
	programs string // the table of cmd/programs
}

// all measures everything, each round every column, so that what else the machine
// does strikes all alike.
func (m *measuring) all(runs int) {
	servers := map[string]server{
		"few": m.serve(few), "many": m.serve(many),
		"": m.serve(slow), overTLS: m.serve(slow, "-certificate", filepath.Join(m.bin, certificate)),
	}
	for _, s := range servers {
		defer s.stop()
	}
	m.measure("", "measure", "-group", "requests")
	m.measure("", "measure", "-group", "hostile")
	start := time.Now()
	for round := range runs {
		m.inMemory()
		m.overSockets("", servers[""].url)
		m.overSockets(overTLS, servers[overTLS].url)
		m.memory("few", servers["few"].url, few)
		m.memory("many", servers["many"].url, many)
		m.starts()
		spent := time.Since(start)
		left := spent / time.Duration(round+1) * time.Duration(runs-round-1)
		fmt.Printf("round %d of %d, about %v to go\n", round+1, runs, left.Round(10*time.Second))
	}
	m.sizes()
	m.programs = string(m.run("programs"))
}

// inMemory measures what needs no server.
func (m *measuring) inMemory() {
	for range batches {
		m.measure("", "measure", "-group", "operations")
		m.measure(next, "next/measure", "-group", "operations")
	}
	m.measure("", "measure", "-group", "others")
	m.measure(next, "next/measure", "-group", "others")
	m.measure("", "measure", "-group", "foreign")
	for _, column := range columns.All { // what goroutines took is not given back, so each has a process
		m.measure("", "measure", "-group", "waits", "-column", column.Name)
	}
}

func (m *measuring) overSockets(prefix, url string) {
	m.measure(prefix, "measure", "-group", "calls", "-server", url)
	m.measure(prefix, "measure", "-group", "exports", "-server", url)
	for _, column := range columns.All {
		m.measure(prefix, "measure", "-group", "connections", "-column", column.Name, "-server", url)
		m.measure(prefix, "measure", "-group", "polls", "-column", column.Name, "-server", url)
	}
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
	for _, column := range columns.Exporting {
		memory := read(m.run("export-"+column.Name, url, strconv.Itoa(rows)))
		m.figures.Add(figures.Figure{Row: "peak of " + size, Column: column.Name, Value: memory.Peak * 1024})
		m.figures.Add(figures.Figure{Row: "file of " + size, Column: column.Name, Value: memory.File * 1024})
	}
}

func read(output []byte) (memory export.Memory) {
	if err := json.Unmarshal(output, &memory); err != nil {
		log.Fatal(err)
	}
	return memory
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
	command := m.command(program, args...)
	output, err := command.Output()
	if err != nil {
		log.Fatalf("%s %v: %v", program, args, err)
	}
	return output
}

// command trusts the certificate of the server that speaks TLS.
func (m *measuring) command(program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(context.Background(), filepath.Join(m.bin, program), args...)
	command.Env = append(os.Environ(), "SSL_CERT_FILE="+filepath.Join(m.bin, certificate))
	command.Stderr = os.Stderr
	return command
}

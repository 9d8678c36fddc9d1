package main

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/figures"
)

const startsARound = 10 // of each program

// starts measures programs that make a client and end.
func (m *measuring) starts() {
	for range startsARound {
		for _, column := range columns.All {
			m.start(column.Name)
		}
	}
	for _, column := range columns.All {
		m.inits(column.Name)
	}
}

func (m *measuring) start(column string) {
	command := m.command("export-"+column, "https://127.0.0.1:1", "0")
	start := time.Now()
	output, err := command.Output()
	took := time.Since(start)
	if err != nil {
		log.Fatal(err)
	}
	cpu := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	m.figures.Add(figures.Figure{Row: "start time", Column: column, Value: float64(took.Nanoseconds())})
	m.figures.Add(figures.Figure{Row: "start cpu", Column: column, Value: float64(cpu.Nanoseconds())})
	m.figures.Add(figures.Figure{Row: "peak at start", Column: column, Value: read(output).Peak * 1024})
}

// inits adds up what the runtime tells of each package's init functions.
func (m *measuring) inits(column string) {
	command := m.command("export-"+column, "https://127.0.0.1:1", "0")
	var trace bytes.Buffer
	command.Stderr, command.Env = &trace, append(command.Env, "GODEBUG=inittrace=1")
	if _, err := command.Output(); err != nil {
		log.Fatal(err)
	}
	var clock, allocated float64
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, ms, size float64
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %f bytes,", &name, &at, &ms, &size); err != nil {
			log.Fatalf("%s: %v", line, err)
		}
		clock += ms
		allocated += size
	}
	m.figures.Add(figures.Figure{Row: "init time", Column: column, Value: clock * 1e6})
	m.figures.Add(figures.Figure{Row: "init bytes", Column: column, Value: allocated})
}

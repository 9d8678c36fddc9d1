//go:build unix

package main

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documented has the flags that a text names for each command.
type documented map[string][]string

var flagForm = regexp.MustCompile(`(?:^|[ (|\x60\[])-([a-z]+(?:-[a-z]+)*)`)

func (d documented) note(command, text string) {
	for _, found := range flagForm.FindAllStringSubmatch(text, -1) {
		d[command] = append(d[command], found[1])
	}
	d[command] = append(d[command], "")
}

// check checks that a text names all commands in their order, and only flags that they take.
func (d documented) check(t *testing.T, text string) {
	for _, c := range (&program{}).commands() {
		require.Contains(t, d, c.name, text)

		for _, name := range d[c.name] {
			assert.True(t, name == "" || slices.Contains(flagsOf(c), name), "%s: %s takes no -%s", text, c.name, name)
		}
		if c.name == "work" || c.name == "serve" {
			continue // their other flags are for -h
		}
		for _, name := range flagsOf(c) {
			assert.Contains(t, d[c.name], name, "%s lacks a flag of %s", text, c.name)
		}
	}
	for name := range d {
		_, err := (&program{}).commandOf(name)
		assert.NoError(t, err, text)
	}
}

// TestUsageNamesEveryCommand, each with the flags that it takes.
func TestUsageNamesEveryCommand(t *testing.T) {
	named := documented{}
	for _, line := range regexp.MustCompile(`(?m)^  fleet ([a-z]+)(.*)$`).FindAllStringSubmatch(usageText, -1) {
		named.note(line[1], line[2])
	}
	named.check(t, "usage.txt")
}

// TestREADMENamesEveryCommand in its table. A cell may name several: all take its flags.
func TestREADMENamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	table := ""
	for _, name := range []string{"every day", "on a bad day"} {
		_, rest, found := strings.Cut(string(readme), "| "+name+" | |\n|---|---|\n")
		require.True(t, found, name)
		rows, _, _ := strings.Cut(rest, "\n\n")
		table += rows + "\n"
	}

	named := documented{}
	for row := range strings.Lines(table) {
		cells := strings.SplitN(row, "|", 3)
		for _, name := range regexp.MustCompile("`([a-z]+)").FindAllStringSubmatch(cells[1], -1) {
			named.note(name[1], cells[1])
		}
	}
	named.check(t, "README.md")
}

// flagsOf returns the names of the flags that a command takes.
func flagsOf(c command) []string {
	var names []string
	(&program{}).flagsOf(c).VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestREADMENamesEveryFlag(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `-.*").FindAllString(string(readme), -1) {
		for _, name := range regexp.MustCompile("`-([a-z-]+)`").FindAllStringSubmatch(row, -1) {
			named[name[1]] = true
		}
	}

	taken := map[string]bool{}
	r := newRig(t, site(1))
	for _, command := range []string{"sync", "plan", "status", "report", "digest", "forget"} {
		require.Zero(t, r.run(t.Context(), command, "-h"), command)
		for _, name := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(r.stdout, -1) {
			taken[name[1]] = true
			assert.Contains(t, named, name[1], "README lacks a flag of %s", command)
		}
	}
	for name := range named {
		assert.Contains(t, taken, name, "README has a flag that no command takes")
	}
}

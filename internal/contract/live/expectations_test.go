package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a row says depends on the service is in the code under that name.
func TestRowsNameConstantsAndRulesThatThereAre(t *testing.T) {
	root := readAll(t, "../../../*.go")
	all := root + readAll(t, "../../../once/*.go")

	texts := []string{askingIsWrong}
	for _, e := range expectations() {
		texts = append(texts, e.depends)
	}
	for _, text := range texts {
		files := regexp.MustCompile(`[a-z/]+\.go`).FindAllString(text, -1)
		for _, file := range files {
			assert.FileExists(t, filepath.Join("../../..", file), text)
		}

		for _, name := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(text, -1) {
			parts := strings.Split(name[1], ".")
			assert.Regexp(t, `\b`+parts[len(parts)-1]+`\b`, all, text)
		}
		for _, match := range regexp.MustCompile("`([A-Za-z]+)` in ([a-z/]+\\.go)").FindAllStringSubmatch(text, -1) {
			code := readAll(t, filepath.Join("../../..", match[2]))
			assert.Regexp(t, `\b`+match[1]+`\b`, code, text)
		}
	}
}

func readAll(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)

	var all strings.Builder
	for _, path := range paths {
		code, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(code)
	}
	return all.String()
}

func TestExpectationsHaveNamesOfTheirOwn(t *testing.T) {
	names := map[expectation]bool{}
	texts := map[string]bool{}
	for _, e := range expectations() {
		assert.False(t, names[e.name], e.name)
		assert.False(t, texts[e.text], e.text)
		names[e.name] = true
		texts[e.text] = true
		assert.NotEmpty(t, e.needs, e.name)
		assert.NotContains(t, e.text+e.depends+e.needs, "|")
	}
}

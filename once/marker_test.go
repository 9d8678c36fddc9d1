package once_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/once"
)

func TestFindMarkerInMarkdown(t *testing.T) {
	const want = "acme/api@1"
	for _, text := range []string{
		"docs-job: acme/api@1",
		"DOCS-JOB: acme/api@1",
		"Docs-Job: acme/api@1",
		"docs-job:acme/api@1",
		"> docs-job: acme/api@1",
		">> docs-job: acme/api@1",
		"> > docs-job: acme/api@1",
		"- docs-job: acme/api@1",
		"* docs-job: acme/api@1",
		"+ docs-job: acme/api@1",
		"`docs-job: acme/api@1`",
		"``docs-job: acme/api@1``",
		"**docs-job: acme/api@1**",
		"__docs-job: acme/api@1__",
		"*docs-job: acme/api@1*",
		"_docs-job: acme/api@1_",
		"**docs-job:** acme/api@1",
		"**docs-job**: acme/api@1",
		"**Docs-Job:** `acme/api@1`",
		"`docs-job:` acme/api@1",
		"docs-job: `acme/api@1`",
		"docs-job: **acme/api@1**",
		"**docs-job:** **acme/api@1**",
		"<!-- docs-job: acme/api@1 -->",
		"<!--docs-job: acme/api@1-->",
		"> - **`docs-job: acme/api@1`**  ",
		"<!-- **docs-job:** acme/api@1 -->",
		"<!--\ndocs-job: acme/api@1\n-->",
		"<!-- docs-job: acme/api@1\n-->",
		"<!-- made by a program\ndocs-job: acme/api@1 -->",
		"1. docs-job: acme/api@1",
		"12) **docs-job:** acme/api@1",
		"- [ ] docs-job: acme/api@1",
		"* [X] `docs-job: acme/api@1`",
		"## docs-job: acme/api@1",
		"| docs-job: acme/api@1 |",
		"|`docs-job: acme/api@1`|",
		"`docs-job: acme/api@1`.",
		"**docs-job: acme/api@1**.",
		"docs-job: `acme/api@1`.",
		"**docs-job:** **acme/api@1**.",
		"It adds a page.\r\n\r\n`docs-job: acme/api@1`\r\n",
		"docs-job: first\n\n**docs-job:** acme/api@1\n\nThanks!",
	} {
		got, ok := once.FindMarker(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"see docs-job: acme/api@1",
		"`docs-job: acme/api@1` is the marker",
		"docs-jobs: acme/api@1",
		"docs-job acme/api@1",
		"**docs-job:**",
		"docs-job: ``",
		"docs-job: `acme/api @1`",
		"# docs: acme/api@1",
		"docs: add the marker",
		"1. Add docs-job: acme/api@1",
		"- [docs-job: acme/api@1] is the marker",
		"## docs-job: the marker",
		"| docs-job: acme/api@1 | the marker |",
		"https://example.com/docs-job:acme/api@1",
		strings.Repeat("1. ", 10000),
		strings.Repeat(".", 10000),
		strings.Repeat(">", 10000),
		"",
	} {
		got, ok := once.FindMarker(text)
		assert.False(t, ok, text)
		assert.Empty(t, got, text)
	}
}

// The exact text counts first: a key may begin or end like Markdown.
func TestFindMarkerFindsWhatMarkerWrites(t *testing.T) {
	keys := []string{"a", "__init__", "*", "_a_", "a`", "**a", "-->", "<!--a", ">a", "docs-job:", "`", "a.", "a|", "#", "1.", "[x]", "ключ", "a*b"}
	for _, key := range keys {
		got, ok := once.FindMarker(once.Marker(key))
		assert.True(t, ok, key)
		assert.Equal(t, key, got)

		got, ok = once.FindMarker("> " + once.Marker(key))
		assert.True(t, ok, key)
		assert.Equal(t, key, got, "quoted")
	}
}

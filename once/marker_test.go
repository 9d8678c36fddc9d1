package once_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

func TestFindMarkerInMarkdown(t *testing.T) {
	const want = "acme/api@1"
	assert.Equal(t, "docs-job: "+want, once.Marker(want))
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
		"docs-job: first\ntext\ndocs-job: acme/api@1\ndocs-job: a b\n ",
		"docs-job: acme/api@1.",
		"docs-job: acme/api@1,",
		"docs-job: acme/api@1;",
		"**docs-job:** acme/api@1.",
		"> docs-job: acme/api@1,",
		"- `docs-job: acme/api@1`;",
		"<sub>docs-job: acme/api@1</sub>",
		"<sub>docs-job: acme/api@1</sub>.",
		"<SUB>docs-job: acme/api@1</SUB>",
		"<p align=\"right\"><sub><code>docs-job: acme/api@1</code></sub></p>",
		"<b>docs-job:</b> acme/api@1",
		"<b>docs-job</b>: acme/api@1<br>",
		"docs-job: <code>acme/api@1</code>",
		"<sub>docs-job: acme/api@1",
		"docs-job: acme/api@1<br />",
		"\"docs-job: acme/api@1\"",
		"'docs-job: acme/api@1'",
		"“docs-job: acme/api@1”",
		"‘docs-job: acme/api@1’.",
		"«docs-job: acme/api@1»",
		"docs-job: \"acme/api@1\"",
		"docs-job: “acme/api@1”.",
		"docs-job: _acme/api@1_",
		"docs-job:`acme/api@1`",
		"<sub>`docs-job: acme/api@1`</sub>",
		"> <sub>**docs-job:** \"acme/api@1\"</sub>.",
		"docs-job: [acme/api@1](https://github.com/acme/api/commit/1)",
		"docs-job: [acme/api@1](https://example.com/a_(b)).",
		"docs-job: [`acme/api@1`](https://example.com \"the commit\")",
		"**docs-job:** [acme/api@1](https://example.com/1)",
		"> - docs-job: [**acme/api@1**](<https://example.com/1>)",
		"[docs-job: acme/api@1](https://example.com/1)",
		"docs-job: acme/api\\@1",
		"docs-job: acme/api\\@1\\.",
		"docs-job: acme/api@1\\",
		"**docs-job:** acme/api\\@1",
		"docs-job:\nacme/api@1",
		"docs-job: \r\nacme/api@1\r\n\nThanks!",
		"Text.\n\ndocs-job:\n  acme/api@1.\n",
		"**docs-job:**\nacme/api@1",
		"`docs-job:\nacme/api@1`",
		"> docs-job:\n> acme/api@1",
		"docs-job:\n[acme/api@1](https://example.com/1)",
		"docs-job: acme/api@1\n" + strings.Repeat("docs-job is the name of the marker.\n", 10),
		"docs-job: acme/api@1\n" + strings.Repeat("docs-job:", 1000),
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
		"> docs-job: fix",
		"- docs-job: fix.",
		"`docs-job: fix`",
		"Docs-Job: fix",
		"<!-- docs-job: fix -->",
		"<sub>docs-job: none</sub>",
		"\"docs-job: KEY\",",
		"docs-job acme/api@1.",
		"docs-job",
		"docs-job:",
		"docs-job: ",
		"docs-job:\n",
		"docs-job:\n\nacme/api@1",
		"docs-job:\nfix",
		"docs-job:\nacme/api@1 is the key",
		"docs-job:\nsee acme/api@1",
		"docs-job:\n" + strings.Repeat("1", 1001),
		"see docs-job:\nacme/api@1",
		"docs-job: [acme/api@1](https://example.com/1) is the key",
		"docs-job: [the commit](https://example.com/1)",
		"docs-job: a\\b",
		"ocs-job: acme/api@1",
		"<sub>docs-job: acme/api@1</sub> is the marker",
		strings.Repeat("> ", 10000) + "docs-job: acme/api@1",
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

func TestFindMarkerFindsAddressesAndEscapedKeys(t *testing.T) {
	for text, want := range map[string]string{
		"docs-job: <https://example.com/acme/api/pull/7>":     "https://example.com/acme/api/pull/7",
		"**docs-job:** <https://example.com/7>.":              "https://example.com/7",
		"docs-job: [https://example.com/7](https://a.test/7)": "https://example.com/7",
		"docs-job: https://example.com/7":                     "https://example.com/7",
		"> docs-job: <b>https://example.com/7</b>":            "https://example.com/7",
		`docs-job: acme/my\_repo@1`:                           "acme/my_repo@1",
		`> docs-job: acme/my\_re\_po\@1`:                      "acme/my_re_po@1",
		`docs-job: acme/a\*\#\@\~\<\>\[\]\(\)\.\!\|\+\-1`:     "acme/a*#@~<>[]().!|+-1",
		`docs-job: [acme/my\_repo@1](https://example.com/7)`:  "acme/my_repo@1",
		"docs-job:\nacme/my\\_repo@1":                         "acme/my_repo@1",
		"docs-job: \\_a\\_":                                   "_a_",
		"docs-job:\nacme/docs-job@1":                          "acme/docs-job@1",
		"docs-job: <acme/api@1>":                              "<acme/api@1>",
	} {
		got, ok := once.FindMarker(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
}

func TestKeyWithABackslashIsRefused(t *testing.T) {
	err := once.Task{Key: `acme\api@1`, Prompt: "x"}.Check()
	assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	assert.ErrorContains(t, err, "backslash")
}

// A key may begin or end like Markdown. In a line as Marker writes it, any key counts.
func TestFindMarkerFindsWhatMarkerWrites(t *testing.T) {
	for _, key := range []string{
		"a", "__init__", "*", "_a_", "a`", "**a", "-->", "<!--a", ">a", "docs-job:", "`", "a.", "a|", "#", "1.",
		"[x]", "ключ", "a*b", "none", "fix", "<a>", "<acme/api@1>", "acme/api@1*", "acme/api@1`", "a-->", "1|",
	} {
		for _, text := range []string{once.Marker(key), "  " + once.Marker(key) + "\r\n\nThanks!"} {
			got, ok := once.FindMarker(text)
			assert.True(t, ok, key)
			assert.Equal(t, key, got)
		}
	}

	for _, key := range []string{"1", "#", "/", "@", "_1_a", "1_", "**1", "1*", ">1", "1|", "docs-job:1", "ключ1", "1-->"} {
		got, ok := once.FindMarker("> " + once.Marker(key))
		assert.True(t, ok, key)
		assert.Equal(t, key, got, "quoted")
	}
}

// A description may be long, and a push may have many.
func TestFindMarkerIgnoresOtherLinesWithoutAllocating(t *testing.T) {
	for _, text := range longTexts() {
		assert.Zero(t, testing.AllocsPerRun(1, func() {
			_, ok := once.FindMarker(text)
			assert.False(t, ok)
		}))
	}
}

// longTexts are texts of 25 MB without a marker.
func longTexts() map[string]string {
	texts := map[string]string{}
	for name, line := range map[string]string{
		"line breaks": "\n",
		"dashes":      "-",
		"quotes":      "> ",
		"prose":       "It adds a page about --json, and says so in the docs.\n",
	} {
		texts[name] = strings.Repeat(line, 25_000_000/len(line))
	}
	return texts
}

func BenchmarkFindMarker(b *testing.B) {
	texts := longTexts()
	for _, mark := range []string{"*", "`", "<b>", ";", "|", "> ", "docs-job:"} {
		texts["labels and "+mark] = strings.Repeat("docs-job: "+strings.Repeat(mark, 900/len(mark))+" x\n", 1000)
		texts[mark+" and labels"] = strings.Repeat(strings.Repeat(mark, 900/len(mark))+"docs-job: x\n", 1000)
		texts["labels in "+mark] = strings.Repeat("> docs-job: "+strings.Repeat(mark, 900/len(mark))+"\n", 1000)
	}

	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				once.FindMarker(text)
			}
		})
	}
}

func FuzzFindMarker(f *testing.F) {
	f.Add("acme/api@1.")
	f.Add("<sub>1</sub>")
	f.Add("\"a/b\",;")
	f.Fuzz(func(t *testing.T, key string) {
		once.FindMarker(key) // it ends, and does not panic

		isLeftOut := key == "``" || key == `""`
		if (once.Task{Key: key, Prompt: "x"}).Check() == nil && !isLeftOut {
			_, ok := once.FindMarker("Text.\n\n" + once.Marker(key) + "\n")
			assert.True(t, ok, "a marker that is missed makes the agent's merge a job")
		}
	})
}

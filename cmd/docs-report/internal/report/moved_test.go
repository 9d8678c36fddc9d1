package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func TestParseMoved(t *testing.T) {
	moved, err := ParseMoved([]string{"/a=/b", "/b=/c", "/c=/d/", "/x?y=/z"})
	require.NoError(t, err)

	for path, want := range map[string]string{
		"/a":                           "/d",
		"/b/":                          "/d",
		"/c":                           "/d",
		"/d":                           "/d",
		"/other/":                      "/other",
		"/":                            "/",
		"https://docs.example.com/a#b": "/d",
		"https://docs.example.com/e/":  "/e",
		"":                             "",
	} {
		assert.Equal(t, want, moved.Name(path), path)
	}
	assert.ElementsMatch(t, []string{"/a", "/b", "/c"}, moved.From("/d"))

	for text, want := range map[string]string{
		"/a":      "want it as /old=/new",
		"a=/b":    "want it as /old=/new",
		"/a/*=/b": "without a wildcard",
		"/a=b":    "want it as /old=/new",
		"/a/=/b":  "as /old/=/new/ for a folder",
	} {
		_, err := ParseMoved([]string{text})
		assert.ErrorContains(t, err, want, text)
	}

	_, err = ParseMoved([]string{"/a=/b", "/b=/c", "/c=/a"})
	assert.ErrorContains(t, err, "moves in a circle")
	_, err = ParseMoved([]string{"/a=/b", "/b=/c", "/c=/b"})
	assert.ErrorContains(t, err, "moves in a circle")
	_, err = ParseMoved([]string{"/a=/b", "/a=/c"})
	assert.ErrorContains(t, err, "give one of them")
}

// A folder is applied once to each path. A page's own name goes first, then the longest folder.
func TestParseMovedFolders(t *testing.T) {
	moved, err := ParseMoved([]string{"/docs/=/learn/", "/docs/api/=/reference/", "/docs/start=/begin", "/learn/=/old/"})
	require.NoError(t, err)
	for path, want := range map[string]string{
		"/docs/a":        "/learn/a",
		"/docs/a/b":      "/learn/a/b",
		"/docs":          "/learn",
		"/docs/api/x":    "/reference/x",
		"/docs/start":    "/begin",
		"/learn/a":       "/old/a",
		"/docs-and-more": "/docs-and-more",
	} {
		assert.Equal(t, want, moved.Name(path), path)
	}
	assert.Equal(t, []string{"/docs/a"}, moved.From("/learn/a"))

	moved, err = ParseMoved([]string{"/=/docs/"})
	require.NoError(t, err)
	assert.Equal(t, "/docs/a", moved.Name("/a"))
	assert.Equal(t, "/docs/a", moved.Name("/docs/a"), "its own results are not mapped again")
	assert.Equal(t, "/docs", moved.Name("/"))
	assert.Equal(t, []string{"/a"}, moved.From("/docs/a"))
}

// A given -moved takes precedence over a found move. A page that has not moved is given as its own new name.
func TestMovesThatWereFound(t *testing.T) {
	found := []store.Move{
		{From: "/a", To: "/b"}, {From: "/b", To: "/c"}, {From: "/c", To: "/a"}, // the last one would be a circle
		{From: "/kept", To: "/other"}, {From: "/given", To: "/other"}, {From: "/docs/x", To: "/other"},
	}
	given, err := ParseMoved([]string{"/kept=/kept", "/given=/new", "/docs/=/docs/"})
	require.NoError(t, err)
	moved := given.With(found)
	for path, want := range map[string]string{
		"/a": "/c", "/b/": "/c", "/c": "/c", "/kept": "/kept", "/given": "/new", "/docs/x": "/docs/x",
	} {
		assert.Equal(t, want, moved.Name(path), path)
	}
	assert.Equal(t, []string{"/a → /c", "/b → /c", "/given → /new"}, moved.words())
	assert.Empty(t, moved.From("/kept"))
	assert.Equal(t, "/a", given.Name("/a"), "what is given stays")
}

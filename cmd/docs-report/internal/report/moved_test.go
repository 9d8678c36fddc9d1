package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseMoved(t *testing.T) {
	moved, err := ParseMoved([]string{"/a=/b", "/b=/c", "/c=/d/", "/x?y=/z"})
	require.NoError(t, err)

	for path, want := range map[string]string{
		"/a":                           "/d",
		"/b/":                          "/d",
		"/c":                           "/d",
		"/d":                           "/d",
		"/other/":                      "/other/",
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
		"/a/*=/b": "a wildcard",
		"/a=b":    "want it as /old=/new",
		"/a=/a":   "/a moves in a circle",
		"/a=/a/":  "/a moves in a circle",
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

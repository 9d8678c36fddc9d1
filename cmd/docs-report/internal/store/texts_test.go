//go:build unix

package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func TestSpellingsOfATermAreFolded(t *testing.T) {
	for term, want := range map[string]string{
		"API Key":     "api key",
		" api\t key ": "api key",
		"api key?!":   "api key",
		"api key .":   "api key",
		"ÄRGER":       "ärger",
		"c++":         "c++",
		"?":           "?",
		"":            "",
	} {
		assert.Equal(t, want, store.FoldTerm(term), "%q", term)
	}
}

func TestTheAddressesOfSourcesStayWithoutTexts(t *testing.T) {
	s := open(t, "sqlite:"+filepath.Join(t.TempDir(), "docs.db"))
	require.NoError(t, s.Take(t.Context()))
	begun, err := s.Begin(t.Context(), store.Export{Window: window, Kind: store.Conversations}, time.Now())
	require.NoError(t, err)

	row := mintlify.Conversation{
		ID:      "c1",
		Query:   "secret",
		Sources: []mintlify.ConversationSource{{Title: "secret", URL: "https://docs.example.com/a?who=secret#secret"}},
	}
	_, err = s.Append(t.Context(), begun, &store.Page{Rows: []any{row}, Last: true})
	require.NoError(t, err)

	_, rows, err := store.List[mintlify.Conversation](t.Context(), s, window, store.Conversations)
	require.NoError(t, err)
	want := mintlify.Conversation{
		Sources: []mintlify.ConversationSource{{URL: "https://docs.example.com/a"}},
	}
	assert.Equal(t, []mintlify.Conversation{want}, rows)
}

// A final slash makes no other page, nor does the site before the path.
func TestPageNames(t *testing.T) {
	for text, want := range map[string]string{
		"/a/": "/a", "/a": "/a", "/": "/", "//": "/", "": "", "/a?b": "/a?b",
		"https://docs.example.com/a/?b": "/a", "https://docs.example.com": "/",
	} {
		assert.Equal(t, want, store.PageName(text), text)
	}
}

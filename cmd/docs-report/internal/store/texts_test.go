package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
	row := mintlify.Conversation{
		ID:      "c1",
		Query:   "secret",
		Sources: []mintlify.ConversationSource{{Title: "secret", URL: "https://docs.example.com/a?who=secret#secret"}},
	}
	want := mintlify.Conversation{
		Sources: []mintlify.ConversationSource{{URL: "https://docs.example.com/a"}},
	}
	assert.Equal(t, want, store.WithoutTexts(row))
}

package main

import (
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

var singleWord = regexp.MustCompile(`^[A-Za-z_]{1,40}$`)

// vocabulary decides which words of a response the report may show: the declared names and
// values, and other single words unless they are part of a secret.
type vocabulary struct {
	// declared are the names of fields and the values of enums in the document.
	declared map[string]bool
	// private are texts that the report must not show: keys, ids, the branch.
	private []string
}

// declare adds the names and values that a schema declares.
func (v vocabulary) declare(schema *openapi3.Schema) {
	for name := range schema.Properties {
		v.declared[name] = true
	}
	for _, value := range schema.Enum {
		if word, ok := value.(string); ok {
			v.declared[word] = true
		}
	}
}

// show returns a word that the report may show, else "".
func (v vocabulary) show(word string) string {
	switch {
	case v.declared[word]:
		return word
	case !singleWord.MatchString(word), v.isPrivate(word):
		return ""
	}
	return word
}

// isPrivate reports whether a word is part of a private text, or has one in it.
func (v vocabulary) isPrivate(word string) bool {
	word = strings.ToLower(word)
	if strings.HasPrefix(word, "mint_") {
		return true
	}

	for _, private := range v.private {
		private = strings.ToLower(private)
		if private != "" && (strings.Contains(private, word) || strings.Contains(word, private)) {
			return true
		}
	}
	return false
}

package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

var (
	singleWord = regexp.MustCompile(`^[A-Za-z_]{1,40}$`)
	headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,60}$`)
)

// vocabulary decides which words of a response the report may show: the declared names and
// values, and other single words unless they are part of a secret.
type vocabulary struct {
	declared map[string]bool // names of fields and values of enums in the document
	private  []string        // what the report must not show: keys, ids, the branch
}

// declare adds the names and values that a schema declares.
func (v vocabulary) declare(_ string, schema *openapi3.SchemaRef) error {
	for name := range schema.Value.Properties {
		v.declared[name] = true
	}
	for _, value := range schema.Value.Enum {
		v.declared[fmt.Sprint(value)] = true
	}
	return nil
}

// show returns a word that the report may show, else "".
func (v vocabulary) show(word string) string {
	if v.declared[word] || singleWord.MatchString(word) && !v.isPrivate(word) {
		return word
	}
	return ""
}

// showHeader returns the name of a header, if the report may show it.
func (v vocabulary) showHeader(name string) string {
	if !headerName.MatchString(name) || v.isPrivate(strings.ReplaceAll(name, "-", "_")) || v.isPrivate(name) {
		return "a header whose name is not shown"
	}
	return name
}

// isPrivate reports whether a word is part of a private text, or has 8 letters in a row of one.
func (v vocabulary) isPrivate(word string) bool {
	word = strings.ToLower(word)
	for _, private := range v.private {
		private = strings.ToLower(strings.TrimSpace(private))
		size := min(8, len(private))
		for i := 0; size > 0 && i+size <= len(private); i++ {
			if strings.Contains(private, word) || strings.Contains(word, private[i:i+size]) {
				return true
			}
		}
	}
	return false
}

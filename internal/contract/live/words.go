package main

import (
	"fmt"
	"regexp"
	"slices"
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

// isPrivate reports whether a word is part of a private text, or has one in it.
func (v vocabulary) isPrivate(word string) bool {
	word = strings.ToLower(word)
	if strings.Contains(word, "mint_") {
		return true
	}

	return slices.ContainsFunc(v.private, func(private string) bool {
		private = strings.ToLower(private)
		return private != "" && (strings.Contains(private, word) || strings.Contains(word, private))
	})
}

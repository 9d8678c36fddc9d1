package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	maxDetails = 10
	maxSource  = 64 << 10 // bytes of a body that are looked at for its words
)

// ServiceMessage finds the service's words in the body of an error: its message, and further ones.
// name is the name of the response's status. It redacts the key before it truncates, or part of the
// key could stay.
func ServiceMessage(key Key, body []byte, name string) (message string, details []string) {
	var fields struct {
		Error       json.RawMessage `json:"error"`
		Title       json.RawMessage `json:"title"`
		Message     json.RawMessage `json:"message"`
		Description json.RawMessage `json:"error_description"`
		Detail      json.RawMessage `json:"detail"`
		Details     json.RawMessage `json:"details"`
	}

	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &fields); err != nil && !errors.As(err, &mismatch) {
		return Excerpt(key, body), nil
	}

	var list []json.RawMessage
	_ = json.Unmarshal(fields.Details, &list) // details that are not a list are ignored
	for _, raw := range list[:min(len(list), maxDetails)] {
		details = append(details, strings.Join(texts(key, raw), ": "))
	}
	details = slices.DeleteFunc(details, func(text string) bool { return text == "" })

	var said []string
	for _, raw := range []json.RawMessage{
		fields.Error, fields.Title, fields.Message, fields.Description, fields.Detail,
	} {
		said = append(said, texts(key, raw)...)
	}
	said = distinct(said, name)

	if len(said) == 0 && len(details) == 0 {
		return Excerpt(key, body), nil
	}
	return safetext.OneLine(strings.Join(said, ": "), safetext.MaxServiceText), details
}

// texts reads what a field says: a text, an object with message and detail, or a list of these.
func texts(key Key, raw json.RawMessage) []string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []string{words(key, text)}
	}

	var object struct {
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	err := json.Unmarshal(raw, &object)
	isOdd := bytes.HasPrefix(raw, []byte("{")) && errors.As(err, new(*json.UnmarshalTypeError)) // one may be a text
	if err == nil || isOdd {
		return distinct([]string{words(key, object.Message), words(key, object.Detail)}, "")
	}

	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // what is neither says nothing
	var all []string
	for _, item := range list[:min(len(list), maxDetails)] {
		if !bytes.HasPrefix(item, []byte("[")) {
			all = append(all, texts(key, item)...)
		}
	}
	return all
}

// distinct returns the texts without those that another one contains, and without the name of the status
// if something else is there.
func distinct(texts []string, name string) []string {
	var kept []string
	for i, text := range texts {
		isContained := text == ""
		for j, other := range texts {
			isLonger := len(other) > len(text) || len(other) == len(text) && j < i
			isContained = isContained || isLonger && contains(other, text)
		}
		if !isContained {
			kept = append(kept, text)
		}
	}

	isName := func(text string) bool { return strings.EqualFold(text, name) }
	if others := slices.DeleteFunc(slices.Clone(kept), isName); len(others) > 0 {
		return others
	}
	return kept
}

// contains reports whether text contains part, in any case.
func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Excerpt returns the start of a body on one line, or the title if the body is an HTML page.
func Excerpt(key Key, body []byte) string {
	return words(key, string(body[:min(len(body), maxSource)]))
}

func words(key Key, text string) string {
	text = text[:min(len(text), maxSource)]
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = withoutHTML(text)
	}
	return safetext.OneLine(key.Text(text, maxSource), safetext.MaxServiceText)
}

// The patterns are compiled when first needed, not in every program that imports the SDK.
var (
	htmlTitle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })
	htmlTag   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<[^>]*(?:>|$)`) })
)

// withoutHTML returns the title of a page, or its text if it has no title.
func withoutHTML(page string) string {
	if title := htmlTitle().FindStringSubmatch(page); title != nil {
		page = title[1]
	}
	return html.UnescapeString(htmlTag().ReplaceAllString(page, " "))
}

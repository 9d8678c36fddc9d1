package redact

import (
	"encoding/json"
	"errors"
	"html"
	"regexp"
	"strings"
	"sync"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	maxDetails = 10
	maxSource  = 64 << 10 // bytes of a body that are looked at for its words
)

// ServiceMessage finds the service's words in the body of an error: its message, and
// further ones. It redacts the key before it truncates, or part of the key could stay.
func ServiceMessage(key Key, body []byte) (message string, details []string) {
	var fields struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Details json.RawMessage `json:"details"`
	}

	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &fields); err != nil && !errors.As(err, &mismatch) {
		return Excerpt(key, body), nil
	}

	var list []json.RawMessage
	_ = json.Unmarshal(fields.Details, &list) // details that are not a list are ignored
	for _, raw := range list[:min(len(list), maxDetails)] {
		if text := messageText(key, raw); text != "" {
			details = append(details, text)
		}
	}

	message = messageText(key, fields.Error)
	if message == "" {
		message = messageText(key, fields.Message)
	}
	if message == "" && len(details) == 0 {
		message = Excerpt(key, body)
	}
	return message, details
}

// messageText reads a message given as "text" or as {"message": "text"}.
func messageText(key Key, raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return words(key, text)
	}

	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return words(key, object.Message)
	}
	return ""
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

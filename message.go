package mintlify

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"regexp"
	"strings"
	"sync"

	"github.com/mintlify-community/mintlify-go/internal/redact"
)

const maxDetails = 10 // that an error keeps

// serviceMessage finds the message and the details in the body of an error. The key is
// redacted before text is cut, or part of it could stay.
func serviceMessage(key redact.Key, body []byte) (message string, details []string) {
	var fields struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Details json.RawMessage `json:"details"`
	}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &fields); err != nil && !errors.As(err, &wrongType) {
		return excerpt(key, body), nil
	}
	for _, raw := range firstItems(fields.Details, maxDetails) {
		if text := messageText(key, raw); text != "" {
			details = append(details, text)
		}
	}
	message = messageText(key, fields.Error)
	if message == "" {
		message = messageText(key, fields.Message)
	}
	if message == "" && len(details) == 0 {
		message = excerpt(key, body)
	}
	return message, details
}

// firstItems returns what a JSON list begins with. Most of a long one is not looked at.
func firstItems(list json.RawMessage, most int) (items []json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(list))
	if open, _ := decoder.Token(); open != json.Delim('[') {
		return nil
	}
	for len(items) < most && decoder.More() {
		var item json.RawMessage
		if decoder.Decode(&item) != nil {
			break
		}
		items = append(items, item)
	}
	return items
}

// messageText reads a message given as "text" or as {"message": "text"}.
func messageText(key redact.Key, raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return textLine(key, text)
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return textLine(key, object.Message)
	}
	return ""
}

// excerpt returns the start of a text body.
func excerpt(key redact.Key, body []byte) string {
	return textLine(key, string(body[:min(len(body), maxKeptBody)]))
}

// textLine returns text on one line, and of an HTML page its title, or else its text.
func textLine(key redact.Key, text string) string {
	text = text[:min(len(text), maxKeptBody)]
	if strings.Contains(text, "<") {
		text = withoutHTML(text)
	}
	return redact.Line(key.Text(text, maxKeptBody), maxWords)
}

// htmlPatterns are compiled when first needed, not in every program that imports the
// package.
var htmlPatterns = sync.OnceValue(func() (p struct{ start, title, code, tag *regexp.Regexp }) {
	p.start = regexp.MustCompile(`(?i)<(?:!doctype|html|head|body|title|meta|style|script|div|center|pre|h[1-6]|p)\b`)
	p.title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	p.code = regexp.MustCompile(`(?is)<(?:style|script)\b.*?</(?:style|script)>`)
	p.tag = regexp.MustCompile(`(?s)<[^>]*(?:>|$)`)
	return p
})

func withoutHTML(text string) string {
	page := htmlPatterns()
	if !page.start.MatchString(text) {
		return text
	}
	if title := page.title.FindStringSubmatch(text); title != nil {
		text = title[1]
	}
	return html.UnescapeString(page.tag.ReplaceAllString(page.code.ReplaceAllString(text, " "), " "))
}

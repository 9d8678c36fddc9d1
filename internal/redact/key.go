// Package redact takes the API key of a client out of what the service and transports send, and
// reads the service's words in it. For text that may hold any key, see package safetext.
package redact

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const escapeLen = 6 // the most bytes that an escaped character of the key takes

// Key redacts an API key that the service or a transport has echoed. The zero Key
// redacts nothing.
type Key struct {
	value string
}

// NewKey returns a Key for the API key value.
func NewKey(value string) Key { return Key{value} }

// Text returns the first limit bytes of text without the key: the key as it is, and as
// JSON, HTML or a URL escapes it.
func (k Key) Text(text string, limit int) string {
	text = text[:min(len(text), k.needed(limit))]
	text = k.all(text)
	if len(text) <= limit {
		return text
	}
	return strings.Clone(text[:limit]) // so that the rest can be freed
}

// Body is [Key.Text] of a body, as a copy.
func (k Key) Body(body []byte, limit int) []byte {
	text := string(body[:min(len(body), k.needed(limit))])
	return []byte(k.Text(text, limit))
}

// needed returns how many bytes to look at for limit bytes: a key may straddle the limit.
func (k Key) needed(limit int) int { return limit + escapeLen*len(k.value) }

// Header returns a copy of header without the key, in names and in values.
func (k Key) Header(header http.Header) http.Header {
	clean := make(http.Header, len(header))
	for name, values := range header {
		if k.isIn(name) {
			name = safetext.KeyMark
		}
		for _, value := range values {
			clean[name] = append(clean[name], k.all(value))
		}
	}
	return clean
}

// isIn reports whether the name of a header contains the key. net/http changes the case of
// names.
func (k Key) isIn(name string) bool {
	return k.value != "" && strings.Contains(strings.ToLower(name), strings.ToLower(k.value))
}

func (k Key) all(text string) string {
	if k.value == "" {
		return text
	}

	for _, form := range k.forms() {
		text = strings.ReplaceAll(text, form, safetext.KeyMark)
	}

	// Truncated text may end within the key.
	for _, form := range k.forms() {
		for n := min(len(form)-1, len(text)); n > len(safetext.KeyPrefix); n-- {
			if strings.HasSuffix(text, form[:n]) {
				return text[:len(text)-n] + safetext.KeyMark
			}
		}
	}
	return text
}

func (k Key) forms() []string {
	inHTML := html.EscapeString(k.value)
	if inHTML == k.value && url.QueryEscape(k.value) == k.value && !strings.Contains(k.value, `\`) {
		return []string{k.value} // almost every key is the same when escaped
	}

	inJSON, _ := json.Marshal(k.value) // text can always be marshaled
	return []string{
		k.value,
		string(inJSON[1 : len(inJSON)-1]),
		inHTML,
		url.QueryEscape(k.value),
		url.PathEscape(k.value),
	}
}

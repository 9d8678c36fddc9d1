// Package redact makes what comes from outside fit to be shown: it takes the API
// key out of it, and brings it to one printable line.
package redact

import (
	"html"
	"net/http"
	"strings"
)

// Mark stands where the key was.
const Mark = "[API key]"

const (
	prefix    = "mint_"  // that all keys begin with: alone it is no part of a key
	escapeLen = 12       // bytes that one character of the key takes at most, escaped
	maxHeader = 64 << 10 // bytes of a header that are kept
)

// Key redacts an API key that the service or a transport has echoed. The zero Key
// redacts nothing.
type Key struct {
	value string
}

// NewKey returns a Key for the API key value.
func NewKey(value string) Key { return Key{value} }

// Text returns the first limit bytes of text without the key, however JSON, HTML or
// a URL has escaped it. Text beyond the limit costs nothing.
func (k Key) Text(text string, limit int) string {
	text = k.all(text[:min(len(text), limit+escapeLen*len(k.value))]) // room for a key that straddles the limit
	if len(text) <= limit {
		return text
	}
	return strings.Clone(text[:limit]) // and nothing of the rest is kept
}

// Body is [Key.Text] of a body, as a copy.
func (k Key) Body(body []byte, limit int) []byte {
	return []byte(k.Text(string(body[:min(len(body), limit+escapeLen*len(k.value))]), limit))
}

// Header returns a copy of header without the key, in names and in values. Of a
// header of more than 64 KiB it has some of the fields.
func (k Key) Header(header http.Header) http.Header {
	clean := make(http.Header, min(len(header), 64))
	room := maxHeader
	for name, values := range header {
		name = k.name(name, max(0, room))
		room -= len(name)
		for _, value := range values {
			if room <= 0 {
				return clean
			}
			value = k.Text(value, room)
			room -= len(value) + 1 // empty values are not free
			clean[name] = append(clean[name], value)
		}
	}
	return clean
}

// name is Text for the name of a field, of which net/http changes the case.
func (k Key) name(name string, limit int) string {
	if k.value != "" && strings.Contains(strings.ToLower(name), strings.ToLower(k.value)) {
		return Mark
	}
	return k.Text(name, limit)
}

func (k Key) all(text string) string {
	if k.value == "" {
		return text
	}
	text = strings.ReplaceAll(text, k.value, Mark)
	if strings.ContainsAny(text, `\&%`) {
		text = k.escaped(text)
	}
	// Text that was truncated may end within the key.
	for n := min(len(k.value)-1, len(text)); n > len(prefix); n-- {
		if strings.HasSuffix(text, k.value[:n]) {
			return text[:len(text)-n] + Mark
		}
	}
	return text
}

// escaped replaces the key where at least one of its characters is escaped.
func (k Key) escaped(text string) string {
	var b strings.Builder
	rest := 0 // what is not in b yet
	for i := 0; i < len(text); {
		n := k.matchAt(text[i:])
		if n == 0 {
			i++
			continue
		}
		b.WriteString(text[rest:i])
		b.WriteString(Mark)
		i += n
		rest = i
	}
	if rest == 0 {
		return text
	}
	b.WriteString(text[rest:])
	return b.String()
}

// matchAt returns how much of text, from its start, is the key; 0 if it is not.
func (k Key) matchAt(text string) int {
	at := 0
	for i := range len(k.value) {
		n := escapedAs(text[at:], k.value[i])
		if n == 0 {
			return 0
		}
		at += n
	}
	return at
}

// escapedAs returns the length of what text begins with if that is c, bare or
// escaped; 0 if it is not.
func escapedAs(text string, c byte) int {
	switch {
	case text == "":
		return 0
	case text[0] == '&':
		if n := entityAs(text, c); n > 0 {
			return n
		}
	case text[0] == '%' && len(text) >= 3:
		if isCode(text[1:3], 16, c) {
			return 3
		}
	case strings.HasPrefix(text, `\u`) && len(text) >= 6:
		if isCode(text[2:6], 16, c) {
			return 6
		}
	}
	if text[0] == '\\' && len(text) > 1 && text[1] == c {
		return 2
	}
	if text[0] == c {
		return 1
	}
	return 0
}

// entityAs is escapedAs for an HTML entity: named, decimal or hexadecimal.
func entityAs(text string, c byte) int {
	name, _, ok := strings.Cut(text[1:min(len(text), escapeLen)], ";")
	if !ok {
		return 0
	}
	length := len("&;") + len(name)
	switch name {
	case "amp", "lt", "gt", "quot", "apos":
		if html.UnescapeString("&"+name+";") == string(c) {
			return length
		}
		return 0
	}
	number, isNumber := strings.CutPrefix(name, "#")
	hexadecimal := strings.TrimLeft(number, "xX")
	if isNumber && (number == hexadecimal && isCode(number, 10, c) || number != hexadecimal && isCode(hexadecimal, 16, c)) {
		return length
	}
	return 0
}

// isCode reports whether digits are the number of c. What they are not is no error,
// which would be an allocation at each character of a hostile text.
func isCode(digits string, base int, c byte) bool {
	code := 0
	for _, digit := range []byte(digits) {
		n := strings.IndexByte("0123456789abcdef"[:base], digit|0x20) // in lower case
		if n < 0 || code > 0xff {
			return false
		}
		code = code*base + n
	}
	return digits != "" && code == int(c)
}

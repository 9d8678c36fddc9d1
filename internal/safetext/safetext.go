// Package safetext makes text from outside safe to show: on one printable line, without API keys and
// passwords. The SDK, package once and all programs use it in their errors, logs and reports.
package safetext

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// KeyMark replaces an API key.
	KeyMark = "[API key]"

	// KeyPrefix is what all API keys start with. Alone it is not part of a key.
	KeyPrefix = "mint_"

	// MaxServiceText is how many bytes of the service's words a message quotes.
	MaxServiceText = 300
)

// OneLine makes text from outside fit for a message: no control or invisible
// characters, white space folded, at most limit bytes.
func OneLine(text string, limit int) string {
	text = text[:min(len(text), 8*limit)] // room for what is removed
	text = strings.ToValidUTF8(text, " ")
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	text = strings.Join(words, " ")
	if len(text) <= limit {
		return text
	}

	end := limit - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Printable returns a line of text from outside with a space in place of each character that
// does not print: such a character could end the line, color it or hide it. White space at the
// end is dropped.
func Printable(line string) string {
	line = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(line, " "))
	return strings.TrimRight(line, " ")
}

// userInfo is compiled when first needed, not in every program that imports the SDK. It first looks for
// a URL whose host and port end before the path, and keeps these: an "@" in the path is not about a
// user. In any other URL a colon may start a password that nobody has escaped.
var userInfo = sync.OnceValue(func() *regexp.Regexp {
	const (
		host = `(?:[^/?#\s"@:]*|\[[0-9A-Fa-f:.]+\])`
		port = `(?::[0-9]{1,5})?`
		end  = `(?:[/?#\s"]|$)`
	)
	return regexp.MustCompile(`://(?:[^/?#\s"]*@)?(` + host + port + end + `)|://[^/?#\s"]*(?::[^\s"]*)?@`)
})

// WithoutUserInfo returns text without the user names and passwords of URLs, such as a proxy's.
func WithoutUserInfo(text string) string {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return text
	}
	return userInfo().ReplaceAllString(text, "://${1}")
}

// anyKey is compiled when first needed too.
var anyKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(KeyPrefix + `[^\s"'()<>,;]{8,}`) })

// Name returns an id, a status or a cursor for a message. What keeps it keeps it exact, since a call
// goes on with it: a key that the service has echoed there is redacted only here.
func Name(name string, limit int) string { return OneLine(WithoutKeys(name), limit) }

// WithoutKeys returns text without what looks like an API key, known or not.
func WithoutKeys(text string) string {
	if !strings.Contains(text, KeyPrefix) {
		return text
	}
	return anyKey().ReplaceAllLiteralString(text, KeyMark)
}

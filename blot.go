package mintlify

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// blotted stands where the key was.
const blotted = "[API key]"

// blot takes a key out of what comes from outside, where the service or a transport
// has echoed it.
type blot struct {
	key string
}

// text returns text without the key, however JSON, HTML or a URL has escaped it.
func (b blot) text(text string) string {
	if b.key == "" {
		return text
	}
	text = strings.ReplaceAll(text, b.key, blotted)
	if strings.ContainsAny(text, `\&%`) {
		text = b.escaped().ReplaceAllString(text, blotted)
	}
	// A text that was cut off may end within the key.
	for n := min(len(b.key)-1, len(text)); n > len("mint_"); n-- {
		if strings.HasSuffix(text, b.key[:n]) {
			return text[:len(text)-n] + blotted
		}
	}
	return text
}

func (b blot) escaped() *regexp.Regexp {
	var pattern strings.Builder
	for _, c := range []byte(b.key) {
		fmt.Fprintf(&pattern, `(?:\\?%s|(?i:\\u00%02x|%%%02x|&#0*%d;|&#x0*%x;))`, regexp.QuoteMeta(string(rune(c))), c, c, c, c)
	}
	return regexp.MustCompile(pattern.String())
}

// body returns a copy of the first 64 KiB of body without the key.
func (b blot) body(body []byte) []byte {
	text := b.text(string(body[:min(len(body), 2*maxErrorBody)]))
	return []byte(text[:min(len(text), maxErrorBody)])
}

// header returns a copy of header without the key.
func (b blot) header(header http.Header) http.Header {
	header = header.Clone()
	for _, values := range header {
		for i := range values {
			values[i] = b.text(values[i])
		}
	}
	return header
}

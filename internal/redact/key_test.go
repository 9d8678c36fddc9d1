package redact_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const value = `mint_a&b"c/9`

func TestTextIsWithoutTheKeyInItsUsualForms(t *testing.T) {
	key := redact.NewKey(value)
	for name, echo := range map[string]string{
		"bare":    value,
		"JSON":    `mint_a\u0026b\"c/9`,
		"HTML":    html.EscapeString(value),
		"a query": url.QueryEscape(value),
		"a path":  url.PathEscape(value),
	} {
		got := key.Text("bad key "+echo+", sorry: "+echo, 1000)
		assert.Equal(t, "bad key "+safetext.KeyMark+", sorry: "+safetext.KeyMark, got, name)
		assert.Equal(t, got, string(key.Body([]byte("bad key "+echo+", sorry: "+echo), 1000)), name)
	}
}

func TestTextThatIsNotTheKeyIsLeftAlone(t *testing.T) {
	key := redact.NewKey(value)
	for _, text := range []string{
		"", "mint_", `mint_a&b"c/8`, "%6din", "100 %", "%", "%6", "&", "&amp", "&#;", "&#x;", "&amp;",
		`\`, `\u`, `\u006`, "a mint_ key",
	} {
		assert.Equal(t, text, key.Text(text, 1000))
		assert.Equal(t, text+".", key.Text(text+".", 1000))
	}

	// A key that is truncated at the end of a text is longer than what all keys begin with.
	assert.Equal(t, safetext.KeyMark, key.Text("mint_a", 1000))
	assert.Equal(t, "mint_a.", key.Text("mint_a.", 1000))

	assert.Equal(t, value, redact.Key{}.Text(value, 1000), "the zero Key redacts nothing")
}

// No part of a key may stay if the limit truncates the text within it.
func TestTextIsCutAfterTheKeyIsRedacted(t *testing.T) {
	key := redact.NewKey(value)
	before := strings.Repeat(".", 50)
	after := strings.Repeat(".", 500)
	for _, echo := range []string{value, url.QueryEscape(value), strings.Repeat("x", 40) + value} {
		redacted := before + strings.TrimSuffix(echo, value) + safetext.KeyMark + after
		isEscaped := strings.Contains(echo, "%")
		for limit := range 120 {
			got := key.Text(before+echo+after, limit)
			require.LessOrEqual(t, len(got), limit)
			require.NotContains(t, got, "mint_", "limit %d", limit)
			require.True(t, strings.HasPrefix(redacted, got) || isEscaped, "%q", got)
		}
	}
}

func TestHeaderIsWithoutTheKey(t *testing.T) {
	key := redact.NewKey("mint_secret")
	header := http.Header{}
	header.Add("mint_secret", "1") // in net/http's own spelling: Mint_secret
	header.Add("X-mint_secret-Echo", "2")
	header.Add("X-Echo", "mint_secret")
	header.Add("X-Echo", "no key")
	header.Add("X-Echo", "?k=mint_secret")
	header.Add("X-Empty", "")

	before := header.Clone()
	got := key.Header(header)
	assert.Equal(t, before, header, "the transport's header is not changed")

	assert.ElementsMatch(t, []string{"1", "2"}, got[safetext.KeyMark])
	assert.Equal(t, []string{safetext.KeyMark, "no key", "?k=" + safetext.KeyMark}, got["X-Echo"])
	assert.Equal(t, []string{""}, got["X-Empty"])
	assert.Len(t, got, 3)
	assert.NotContains(t, strings.ToLower(fmt.Sprint(got)), "mint_secret")
}

func TestTextKeepsNothingOfWhatIsCut(t *testing.T) {
	huge := strings.Repeat("x", 9<<20)
	assert.NotSame(t, unsafe.StringData(huge), unsafe.StringData(redact.NewKey(value).Text(huge, 100)))
}

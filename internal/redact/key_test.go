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
		assert.Equal(t, "bad key "+redact.Mark+", sorry: "+redact.Mark, got, name)
		assert.Equal(t, got, string(key.Body([]byte("bad key "+echo+", sorry: "+echo), 1000)), name)
	}
}

func TestTextThatIsNotTheKeyIsLeftAlone(t *testing.T) {
	key := redact.NewKey(value)
	for _, text := range []string{"", "mint_", "mint_a", `mint_a&b"c/8`, "%6din", "100 %", "%", "%6", "&", "&amp", "&#;", "&#x;", "&amp;", `\`, `\u`, `\u006`, "a mint_ key"} {
		want := text
		if text == "mint_a" { // longer than what all keys begin with
			want = redact.Mark
		}
		assert.Equal(t, want, key.Text(text, 1000))
		assert.Equal(t, text+".", key.Text(text+".", 1000))
	}
	assert.Equal(t, value, redact.Key{}.Text(value, 1000), "the zero Key redacts nothing")
}

// A key that straddles the limit may not stay in part, wherever the cut falls.
func TestTextIsCutAfterTheKeyIsRedacted(t *testing.T) {
	key := redact.NewKey(value)
	for _, echo := range []string{value, url.QueryEscape(value), strings.Repeat("x", 40) + value} {
		text := strings.Repeat(".", 50) + echo + strings.Repeat(".", 500)
		for limit := range 120 {
			got := key.Text(text, limit)
			require.LessOrEqual(t, len(got), limit)
			require.NotContains(t, got, "mint_", "limit %d", limit)
			require.True(t, strings.HasPrefix(strings.Repeat(".", 50)+strings.TrimSuffix(echo, value)+redact.Mark+strings.Repeat(".", 500), got) || strings.Contains(echo, "%"), "%q", got)
		}
	}
}

func TestHeaderIsWithoutTheKey(t *testing.T) {
	key := redact.NewKey("mint_secret")
	header := http.Header{}
	for name, values := range map[string][]string{
		"mint_secret": {"1"}, "X-mint_secret-Echo": {"2"}, "X-Echo": {"mint_secret", "no key", "?k=mint_secret"}, "X-Empty": {""},
	} {
		for _, value := range values {
			header.Add(name, value) // in net/http's own spelling: Mint_secret
		}
	}
	before := header.Clone()
	got := key.Header(header)
	assert.Equal(t, before, header, "the transport's header is not changed")
	assert.ElementsMatch(t, []string{"1", "2"}, got[redact.Mark])
	assert.Equal(t, []string{redact.Mark, "no key", "?k=" + redact.Mark}, got["X-Echo"])
	assert.Equal(t, []string{""}, got["X-Empty"])
	assert.Len(t, got, 3)
	assert.NotContains(t, strings.ToLower(fmt.Sprint(got)), "mint_secret")
}

func TestTextKeepsNothingOfWhatIsCut(t *testing.T) {
	huge := strings.Repeat("x", 9<<20)
	assert.NotSame(t, unsafe.StringData(huge), unsafe.StringData(redact.NewKey(value).Text(huge, 100)))
}

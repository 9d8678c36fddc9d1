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

func TestTextIsWithoutTheKeyHoweverItIsEscaped(t *testing.T) {
	key := redact.NewKey(value)
	for name, echo := range map[string]string{
		"bare":              value,
		"JSON":              `mint_a&b\"c\/9`,
		"JSON, as codes":    `\u006dint_a\u0026b\u0022c/9`,
		"HTML":              html.EscapeString(value),
		"HTML, named":       `mint_a&amp;b&quot;c/9`,
		"HTML, decimal":     `&#109;int_a&#38;b&#34;c/9`,
		"HTML, hexadecimal": `&#x6D;int_a&#X26;b&#x0022;c/9`,
		"a query":           url.QueryEscape(value),
		"a path":            url.PathEscape(value),
		"a URL, lower case": "%6dint_a%26b%22c%2f9",
		"mixed":             `%6dint_a&amp;b\"c/9`,
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
		"mint_secret": {"1"}, "X-mint_secret-Echo": {"2"}, "X-Echo": {"mint_secret", "no key", "?k=mint%5Fsecret"}, "X-Empty": {""},
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

func TestHeaderIsBounded(t *testing.T) {
	key := redact.NewKey("mint_secret")
	size := func(header http.Header) (n int) {
		for name, values := range header {
			n += len(name) + len(strings.Join(values, " "))
		}
		return n
	}
	many, manyValues := http.Header{}, http.Header{}
	for i := range 100_000 {
		many[fmt.Sprint("X-", i)] = []string{"12345"}
		manyValues.Add("X-Empty", "")
	}
	huge := strings.Repeat("x", 9<<20)
	for name, header := range map[string]http.Header{
		"many fields": many, "many values": manyValues, "a long value": {"X-Long": {huge}}, "a long name": {huge: {"1"}},
	} {
		got := key.Header(header)
		assert.LessOrEqual(t, size(got), 64<<10, name)
		for name, values := range got {
			for _, kept := range append(values, name) {
				if kept != "" {
					assert.NotSame(t, unsafe.StringData(huge), unsafe.StringData(kept), "a substring would keep all of it in memory")
				}
			}
		}
	}
	for n := 64<<10 - 10; n < 64<<10+10; n++ { // the room ends at each place within a field
		for range 5 { // in another order
			assert.LessOrEqual(t, size(key.Header(http.Header{"X-Long": {huge[:n]}, "A": {"1"}, "B": {""}})), 64<<10)
		}
	}
	small := http.Header{"A": {"1"}, "B": {"2", "3"}}
	assert.Equal(t, small, key.Header(small))
}

func TestTextKeepsNothingOfWhatIsCut(t *testing.T) {
	huge := strings.Repeat("x", 9<<20)
	assert.NotSame(t, unsafe.StringData(huge), unsafe.StringData(redact.NewKey(value).Text(huge, 100)))
}

// hostileTexts are what redaction has to look at most closely.
func hostileTexts(key string) map[string]string {
	texts := map[string]string{"most of the key": strings.Repeat(key[:len(key)-1]+"!", 1+1<<20/len(key))}
	for _, unit := range []string{"%", "&", `\`, "%6d", "&#", "&#109;", `\u006d`, "<", "m"} {
		texts[unit] = strings.Repeat(unit, 1<<20/len(unit))
	}
	return texts
}

func longKey() string {
	var b strings.Builder
	b.WriteString("mint_")
	for i := 0; b.Len() < 10<<10; i++ {
		fmt.Fprint(&b, i)
	}
	return b.String()
}

// Nothing is compiled for a key, however long it is, and nothing is allocated for each of
// the characters that might belong to it.
func TestRedactionOfALongKeyAllocatesLittle(t *testing.T) {
	long := longKey()
	for name, text := range hostileTexts(long) {
		allocations := testing.AllocsPerRun(2, func() { redact.NewKey(long).Text(text, 64<<10) })
		assert.LessOrEqual(t, allocations, 10.0, name)
	}
}

func BenchmarkRedactionOfAKeyOf10KB(b *testing.B) {
	long := longKey()
	for name, text := range hostileTexts(long) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				redact.NewKey(long).Text(text, 64<<10)
			}
		})
	}
}

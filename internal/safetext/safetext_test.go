package safetext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

func TestLineIsOnePrintableLineWithinItsLimit(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"\u0020a\r\n\tb  c\u0020":  "a b c",
		"a\x00b\u202ec\ufeffd\x1b": "a b c d",
		"a\xffb":                   "a b",
		"€€€":                      "€€€",
		"0123456789":               "0123456789",
		"01234567890":              "0123456…",
		"012345€€€":                "012345…", // the cut falls within a character
		strings.Repeat("\n", 90) + "beyond what is looked at": "",
	} {
		got := safetext.OneLine(text, 10)
		assert.Equal(t, want, got, "%q", text)
		require.LessOrEqual(t, len(got), 10)
		require.True(t, utf8.ValidString(got))
	}
}

func TestWithoutUserInfo(t *testing.T) {
	for text, want := range map[string]string{
		`parse "http://user:secret@proxy:3128/%zz": invalid`:      `parse "http://proxy:3128/%zz": invalid`,
		`http://token@proxy and https://a:b@c`:                    `http://proxy and https://c`,
		`parse "http://user:sec/ret?#@proxy": invalid`:            `parse "http://proxy": invalid`,
		`socks5://user:p@ss@proxy`:                                `socks5://proxy`,
		`http://user:/1@proxy and http://user:1:/2@proxy`:         `http://proxy and http://proxy`,
		`http://user:123456/7@proxy and http://p@ss:w/o@proxy`:    `http://proxy and http://proxy`,
		`fetch("http://localhost:3000/users/@me")`:                `fetch("http://localhost:3000/users/@me")`,
		`http://localhost:3000?to=@me http://localhost:80#@me`:    `http://localhost:3000?to=@me http://localhost:80#@me`,
		`http://[::1]:3000/@me http://[::1]/@me`:                  `http://[::1]:3000/@me http://[::1]/@me`,
		`https://a:b@c:80/@me https://a:b@c/@me`:                  `https://c:80/@me https://c/@me`,
		`http://localhost:80/?next=http://a:b@c/@me`:              `http://localhost:80/?next=http://c/@me`,
		`https://api.example.com/v2/a@b`:                          `https://api.example.com/v2/a@b`,
		`a@b`:                                                     `a@b`,
		`Get "https://api.example.com": mail root@example.com`:    `Get "https://api.example.com": mail root@example.com`,
		`dial tcp://10.0.0.1: refused, ask root@example.com`:      `dial tcp://10.0.0.1: refused, ask root@example.com`,
		`lookup api.example.com on [::1]:53: no such host, a://b`: `lookup api.example.com on [::1]:53: no such host, a://b`,
	} {
		assert.Equal(t, want, safetext.WithoutUserInfo(text))
	}
}

func TestWithoutKeys(t *testing.T) {
	for text, want := range map[string]string{
		`refresh of "mint_secret_9f3b" failed`:                  `refresh of "[API key]" failed`,
		`mint_secret_9f3b, then (mint_An0ther-key)`:             `[API key], then ([API key])`,
		`is an assistant key (mint_dsc_…), which does not work`: `is an assistant key (mint_dsc_…), which does not work`,
		`keys begin with mint_`:                                 `keys begin with mint_`,
		`vault: no such secret`:                                 `vault: no such secret`,
	} {
		assert.Equal(t, want, safetext.WithoutKeys(text))
	}
}

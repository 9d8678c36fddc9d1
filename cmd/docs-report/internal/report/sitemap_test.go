package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSitemap(t *testing.T) {
	for name, text := range map[string]string{
		"paths": "/b\n\n# a comment\r\n/a/\n/\n/a\n",
		"URLs":  "https://docs.example.com\nhttps://docs.example.com/a?x\nhttps://docs.example.com/b#c",
		"a sitemap": `<?xml version="1.0" encoding="US-ASCII"?>
			<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
			  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
			<url><loc>https://docs.example.com/b</loc><lastmod>2026-01-01</lastmod></url>
			<url><loc> https://docs.example.com/a
			</loc><image:image><image:loc>https://docs.example.com/a.png</image:loc></image:image></url>
			<url><loc>https://docs.example.com/</loc></url>
			</urlset>`,
	} {
		t.Run(name, func(t *testing.T) {
			paths, err := ParseSitemap([]byte(text))
			require.NoError(t, err)
			assert.Equal(t, []string{"/", "/a", "/b"}, paths)
		})
	}

	for text, want := range map[string]string{
		"<sitemapindex><sitemap><loc>https://x/y.xml</loc></sitemap></sitemapindex>": "a sitemap of sitemaps",
		"<!DOCTYPE html><html><meta></html>":                                         "have <html>",
		"<urlset><url><loc>/a</url>":                                                 "is not a sitemap",
		"\x1f\x8b\b\x00":                                                             "compressed by gzip",
		"\xff\xfe<\x00":                                                              "UTF-16",
		"<?xml version='1.0' encoding='latin1'?><urlset/>":                           "its encoding is latin1: give it as UTF-8",
		"":                                "no page",
		"<urlset></urlset>":               "no page",
		"quickstart":                      "neither a path",
		"/a\nPK\x03\x04 not a text\n":     "neither a path",
		"<urlset><url><loc>x</loc></url>": "is not a sitemap",
	} {
		_, err := ParseSitemap([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ParseSitemap returns the paths of a sitemap, or of a text with a path or a URL on each line. It
// refuses a sitemap of sitemaps: reading it would mean to load the others.
func ParseSitemap(data []byte) ([]string, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return nil, errors.New("it is compressed by gzip: give what gunzip makes of it")
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, errors.New("it is UTF-16: give it as UTF-8")
	}
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\xef\xbb\xbf"))

	names := strings.Split(string(data), "\n")
	if bytes.HasPrefix(data, []byte("<")) {
		var err error
		if names, err = sitemapURLs(data); err != nil {
			return nil, err
		}
	}

	var paths []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}

		path := pagePath(name)
		if !strings.HasPrefix(path, "/") && strings.Contains(name, "://") {
			path = "/" // https://docs.example.com is the first page
		}
		if !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("%s is neither a path such as /quickstart nor a URL", textOf(name))
		}
		paths = append(paths, path)
	}

	if len(paths) == 0 {
		return nil, errors.New("it has no page")
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// sitemapURLs returns the locations of a sitemap's pages, without those of their pictures.
func sitemapURLs(data []byte) ([]string, error) {
	var sitemap struct {
		XMLName xml.Name `xml:"urlset"`
		URLs    []string `xml:"url>loc"`
	}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.CharsetReader = asciiOnly
	err := decoder.Decode(&sitemap)

	switch {
	case err == nil:
		return sitemap.URLs, nil
	case bytes.Contains(data, []byte("<sitemapindex")):
		return nil, errors.New("it is a sitemap of sitemaps: give one of those that it names")
	}
	return nil, fmt.Errorf("it is not a sitemap: %w", err)
}

// asciiOnly reads a sitemap that says it is US-ASCII, which is UTF-8, too.
func asciiOnly(charset string, input io.Reader) (io.Reader, error) {
	if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "ascii") {
		return input, nil
	}
	return nil, fmt.Errorf("its encoding is %s: give it as UTF-8", textOf(charset))
}

const mostUnread = 200

// unread are the pages of a sitemap that no human visited.
func (in Input) unread() section {
	s := section{ID: "unread", Title: "Pages that no human visited", FoldedTitle: "The pages"}
	humans := map[string]int64{}
	for path, page := range in.Period.pages {
		humans[path] += page.sum.Human
	}

	isKnown := false
	unread := int64(0)
	names := map[string]bool{} // a sitemap may have a page's old name, too
	for _, path := range in.Sitemap {
		name := in.Moved.page(path)
		count, isVisited := humans[name]
		isKnown = isKnown || isVisited
		if count <= 0 && !names[name] {
			unread++
			s.Folded = append(s.Folded, finding{Text: textOf(name), URL: in.link(name)})
		}
		names[name] = true
	}

	all := plural(int64(len(names)), "page", "pages")
	switch {
	case len(names) == 0:
		return section{}
	case !isKnown && len(in.Period.Rows) > 0:
		s.Folded = nil
		s.Summary = "None of the sitemap's " + all + " is among the visited pages: is it the sitemap of this site?"
	case unread == 0:
		s.Summary = "Humans visited each of the sitemap's " + all + "."
	default:
		s.Summary = fmt.Sprintf("%s of the sitemap's %s.", number(unread), all)
	}

	if unread > mostUnread {
		s.Folded = s.Folded[:mostUnread]
		s.Note = fmt.Sprintf("These are the first %d.", mostUnread)
	}
	return s
}

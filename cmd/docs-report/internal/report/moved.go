package report

import (
	"fmt"
	"slices"
	"strings"
)

// Moved has the new names of pages that were renamed, by their old names.
type Moved map[string]string

// ParseMoved reads texts such as /old=/new. The new name of a page may have moved itself: it is
// replaced by the last one.
func ParseMoved(texts []string) (Moved, error) {
	moved := Moved{}
	for _, text := range texts {
		at := strings.Index(text, "=/")
		if at < 0 || !strings.HasPrefix(text, "/") {
			return nil, fmt.Errorf("-moved %s: want it as /old=/new", textOf(text))
		}

		if strings.Contains(text, "*") {
			return nil, fmt.Errorf("-moved %s: a wildcard matches nothing here, give each page", textOf(text))
		}

		from := pagePath(text[:at])
		to := pagePath(text[at+1:])
		if other, isGiven := moved[from]; isGiven && other != to {
			return nil, fmt.Errorf("-moved: %s moved to %s and to %s: give one of them",
				textOf(from), textOf(other), textOf(to))
		}
		moved[from] = to
	}

	for from := range moved {
		if err := moved.follow(from); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

// follow replaces a page's new name by the last one of its chain.
func (m Moved) follow(from string) error {
	last := m[from]
	for range m {
		next, hasMoved := m[last]
		if !hasMoved {
			m[from] = last
			return nil
		}
		last = next
	}
	return fmt.Errorf("-moved: %s moves in a circle", textOf(from))
}

// Name returns a page's name of today, of a path or of a URL. A path that has not moved is returned
// as it is.
func (m Moved) Name(path string) string {
	path = withoutSite(path)
	if to, hasMoved := m[pagePath(path)]; hasMoved {
		return to
	}
	return path
}

// From returns the old names of a page.
func (m Moved) From(path string) []string {
	var all []string
	for from, to := range m {
		if to == path {
			all = append(all, from)
		}
	}
	slices.Sort(all)
	return all
}

// withoutSite returns the path of a URL. The service may name a page by either.
func withoutSite(text string) string {
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return pagePath(text)
	}
	return text
}

// words says which pages have moved, in the order of their names.
func (m Moved) words() []string {
	var all []string
	for from, to := range m {
		all = append(all, textOf(from)+" → "+textOf(to))
	}
	slices.Sort(all)
	return all
}

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Moved has the new names of pages and folders that were renamed. It is applied once to each path that
// the service names.
type Moved struct {
	given   []move
	found   []events.Move
	pages   map[string]string // the new name may have moved itself
	folders []move            // the longest first
}

// move is a page's or a folder's old and new name. Folders end with a slash. If the names are equal, the page or the
// folder has not moved, whatever was found.
type move struct{ from, to string }

func (m move) isFolder() bool { return strings.HasSuffix(m.from, "/") && strings.HasSuffix(m.to, "/") }

// ParseMoved reads texts such as /old=/new, a page, and /old/=/new/, a folder.
func ParseMoved(texts []string) (Moved, error) {
	moved := Moved{pages: map[string]string{}}
	for _, text := range texts {
		one, err := parseMove(text)
		if err != nil {
			return moved, err
		}

		moved.given = append(moved.given, one)
		if one.isFolder() {
			moved.folders = append(moved.folders, one)
			continue
		}

		if other, isGiven := moved.pages[one.from]; isGiven && other != one.to {
			return moved, fmt.Errorf("-moved: %s moved to %s and to %s: give one of them",
				textOf(one.from), textOf(other), textOf(one.to))
		}
		moved.pages[one.from] = one.to
	}

	slices.SortStableFunc(moved.folders, func(a, b move) int { return cmp.Compare(len(b.from), len(a.from)) })
	for from := range moved.pages {
		if _, isLast := moved.last(from); !isLast {
			return moved, fmt.Errorf("-moved: %s moves in a circle", textOf(from))
		}
	}
	return moved, nil
}

func parseMove(text string) (move, error) {
	at := strings.Index(text, "=/")
	one := move{from: text[:max(0, at)], to: text[at+1:]}
	endsLikeFolder := len(one.from) > 1 && strings.HasSuffix(one.from, "/") // a page's last slash does not count

	switch {
	case !strings.HasPrefix(one.from, "/") || strings.Contains(text, "*") || endsLikeFolder && !one.isFolder():
		return one, fmt.Errorf("-moved %s: want it as /old=/new, or as /old/=/new/ for a folder, without a wildcard",
			textOf(text))
	case one.isFolder():
		return one, nil
	}
	return move{from: pagePath(one.from), to: pagePath(one.to)}, nil
}

// With returns the names with moves that were found, oldest first. What is given goes first.
func (m Moved) With(found []events.Move) Moved {
	all := Moved{given: m.given, folders: m.folders, pages: map[string]string{}}
	maps.Copy(all.pages, m.pages)
	for _, one := range found {
		_, isGiven := m.pages[one.From]
		isOfFolder := func(f move) bool { return strings.HasPrefix(one.From+"/", f.from) }
		last, _ := all.last(one.To)
		if !isGiven && !slices.ContainsFunc(m.folders, isOfFolder) && last != one.From {
			all.pages[one.From] = one.To
			all.found = append(all.found, one)
		}
	}
	return all
}

// last returns the last name of a page's chain. It reports false if the chain is a circle.
func (m Moved) last(page string) (string, bool) {
	for range len(m.pages) + 1 {
		next, hasMoved := m.pages[page]
		if !hasMoved || next == page {
			return page, true
		}
		page = next
	}
	return page, false
}

// Name returns the name that a page, given by its path or URL, has today. An entry for the page itself takes
// precedence over one for a folder. A final slash makes no other page.
func (m Moved) Name(path string) string {
	page := pagePath(path)
	if _, hasMoved := m.pages[page]; hasMoved {
		last, _ := m.last(page)
		return last
	}

	for _, folder := range m.folders {
		if to, hasMoved := folder.apply(page); hasMoved {
			return to
		}
	}
	return store.PageName(path)
}

// apply returns the new name of a page of a folder. After /=/docs/, what is in /docs has moved already.
func (m move) apply(page string) (string, bool) {
	whole := strings.TrimSuffix(page, "/") + "/"
	rest, isThere := strings.CutPrefix(whole, m.from)
	hasMoved := strings.HasPrefix(m.to, m.from) && strings.HasPrefix(whole, m.to) // or has not, if the names are equal
	if page == "" || !isThere || hasMoved {
		return "", false
	}
	return cmp.Or(strings.TrimSuffix(m.to+rest, "/"), "/"), true
}

// From returns the old names of a page.
func (m Moved) From(page string) []string {
	var all []string
	for from := range m.pages {
		if last, _ := m.last(from); last == page && from != page {
			all = append(all, from)
		}
	}

	for _, folder := range m.folders {
		back := move{from: folder.to, to: folder.from}
		if old, isThere := back.apply(page); isThere && old != page && m.Name(old) == page {
			all = append(all, old)
		}
	}
	slices.Sort(all)
	return all
}

// UnknownNames returns the names of moves that no page of the inputs has.
func (m Moved) UnknownNames(inputs []Input) []string {
	var all []string
	for _, one := range m.given {
		for _, name := range []string{one.from, one.to} {
			isKnown := slices.ContainsFunc(inputs, func(in Input) bool { return in.hasPage(name, one.isFolder()) })
			if !isKnown && !slices.Contains(all, textOf(name)) {
				all = append(all, textOf(name))
			}
		}
	}
	return all
}

func (in Input) hasPage(name string, isFolder bool) bool {
	for _, row := range slices.Concat(in.Period.Rows, in.Before.Rows) {
		page := pagePath(row.Path)
		if page == name || isFolder && strings.HasPrefix(page+"/", name) {
			return true
		}
	}
	return false
}

func (m Moved) words() []string {
	var all []string
	add := func(from, to string) {
		if from != to {
			all = append(all, textOf(from)+" → "+textOf(to))
		}
	}

	for from := range m.pages {
		last, _ := m.last(from)
		add(from, last)
	}
	for _, folder := range m.folders {
		add(folder.from, folder.to)
	}
	slices.Sort(all)
	return all
}

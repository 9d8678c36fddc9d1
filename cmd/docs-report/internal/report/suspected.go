package report

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const leastMoved = 5 // pages that vanish, while pages with the same ends appear

// suspected are pages that seem to have moved, and of which no -moved tells.
type suspected struct {
	Text  string // says how many, from where to where; "" if there are none
	Flags string // tell the report

	names map[string]bool // are old and new ones
}

// suspect finds the pages that seem to have moved.
func (in Input) suspect() suspected {
	vanished := namesOnlyIn(in.Before.Rows, in.Period.Rows)
	appeared := namesOnlyIn(in.Period.Rows, in.Before.Rows)

	count := 0
	names := map[string]bool{}
	var places, flags []string
	for _, folder := range foldersInCommon(vanished, appeared) {
		moved := folder.takeFrom(vanished, appeared, names)
		if len(moved) == 0 {
			continue
		}

		count += len(moved)
		places = append(places, fmt.Sprintf("%d from %s to %s", len(moved), textOf(folder.from), textOf(folder.to)))
		if in.hasStayed(folder) {
			flags = append(flags, moved...)
		} else {
			flags = append(flags, folder.flag())
		}
	}

	all := count + len(vanished)
	if in.Missing != "" || count < leastMoved || 2*count < all {
		return suspected{}
	}
	return suspected{
		Text: fmt.Sprintf("%d pages seem to have moved: %d vanished, while pages with the same ends appeared, %s.",
			count, all, firstFew(places, ", ")),
		Flags: firstFew(flags, " "),
		names: names,
	}
}

// namesOnlyIn returns the pages that have visitors in one list, and none in the other.
func namesOnlyIn(rows, others []mintlify.Visitor) map[string]bool {
	all := map[string]bool{}
	for _, row := range rows {
		if row.Total > 0 {
			all[pagePath(row.Path)] = true
		}
	}
	for _, row := range others {
		if row.Total > 0 {
			delete(all, pagePath(row.Path))
		}
	}
	return all
}

// foldersInCommon returns the folders between which pages with the same ends may have moved, those of the
// most pages first.
func foldersInCommon(vanished, appeared map[string]bool) []move {
	byEnd := map[string][]string{}
	for page := range appeared {
		byEnd[path.Base(page)] = append(byEnd[path.Base(page)], page)
	}

	pages := map[move]int{}
	for old := range vanished {
		for _, page := range byEnd[path.Base(old)] {
			pages[move{old, page}.folders()]++
		}
	}
	return slices.SortedFunc(maps.Keys(pages), func(a, b move) int {
		return cmp.Or(cmp.Compare(pages[b], pages[a]), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
}

// folders returns what is left of two paths without the end that they have in common.
func (m move) folders() move {
	from := strings.Split(m.from, "/")
	to := strings.Split(m.to, "/")
	for len(from) > 1 && len(to) > 1 && from[len(from)-1] == to[len(to)-1] {
		from = from[:len(from)-1]
		to = to[:len(to)-1]
	}
	return move{strings.Join(from, "/") + "/", strings.Join(to, "/") + "/"}
}

// takeFrom takes the pages that moved from one folder to the other into names, and returns their flags.
func (m move) takeFrom(vanished, appeared, names map[string]bool) []string {
	var flags []string
	for _, old := range slices.Sorted(maps.Keys(vanished)) {
		page, isThere := m.apply(old)
		if isThere && appeared[page] {
			flags = append(flags, move{old, page}.flag())
			names[old] = true
			names[page] = true
			delete(vanished, old)
			delete(appeared, page)
		}
	}
	return flags
}

// hasStayed reports whether others of a folder have not moved.
func (in Input) hasStayed(folder move) bool {
	return slices.ContainsFunc(in.Period.Rows, func(row mintlify.Visitor) bool {
		_, isThere := folder.apply(pagePath(row.Path))
		return isThere && row.Total > 0
	})
}

func (m move) flag() string { return "-moved " + shellQuote(m.from+"="+m.to) }

var plainWord = regexp.MustCompile(`^[\w/.=-]+$`)

// shellQuote keeps a shell from reading anything into a word.
func shellQuote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(textOf(word), "'", `'\''`) + "'"
}

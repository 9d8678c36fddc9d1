package report

import (
	"cmp"
	"path"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	listLength = 10
	onPaper    = 100 // pages in the table
)

// comparison is a page now and before.
type comparison struct {
	raw, Path, URL string // raw: as received
	Now, Before    mintlify.Visitor
	Change         change
	Views          string
	OffPaper       bool
	isMachine      bool
}

// compare returns the pages of either period, those read most first.
func (in Input) compare() []comparison {
	views := map[string]string{}
	for _, row := range in.Views.Rows {
		views[row.Path] = number(row.Total)
	}
	byPath := map[string]*comparison{}
	var pages []comparison
	for _, row := range slices.Concat(in.Period.Rows, in.Before.Rows) {
		if byPath[row.Path] == nil {
			byPath[row.Path] = &comparison{raw: row.Path, Path: textOf(row.Path), URL: in.link(row.Path), Views: cmp.Or(views[row.Path], "–"), isMachine: in.isMachine(row.Path)}
		}
	}
	for _, row := range in.Period.Rows {
		byPath[row.Path].Now = merge(byPath[row.Path].Now, row)
	}
	for _, row := range in.Before.Rows {
		byPath[row.Path].Before = merge(byPath[row.Path].Before, row)
	}
	for _, c := range byPath {
		c.Change = in.changeOf(c.Now.Total, c.Before.Total)
		pages = append(pages, *c)
	}
	slices.SortFunc(pages, func(a, b comparison) int {
		return cmp.Or(cmp.Compare(b.Now.Total, a.Now.Total), cmp.Compare(b.Before.Total, a.Before.Total), cmp.Compare(a.Path, b.Path))
	})
	for i := onPaper; i < len(pages); i++ {
		pages[i].OffPaper = true
	}
	return pages
}

// merge is for a path that is reported twice, as it can be when rows move between two
// requests. Unique visitors do not add up: the larger counts stand.
func merge(a, b mintlify.Visitor) mintlify.Visitor {
	return mintlify.Visitor{Human: max(a.Human, b.Human, 0), AI: max(a.AI, b.AI, 0), Total: max(a.Total, b.Total, 0)}
}

// isMachine reports whether a pattern matches: a path, or the name of a file.
func (in Input) isMachine(file string) bool {
	return slices.ContainsFunc(in.Machine, func(pattern string) bool {
		name := file
		if !strings.HasPrefix(pattern, "/") {
			name = path.Base(file)
		}
		matches, _ := path.Match(pattern, name)
		return matches
	})
}

// group is the pages of a section of the site.
type group struct {
	Name string
	Rows []comparison
}

// groups returns the pages by section, the one with the most read page first. Files for
// machines come last.
func groups(pages []comparison) []group {
	index := map[string]int{}
	all := make([]group, 1) // the last
	for _, c := range pages {
		name := sectionOf(c)
		if _, found := index[name]; !found && !c.isMachine {
			index[name], all = len(all), append(all, group{Name: name})
		}
		g := &all[index[name]]
		g.Name, g.Rows = name, append(g.Rows, c)
	}
	if len(all[0].Rows) == 0 {
		return all[1:]
	}
	return append(all[1:], all[0])
}

// sectionOf is a path's first element, if there are more.
func sectionOf(c comparison) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/")
	switch {
	case c.isMachine:
		return "Machine files"
	case rest == "":
		return "Top level"
	}
	return "/" + first
}

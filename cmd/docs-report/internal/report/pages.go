package report

import (
	"cmp"
	"path"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	onPaper    = 100  // pages in the table
	mostLinked = 1000 // pages in the table: each link doubles its row
)

type comparison struct {
	raw, Path, URL string // raw is as received
	Now, Before    mintlify.Visitor

	usualNow, usualBefore mintlify.Visitor // are without what stands out

	Change    change
	Views     string
	OffPaper  bool
	isMachine bool
}

// compare returns the pages of either period, those read most first.
func (in Input) compare() []comparison {
	byPath := map[string]*comparison{}
	for _, row := range in.Period.Rows {
		in.find(byPath, row.Path).Now = row
	}
	for _, row := range in.Before.Rows {
		in.find(byPath, row.Path).Before = row
	}

	for _, row := range in.Period.Views.Rows {
		if c := byPath[row.Path]; c != nil {
			c.Views = number(row.Total)
		}
	}

	usualNow := in.usualRows(in.Period)
	usualBefore := in.usualRows(in.Before)
	pages := make([]comparison, 0, len(byPath))
	for path, c := range byPath {
		c.usualNow = usualNow[path]
		c.usualBefore = usualBefore[path]
		c.Change = in.changeOf(c.usualNow.Total, c.usualBefore.Total)
		pages = append(pages, *c)
	}

	slices.SortFunc(pages, func(a, b comparison) int {
		return cmp.Or(
			cmp.Compare(b.usualNow.Total, a.usualNow.Total),
			cmp.Compare(b.usualBefore.Total, a.usualBefore.Total),
			cmp.Compare(a.Path, b.Path))
	})

	for i := onPaper; i < len(pages); i++ {
		pages[i].OffPaper = true
	}
	return pages
}

// find returns the comparison of a path. If there is none yet, find adds it.
func (in Input) find(byPath map[string]*comparison, path string) *comparison {
	if byPath[path] == nil {
		byPath[path] = &comparison{
			raw:       path,
			Path:      textOf(path),
			URL:       in.link(path),
			Views:     "–",
			isMachine: in.isMachine(path),
		}
	}
	return byPath[path]
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

type group struct {
	Name string
	Rows []comparison
}

// groups returns the pages by section, the one with the most read page first. Files for
// machines come last.
func groups(pages []comparison) []group {
	var all []group
	machines := group{Name: "Machine files"}
	index := map[string]int{}
	for i, c := range pages {
		if i >= mostLinked {
			c.URL = ""
		}
		if c.isMachine {
			machines.Rows = append(machines.Rows, c)
			continue
		}

		name := sectionOf(c.Path)
		at, found := index[name]
		if !found {
			at = len(all)
			index[name] = at
			all = append(all, group{Name: name})
		}
		all[at].Rows = append(all[at].Rows, c)
	}

	if len(machines.Rows) > 0 {
		all = append(all, machines)
	}
	return all
}

// sectionOf returns a path's first element, if the path has more elements.
func sectionOf(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if rest == "" {
		return "Top level"
	}
	return "/" + first
}

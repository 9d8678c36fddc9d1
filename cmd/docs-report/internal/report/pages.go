package report

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	onPaper    = 100  // pages in the table
	mostLinked = 1000 // pages in the table: each link doubles its row
)

// comparison is a page in both periods, and what readers say about it.
type comparison struct {
	said
	raw, Path, URL string // raw is as received
	Now, Before    mintlify.VisitorTotals

	usualNow, usualBefore mintlify.VisitorTotals // are without what stands out

	Change    change
	OffPaper  bool
	IsVisited bool // readers came in the period
	isMachine bool
}

// pages returns the pages of either period, those read most first. It also returns pages with votes and
// without visitors: redirects, or the service names the page in another way.
func (in Input) pages() ([]comparison, []comparison) {
	var visited, elsewhere []comparison
	now := byPath(in.Period.Rows)
	before := byPath(in.Before.Rows)
	usualNow := in.usualRows(in.Period)
	usualBefore := in.usualRows(in.Before)
	votes := in.saidByPage()

	either := maps.Clone(now)
	maps.Copy(either, before)
	for path := range either {
		c := in.newComparison(path, votes[pagePath(path)])

		_, c.IsVisited = now[path]
		c.Now = now[path]
		c.Before = before[path]

		c.usualNow = usualNow[path]
		c.usualBefore = usualBefore[path]
		c.Change = in.compared.visitors(everybody, c.usualNow, c.usualBefore)
		visited = append(visited, c)
	}

	slices.SortFunc(visited, func(a, b comparison) int {
		return cmp.Or(
			cmp.Compare(b.usualNow.Total, a.usualNow.Total),
			cmp.Compare(b.usualBefore.Total, a.usualBefore.Total),
			cmp.Compare(a.Path, b.Path))
	})

	for i, c := range visited {
		visited[i].OffPaper = i >= onPaper
		delete(votes, pagePath(c.raw))
	}

	for page, s := range votes {
		if strings.HasPrefix(page, "/") {
			elsewhere = append(elsewhere, in.newComparison(page, s))
		}
	}
	return visited, elsewhere
}

func (in Input) newComparison(page string, s said) comparison {
	return comparison{said: s, raw: page, Path: textOf(page), URL: in.link(page), isMachine: in.isMachine(page)}
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

// group is a section of the documentation, which a team may own. Its visitors are added up: who reads two
// of its pages counts twice.
type group struct {
	said
	Name string
	Rows []comparison
	Sum  mintlify.VisitorTotals
}

// groups returns the pages by section, the one with the most read page first. Files for
// machines come last.
func groups(pages, elsewhere []comparison) []group {
	var all []group
	section := func(name string) int {
		return slices.IndexFunc(all, func(g group) bool { return g.Name == name })
	}
	for i, c := range pages {
		if i >= mostLinked {
			c.URL = ""
		}

		at := section(c.section())
		if at < 0 {
			at = len(all)
			all = append(all, group{Name: c.section()})
		}
		all[at].add(c)
	}

	for _, c := range elsewhere {
		if at := section(c.section()); at >= 0 {
			all[at].said = all[at].plus(c.said)
		}
	}

	if at := section(machineFiles); at >= 0 {
		machines := all[at]
		all = append(slices.Delete(all, at, at+1), machines)
	}
	return all
}

func (g *group) add(c comparison) {
	g.Rows = append(g.Rows, c)
	g.Sum = sum(g.Sum, c.Now)
	g.said = g.plus(c.said)
}

// worstSections names the sections with the worst votes, those that are surest first: a team each, perhaps.
func worstSections(groups []group) string {
	worst := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return g.bad() == 0 })
	slices.SortStableFunc(worst, func(a, b group) int { return cmp.Compare(b.atLeast(), a.atLeast()) })
	if len(worst) < 2 {
		return ""
	}

	var all []string
	for _, g := range worst {
		all = append(all, g.Name+" "+g.Votes())
	}
	return "Bad votes by section: " + firstFew(all, ", ") + "."
}

const machineFiles = "Machine files"

// section returns a path's first element, if the path has more elements.
func (c comparison) section() string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/")
	switch {
	case c.isMachine:
		return machineFiles
	case rest == "":
		return "pages without a section"
	}
	return "/" + first
}

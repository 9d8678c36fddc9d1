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
	said           said

	usualNow, usualBefore mintlify.Visitor // are without what stands out

	Change    change
	OffPaper  bool
	isMachine bool
}

// Votes returns what readers say about the page, or nothing.
func (c comparison) Votes() string { return c.said.Share() }

// isVisited reports whether the page has a row of visitors in the period.
func (c comparison) isVisited() bool { return c.Now != mintlify.Visitor{} }

// pages returns the pages of either period, those read most first.
func (in Input) pages() []comparison {
	byPath := map[string]*comparison{}
	for _, row := range in.Period.Rows {
		in.find(byPath, row.Path).Now = row
	}
	for _, row := range in.Before.Rows {
		in.find(byPath, row.Path).Before = row
	}

	usualNow := in.usualRows(in.Period)
	usualBefore := in.usualRows(in.Before)
	said := in.saidByPage()
	pages := make([]comparison, 0, len(byPath))
	for path, c := range byPath {
		c.usualNow = usualNow[path]
		c.usualBefore = usualBefore[path]
		c.Change = in.compared.visitors(c.usualNow.Total, c.usualBefore.Total)
		c.said = said[pagePath(path)]
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

func (in Input) find(byPath map[string]*comparison, path string) *comparison {
	if byPath[path] == nil {
		byPath[path] = &comparison{
			raw:       path,
			Path:      textOf(path),
			URL:       in.link(path),
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

// group is a section of the documentation, which a team may own. Its visitors are added up: who reads two
// of its pages counts twice.
type group struct {
	Name string
	Rows []comparison
	Sum  mintlify.Visitor

	votes part
}

// Votes returns what readers say about the pages of the section, or nothing.
func (g group) Votes() string { return g.votes.of() }

// groups returns the pages by section, the one with the most read page first. Files for
// machines come last.
func groups(pages []comparison, others []fix) []group {
	var all []group
	machines := group{Name: "Machine files"}
	index := map[string]int{}
	for i, c := range pages {
		if i >= mostLinked {
			c.URL = ""
		}
		if c.isMachine {
			machines.add(c)
			continue
		}

		name := sectionOf(c.Path)
		at, found := index[name]
		if !found {
			at = len(all)
			index[name] = at
			all = append(all, group{Name: name})
		}
		all[at].add(c)
	}

	for _, page := range others {
		if at, found := index[sectionOf(page.Path)]; found {
			all[at].votes = all[at].votes.plus(page.votes())
		}
	}
	if len(machines.Rows) > 0 {
		all = append(all, machines)
	}
	return all
}

// worstSections names the sections with the worst votes, those that are surest first: a team each, perhaps.
func worstSections(groups []group) string {
	worst := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return g.votes.some == 0 })
	slices.SortStableFunc(worst, func(a, b group) int { return cmp.Compare(b.votes.atLeast(), a.votes.atLeast()) })
	if len(worst) < 2 {
		return ""
	}

	var all []string
	for _, g := range worst {
		all = append(all, g.Name+" "+g.Votes())
	}
	return "Bad votes by section: " + firstFew(all, ", ") + "."
}

func (g *group) add(c comparison) {
	g.Rows = append(g.Rows, c)
	g.Sum.Human += c.Now.Human
	g.Sum.AI += c.Now.AI
	g.Sum.Total += c.Now.Total
	g.votes = g.votes.plus(c.said.votes())
}

// sectionOf returns a path's first element, if the path has more elements.
func sectionOf(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if rest == "" {
		return "pages without a section"
	}
	return "/" + first
}

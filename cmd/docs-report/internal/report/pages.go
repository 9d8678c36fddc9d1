package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	listLength = 10
	onPaper    = 100 // pages in the table
	topLevel   = "Top level"
	machines   = "Machine files"
)

// comparison is a page now and before.
type comparison struct {
	raw, path   string // as received, and printable
	isMachine   bool
	now, before mintlify.Visitor
}

func (c comparison) gain() int64 { return c.now.Total - c.before.Total }

// compare returns the pages of either period, those read most first.
func (in Input) compare() []comparison {
	byPath := map[string]*comparison{}
	of := func(path string) *comparison {
		if byPath[path] == nil {
			byPath[path] = &comparison{raw: path, path: textOf(path), isMachine: in.isMachine(path)}
		}
		return byPath[path]
	}
	for _, row := range in.Period.Rows {
		c := of(row.Path)
		c.now = merge(c.now, row)
	}
	for _, row := range in.Before.Rows {
		c := of(row.Path)
		c.before = merge(c.before, row)
	}
	pages := make([]comparison, 0, len(byPath))
	for _, c := range byPath {
		pages = append(pages, *c)
	}
	slices.SortFunc(pages, func(a, b comparison) int {
		return cmp.Or(cmp.Compare(b.now.Total, a.now.Total), cmp.Compare(b.before.Total, a.before.Total), cmp.Compare(a.path, b.path))
	})
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

// mover is a page that gained or lost readers.
type mover struct {
	Path, URL, Difference, Now string
	Change                     change
}

// movers returns the pages that gained and that lost the most readers.
func movers(pages []comparison) (gainers, losers []comparison) {
	sorted := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return c.isMachine })
	slices.SortStableFunc(sorted, func(a, b comparison) int { return cmp.Compare(b.gain(), a.gain()) })
	for _, c := range sorted[:min(listLength, len(sorted))] {
		if c.gain() > 0 {
			gainers = append(gainers, c)
		}
	}
	slices.Reverse(sorted)
	for _, c := range sorted[:min(listLength, len(sorted))] {
		if c.gain() < 0 {
			losers = append(losers, c)
		}
	}
	return gainers, losers
}

func (in Input) texts(pages []comparison) []mover {
	all := make([]mover, len(pages))
	for i, c := range pages {
		difference := strings.Replace(number(c.gain()), "-", "−", 1)
		if c.gain() > 0 {
			difference = "+" + difference
		}
		all[i] = mover{c.path, in.link(c.raw), difference, number(c.now.Total), in.changeOf(c.now.Total, c.before.Total)}
	}
	return all
}

// group is the pages of a section of the site.
type group struct {
	Name     string
	OffPaper bool
	Rows     []pageRow
}

// pageRow is a page in the table of all.
type pageRow struct {
	Path, URL, Human, AI, Total, Share, Views string
	Change                                    change
	OffPaper                                  bool
}

// groups returns the pages by section, the one with the most read page first. Files for
// machines come last.
func (in Input) groups(pages []comparison) []group {
	views := map[string]string{}
	for _, row := range in.Views.Rows {
		views[row.Path] = number(row.Total)
	}
	index := map[string]int{}
	var all []group
	for rank, c := range pages {
		name := sectionOf(c)
		if _, found := index[name]; !found {
			index[name], all = len(all), append(all, group{Name: name, OffPaper: rank >= onPaper})
		}
		g := &all[index[name]]
		g.Rows = append(g.Rows, pageRow{c.path, in.link(c.raw), number(c.now.Human), number(c.now.AI), number(c.now.Total),
			shareText(c.now.Human, c.now.AI), cmp.Or(views[c.raw], "–"), in.changeOf(c.now.Total, c.before.Total), rank >= onPaper})
	}
	if i, found := index[machines]; found {
		last := all[i]
		all = append(slices.Delete(all, i, i+1), last)
	}
	return all
}

// sectionOf is a path's first element, if there are more.
func sectionOf(c comparison) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(c.path, "/"), "/")
	switch {
	case c.isMachine:
		return machines
	case rest == "":
		return topLevel
	}
	return "/" + first
}

// WriteCSV writes all pages of all inputs.
func WriteCSV(w io.Writer, all []Input) error {
	out := csv.NewWriter(w)
	_ = out.Write(strings.Fields("project date_from date_to path human ai total human_before ai_before total_before")) // Error tells
	for _, in := range all {
		for _, c := range in.compare() {
			row := []string{in.Project, in.Period.From.String(), in.Period.To.String(), c.raw}
			for _, n := range []int64{c.now.Human, c.now.AI, c.now.Total, c.before.Human, c.before.AI, c.before.Total} {
				row = append(row, strconv.FormatInt(n, 10))
			}
			if strings.ContainsAny(row[3][:min(1, len(row[3]))], "=+-@\t\r") { // a spreadsheet would run it
				row[3] = "'" + row[3]
			}
			_ = out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}

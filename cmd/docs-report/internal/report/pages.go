package report

import (
	"cmp"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	listLength = 10
	fewReaders = 20 // a page with less says little by its share of AI
)

// comparison is a page now and before.
type comparison struct {
	path        string // printable
	now, before mintlify.Visitor
}

func (c comparison) gain() int64 { return c.now.Total - c.before.Total }

// compare returns the pages of either period, those read most first.
func compare(now, before []mintlify.Visitor) []comparison {
	byPath := map[string]*comparison{}
	of := func(path string) *comparison {
		if byPath[path] == nil {
			byPath[path] = &comparison{path: pathText(path)}
		}
		return byPath[path]
	}
	for _, row := range now {
		c := of(row.Path)
		c.now = merge(c.now, row)
	}
	for _, row := range before {
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

// merge is for a path that is told twice, as it can be where rows move between two
// requests. Unique visitors do not add up: the larger counts stand.
func merge(a, b mintlify.Visitor) mintlify.Visitor {
	return mintlify.Visitor{Human: max(a.Human, b.Human, 0), AI: max(a.AI, b.AI, 0), Total: max(a.Total, b.Total, 0)}
}

func pathText(path string) string {
	if path == "" {
		return "(no path)"
	}
	return printable(path)
}

// pageBar is a page in a list with bars. Widths are of 100.
type pageBar struct {
	Path, Human, AI, Share string
	HumanWidth, AIWidth    float64
}

func newPageBar(c comparison, full float64) pageBar {
	return pageBar{
		Path: c.path, Human: number(c.now.Human), AI: number(c.now.AI), Share: shareText(c.now.Human, c.now.AI),
		HumanWidth: round(100 * float64(c.now.Human) / full), AIWidth: round(100 * float64(c.now.AI) / full),
	}
}

func mostRead(pages []comparison) []pageBar {
	var bars []pageBar
	top := read(pages)
	top = top[:min(listLength, len(top))]
	full := 1.0
	for _, c := range top {
		full = max(full, float64(c.now.Human), float64(c.now.AI))
	}
	for _, c := range top {
		bars = append(bars, newPageBar(c, full))
	}
	return bars
}

// read returns the pages that have readers now.
func read(pages []comparison) []comparison {
	return slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return c.now.Total == 0 })
}

// forAIs are the pages of whose readers the most are AIs.
func forAIs(pages []comparison) []pageBar {
	chosen := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool {
		return c.now.AI == 0 || c.now.Human < fewReaders-c.now.AI
	})
	slices.SortStableFunc(chosen, func(a, b comparison) int {
		return cmp.Or(cmp.Compare(share(b.now.Human, b.now.AI), share(a.now.Human, a.now.AI)), cmp.Compare(b.now.AI, a.now.AI))
	})
	var bars []pageBar
	for _, c := range chosen[:min(listLength, len(chosen))] {
		bars = append(bars, newPageBar(c, float64(c.now.Human)+float64(c.now.AI)))
	}
	return bars
}

// mover is a page that gained or lost readers.
type mover struct {
	Path, Difference, Now string
	Change                change
}

// movers returns the pages that gained and that lost the most readers.
func movers(pages []comparison) (gainers, losers []comparison) {
	sorted := slices.Clone(pages)
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

func texts(pages []comparison) []mover {
	all := make([]mover, len(pages))
	for i, c := range pages {
		all[i] = mover{Path: c.path, Difference: difference(c), Now: number(c.now.Total), Change: changeOf(c.now.Total, c.before.Total)}
	}
	return all
}

func difference(c comparison) string {
	if c.gain() > 0 {
		return "+" + number(c.gain())
	}
	return "−" + number(-c.gain())
}

// pageRow is a page in the table of all.
type pageRow struct {
	Path, Human, AI, Total, Share string
	Change                        change
}

func pageRows(pages []comparison) []pageRow {
	rows := make([]pageRow, len(pages))
	for i, c := range pages {
		rows[i] = pageRow{c.path, number(c.now.Human), number(c.now.AI), number(c.now.Total), shareText(c.now.Human, c.now.AI), changeOf(c.now.Total, c.before.Total)}
	}
	return rows
}

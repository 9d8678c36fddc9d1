package report

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
)

const (
	onPaper    = 100  // pages in the table
	mostLinked = 1000 // pages in the table: each link doubles its row
)

// comparison is a page in both periods, and what readers say about it.
type comparison struct {
	voted
	raw, Path, URL string // raw is as received
	Now, Before    mintlify.VisitorTotals

	usualNow, usualBefore counted // are without what stands out

	changes   [2]change // by kind
	OffPaper  bool
	IsVisited bool // readers came in the period
	isMachine bool

	Better string // says that the votes got better
	Ended  string // says since when nobody came, or is ""
}

// ShareOfAIs is without what stands out.
func (c comparison) ShareOfAIs() string { return shareOfAIs(c.usualNow.sum) }

// MoreHumans and MoreAIs say how much of a count is more than usual, or return "".
func (c comparison) MoreHumans() string { return c.more(humans) }
func (c comparison) MoreAIs() string    { return c.more(ais) }

func (c comparison) more(k kind) string {
	if more := k.Of(c.Now) - k.Of(c.usualNow.sum); more > 0 {
		return "of which " + number(more) + " more than usual"
	}
	return ""
}

// Change is of humans.
func (c comparison) Change() change { return c.changes[events.Humans] }

// pages returns the pages of either period, those read most first. It also returns pages with votes and
// without visitors: redirects, or the service names the page in another way.
func (in Input) pages() ([]comparison, []comparison) {
	var visited, elsewhere []comparison
	now := in.Period.pages
	before := in.Before.pages
	usualNow := in.usualPages(in.Period)
	usualBefore := in.usualPages(in.Before)
	votes := in.votes()

	either := maps.Clone(now)
	maps.Copy(either, before)
	compared := in.compared.ofMany(len(either))
	for path := range either {
		c := in.newComparison(path, votes[pagePath(path)])

		_, c.IsVisited = now[path]
		c.Now = now[path].sum
		c.Before = before[path].sum

		c.usualNow = usualNow[path]
		c.usualBefore = usualBefore[path]
		for _, k := range kinds {
			c.changes[k.Kind] = compared.visitors(k, c.usualNow, c.usualBefore)
		}
		if c.Change().isTold() && c.Change().Gain < 0 {
			c.Ended = in.ended(path)
		}
		visited = append(visited, c)
	}

	slices.SortFunc(visited, func(a, b comparison) int {
		return cmp.Or(
			cmp.Compare(b.usualNow.sum.Human, a.usualNow.sum.Human),
			cmp.Compare(b.usualNow.sum.AI, a.usualNow.sum.AI),
			cmp.Compare(b.usualBefore.sum.Human, a.usualBefore.sum.Human),
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

// ended says since when nobody came to a page, if that is more than chance, or returns "".
func (in Input) ended(page string) string {
	if since, hasEnded := in.ByDay.Ended(page); hasEnded {
		return "nobody since " + since.Time().Format(shortDay)
	}
	return ""
}

func (in Input) newComparison(page string, v voted) comparison {
	return comparison{
		voted:     v,
		Better:    v.better(in.compared),
		raw:       page,
		Path:      textOf(page),
		URL:       in.link(page),
		isMachine: in.isMachine(page),
	}
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

// group is a section of the documentation, which a team may own. Visits are of a page by a visitor: unique visitors
// do not add up.
type group struct {
	said
	Name   string
	Rows   []comparison
	visits mintlify.VisitorTotals
	Share  string // of all humans' visits of pages
}

// AIShare is how many of the visits are those of AIs.
func (g group) AIShare() string { return shareOfAIs(g.visits) }

// groups returns the pages by section, the one with the most read page first. Files for
// machines come last.
func groups(pages, elsewhere []comparison) []*group {
	var all []*group
	byName := map[string]*group{}
	depth := depthOfSections(pages)
	visits := int64(0)
	for i, c := range pages {
		if i >= mostLinked {
			c.URL = ""
		}

		name := c.section(depth)
		g := byName[name]
		if g == nil {
			g = &group{Name: name}
			byName[name] = g
			all = append(all, g)
		}
		g.Rows = append(g.Rows, c)
		g.visits = sum(g.visits, c.usualNow.sum)
		g.said = g.plus(c.said)
		visits += c.usualNow.sum.Human
	}

	for _, c := range elsewhere {
		if g := byName[c.section(depth)]; g != nil {
			g.said = g.plus(c.said)
		}
	}
	for _, g := range all {
		g.Share = part{g.visits.Human, visits}.text()
	}

	if machines := byName[machineFiles]; machines != nil {
		all = append(slices.DeleteFunc(all, func(g *group) bool { return g == machines }), machines)
	}
	return all
}

const machineFiles = "Machine files"

// depthOfSections returns how many elements of a path name its section: two if nine tenths of the pages have the same
// first one, such as /docs or /en.
func depthOfSections(pages []comparison) int {
	counts := map[string]int{}
	most := 0
	for _, c := range pages {
		first, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/")
		counts[first]++
		most = max(most, counts[first])
	}
	if 10*most >= 9*len(pages) && len(counts) < len(pages) {
		return 2
	}
	return 1
}

// section returns a path's first elements, if the path has more elements.
func (c comparison) section(depth int) string {
	elements := strings.Split(strings.TrimPrefix(c.Path, "/"), "/")
	switch {
	case c.isMachine:
		return machineFiles
	case len(elements) < 2:
		return "pages without a section"
	}
	return "/" + strings.Join(elements[:min(depth, len(elements)-1)], "/")
}

const (
	mostReadByAIs = 5
	moversLength  = 7
)

// aisRead lists what AIs read most. The table has the others.
func aisRead(pages []comparison) []finding {
	var rows []finding
	for _, c := range pages {
		if c.usualNow.sum.AI == 0 {
			continue
		}

		row := finding{
			Text:   c.Path,
			URL:    c.URL,
			Much:   plural(c.Now.AI, "AI", "AIs"),
			Width:  float64(c.usualNow.sum.AI),
			Change: c.changes[events.AIs],
		}
		if c.isMachine {
			row.Quiet = "a file for machines"
		}
		if more := c.MoreAIs(); more != "" {
			row.Quiet = more
		}
		rows = append(rows, row)
	}

	most, _ := arranged(rows)
	return most[:min(mostReadByAIs, len(most))]
}

// movers are the pages that gained and that lost the most visitors, but for losses of AIs: crawlers come and go. Gains
// and losses that may be chance are left out.
type movers struct {
	Gained, Lost, GainedAIs []mover
	LeftOut                 string
}

type mover struct {
	Path, URL string
	Now       int64
	Note      string // says what of the count is more than usual, and since when nobody came
	Change    change
}

func newMovers(pages []comparison) movers {
	var m movers
	machines := int64(0)
	for _, c := range pages {
		ofHumans := c.mover(events.Humans)
		ofAIs := c.mover(events.AIs)
		if ofAIs.Change.isTold() && ofAIs.Change.Gain >= 0 {
			m.GainedAIs = append(m.GainedAIs, ofAIs)
		}

		switch {
		case !ofHumans.Change.isTold():
		case c.isMachine && ofHumans.Change.Gain > 0:
			machines++
		case c.isMachine:
		case ofHumans.Change.Gain < 0:
			m.Lost = append(m.Lost, ofHumans)
		default:
			m.Gained = append(m.Gained, ofHumans)
		}
	}

	if machines > 0 {
		m.LeftOut = "The gains of humans are without " + plural(machines, "file", "files") + " for machines."
	}
	m.Gained = largest(m.Gained)
	m.Lost = largest(m.Lost)
	m.GainedAIs = largest(m.GainedAIs)
	return m
}

func (c comparison) mover(k events.Kind) mover {
	return mover{
		Path:   c.Path,
		URL:    c.URL,
		Now:    k.Of(c.Now),
		Note:   cmp.Or(c.Ended, c.more(kinds[k])),
		Change: c.changes[k],
	}
}

// largest returns the first of the movers, the largest gain or loss first.
func largest(all []mover) []mover {
	size := func(row mover) int64 { return max(row.Change.Gain, -row.Change.Gain) }
	slices.SortStableFunc(all, func(a, b mover) int { return cmp.Compare(size(b), size(a)) })
	return all[:min(moversLength, len(all))]
}

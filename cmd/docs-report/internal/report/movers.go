package report

import (
	"cmp"
	"slices"
)

const (
	mostReadByAIs = 5
	moversLength  = 7
)

// aisRead lists what AIs read most. The table has the others.
func (in Input) aisRead(pages []comparison) []finding {
	var rows []finding
	compared := in.compared.ofMany(len(pages))
	for _, c := range pages {
		if c.usualNow.sum.AI == 0 {
			continue
		}

		row := finding{
			Text:   c.Path,
			URL:    c.URL,
			Much:   plural(c.Now.AI, "AI", "AIs"),
			Width:  float64(c.usualNow.sum.AI),
			Change: compared.visitors(ais, c.usualNow, c.usualBefore),
		}

		if c.isMachine {
			row.Quiet = "a file for machines"
		}
		if odd := c.Now.AI - c.usualNow.sum.AI; odd > 0 {
			row.Quiet = "of which " + number(odd) + " more than usual"
		}
		rows = append(rows, row)
	}

	rows = findings{}.arrange(rows).Rows
	return rows[:min(mostReadByAIs, len(rows))]
}

// movers are the pages that gained and that lost the most visitors, by kind: a crawler may have
// caused a loss. Gains and losses that may be chance are left out.
type movers struct {
	Humans, AIs moved
	LeftOut     string
}

type moved struct{ Gained, Lost []mover }

type mover struct {
	Path, URL string
	Now       int64
	Change    change
}

func (in Input) newMovers(pages []comparison) movers {
	readable := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return c.isMachine })
	machines := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return !c.isMachine })
	m := movers{Humans: in.moved(humans, readable), AIs: in.moved(ais, pages)}
	m.AIs.Lost = nil // crawlers come and go

	if n := len(in.moved(humans, machines).Gained); n > 0 {
		files := plural(int64(n), "file", "files") + " for machines"
		m.LeftOut = "The gains of humans are without " + files + "."
	}
	return m
}

func (in Input) moved(k kind, pages []comparison) moved {
	var m moved
	compared := in.compared.ofMany(len(pages))
	for _, page := range pages {
		c := compared.visitors(k, page.usualNow, page.usualBefore)
		row := mover{Path: page.Path, URL: page.URL, Now: k.Of(page.usualNow.sum), Change: c}
		switch {
		case c.Text == "" || c.Verdict == same:
		case c.Gain < 0:
			m.Lost = append(m.Lost, row)
		default:
			m.Gained = append(m.Gained, row)
		}
	}

	slices.SortStableFunc(m.Gained, func(a, b mover) int { return cmp.Compare(b.Change.Gain, a.Change.Gain) })
	slices.SortStableFunc(m.Lost, func(a, b mover) int { return cmp.Compare(a.Change.Gain, b.Change.Gain) })
	m.Gained = m.Gained[:min(moversLength, len(m.Gained))]
	m.Lost = m.Lost[:min(moversLength, len(m.Lost))]
	return m
}

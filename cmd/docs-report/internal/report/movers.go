package report

import (
	"cmp"
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

type kind struct {
	name    string
	count   func(mintlify.Visitor) int64
	compare func(w windows, now, before int64) change
}

var (
	humans = kind{
		name:    "humans",
		count:   func(v mintlify.Visitor) int64 { return v.Human },
		compare: windows.humans,
	}
	ais = kind{
		name:    "AIs",
		count:   func(v mintlify.Visitor) int64 { return v.AI },
		compare: windows.visitors,
	}
)

const mostReadByAIs = 5

// aisRead lists what AIs read most. The table has the others.
func (in Input) aisRead(pages []comparison) findings {
	var rows []finding
	for _, c := range pages {
		if c.usualNow.AI == 0 {
			continue
		}

		row := finding{
			Text:   c.Path,
			URL:    c.URL,
			Much:   plural(c.Now.AI, "AI", "AIs"),
			Width:  float64(c.usualNow.AI),
			Change: in.compared.visitors(c.usualNow.AI, c.usualBefore.AI),
		}

		if c.isMachine {
			row.Quiet = "a file for machines"
		}
		if odd := c.Now.AI - c.usualNow.AI; odd > 0 {
			row.Quiet = "of which " + number(odd) + " more than usual"
		}
		rows = append(rows, row)
	}

	f := findings{}.arrange(rows)
	f.More = nil
	f.Rows = f.Rows[:min(mostReadByAIs, len(f.Rows))]
	return f
}

const moversLength = 7

// movers are the pages that gained and that lost the most visitors, by kind: a crawler may have
// caused a loss. Gains and losses that may be chance are left out.
type movers struct {
	Humans, AIs moved
	Summary     string
}

type moved struct{ Gained, Lost []mover }

type mover struct {
	Path, URL string
	Now       int64
	Change    change
}

func (in Input) newMovers(pages []comparison, suspects suspected) movers {
	pages = slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return suspects.names[pagePath(c.raw)] })
	readable := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return c.isMachine })
	machines := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return !c.isMachine })
	m := movers{Humans: in.moved(humans, readable), AIs: in.moved(ais, pages)}
	m.AIs.Lost = nil // crawlers come and go

	leftOut := ""
	if n := len(suspects.names) / 2; n > 0 {
		leftOut = fmt.Sprintf("%d pages that seem to have moved are left out, by their old and new names.", n)
	}
	if n := len(in.moved(humans, machines).Gained); n > 0 {
		files := plural(int64(n), "file", "files") + " for machines"
		leftOut = sentences(leftOut, "The gains of humans are without "+files+".")
	}
	m.Summary = sentences(
		largest("loss", m.Humans.Lost, humans),
		largest("gain", m.Humans.Gained, humans),
		largest("gain", m.AIs.Gained, ais),
		leftOut)
	return m
}

func (in Input) moved(k kind, pages []comparison) moved {
	var all []mover
	for _, page := range pages {
		now := k.count(page.usualNow)
		c := k.compare(in.compared, now, k.count(page.usualBefore))
		if c.verdict != aboutTheSame {
			all = append(all, mover{Path: page.Path, URL: page.URL, Now: now, Change: c})
		}
	}
	slices.SortStableFunc(all, func(a, b mover) int { return cmp.Compare(b.Change.Gain, a.Change.Gain) })

	lost := slices.IndexFunc(all, func(m mover) bool { return m.Change.Gain < 0 })
	if lost < 0 {
		lost = len(all)
	}
	m := moved{Gained: all[:lost], Lost: slices.Clone(all[lost:])}
	slices.Reverse(m.Lost)
	m.Gained = m.Gained[:min(moversLength, len(m.Gained))]
	m.Lost = m.Lost[:min(moversLength, len(m.Lost))]
	return m
}

func largest(what string, all []mover, k kind) string {
	if len(all) == 0 {
		return ""
	}
	gain := signedCount(all[0].Change.Gain)
	return fmt.Sprintf("The largest %s of %s beyond chance: %s, %s.", what, k.name, all[0].Path, gain)
}

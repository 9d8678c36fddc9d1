package report

import (
	"cmp"
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// kind is a kind of visitors.
type kind struct {
	name   string
	class  string // of bars
	count  func(mintlify.Visitor) int64
	change func(in Input, now, before int64) change
}

var (
	humans = kind{
		name:   "humans",
		class:  "human",
		count:  func(v mintlify.Visitor) int64 { return v.Human },
		change: Input.changeOfHumans,
	}
	ais = kind{
		name:   "AIs",
		class:  "ai",
		count:  func(v mintlify.Visitor) int64 { return v.AI },
		change: Input.changeOf,
	}
)

// mostRead lists the pages that a kind of visitors reads most.
func (in Input) mostRead(k kind, pages []comparison) findings {
	var rows []finding
	for _, c := range pages {
		now := k.count(c.Now)
		if now == 0 {
			continue
		}

		row := finding{
			Text:   c.Path,
			URL:    c.URL,
			Much:   number(now) + " " + k.name,
			Width:  float64(now),
			Class:  k.class,
			Change: k.change(in, now, k.count(c.Before)),
		}

		if c.isMachine {
			row.Quiet = "a file for machines"
		}

		rows = append(rows, row)
	}

	f := findings{}.arrange(rows)
	f.More = nil // the table has them
	if len(rows) == 0 {
		f.Empty = "There were no such visitors."
	}
	return f
}

const moversLength = 7

// movers are the pages that gained and that lost the most visitors, by kind: a crawler may have
// caused a loss.
type movers struct {
	Humans, AIs moved
	Summary     string
}

type moved struct{ Gained, Lost []mover }

// mover is a page and how many visitors of a kind it gained.
type mover struct {
	Path, URL string
	Gain, Now int64
	Change    change
}

// newMovers returns none if the period before is not known.
func (in Input) newMovers(pages []comparison) movers {
	if !in.Before.Known {
		return movers{}
	}

	readable := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return c.isMachine })
	m := movers{Humans: in.moved(humans, readable), AIs: in.moved(ais, pages)}
	m.Summary = sentences(
		largest("loss", m.Humans.Lost, m.AIs.Lost),
		largest("gain", m.Humans.Gained, m.AIs.Gained))
	return m
}

func (in Input) moved(k kind, pages []comparison) moved {
	var all []mover
	for _, c := range pages {
		now := k.count(c.Now)
		before := k.count(c.Before)
		all = append(all, mover{
			Path:   c.Path,
			URL:    c.URL,
			Gain:   now - before,
			Now:    now,
			Change: k.change(in, now, before),
		})
	}

	slices.SortStableFunc(all, func(a, b mover) int { return cmp.Compare(b.Gain, a.Gain) })

	var m moved
	for _, page := range all {
		if page.Gain > 0 && len(m.Gained) < moversLength {
			m.Gained = append(m.Gained, page)
		}
	}

	for _, page := range slices.Backward(all) {
		if page.Gain < 0 && len(m.Lost) < moversLength {
			m.Lost = append(m.Lost, page)
		}
	}
	return m
}

// largest says which page has the largest gain or loss.
func largest(what string, ofHumans, ofAIs []mover) string {
	size := func(all []mover) int64 {
		if len(all) == 0 {
			return 0
		}
		return max(all[0].Gain, -all[0].Gain)
	}

	who := humans.name
	top := ofHumans
	if size(ofAIs) > size(ofHumans) {
		who = ais.name
		top = ofAIs
	}

	if len(top) == 0 {
		return ""
	}
	return fmt.Sprintf("The largest %s: %s, %s %s.", what, top[0].Path, signedCount(top[0].Gain), who)
}

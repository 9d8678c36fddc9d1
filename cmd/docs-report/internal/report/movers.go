package report

import (
	"cmp"
	"slices"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
)

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
		if odd := c.Now.AI - c.usualNow.sum.AI; odd > 0 {
			row.Quiet = "of which " + number(odd) + " more than usual"
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
	Change    change
}

func newMovers(pages []comparison) movers {
	var m movers
	machines := int64(0)
	for _, c := range pages {
		change := c.Change()
		row := mover{c.Path, c.URL, c.usualNow.sum.Human, change}
		switch {
		case !change.isTold():
		case c.isMachine && change.Gain > 0:
			machines++
		case c.isMachine:
		case change.Gain < 0:
			m.Lost = append(m.Lost, row)
		default:
			m.Gained = append(m.Gained, row)
		}

		if ofAIs := c.changes[events.AIs]; ofAIs.isTold() && ofAIs.Gain >= 0 {
			m.GainedAIs = append(m.GainedAIs, mover{c.Path, c.URL, c.usualNow.sum.AI, ofAIs})
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

// largest returns the first of the movers, the largest gain or loss first.
func largest(all []mover) []mover {
	size := func(row mover) int64 { return max(row.Change.Gain, -row.Change.Gain) }
	slices.SortStableFunc(all, func(a, b mover) int { return cmp.Compare(size(b), size(a)) })
	return all[:min(moversLength, len(all))]
}

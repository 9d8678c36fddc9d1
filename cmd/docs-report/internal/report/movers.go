package report

import (
	"cmp"
	"slices"
)

// movers are the pages that gained and that lost the most readers.
type movers struct {
	Gained, Lost []comparison
}

// newMovers returns none if the period before is not known.
func (in Input) newMovers(pages []comparison) movers {
	if !in.Before.Known {
		return movers{}
	}
	sorted := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return c.isMachine })
	slices.SortStableFunc(sorted, func(a, b comparison) int { return cmp.Compare(b.Gain(), a.Gain()) })

	var m movers
	for _, c := range sorted {
		if c.Gain() > 0 && len(m.Gained) < listLength {
			m.Gained = append(m.Gained, c)
		}
	}
	for _, c := range slices.Backward(sorted) {
		if c.Gain() < 0 && len(m.Lost) < listLength {
			m.Lost = append(m.Lost, c)
		}
	}
	return m
}

// Gain returns how many visitors more the page has now.
func (c comparison) Gain() int64 { return c.Now.Total - c.Before.Total }

package report

import (
	"cmp"
	"slices"
)

// Gain returns how many visitors more the page has now.
func (c comparison) Gain() int64 { return c.Now.Total - c.Before.Total }

// movers returns the pages that gained and that lost the most readers.
func movers(pages []comparison) (gainers, losers []comparison) {
	sorted := slices.DeleteFunc(slices.Clone(pages), func(c comparison) bool { return c.isMachine || c.Gain() == 0 })
	slices.SortStableFunc(sorted, func(a, b comparison) int { return cmp.Compare(b.Gain(), a.Gain()) })
	for _, c := range sorted {
		if c.Gain() > 0 && len(gainers) < listLength {
			gainers = append(gainers, c)
		}
	}
	for _, c := range slices.Backward(sorted) {
		if c.Gain() < 0 && len(losers) < listLength {
			losers = append(losers, c)
		}
	}
	return gainers, losers
}

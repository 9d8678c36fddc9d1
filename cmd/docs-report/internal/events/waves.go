package events

import (
	"maps"
	"slices"

	"gonum.org/v1/gonum/mathext"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	mostByChance = 1e-6 // is how likely a wave is without a reason
	leastOfWave  = 10   // bad votes
	mostWaves    = 3
)

// Votes are the bad votes of a kind by page and week, the oldest week first.
type Votes struct {
	ByPage map[string][]int64
	IsCut  []bool // by week: the service has more rows
}

// NewVotes returns no votes of so many weeks.
func NewVotes(weeks int) Votes {
	return Votes{ByPage: map[string][]int64{}, IsCut: make([]bool, weeks)}
}

// Add adds votes on a page in a week.
func (v Votes) Add(page string, week int, n int64) {
	if n > 0 && v.ByPage[page] == nil {
		v.ByPage[page] = make([]int64, len(v.IsCut))
	}
	if n > 0 {
		v.ByPage[page][week] += n
	}
}

// Wave is a run of weeks in which a page, or the site, got more bad votes than the weeks before explain.
type Wave struct {
	Page string // "": the site
	store.Window
	Votes  int64
	Before int64 // in all weeks before it
	Weeks  int   // counts these
}

// Waves returns at most three waves, the least likely first.
func (s *Site) Waves(weeks []store.Window, kinds []Votes) []Wave {
	var all []Wave
	without := map[string]bool{}
	for len(all) < mostWaves {
		found, isFound := s.leastLikely(weeks, kinds, without)
		if !isFound {
			break
		}

		all = append(all, found)
		if found.Page == "" {
			break
		}
		without[found.Page] = true
	}
	return all
}

// leastLikely returns the wave that chance explains least, without some pages.
func (s *Site) leastLikely(weeks []store.Window, kinds []Votes, without map[string]bool) (Wave, bool) {
	var best Wave
	least := mostByChance
	for to := 1; to < len(weeks); to++ {
		counted := countVotes(whole(kinds, to, len(weeks)), len(weeks), without)
		for from := 1; from <= to; from++ {
			for _, page := range slices.Sorted(maps.Keys(counted)) {
				wave := s.wave(weeks, from, to, page, counted[page])
				if chance := wave.chance(s.shareOf(page, weeks[0].From, wave)); chance < least {
					best = wave
					least = chance
				}
			}
		}
	}

	if best.Votes > 0 && best.Page == "" {
		best = s.ofOnePage(best, weeks, kinds, without)
	}
	return best, best.Votes > 0
}

// whole returns the kinds whose lists have all rows of the weeks up to one. Of the newest week, what is loaded counts.
func whole(kinds []Votes, to, weeks int) []Votes {
	return slices.DeleteFunc(slices.Clone(kinds), func(votes Votes) bool {
		return slices.Contains(votes.IsCut[:min(to+1, weeks-1)], true)
	})
}

// countVotes adds up the kinds by page. "" has the sum of all pages.
func countVotes(kinds []Votes, weeks int, without map[string]bool) map[string][]int64 {
	sum := NewVotes(weeks)
	for _, votes := range kinds {
		for page, counts := range votes.ByPage {
			if without[page] {
				continue
			}

			for week, n := range counts {
				sum.Add("", week, n)
				if page != "" {
					sum.Add(page, week, n)
				}
			}
		}
	}
	return sum.ByPage
}

// wave returns the votes of a run of weeks and of those before it.
func (s *Site) wave(weeks []store.Window, from, to int, page string, votes []int64) Wave {
	w := Wave{Page: page, Window: store.Window{From: weeks[from].From, To: weeks[to].To}, Weeks: from}
	for i := range to + 1 {
		if i < from {
			w.Before += votes[i]
		} else {
			w.Votes += votes[i]
		}
	}
	return w
}

// chance returns how likely as many or more of all votes are in the wave, if each is by a chance of p: the tail of the
// binomial distribution. Few votes are not a wave, however unlikely.
func (w Wave) chance(p float64) float64 {
	if w.Votes < leastOfWave {
		return 1
	}
	return mathext.RegIncBeta(float64(w.Votes), float64(w.Before+1), p)
}

// shareOf returns the share of humans who came in a wave, of those who came in it and before it; at least its share of
// the weeks, so that equal votes of fewer humans are not a wave.
func (s *Site) shareOf(page string, since mintlify.Date, w Wave) float64 {
	before := store.Window{From: since, To: w.From}
	now := float64(s.visitors(page, w.Window))
	was := float64(s.visitors(page, before))
	ofWeeks := float64(w.Days()) / float64(w.Days()+before.Days())
	if now+was == 0 {
		return ofWeeks
	}
	return max(now/(now+was), ofWeeks)
}

// ofOnePage returns the page that has half of what a wave of the site has beyond the weeks before it, or the wave.
func (s *Site) ofOnePage(site Wave, weeks []store.Window, kinds []Votes, without map[string]bool) Wave {
	from := site.Weeks
	to := slices.IndexFunc(weeks, func(w store.Window) bool { return w.To == site.To })
	beyond := func(w Wave) float64 {
		share := s.shareOf(w.Page, weeks[0].From, w)
		if share == 1 { // nobody read the page before
			return float64(w.Votes)
		}
		return float64(w.Votes) - float64(w.Before)*share/(1-share)
	}

	counted := countVotes(whole(kinds, to, len(weeks)), len(weeks), without)
	for _, page := range slices.Sorted(maps.Keys(counted)) {
		one := s.wave(weeks, from, to, page, counted[page])
		if page != "" && beyond(one) >= beyond(site)/2 {
			return one
		}
	}
	return site
}

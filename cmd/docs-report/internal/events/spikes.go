package events

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Spikes are what days have more than usual: the site's and its pages'.
type Spikes struct {
	OfSite  Surpluses
	ofPages map[string]Surpluses
}

// Spikes returns what the days of the site and of its pages have more than usual. odd are those of the site's days that
// stand out.
func (s *Site) Spikes(odd Surpluses) *Spikes {
	spikes := &Spikes{OfSite: slices.Clone(odd), ofPages: map[string]Surpluses{}}
	sums := map[int][2]int64{}
	for name, page := range s.pages {
		all := slices.Concat(s.partsOf(odd, page), s.surpluses(page, odd, Humans), s.surpluses(page, odd, AIs))
		if len(all) > 0 {
			spikes.ofPages[name] = all
		}

		for _, one := range all {
			if one.StandsOut {
				sum := sums[s.at(one.Day)]
				sum[one.Kind] += one.More
				sums[s.at(one.Day)] = sum
			}
		}
	}

	for _, day := range slices.Sorted(maps.Keys(sums)) {
		s.addToSite(spikes, day, sums[day])
	}
	spikes.OfSite.sorted()
	return spikes
}

// partsOf returns what a page has more than usual on the days on which the site stands out, if the page does, too:
// else it has more by chance.
func (s *Site) partsOf(odd Surpluses, page series) Surpluses {
	var all Surpluses
	for _, one := range odd {
		if !s.has(one.Day) || !s.has(one.Usual) {
			continue
		}

		day := s.at(one.Day)
		usual := s.at(one.Usual)
		one.StandsOut = false
		one.More = page[one.Kind].beyond(day, usual)
		isPart := page[one.Kind].standsOut(day, moreOfPart, true)
		if isPart && s.hasPages[day] && s.hasPages[usual] {
			all = append(all, one)
		}
	}
	return all
}

// surpluses returns what a page has more than usual on days on which it stands out, and not the site.
func (s *Site) surpluses(page series, ofSite Surpluses, k Kind) Surpluses {
	if slices.Max(page[k]) < moreOfPage {
		return nil
	}

	l := s.line(page, k)
	odd := l.standOut(moreOfPage, true)
	all := l.surpluses(s.first, k, odd, func(i int) bool { return odd[i] })
	for i, one := range all {
		if one.Usual.IsZero() {
			all[i].More = int64(l[s.at(one.Day)])
		}
	}

	return slices.DeleteFunc(all, func(one Surplus) bool {
		isOfSite := func(other Surplus) bool {
			return other.Day == one.Day && other.Kind == k && s.has(other.Usual)
		}
		return slices.ContainsFunc(ofSite, isOfSite)
	})
}

// addToSite takes what pages have more than usual on a day out of the site's, at most what the site's day has
// beyond its nearest usual weekday.
func (s *Site) addToSite(spikes *Spikes, day int, more [2]int64) {
	isOdd := func(i int) bool {
		isThen := func(one Surplus) bool { return one.Day == s.first.AddDays(i) }
		return slices.ContainsFunc(spikes.OfSite, isThen)
	}
	usual := s.total[Humans].nearestUsual(day, isOdd)
	if usual < 0 {
		return
	}

	for _, k := range Kinds {
		if more[k] == 0 {
			continue
		}

		one := Surplus{Day: s.first.AddDays(day), Usual: s.first.AddDays(usual), Kind: k}
		one.More = min(more[k], s.total[k].beyond(day, usual))
		isKnown := func(other Surplus) bool { return other.Day == one.Day && other.Kind == k }
		if at := slices.IndexFunc(spikes.OfSite, isKnown); at >= 0 {
			spikes.OfSite[at].More = max(spikes.OfSite[at].More, one.More)
		} else {
			spikes.OfSite = append(spikes.OfSite, one)
		}
	}
}

// OfPage returns what a page has more than usual in a window of which so many are counted.
func (spikes *Spikes) OfPage(name string, k Kind, w store.Window, counted int64) int64 {
	return spikes.ofPages[name].More(w, counted, k)
}

// Spike is an event: days on which the site stands out, or the largest of the pages that do on the same days.
type Spike struct {
	Kind   Kind
	Page   string // "": the site
	Others int    // counts further pages with the same days

	// Of the site: the page that has at least half of it, and how much, or "".
	Mostly   string
	OfMostly int64

	Days []mintlify.Date
	More int64 // visitors than usual, those of all days
}

// spike adds up the days of a window that stand out, and can be compared. It reports false if there are none.
func (all Surpluses) spike(k Kind, page string, w store.Window) (Spike, bool) {
	spike := Spike{Kind: k, Page: page}
	for _, one := range all.Within(w) {
		if one.StandsOut && one.Kind == k && (page != "" || !one.Usual.IsZero()) {
			spike.Days = append(spike.Days, one.Day)
			spike.More += one.More
		}
	}
	return spike, len(spike.Days) > 0
}

// named returns a spike of the site with the page that has at least half of it.
func (spikes *Spikes) named(spike Spike) Spike {
	for _, name := range slices.Sorted(maps.Keys(spikes.ofPages)) {
		sum := int64(0)
		for _, one := range spikes.ofPages[name] {
			if one.Kind == spike.Kind && slices.Contains(spike.Days, one.Day) {
				sum += one.More
			}
		}
		if 2*sum >= spike.More && sum > spike.OfMostly {
			spike.Mostly = name
			spike.OfMostly = sum
		}
	}
	return spike
}

// Told returns the events of a window, the largest first. Of AIs on single pages nothing is told: crawlers come and go.
// Pages with the same days are one event.
func (spikes *Spikes) Told(w store.Window) []Spike {
	var all []Spike
	for _, k := range Kinds {
		if spike, isAny := spikes.OfSite.spike(k, "", w); isAny {
			all = append(all, spikes.named(spike))
		}
	}

	byDays := map[string]Spike{}
	for _, name := range slices.Sorted(maps.Keys(spikes.ofPages)) {
		spike, isAny := spikes.ofPages[name].spike(Humans, name, w)
		if !isAny {
			continue
		}

		days := fmt.Sprint(spike.Days)
		other, isKnown := byDays[days]
		if isKnown {
			spike.Others = other.Others + 1
			other.Others = spike.Others
		}
		if isKnown && other.More >= spike.More {
			spike = other
		}
		byDays[days] = spike
	}

	all = slices.AppendSeq(all, maps.Values(byDays))
	slices.SortStableFunc(all, func(a, b Spike) int {
		return cmp.Or(cmp.Compare(b.More, a.More), cmp.Compare(a.Page, b.Page))
	})
	return all
}

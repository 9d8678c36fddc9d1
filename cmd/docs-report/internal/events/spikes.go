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
	site   *Site
	odd    []Day
	byPage map[string][]surplus
}

// surplus is what a page has on a day more than usual.
type surplus struct {
	day  int
	kind Kind
	more int64

	isOfSite bool // the site stands out on that day, too
}

// Spikes returns what the days of the site and of its pages have more than usual. odd are the site's days that
// stand out.
func (s *Site) Spikes(odd []Day) *Spikes {
	spikes := &Spikes{site: s, odd: slices.Clone(odd), byPage: map[string][]surplus{}}
	usual := s.usualDays(odd)
	sums := map[int]*[2]int64{}
	for name, page := range s.pages {
		all := slices.Concat(s.surpluses(page, Humans, usual[Humans]), s.surpluses(page, AIs, usual[AIs]))
		if len(all) > 0 {
			spikes.byPage[name] = all
		}
		for _, one := range all {
			if !one.isOfSite {
				addSum(sums, one)
			}
		}
	}

	for _, day := range slices.Sorted(maps.Keys(sums)) {
		spikes.addToSite(day, *sums[day])
	}
	return spikes
}

// usualDays returns with which day each day on which the site stands out is compared, by kind.
func (s *Site) usualDays(odd []Day) [2]map[int]int {
	usual := [2]map[int]int{{}, {}}
	for _, d := range odd {
		if !d.HasUsual || !s.has(d.Day) || !s.has(d.Usual) {
			continue
		}
		if d.OfHumans {
			usual[Humans][s.at(d.Day)] = s.at(d.Usual)
		}
		if d.OfAIs {
			usual[AIs][s.at(d.Day)] = s.at(d.Usual)
		}
	}
	return usual
}

func addSum(sums map[int]*[2]int64, one surplus) {
	if sums[one.day] == nil {
		sums[one.day] = &[2]int64{}
	}
	sums[one.day][one.kind] += one.more
}

// surpluses returns what a page has more than usual: on days on which it stands out, and on those on which the
// site does, whose usual days are given.
func (s *Site) surpluses(page series, k Kind, ofSite map[int]int) []surplus {
	var all []surplus
	for day, usual := range ofSite {
		if more := page[k][day] - page[k][usual]; more > 0 && s.hasPages[day] && s.hasPages[usual] {
			all = append(all, surplus{day, k, int64(more), true})
		}
	}

	if slices.Max(page[k]) < moreOfPage {
		return all
	}

	l := s.line(page, k)
	odd := l.standOut(moreOfPage, true)
	for day := range odd {
		if _, isOfSite := ofSite[day]; !odd[day] || isOfSite {
			continue
		}

		usual := l.nearestUsual(day, l.firstVisitor(), func(i int) bool { return odd[i] })
		more := l[day]
		if usual >= 0 {
			more -= l[usual]
		}
		all = append(all, surplus{day, k, int64(max(0, more)), false})
	}
	return all
}

// addToSite takes what pages have more than usual on a day out of the site's, at most what the site's day has
// beyond its nearest usual weekday.
func (spikes *Spikes) addToSite(day int, more [2]int64) {
	s := spikes.site
	isOdd := func(i int) bool {
		return slices.ContainsFunc(spikes.odd, func(d Day) bool { return d.Day == s.first.AddDays(i) })
	}
	usual := s.total[Humans].nearestUsual(day, 0, isOdd)
	if usual < 0 {
		return
	}

	d := Day{Day: s.first.AddDays(day), Usual: s.first.AddDays(usual), HasUsual: true}
	d.Human = min(more[Humans], max(0, int64(s.total[Humans][day]-s.total[Humans][usual])))
	d.AI = min(more[AIs], max(0, int64(s.total[AIs][day]-s.total[AIs][usual])))
	if at := slices.IndexFunc(spikes.odd, func(other Day) bool { return other.Day == d.Day }); at >= 0 {
		spikes.odd[at].Human = max(spikes.odd[at].Human, d.Human)
		spikes.odd[at].AI = max(spikes.odd[at].AI, d.AI)
		return
	}
	spikes.odd = append(spikes.odd, d)
}

// Days returns what the site's days have more than usual, in order.
func (spikes *Spikes) Days() []Day {
	return slices.SortedFunc(slices.Values(spikes.odd), func(a, b Day) int {
		return a.Day.Time().Compare(b.Day.Time())
	})
}

// OfPage returns what a page has more than usual in a window of which so many are counted. Visitors are unique: if
// that is more than the page has, the same ones came on several days.
func (spikes *Spikes) OfPage(name string, k Kind, w store.Window, counted int64) int64 {
	sum := int64(0)
	largest := int64(0)
	for _, one := range spikes.byPage[name] {
		if one.kind == k && w.Has(spikes.site.first.AddDays(one.day).Time()) {
			sum += one.more
			largest = max(largest, one.more)
		}
	}

	switch {
	case sum <= counted:
		return sum
	case largest <= counted:
		return largest
	}
	return 0
}

// Spike is an event: days on which the site stands out, or the largest of the pages that do on the same days.
type Spike struct {
	Kind   Kind
	Page   string // "": the site
	Others int    // counts further pages with the same days
	Days   []mintlify.Date
	More   int64 // visitors than usual, those of all days
}

// Told returns the events of a window, the largest first. Of AIs on single pages nothing is told: crawlers come and go.
func (spikes *Spikes) Told(w store.Window) []Spike {
	var all []Spike
	for _, k := range kinds {
		site := Spike{Kind: k}
		for _, d := range spikes.odd {
			isOfKind := k == Humans && d.OfHumans || k == AIs && d.OfAIs
			if isOfKind && d.HasUsual && w.Has(d.Day.Time()) {
				site.Days = append(site.Days, d.Day)
				site.More += k.Of(mintlify.VisitorTotals{Human: d.Human, AI: d.AI})
			}
		}
		if len(site.Days) > 0 {
			all = append(all, site)
		}
	}

	all = append(all, spikes.ofPages(w)...)
	slices.SortStableFunc(all, func(a, b Spike) int { return cmp.Compare(b.More, a.More) })
	return all
}

// ofPages returns the events of single pages: pages with the same days are one.
func (spikes *Spikes) ofPages(w store.Window) []Spike {
	byDays := map[string]Spike{}
	for _, name := range slices.Sorted(maps.Keys(spikes.byPage)) {
		one := Spike{Page: name}
		for _, found := range spikes.byPage[name] {
			day := spikes.site.first.AddDays(found.day)
			if found.kind == Humans && !found.isOfSite && w.Has(day.Time()) {
				one.Days = append(one.Days, day)
				one.More += found.more
			}
		}
		if len(one.Days) == 0 {
			continue
		}

		days := fmt.Sprint(one.Days)
		other, isKnown := byDays[days]
		if isKnown && other.More >= one.More {
			one = other
		}
		if isKnown {
			one.Others = other.Others + 1
		}
		byDays[days] = one
	}
	return slices.Collect(maps.Values(byDays))
}

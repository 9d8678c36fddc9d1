package events

import (
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	times      = 5   // the median
	more       = 50  // visitors than that
	moreOfPage = 100 // visitors than that, of a single page
	moreOfPart = 10  // visitors than that, of a page on a day on which the site stands out
	around     = 28  // days before and after, of which the median is
	longest    = 7   // days in a row: more of them are a gain
)

// Kept is of how many days a report reads the pages: those of two periods of four weeks, and of the days around.
const Kept = 3 * around

// Surplus is what a site or a page has of a kind of visitors on a day more than usual.
type Surplus struct {
	Day   mintlify.Date
	Usual mintlify.Date // is the nearest usual day of its weekday; zero: none is known
	Kind  Kind
	More  int64

	// StandsOut says that the day is far beyond the days around it. Else the surplus is a page's part of the site's,
	// or the site's sum of its pages'.
	StandsOut bool
}

// Surpluses are those of a site or of a page, the first day first.
type Surpluses []Surplus

// Find returns those of the days on which a site stands out. The days are in order, each once.
func Find(days []store.Point) Surpluses {
	if len(days) == 0 {
		return nil
	}

	total := series{lineOf(days, Humans), lineOf(days, AIs)}
	odd := [2][]bool{total[Humans].standOut(more, false), total[AIs].standOut(more, false)}
	isOdd := func(i int) bool { return odd[Humans][i] || odd[AIs][i] }

	var all Surpluses
	for _, k := range Kinds {
		all = append(all, total[k].surpluses(days[0].From, k, odd[k], isOdd)...)
	}
	return all.sorted()
}

// surpluses returns what the odd days have more than the nearest usual ones since the first visitor.
func (l line) surpluses(first mintlify.Date, k Kind, odd []bool, isOdd func(int) bool) Surpluses {
	var all Surpluses
	for day := range odd {
		if !odd[day] {
			continue
		}

		one := Surplus{Day: first.AddDays(day), Kind: k, StandsOut: true}
		if usual := l.nearestUsual(day, isOdd); usual >= 0 {
			one.Usual = first.AddDays(usual)
			one.More = l.beyond(day, usual)
		}
		all = append(all, one)
	}
	return all
}

func (all Surpluses) sorted() Surpluses {
	slices.SortStableFunc(all, func(a, b Surplus) int { return a.Day.Time().Compare(b.Day.Time()) })
	return all
}

// Needed returns the days that stand out and the days that they are compared with: sync keeps their pages.
func Needed(points []store.Point) []mintlify.Date {
	var all []mintlify.Date
	for _, one := range Find(points) {
		if !one.Usual.IsZero() {
			all = append(all, one.Day, one.Usual)
		}
	}
	return all
}

// Within returns those of a window.
func (all Surpluses) Within(w store.Window) Surpluses {
	var within Surpluses
	for _, one := range all {
		if w.Has(one.Day.Time()) {
			within = append(within, one)
		}
	}
	return within
}

// More returns how much of a window's count of some kinds is more than usual. Visitors are unique: if it is less than
// what its days have more, the same ones came on several days. If it is less than what one day has more, it was counted
// without that day.
func (all Surpluses) More(w store.Window, counted int64, kinds ...Kind) int64 {
	var sum, largest int64
	for _, one := range all {
		if w.Has(one.Day.Time()) && slices.Contains(kinds, one.Kind) {
			sum += one.More
			largest = max(largest, one.More)
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

// line is a count by day, or unknown.
type line []int32

const unknown = -1

// lineOf returns the visitors of a kind from the first of some days to the last.
func lineOf(days []store.Point, k Kind) line {
	l := make(line, (store.Window{From: days[0].From, To: days[len(days)-1].To}).Days())
	for i := range l {
		l[i] = unknown
	}
	for _, day := range days {
		l[(store.Window{From: days[0].From, To: day.From}).Days()] = k.of(day.Counts)
	}
	return l
}

// firstVisitor returns the first day with a visitor, or the line's length.
func (l line) firstVisitor() int {
	if i := slices.IndexFunc(l, func(n int32) bool { return n > 0 }); i >= 0 {
		return i
	}
	return len(l)
}

// standOut says which days are far beyond the days around them.
func (l line) standOut(more int32, doZerosCount bool) []bool {
	all := make([]bool, len(l))
	for i := l.firstVisitor(); i < len(l); i++ {
		all[i] = l.standsOut(i, more, doZerosCount)
	}

	for _, run := range runs(all) {
		if run.days() > longest {
			clear(all[run.from:run.to])
		}
	}
	return all
}

// standsOut reports whether a day is far beyond the days around it. Days of 0 count from the first visitor on, if
// they count.
func (l line) standsOut(day int, more int32, doZerosCount bool) bool {
	if l[day] < more {
		return false
	}

	var near []int32
	for _, n := range l[max(l.firstVisitor(), day-around):min(len(l), day+around+1)] {
		if n > 0 || n == 0 && doZerosCount {
			near = append(near, n)
		}
	}
	usual := median(near)
	return float64(l[day]) > times*usual && float64(l[day]) >= usual+float64(more)
}

// beyond returns what a day has more than another one.
func (l line) beyond(day, usual int) int64 { return max(0, int64(l[day]-l[usual])) }

// nearestUsual returns the nearest usual day of the same weekday since the first visitor, or -1.
func (l line) nearestUsual(odd int, isOdd func(int) bool) int {
	first := l.firstVisitor()
	for apart := 7; apart < len(l); apart += 7 {
		for _, i := range []int{odd - apart, odd + apart} {
			if i >= first && i < len(l) && l[i] != unknown && !isOdd(i) {
				return i
			}
		}
	}
	return -1
}

// median returns the median of counts, which it sorts, or 0 if there are none.
func median(counts []int32) float64 {
	if len(counts) == 0 {
		return 0
	}

	slices.Sort(counts)
	middle := len(counts) / 2
	if len(counts)%2 == 0 {
		return float64(counts[middle-1]+counts[middle]) / 2
	}
	return float64(counts[middle])
}

// run is a number of days in a row: from one until the day before another.
type run struct{ from, to int }

func (r run) days() int { return r.to - r.from }

// runs returns the days that are marked, those beside each other together.
func runs(marked []bool) []run {
	var all []run
	for i, isMarked := range marked {
		switch {
		case !isMarked:
		case i > 0 && marked[i-1]:
			all[len(all)-1].to++
		default:
			all = append(all, run{i, i + 1})
		}
	}
	return all
}

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
	around     = 28  // days before and after, of which the median is
	longest    = 7   // days in a row: more of them are a gain
)

// Kept is of how many days a report reads the pages: those of two periods of four weeks, and of the days around.
const Kept = 3 * around

// Day is a day that stands out, and what it has more than usual.
type Day struct {
	Day      mintlify.Date
	Usual    mintlify.Date // is the nearest usual day of its weekday
	HasUsual bool

	OfHumans, OfAIs bool // say who stands out
	Human, AI       int64
}

// Find returns those of a site's days that stand out. The days are in order, each once.
func Find(days []store.Point) []Day {
	if len(days) == 0 {
		return nil
	}

	first := days[0].From
	humans := lineOf(days, Humans)
	ais := lineOf(days, AIs)
	ofHumans := humans.standOut(more, false)
	ofAIs := ais.standOut(more, false)

	var found []Day
	isOdd := func(i int) bool { return ofHumans[i] || ofAIs[i] }
	for i := range humans {
		if !isOdd(i) {
			continue
		}

		d := Day{Day: first.AddDays(i), OfHumans: ofHumans[i], OfAIs: ofAIs[i]}
		if usual := humans.nearestUsual(i, 0, isOdd); usual >= 0 {
			d.Usual = first.AddDays(usual)
			d.HasUsual = true
			if ofHumans[i] {
				d.Human = max(0, int64(humans[i]-humans[usual]))
			}
			if ofAIs[i] {
				d.AI = max(0, int64(ais[i]-ais[usual]))
			}
		}
		found = append(found, d)
	}
	return found
}

// Needed returns the days that stand out and the days that they are compared with: sync keeps their pages.
func Needed(points []store.Point) []mintlify.Date {
	var all []mintlify.Date
	for _, d := range Find(points) {
		if d.HasUsual {
			all = append(all, d.Day, d.Usual)
		}
	}
	return all
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

// standOut says which days are far beyond the days around them. Days of 0 count from the first visitor on, if
// they count.
func (l line) standOut(more int32, doZerosCount bool) []bool {
	all := make([]bool, len(l))
	first := l.firstVisitor()
	for i := first; i < len(l); i++ {
		if l[i] < more {
			continue
		}

		var near []int32
		for _, n := range l[max(first, i-around):min(len(l), i+around+1)] {
			if n > 0 || n == 0 && doZerosCount {
				near = append(near, n)
			}
		}
		all[i] = isBeyond(float64(l[i]), median(near), more)
	}

	for _, run := range runs(all) {
		if run.days() > longest {
			clear(all[run.from:run.to])
		}
	}
	return all
}

// nearestUsual returns the nearest usual day of the same weekday, not before the first one, or -1.
func (l line) nearestUsual(odd, first int, isOdd func(int) bool) int {
	for apart := 7; apart < len(l); apart += 7 {
		for _, i := range []int{odd - apart, odd + apart} {
			if i >= first && i < len(l) && l[i] != unknown && !isOdd(i) {
				return i
			}
		}
	}
	return -1
}

// Is reports whether a number is far beyond a median.
func Is(n, median float64) bool { return isBeyond(n, median, more) }

func isBeyond(n, median float64, more int32) bool {
	return n > times*median && n >= median+float64(more)
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

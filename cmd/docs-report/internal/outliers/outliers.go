// Package outliers finds the days that stand out: those of bots, or of a link from a large site. The
// page compares without what they have more than usual, and sync keeps their pages.
package outliers

import (
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	times  = 5  // the median
	more   = 50 // visitors than that
	around = 28 // days before and after, of which the median is
)

// Settled is after how many days later ones do not change any more whether a day stands out, and
// which day it is compared with.
const Settled = 2 * around

// Day is a day that stands out, and what it has more than usual.
type Day struct {
	Day      mintlify.Date
	Usual    mintlify.Date // is the nearest usual day of its weekday
	HasUsual bool

	OfHumans, OfAIs bool // say who stands out
	Human, AI       int64
}

// Find returns those of the days that stand out. The days are in order, each once.
func Find(days []store.Point) []Day {
	var found []Day
	humans := standOut(days, func(p store.Point) int64 { return p.Counts.Human })
	ais := standOut(days, func(p store.Point) int64 { return p.Counts.AI })
	isOdd := func(i int) bool { return humans[i] || ais[i] }

	for i, day := range days {
		if !isOdd(i) {
			continue
		}

		d := Day{Day: day.From, OfHumans: humans[i], OfAIs: ais[i]}

		if usual, ok := nearestUsual(days, day, isOdd); ok {
			d.Usual = usual.From
			d.HasUsual = true
			if humans[i] {
				d.Human = max(0, day.Counts.Human-usual.Counts.Human)
			}
			if ais[i] {
				d.AI = max(0, day.Counts.AI-usual.Counts.AI)
			}
		}
		found = append(found, d)
	}
	return found
}

// Needed returns the days that stand out and the days that they are compared with: a report needs their pages.
// If windows are given, it leaves out the days that stand out outside them.
func Needed(points []store.Point, within ...store.Window) []mintlify.Date {
	var all []mintlify.Date
	for _, d := range Find(points) {
		isWithin := func(w store.Window) bool { return w.Has(d.Day.Time()) }
		if d.HasUsual && (len(within) == 0 || slices.ContainsFunc(within, isWithin)) {
			all = append(all, d.Day, d.Usual)
		}
	}
	return all
}

// standOut says which days are far beyond the days around them.
func standOut(days []store.Point, count func(store.Point) int64) []bool {
	all := make([]bool, len(days))
	for i, day := range days {
		near := store.Window{From: day.From.AddDays(-around), To: day.To.AddDays(around)}

		var counts []float64
		for _, other := range days[max(0, i-around):min(len(days), i+around+1)] {
			if n := count(other); n > 0 && near.Has(other.From.Time()) {
				counts = append(counts, float64(n))
			}
		}
		all[i] = Is(float64(count(day)), median(counts))
	}
	return all
}

// nearestUsual returns the nearest day of the same weekday that does not stand out.
func nearestUsual(days []store.Point, odd store.Point, isOdd func(int) bool) (usual store.Point, ok bool) {
	for i, day := range days {
		if isOdd(i) || day.From.Time().Weekday() != odd.From.Time().Weekday() {
			continue
		}
		if !ok || apart(day, odd) < apart(usual, odd) {
			usual = day
			ok = true
		}
	}
	return usual, ok
}

func apart(a, b store.Point) time.Duration { return a.From.Time().Sub(b.From.Time()).Abs() }

// Is reports whether a number is far beyond a median.
func Is(n, median float64) bool { return n > times*median && n >= median+more }

// median returns the median of counts, or 0 if there are none.
func median(counts []float64) float64 {
	if len(counts) == 0 {
		return 0
	}

	slices.Sort(counts)
	middle := len(counts) / 2
	if len(counts)%2 == 0 {
		return (counts[middle-1] + counts[middle]) / 2
	}
	return counts[middle]
}

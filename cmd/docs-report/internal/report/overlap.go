package report

import (
	"cmp"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// AskedAt returns the time of a question: lists of other windows have those of a window, too.
func AskedAt(row mintlify.Conversation) time.Time { return row.Timestamp }

// WrittenAt returns the time of a comment.
func WrittenAt(row mintlify.Feedback) time.Time { return row.CreatedAt }

// Within returns the rows of a window from lists that may overlap, each day's only once. It says that the
// list is truncated unless the rows of all days are known.
func Within[T any](lists []List[T], at func(T) time.Time, w store.Window) List[T] {
	rows, known := rowsOnce(lists, at)
	list := List[T]{Export: newest(lists).Export}
	list.Window = w
	list.Truncated = !isCovered(w, known)
	list.Covered = covered(w, known)
	list.Texts = !slices.ContainsFunc(lists, func(l List[T]) bool { return isKnown(l.Export) && !l.Texts })

	for _, row := range rows {
		if w.Has(at(row)) {
			list.Rows = append(list.Rows, row)
		}
	}
	list.Kept = len(list.Rows)
	if list.Kept == 0 && list.Truncated && isKnown(list.Export) {
		list.Export = store.Export{Window: w}
	}
	return list
}

// rowsOnce returns the rows of lists that may overlap, those of each day from one list. It also returns the days
// whose rows are complete.
func rowsOnce[T any](lists []List[T], at func(T) time.Time) ([]T, map[mintlify.Date]bool) {
	listOf := map[mintlify.Date]int{}
	known := map[mintlify.Date]bool{}
	for i, list := range lists {
		hasRows := isKnown(list.Export) && (list.Texts || list.Kind != store.Feedback)
		whole := list.whole(at)
		for day := list.From; hasRows && day != list.To; day = day.AddDays(1) {
			isWhole := whole.Has(day.Time())
			if _, isTaken := listOf[day]; !isTaken || !known[day] && isWhole {
				listOf[day] = i
				known[day] = isWhole
			}
		}
	}

	var rows []T
	for i, list := range lists {
		isOfOther := func(row T) bool {
			of, isTaken := listOf[mintlify.DayOf(at(row).UTC())]
			return !isTaken || of != i
		}
		rows = append(rows, slices.DeleteFunc(slices.Clone(list.Rows), isOfOther)...)
	}
	return rows, known
}

// covered returns the days of a window that are known, if the others are not loaded, and no list of them is cut.
func covered(w store.Window, known map[mintlify.Date]bool) store.Window {
	days := w
	for days.From != w.To && !known[days.From] {
		days.From = days.From.AddDays(1)
	}
	for days.To != days.From && !known[days.To.AddDays(-1)] {
		days.To = days.To.AddDays(-1)
	}

	isCut := days == w || days.From == days.To || !isCovered(days, known)
	for day := w.From; day != w.To; day = day.AddDays(1) {
		isWhole, isListed := known[day]
		isCut = isCut || isListed && !isWhole
	}
	if isCut {
		return store.Window{}
	}
	return days
}

func isWithin(w, days store.Window) bool {
	return !w.From.Time().Before(days.From.Time()) && !w.To.Time().After(days.To.Time())
}

func isCovered(w store.Window, known map[mintlify.Date]bool) bool {
	for day := w.From; day != w.To; day = day.AddDays(1) {
		if !known[day] {
			return false
		}
	}
	return true
}

// newest returns the list that ends last, and of these the longest.
func newest[T any](lists []List[T]) List[T] {
	if len(lists) == 0 {
		return List[T]{}
	}
	return slices.MaxFunc(lists, func(a, b List[T]) int {
		return cmp.Or(a.To.Time().Compare(b.To.Time()), cmp.Compare(a.Days(), b.Days()))
	})
}

package events

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	leastSeen     = 0.05 // of the median of a page's days with visitors
	leastMembers  = 5    // pages that a folder moves with
	leastSurprise = 7.0
	mostApart     = 3.0 // is how much visitors a day may differ
	seenAgain     = 3   // days of a week
)

// Move is a page that has a new name.
type Move = store.Move

// AllMoves returns the moves that were found earlier and have not ended, and those that are found now.
func (s *Site) AllMoves(earlier []Move) []Move {
	all := slices.DeleteFunc(slices.Clone(earlier), s.HasReturned)
	for _, found := range s.Moves() {
		isKnown := func(m Move) bool { return m.From == found.From }
		if !slices.ContainsFunc(earlier, isKnown) {
			all = append(all, found)
		}
	}
	return all
}

// name is a page of which is known when it was seen.
type name struct {
	path        string
	isSeen      []bool
	first, last int // days on which it was seen
	visitors    line
}

// names returns the pages that were seen, and on which days.
func (s *Site) names() []name {
	var all []name
	for _, path := range slices.Sorted(maps.Keys(s.pages)) {
		if n := s.name(path); n.first >= 0 {
			all = append(all, n)
		}
	}
	return all
}

func (s *Site) name(path string) name {
	page := s.pages[path]
	n := name{path: path, isSeen: make([]bool, s.days()), visitors: make(line, s.days()), first: -1}
	var positive []int32
	for i := range page[Humans] {
		n.visitors[i] = page[Humans][i] + page[AIs][i]
		if n.visitors[i] > 0 {
			positive = append(positive, n.visitors[i])
		}
	}

	least := leastSeen * median(positive)
	for i, visitors := range n.visitors {
		if visitors > 0 && float64(visitors) > least {
			n.isSeen[i] = true
			n.last = i
			if n.first < 0 {
				n.first = i
			}
		}
	}
	return n
}

// isOpen reports whether a page could have been seen on a day: its pages are known, and somebody came.
func (s *Site) isOpen(day int) bool {
	return s.hasPages[day] && s.total[Humans][day]+s.total[AIs][day] > 0
}

// seen counts the days between two on which a name was seen, and those on which it could have been.
func (s *Site) seen(n name, from, to int) (seen, open int) {
	for i := from; i < to; i++ {
		if s.isOpen(i) {
			open++
			if n.isSeen[i] {
				seen++
			}
		}
	}
	return seen, open
}

// surprise returns by how much the days without a name between two days surprise, if it was seen as often as between
// two other days.
func (s *Site) surprise(n name, silentFrom, silentTo, from, to int) float64 {
	seen, open := s.seen(n, from, to)
	seenThen, openThen := s.seen(n, silentFrom, silentTo)
	return float64(openThen-seenThen) * -math.Log(1-float64(seen+1)/float64(open+2))
}

// pair is an old name and a new one that ends in the same way.
type pair struct{ old, now name }

// Folders are the folders between which pages with the same ends may have moved.
type Folders struct{ From, To string }

// FoldersOf returns what is left of two names without the end that they have in common.
func FoldersOf(old, now string) Folders {
	from := strings.Split(old, "/")
	to := strings.Split(now, "/")
	for len(from) > 1 && len(to) > 1 && strings.EqualFold(from[len(from)-1], to[len(to)-1]) {
		from = from[:len(from)-1]
		to = to[:len(to)-1]
	}
	return Folders{strings.Join(from, "/") + "/", strings.Join(to, "/") + "/"}
}

// Moves returns the pages that moved, with their folder or alone.
func (s *Site) Moves() []Move {
	pairs := s.pairs()
	byFolders := map[Folders][]pair{}
	for _, p := range pairs {
		f := FoldersOf(p.old.path, p.now.path)
		byFolders[f] = append(byFolders[f], p)
	}

	order := slices.SortedFunc(maps.Keys(byFolders), func(a, b Folders) int {
		return cmp.Or(cmp.Compare(len(byFolders[b]), len(byFolders[a])),
			cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})

	var moves []Move
	isTaken := map[string]bool{}
	take := func(day int, members []pair) {
		for _, p := range members {
			isTaken[p.old.path] = true
			isTaken[p.now.path] = true
			moves = append(moves, Move{From: p.old.path, To: p.now.path, Day: s.first.AddDays(day)})
		}
	}
	isFree := func(p pair) bool { return !isTaken[p.old.path] && !isTaken[p.now.path] }

	for _, f := range order {
		if day, members := s.membersOf(byFolders[f], isFree); s.hasMoved(f, day, members) {
			take(day, members)
		}
	}
	for _, p := range pairs {
		if isFree(p) && s.hasMovedAlone(p) {
			take(p.now.first, []pair{p})
		}
	}
	return moves
}

// pairs returns the names that end, with each that begins then or later and has the same last element.
func (s *Site) pairs() []pair {
	names := s.names()
	begin := s.days()
	end := 0
	for _, n := range names {
		begin = min(begin, n.first)
		end = max(end, n.last)
	}

	byEnd := map[string][]name{}
	for _, n := range names {
		if n.first > begin {
			last := strings.ToLower(path.Base(n.path))
			byEnd[last] = append(byEnd[last], n)
		}
	}

	var all []pair
	for _, old := range names {
		for _, now := range byEnd[strings.ToLower(path.Base(old.path))] {
			if old.last < end && now.path != old.path && old.last <= now.first {
				all = append(all, pair{old, now})
			}
		}
	}
	return all
}

// membersOf returns the day on which most readers' new names begin, and the pairs that moved by then.
func (s *Site) membersOf(pairs []pair, isFree func(pair) bool) (int, []pair) {
	readers := map[int]int64{}
	for _, p := range pairs {
		if isFree(p) {
			readers[p.now.first] += p.now.visitors.sum(0, s.days())
		}
	}

	day := 0
	for _, other := range slices.Sorted(maps.Keys(readers)) {
		if readers[other] > readers[day] {
			day = other
		}
	}

	var members []pair
	for _, p := range pairs {
		if isFree(p) && p.old.last <= day && p.now.first >= day {
			members = append(members, p)
		}
	}
	return day, members
}

func (l line) sum(from, to int) int64 {
	sum := int64(0)
	for _, n := range l[from:to] {
		sum += max(0, int64(n))
	}
	return sum
}

// hasMoved reports whether a folder has moved on a day: with enough of its pages and of its visitors.
func (s *Site) hasMoved(f Folders, day int, members []pair) bool {
	if len(members) < leastMembers {
		return false
	}

	all := int64(0)
	for path, page := range s.pages {
		if strings.HasPrefix(path+"/", f.From) {
			all += page[Humans].sum(0, day) + page[AIs].sum(0, day)
		}
	}
	ofMembers := int64(0)
	for _, p := range members {
		ofMembers += p.old.visitors.sum(0, day)
	}
	return 2*ofMembers >= all && s.isConvincing(day, members)
}

// hasMovedAlone reports whether a new name begins on the day on which the old one ends, or the next.
func (s *Site) hasMovedAlone(p pair) bool {
	_, between := s.seen(p.old, p.old.last+1, p.now.first)
	return between == 0 && s.isConvincing(p.now.first, []pair{p})
}

// isConvincing reports whether the old names are missed from a day on and the new ones before it, and whether as many
// visitors come a day.
func (s *Site) isConvincing(day int, members []pair) bool {
	missedOld := 0.0
	missedNew := 0.0
	before := 0.0
	after := 0.0
	for _, p := range members {
		missedOld += s.surprise(p.old, day, s.days(), p.old.first, day)
		missedNew += s.surprise(p.now, 0, day, day, s.days())
		before += s.perDay(p.old, max(p.old.first, day-around), day)
		after += s.perDay(p.now, day, min(s.days(), day+around))
	}

	isAlike := before > 0 && after <= mostApart*before && before <= mostApart*after
	return isAlike && missedOld >= leastSurprise && missedNew >= leastSurprise
}

// Ended returns the day since which nobody comes to a page, if that surprises. While no humans are counted, no page
// ends.
func (s *Site) Ended(page string) (mintlify.Date, bool) {
	if s.days() == 0 || s.total[Humans][s.days()-1] <= 0 {
		return mintlify.Date{}, false
	}

	n := s.name(page)
	since := s.days()
	for since > 0 && n.visitors[since-1] == 0 {
		since--
	}
	return s.first.AddDays(since), n.first >= 0 && s.surprise(n, since, s.days(), n.first, since) >= leastSurprise
}

func (s *Site) perDay(n name, from, to int) float64 {
	_, open := s.seen(n, from, to)
	return float64(n.visitors.sum(from, to)) / float64(max(1, open))
}

// HasReturned reports whether the old name of a move is seen again: on three days of a week after it.
func (s *Site) HasReturned(m Move) bool {
	if _, isThere := s.pages[m.From]; !isThere || !s.has(m.Day) {
		return false
	}

	old := s.name(m.From)
	for i := s.at(m.Day) + 1; i < s.days(); i++ {
		if seen, _ := s.seen(old, i, min(i+7, s.days())); seen >= seenAgain {
			return true
		}
	}
	return false
}

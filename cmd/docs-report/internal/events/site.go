// Package events finds what happened to a site, by day and page: pages that moved, days that stand out, days
// without visitors, and waves of bad votes.
package events

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Kind is a kind of visitors. Humans are counted in the browser, AIs at the server: one can break alone.
type Kind int

// The kinds of visitors.
const (
	Humans Kind = iota
	AIs
)

// Kinds are both.
var Kinds = []Kind{Humans, AIs}

// Of returns the visitors of a kind.
func (k Kind) Of(counts mintlify.VisitorTotals) int64 {
	if k == Humans {
		return counts.Human
	}
	return counts.AI
}

// Without returns counts without some visitors of a kind.
func (k Kind) Without(counts mintlify.VisitorTotals, n int64) mintlify.VisitorTotals {
	if k == Humans {
		counts.Human = max(0, counts.Human-n)
	} else {
		counts.AI = max(0, counts.AI-n)
	}
	counts.Total = max(0, counts.Total-n)
	return counts
}

func (k Kind) of(counts mintlify.VisitorTotals) int32 {
	return int32(min(max(k.Of(counts), 0), math.MaxInt32/4))
}

// Site has the visitors of a site and of its pages by day.
type Site struct {
	first    mintlify.Date
	total    series
	isFinal  []bool
	hasPages []bool
	pages    map[string]series
}

// series are the visitors by day, of each kind.
type series [2]line

// NewSite returns a site with its days, which are in order. Its pages are not known yet.
func NewSite(days []store.Point, isFinal func(store.Point) bool) *Site {
	s := &Site{pages: map[string]series{}}
	if len(days) == 0 {
		return s
	}

	s.first = days[0].From
	s.total = series{lineOf(days, Humans), lineOf(days, AIs)}
	s.isFinal = make([]bool, len(s.total[Humans]))
	s.hasPages = make([]bool, len(s.total[Humans]))
	for _, day := range days {
		s.isFinal[s.at(day.From)] = isFinal(day)
	}
	return s
}

// Read reads a site's pages since a day from the database. days are all that are known.
func Read(
	ctx context.Context, db *store.Store, project string, days []store.Point, since mintlify.Date,
	isFinal func(store.Point) bool,
) (*Site, error) {
	isEarlier := func(day store.Point) bool { return day.From.Time().Before(since.Time()) }
	s := NewSite(slices.DeleteFunc(slices.Clone(days), isEarlier), isFinal)
	if len(s.total[Humans]) == 0 {
		return s, nil
	}

	err := db.DayPages(ctx, project, since, s.AddDay)
	s.Rename(store.PageName)
	return s, err
}

func (s *Site) at(day mintlify.Date) int { return (store.Window{From: s.first, To: day}).Days() }

func (s *Site) days() int { return len(s.total[Humans]) }

func (s *Site) has(day mintlify.Date) bool {
	return s.days() > 0 && s.at(day) >= 0 && s.at(day) < s.days()
}

// HasPages reports whether the pages of all days of a window are known that are known themselves.
func (s *Site) HasPages(w store.Window) bool {
	found := false
	for day := w.From; day != w.To; day = day.AddDays(1) {
		if !s.has(day) || s.total[Humans][s.at(day)] == unknown {
			continue
		}
		if !s.hasPages[s.at(day)] {
			return false
		}
		found = true
	}
	return found
}

// AddDay adds the pages of a day. The database may have one twice: the larger counts stay.
func (s *Site) AddDay(day mintlify.Date, pages []mintlify.Visitor) {
	if !s.has(day) {
		return
	}

	at := s.at(day)
	s.hasPages[at] = true
	for _, row := range pages {
		page, isKnown := s.pages[row.Path]
		if !isKnown {
			page = series{make(line, s.days()), make(line, s.days())}
			s.pages[strings.Clone(row.Path)] = page // the path may be a part of a long text
		}
		for _, k := range Kinds {
			page[k][at] = max(page[k][at], k.of(mintlify.VisitorTotals{Human: row.Human, AI: row.AI}))
		}
	}
}

// Rename gives the pages their names of today. What has one name is added up.
func (s *Site) Rename(name func(string) string) {
	old := s.pages
	s.pages = make(map[string]series, len(old))
	for _, path := range slices.Sorted(maps.Keys(old)) {
		sum, isKnown := s.pages[name(path)]
		if !isKnown {
			s.pages[name(path)] = old[path]
			continue
		}
		for _, k := range Kinds {
			for i, n := range old[path][k] {
				sum[k][i] += n
			}
		}
	}
}

// line returns a page's visitors of a kind: those of days without pages are not known.
func (s *Site) line(page series, k Kind) line {
	l := slices.Clone(page[k])
	for i, hasPages := range s.hasPages {
		if !hasPages {
			l[i] = unknown
		}
	}
	return l
}

// visitors returns how many humans came in a window, of a page or, if it is "", of the site. Who comes on two
// days counts twice.
func (s *Site) visitors(page string, w store.Window) int64 {
	l := s.total[Humans]
	if page != "" {
		l = s.pages[page][Humans]
	}

	sum := int64(0)
	for day := w.From; day != w.To; day = day.AddDays(1) {
		if i := s.at(day); i >= 0 && i < len(l) {
			sum += max(0, int64(l[i]))
		}
	}
	return sum
}

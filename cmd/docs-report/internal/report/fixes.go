package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// fixes are the pages that are worth fixing first, and why.
type fixes struct {
	Rows          []comparison
	Empty, Note   string
	Sections      string // names the sections with the most bad votes
	HasQuestions  bool   // somebody asked on one of the pages
	HasComplaints bool   // somebody wrote about one of the pages

	median int64 // is how many humans read the page in the middle
}

const (
	mostFixes = 10
	fewVotes  = 5 // fewer say little

	wilsonZ = 1.64 // 95 % on one side
)

// fixFirst ranks pages by their humans times the share of bad votes that is at least likely.
func (in Input) fixFirst(pages, elsewhere []comparison) fixes {
	list := in.Period.ByPage
	f := fixes{Empty: emptiness(list.Export), Note: partOf(list.Export), median: medianOfHumans(pages)}

	isTaken := map[string]bool{} // a page with a final slash has the same votes
	for _, c := range slices.Concat(pages, elsewhere) {
		if page := pagePath(c.raw); c.bad() > 0 && !isTaken[page] {
			isTaken[page] = true
			f.Rows = append(f.Rows, c)
		}
	}

	slices.SortStableFunc(f.Rows, func(a, b comparison) int {
		return cmp.Or(
			cmp.Compare(f.score(b), f.score(a)),
			cmp.Compare(b.atLeast(), a.atLeast()),
			cmp.Compare(a.Path, b.Path))
	})
	f.Rows = f.Rows[:min(mostFixes, len(f.Rows))]

	f.HasQuestions = slices.ContainsFunc(f.Rows, func(c comparison) bool { return c.Questions() > 0 })
	f.HasComplaints = slices.ContainsFunc(f.Rows, func(c comparison) bool { return c.Complaints > 0 })

	switch {
	case len(f.Rows) > 0 && f.Empty != "":
		f.Note = "Without thumbs: " + f.Empty
		f.Empty = ""
	case len(f.Rows) == 0 && f.Empty == "":
		f.Empty = "No page has a thumb down, an unanswered question or an open complaint."
	}
	return f
}

// score ranks a page by its usual humans. Those of a page with votes and without visitors, which may have
// moved, are not known.
func (f fixes) score(c comparison) float64 {
	if !c.IsVisited {
		return float64(f.median) * c.atLeast()
	}
	return float64(c.usualNow.Human) * c.atLeast()
}

func medianOfHumans(pages []comparison) int64 {
	var counts []int64
	for _, c := range pages {
		if c.IsVisited {
			counts = append(counts, c.usualNow.Human)
		}
	}
	if len(counts) == 0 {
		return 0
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// Top names the page to fix first, or says why there is none.
func (f fixes) Top() string {
	if len(f.Rows) == 0 {
		return f.Empty
	}
	return f.Rows[0].Path + " (" + f.Rows[0].reasons() + ")"
}

func (c comparison) reasons() string {
	all := []string{"visitors unknown"}
	if c.IsVisited {
		all[0] = plural(c.Now.Human, "human", "humans")
	}
	if c.Thumbs() > 0 {
		all = append(all, fmt.Sprintf("%s of %s down", number(c.Down), plural(c.Thumbs(), "thumb", "thumbs")))
	}

	if c.Unanswered > 0 {
		all = append(all, fmt.Sprintf("%s of %s unanswered",
			number(c.Unanswered), plural(c.Questions(), "question", "questions")))
	}
	if c.Complaints > 0 {
		all = append(all, plural(c.Complaints, "complaint", "complaints"))
	}

	if c.IsFew() {
		all = append(all, "few votes")
	}
	return strings.Join(all, ", ")
}

// said is what readers say about a page. A complaint with a thumb counts as its thumb.
type said struct {
	Up, Down             int64
	Answered, Unanswered int64
	Complaints           int64
}

func (s said) Thumbs() int64    { return s.Up + s.Down }
func (s said) Questions() int64 { return s.Answered + s.Unanswered }
func (s said) bad() int64       { return s.Down + s.Unanswered + s.Complaints }
func (s said) votes() part      { return part{s.bad(), s.bad() + s.Up + s.Answered} }
func (s said) atLeast() float64 { return s.votes().atLeast() }
func (s said) Votes() string    { return s.votes().of() }
func (s said) IsFew() bool      { return s.votes().all < fewVotes }

// DownWidth is the bar's: of 100 thumbs.
func (s said) DownWidth() float64 { return round(100 * part{s.Down, s.Thumbs()}.share()) }

func (s said) plus(other said) said {
	return said{
		Up:         s.Up + other.Up,
		Down:       s.Down + other.Down,
		Answered:   s.Answered + other.Answered,
		Unanswered: s.Unanswered + other.Unanswered,
		Complaints: s.Complaints + other.Complaints,
	}
}

// of writes how many of all are some, or "–" if there is none.
func (p part) of() string {
	if p.all == 0 {
		return "–"
	}
	return number(p.some) + " of " + number(p.all)
}

// atLeast returns the lower bound of Wilson's interval for a share: few votes prove little, so
// 1 of 1 is less than 60 of 100.
func (p part) atLeast() float64 {
	if p.all <= 0 || p.some <= 0 {
		return 0
	}

	const z = wilsonZ
	n := float64(p.all)
	share := p.share()
	middle := share + z*z/(2*n)
	spread := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return max(0, (middle-spread)/(1+z*z/n))
}

func (in Input) saidByPage() map[string]said {
	all := map[string]said{}
	for _, row := range in.Period.ByPage.Rows {
		all[row.Path] = all[row.Path].plus(said{Up: row.ThumbsUp, Down: row.ThumbsDown})
	}
	for _, row := range in.Period.Comments.Rows {
		if isCriticism(row) && !isSettled(row) && row.Helpful == nil {
			page := in.Moved.page(row.Path)
			all[page] = all[page].plus(said{Complaints: 1})
		}
	}

	byPage := func(row mintlify.Conversation) string { return in.Moved.page(row.PageURL) }
	for page, count := range countQuestions(in.Period.Conversations.Rows, byPage) {
		if page == "" {
			continue
		}
		all[page] = all[page].plus(said{Unanswered: count.some, Answered: count.all - count.some})
	}
	return all
}

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

type fixes struct {
	Rows          []fix
	Empty, Note   string
	Sections      string // names the sections with the most bad votes
	HasQuestions  bool   // somebody asked on one of the pages
	HasComplaints bool   // somebody wrote about one of the pages

	elsewhere []fix // are the pages with votes and without visitors
}

// fix is a page and why it is worth fixing.
type fix struct {
	said
	Path, URL string
	Humans    int64
	DownWidth float64 // is the bar's: of 100 thumbs
	IsFew     bool    // there are few votes

	score float64
}

const (
	mostFixes = 10
	fewVotes  = 5 // fewer say little

	wilsonZ = 1.64 // 95 % on one side
)

// fixFirst ranks pages by their humans times the share of bad votes that is at least likely.
func (in Input) fixFirst(pages []comparison) fixes {
	list := in.Period.ByPage
	f := fixes{Empty: emptiness(list.Export), Note: partOf(list.Export)}

	middle := medianOfHumans(pages)
	f.Rows = fixesOf(pages, middle)
	f.elsewhere = in.fixesElsewhere(pages, middle)
	f.Rows = append(f.Rows, f.elsewhere...)
	f.Rows = slices.DeleteFunc(f.Rows, func(row fix) bool { return row.bad() == 0 })

	slices.SortStableFunc(f.Rows, func(a, b fix) int {
		return cmp.Or(
			cmp.Compare(b.score, a.score),
			cmp.Compare(b.votes().atLeast(), a.votes().atLeast()),
			cmp.Compare(a.Path, b.Path))
	})
	f.Rows = f.Rows[:min(mostFixes, len(f.Rows))]

	for _, row := range f.Rows {
		f.HasQuestions = f.HasQuestions || row.Unanswered+row.Answered > 0
		f.HasComplaints = f.HasComplaints || row.Complaints > 0
	}

	switch {
	case len(f.Rows) > 0 && f.Empty != "":
		f.Note = "Without thumbs: " + f.Empty
		f.Empty = ""
	case len(f.Rows) == 0 && f.Empty == "":
		f.Empty = "No page has a thumb down, an unanswered question or an open complaint."
	}
	return f
}

// fixesOf returns the pages and what readers say about each. A page with a final slash has the same votes.
// One that had visitors only before may have moved: its visitors are not known.
func fixesOf(pages []comparison, middle int64) []fix {
	var all []fix
	isTaken := map[string]bool{}
	for _, c := range pages {
		if page := pagePath(c.raw); !isTaken[page] {
			isTaken[page] = true
			row := newFix(c.said, c.Path, c.URL, c.Now.Human, c.usualNow.Human)
			if !c.isVisited() {
				row = newFix(c.said, c.Path, c.URL, unknownHumans, middle)
			}
			all = append(all, row)
		}
	}
	return all
}

// fixesElsewhere returns pages without visitors: redirects, or the service names the page in another way.
func (in Input) fixesElsewhere(pages []comparison, middle int64) []fix {
	said := in.saidByPage()
	for _, c := range pages {
		delete(said, pagePath(c.raw))
	}

	var all []fix
	for page, s := range said {
		if strings.HasPrefix(page, "/") {
			all = append(all, newFix(s, textOf(page), in.link(page), unknownHumans, middle))
		}
	}
	return all
}

// unknownHumans are those of a page that readers voted on, and that has no row of visitors.
const unknownHumans = -1

func medianOfHumans(pages []comparison) int64 {
	var counts []int64
	for _, c := range pages {
		if c.isVisited() {
			counts = append(counts, c.usualNow.Human)
		}
	}
	if len(counts) == 0 {
		return 0
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// newFix ranks a page by its usual humans.
func newFix(s said, path, link string, humans, usual int64) fix {
	return fix{
		said:      s,
		Path:      path,
		URL:       link,
		Humans:    humans,
		DownWidth: round(100 * part{s.Down, s.Thumbs()}.share()),
		IsFew:     s.votes().all < fewVotes,
		score:     float64(usual) * s.votes().atLeast(),
	}
}

// Top names the page to fix first, or says why there is none.
func (f fixes) Top() string {
	if len(f.Rows) == 0 {
		return f.Empty
	}
	return f.Rows[0].Path + " (" + f.Rows[0].reasons() + ")"
}

func (f fix) reasons() string {
	all := []string{plural(f.Humans, "human", "humans")}
	if f.Humans == unknownHumans {
		all[0] = "visitors unknown"
	}
	if f.Thumbs() > 0 {
		all = append(all, fmt.Sprintf("%s of %s down", number(f.Down), plural(f.Thumbs(), "thumb", "thumbs")))
	}

	if f.Unanswered > 0 {
		all = append(all, fmt.Sprintf("%s of %s unanswered",
			number(f.Unanswered), plural(f.Unanswered+f.Answered, "question", "questions")))
	}
	if f.Complaints > 0 {
		all = append(all, plural(f.Complaints, "complaint", "complaints"))
	}

	if f.IsFew {
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

// Thumbs returns the thumbs up and down.
func (s said) Thumbs() int64 { return s.Up + s.Down }

// Questions returns the questions that were asked on the page.
func (s said) Questions() int64 { return s.Answered + s.Unanswered }

// Share writes how many of the votes are bad.
func (s said) Share() string { return s.votes().of() }

// of writes how many of all are some, or "–" if there is none.
func (p part) of() string {
	if p.all == 0 {
		return "–"
	}
	return number(p.some) + " of " + number(p.all)
}

func (s said) bad() int64 { return s.Down + s.Unanswered + s.Complaints }

func (s said) votes() part { return part{s.bad(), s.bad() + s.Up + s.Answered} }

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
		page := all[row.Path]
		page.Up += row.ThumbsUp
		page.Down += row.ThumbsDown
		all[row.Path] = page
	}

	for _, row := range in.Period.Comments.Rows {
		if isComplaint(row) && row.Helpful == nil {
			page := all[row.Path]
			page.Complaints++
			all[row.Path] = page
		}
	}

	for path, count := range countQuestions(in.Period.Conversations.Rows).byPage {
		page := all[path]
		page.Unanswered += count.some
		page.Answered += count.all - count.some
		all[path] = page
	}
	return all
}

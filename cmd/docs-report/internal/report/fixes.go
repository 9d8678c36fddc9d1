package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// fixes are the pages that are worth fixing first, and why.
type fixes struct {
	Rows          []comparison
	Empty, Note   string
	HasQuestions  bool // somebody asked on one of the pages
	HasComplaints bool // somebody wrote about one of the pages

	median int64 // is how many humans read the page in the middle
}

const (
	mostFixes = 10
	fewVotes  = 5 // fewer say little

	wilsonZ = 1.64 // 95 % on one side
)

// fixFirst ranks pages by their humans times the share of bad votes that is at least likely, the pages of waves first.
func (in Input) fixFirst(pages, elsewhere []comparison) fixes {
	list := in.Period.ByPage
	f := fixes{Empty: emptiness(list.Export), Note: list.partly(), median: medianOfHumans(pages)}

	for _, c := range slices.Concat(pages, elsewhere) {
		if c.bad() > 0 {
			f.Rows = append(f.Rows, c)
		}
	}

	slices.SortStableFunc(f.Rows, func(a, b comparison) int {
		return cmp.Or(
			cmp.Compare(in.waveOf(a), in.waveOf(b)),
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
	return float64(c.usualNow.sum.Human) * c.atLeast()
}

// atLeast is the share of bad votes, of which the newest week's count double: a page that was fixed does not stay
// first.
func (c comparison) atLeast() float64 {
	votes := c.votes()
	doubled := votes.plus(c.newest.votes())
	return atLeast(doubled.share(), float64(votes.all))
}

func medianOfHumans(pages []comparison) int64 {
	var counts []int64
	for _, c := range pages {
		if c.IsVisited {
			counts = append(counts, c.usualNow.sum.Human)
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
	if more := c.MoreHumans(); more != "" {
		all = append(all, more)
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
	if c.Better != "" {
		all = append(all, c.Better)
	}
	return strings.Join(all, ", ")
}

// said is what readers say about a page. A complaint with a thumb counts as its thumb.
type said struct {
	Up, Down             int64
	Answered, Unanswered int64
	Complaints           int64

	settled int64 // counts complaints that somebody has resolved or dismissed
}

func (s said) Thumbs() int64    { return s.Up + s.Down }
func (s said) Questions() int64 { return s.Answered + s.Unanswered }
func (s said) bad() int64       { return s.Down + s.Unanswered + s.Complaints }
func (s said) votes() part      { return part{s.bad(), s.bad() + s.Up + s.Answered} }
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
		settled:    s.settled + other.settled,
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
func (p part) atLeast() float64 { return atLeast(p.share(), float64(p.all)) }

func atLeast(share, n float64) float64 {
	if n <= 0 || share <= 0 {
		return 0
	}

	const z = wilsonZ
	middle := share + z*z/(2*n)
	spread := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return max(0, (middle-spread)/(1+z*z/n))
}

// voted is what readers say about a page in the period, in its newest week, and before.
type voted struct {
	said
	newest, before said
}

// better says that the share of bad votes is less than before, beyond chance. Complaints without a thumb are left out:
// those before are not known.
func (v voted) better(w windows) string {
	now := part{v.Down + v.Unanswered, v.Thumbs() + v.Questions()}
	before := part{v.before.Down + v.before.Unanswered, v.before.Thumbs() + v.before.Questions()}
	if w.missing != "" || compareShares(now, before, w.errors) != less {
		return ""
	}
	return "better: " + now.text() + " bad from " + before.text()
}

// votes returns what readers say by page.
func (in Input) votes() map[string]voted {
	all := map[string]voted{}
	for page, s := range in.saidIn(in.Period, in.Period.ByPage.Rows, in.Period.Window) {
		all[page] = voted{said: s}
	}
	if weeks := in.Period.Weeks; len(weeks) > 0 {
		last := weeks[len(weeks)-1]
		for page, s := range in.saidIn(in.Period, last.Rows, last.Window) {
			all[page] = voted{said: all[page].said, newest: s}
		}
	}

	isCut := in.Before.ByPage.Truncated || in.Before.Conversations.Truncated ||
		in.Period.ByPage.Truncated || in.Period.Conversations.Truncated
	if !isCut {
		for page, s := range in.saidIn(in.Before, in.Before.ByPage.Rows, in.Before.Window) {
			all[page] = voted{all[page].said, all[page].newest, s}
		}
	}
	delete(all, "") // questions of no page
	return all
}

// saidIn returns what readers say by page, and on no page, in a window of a period, with its thumbs.
func (in Input) saidIn(p Period, thumbs []mintlify.FeedbackCount, w store.Window) map[string]said {
	all := map[string]said{}
	for _, row := range thumbs {
		all[row.Path] = all[row.Path].plus(said{Up: row.ThumbsUp, Down: row.ThumbsDown})
	}
	isWithin := func(at time.Time) bool { return w == p.Window || w.Has(at) }

	for _, row := range p.Comments.Rows {
		if !isWithin(row.CreatedAt) || !isCriticism(row) || row.Helpful != nil {
			continue
		}
		one := said{Complaints: 1}
		if isSettled(row) {
			one = said{settled: 1}
		}
		page := in.Moved.page(row.Path)
		all[page] = all[page].plus(one)
	}

	for _, row := range p.Conversations.Rows {
		if isWithin(row.Timestamp) {
			page := in.Moved.page(row.PageURL)
			count := answersTo(row)
			all[page] = all[page].plus(said{Unanswered: count.some, Answered: count.all - count.some})
		}
	}
	return all
}

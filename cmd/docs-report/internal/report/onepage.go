package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// PageInput has everything that a report of one page of the documentation shows. Of its Input it takes the
// project, the flags, and the days and months, which are the page's.
type PageInput struct {
	Input
	Path  string
	Since mintlify.Date // the day of a rewrite; zero: there was none

	Weeks []store.Point // are the page's

	// All lists that the database has, oldest first. They may overlap.
	Searches      []List[mintlify.SearchTerm]
	ByPage        []List[mintlify.FeedbackCount]
	Conversations []List[mintlify.Conversation]
	Comments      []List[mintlify.Feedback]
}

// OnePage returns the page of a page.
func OnePage(in PageInput) ([]byte, error) { return render("onepage.html", newPageView(in)) }

// pageView is what the template shows.
type pageView struct {
	PageInput
	head
	Name, Page, URL, Dates string

	MovedFrom  string       // names the page's old names
	Break      string       // is what was redefined within the weeks
	Comparison *beforeAfter // nil: there is no date
	Chart      trend
	Numbers    []pageWeek
	EndHere    section
	Asked      section
	Complaints section
}

type pageWeek struct {
	bucket
	Thumbs string
}

func newPageView(in PageInput) pageView {
	in.history = newHistory(in.Days, in.Months)
	all := in.weeks()

	chart := plot{unit: store.Week, buckets: buckets(all, store.Week, in.Weeks)}
	if !in.Since.IsZero() {
		chart.marks = []markedDay{{in.Since, "changed"}}
	}

	v := pageView{
		PageInput:  in,
		head:       newHead(),
		Name:       textOf(in.Project),
		Page:       textOf(in.Path),
		URL:        in.link(in.Path),
		Dates:      span(all),
		Break:      breakWithin(all.From, all.To),
		Chart:      chart.draw(),
		MovedFrom:  in.movedFrom(),
		EndHere:    in.endHere(),
		Asked:      in.asked(),
		Complaints: in.complaints(),
	}

	v.HasTexts = true // the searches that end here

	if !in.Since.IsZero() {
		v.Comparison = in.changed()
	}
	for _, week := range v.Chart.Rows {
		v.Numbers = append(v.Numbers, pageWeek{week, in.thumbsWithin(week.Window).text()})
	}
	return v
}

func (in PageInput) weeks() store.Window {
	return store.Window{From: in.Weeks[0].From, To: in.Weeks[len(in.Weeks)-1].To}
}

// is reports whether a path or URL names the page.
func (in PageInput) is(text string) bool { return in.Moved.page(text) == pagePath(in.Path) }

// movedFrom names the page's old names, whose readers count as the page's.
func (in PageInput) movedFrom() string {
	var names []string
	for _, name := range in.Moved.From(pagePath(in.Path)) {
		names = append(names, textOf(name))
	}
	return strings.Join(names, ", ")
}

// endHere lists the searches of the newest list whose readers mostly click this page.
func (in PageInput) endHere() section {
	s := section{ID: "searches", Title: "Searches that end here"}
	list := newest(in.Searches)
	var rows []finding
	for _, t := range foldTerms(list.Rows) {
		if t.isFound() && in.is(t.Page) {
			rows = append(rows, t.finding(fmt.Sprintf("%.0f%% with a click", t.clicked())))
		}
	}

	if list.isKnown() {
		s.Summary = span(list.Window) + ": the search terms for which readers click this page most."
	}
	best := newFindings("", list.Export, rows, "There is no search term for which readers click this page most.")
	s.Lists = []findings{best}
	return s
}

func (in PageInput) asked() section {
	s := section{ID: "questions", Title: "What was asked here"}
	list := Within(in.Conversations, AskedAt, in.weeks())
	rows := slices.DeleteFunc(list.Rows, func(row mintlify.Conversation) bool { return !in.is(row.PageURL) })

	counts := countQuestions(rows)
	by := counts.byText
	title := "Asked most"
	if by[""].all > 0 { // the database lacks the text of some
		by = counts.byCategory
		title = "By category"
	}

	var found []finding
	for text, c := range by {
		found = append(found, finding{
			Text:  textOf(text),
			Much:  plural(c.all, "question", "questions"),
			Quiet: number(c.some) + " unanswered",
			Width: float64(c.all),
		})
	}
	slices.SortFunc(found, func(a, b finding) int { return cmp.Compare(a.Text, b.Text) }) // if equal

	s.Lists = []findings{newFindings(title, list.Export, found, "Nobody asked the assistant on this page.")}
	if counts.sum.all > 0 {
		s.Summary = fmt.Sprintf("The assistant could not answer %s of %s.",
			number(counts.sum.some), plural(counts.sum.all, "question", "questions"))
	}
	return s
}

// complaints lists what readers wrote about this page, the newest first.
func (in PageInput) complaints() section {
	all := in.weeks()
	p := Period{Window: all, Comments: Within(in.Comments, WrittenAt, all)}
	p.Comments.Rows = slices.DeleteFunc(p.Comments.Rows, func(row mintlify.Feedback) bool { return !in.is(row.Path) })
	for i := range p.Comments.Rows {
		p.Comments.Rows[i].Path = "" // all are of this page
	}

	words := Input{Period: p}
	best := words.inTheirWords("Nobody wrote a complaint that is open.")
	hasTexts := slices.ContainsFunc(in.Comments, func(l List[mintlify.Feedback]) bool { return l.Texts })
	if p.Comments.State == store.Missing && !hasTexts {
		best.Empty = textsNotKept
	}

	s := section{ID: "complaints", Title: "What was complained about", Lists: []findings{best}}
	if sum := in.thumbsWithin(all); sum.weeks > 0 {
		s.Summary = fmt.Sprintf("%s of %s down, in the %s whose thumbs the database knows.",
			number(sum.some), pointing(sum.all), plural(sum.weeks, "week", "weeks"))
	}
	s.Summary = sentences(s.Summary, words.wave())
	return s
}

const textsNotKept = "What readers wrote is not kept; docs-report sync -texts keeps it."

// thumbs are those of this page, and the number of weeks that they cover.
type thumbs struct {
	part
	weeks int64
}

func (t thumbs) text() string {
	switch {
	case t.weeks == 0:
		return "–"
	case t.all == 0:
		return "none"
	}
	return number(t.some) + " of " + number(t.all)
}

// thumbsWithin adds up the thumbs of the weeks that are known.
func (in PageInput) thumbsWithin(w store.Window) thumbs {
	var sum thumbs
	for _, list := range in.ByPage {
		if list.Span() != store.Week || !isWithin(list.Window, w) || !list.isKnown() {
			continue
		}

		isListed := false
		for _, row := range list.Rows {
			if in.is(row.Path) {
				sum.part = sum.plus(part{row.ThumbsDown, row.ThumbsDown + row.ThumbsUp})
				isListed = true
			}
		}
		if isListed || !list.Truncated { // else the page may be beyond the end of the list
			sum.weeks++
		}
	}
	return sum
}

// newest returns the list that ends last, and of these the longest.
func newest[T any](lists []List[T]) List[T] {
	var best List[T]
	for _, list := range lists {
		later := list.To.Time().Compare(best.To.Time())
		if best.State == store.Missing || later > 0 || later == 0 && list.Days() > best.Days() {
			best = list
		}
	}
	return best
}

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// PageInput has everything that a report of one page of the documentation shows. Of its Input it takes the
// project, the flags, and the days and months, which are the page's.
type PageInput struct {
	Input
	Path  string
	Since mintlify.Date // the day of a rewrite; zero: there was none

	Weeks []store.Point // are the page's

	// All pages of the site, for comparison.
	SiteWeeks, SiteDays []store.Point

	// All lists that the database has, oldest first. They may overlap.
	Searches      []List[mintlify.SearchTerm]
	ByPage        []List[mintlify.FeedbackCount]
	Conversations []List[mintlify.Conversation]
	Comments      []List[mintlify.Feedback]
}

// OnePage returns the page of a page.
func OnePage(in PageInput) ([]byte, error) { return render("onepage.html", newPageView(in)) }

type pageView struct {
	PageInput
	Name, Page, URL, Dates string

	HasTexts   bool
	MovedFrom  string       // names the page's old names
	Break      string       // is what was redefined within the weeks
	Comparison *beforeAfter // nil: there is no date
	Chart      chart
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
	in.history = newHistory(in.Days, in.Months, events.NewSite(in.SiteDays, func(store.Point) bool { return true }))
	weeks := store.Window{From: in.Weeks[0].From, To: in.Weeks[len(in.Weeks)-1].To}
	in.Period = Period{
		Window:        weeks,
		Comments:      Within(in.Comments, WrittenAt, weeks),
		Conversations: Within(in.Conversations, AskedAt, weeks),
	}

	v := pageView{
		PageInput: in,
		Name:      textOf(in.Project),
		Page:      textOf(in.Path),
		URL:       in.link(in.Path),
		Dates:     span(weeks),
		HasTexts:  true, // the searches that end here
		Break:     breakWithin(weeks.From, weeks.To),

		Chart:      chart{Unit: store.Week, Rows: buckets(weeks, store.Week, in.Weeks)},
		MovedFrom:  in.movedFrom(),
		EndHere:    in.endHere(),
		Asked:      in.asked(),
		Complaints: in.criticized(),
	}

	if !in.Since.IsZero() {
		v.Comparison = in.changed()
		v.Chart.since = in.Since
	}
	v.Chart = v.Chart.drawn()

	for _, week := range v.Chart.Rows {
		v.Numbers = append(v.Numbers, pageWeek{week, in.thumbsWithin(week.Window).text()})
	}
	return v
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
	list := newest(in.Searches)
	var rows []finding
	for _, t := range foldTerms(list.Rows) {
		if t.isFound() && in.is(t.Page) {
			rows = append(rows, t.finding(fmt.Sprintf("%.0f%% with a click", t.clicked())))
		}
	}

	s := section{ID: "searches", Title: "Searches that end here"}
	if isKnown(list.Export) {
		s.Summary = span(list.Window) + ": the search terms for which readers click this page most."
	}
	return s.with(list.Export, rows, "There is no search term for which readers click this page most.", list.partly())
}

func (in PageInput) asked() section {
	list := in.Period.Conversations
	list.Rows = slices.DeleteFunc(list.Rows, func(row mintlify.Conversation) bool { return !in.is(row.PageURL) })

	lacksText := func(row mintlify.Conversation) bool { return store.FoldTerm(row.Query) == "" }
	hasTexts := !slices.ContainsFunc(list.Rows, lacksText)
	asked := askedIn(list.Rows, hasTexts)

	var found []finding
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		q := asked[key]
		found = append(found, finding{
			Text:  q.text,
			Much:  plural(q.all, "question", "questions"),
			Quiet: number(q.some) + " unanswered",
			Width: float64(q.all),
		})
	}

	s := section{
		ID:        "questions",
		Title:     "What was asked here",
		Summary:   questionSummary(list),
		ListTitle: titleOfAsked(hasTexts),
	}
	return s.with(list.Export, found, "Nobody asked the assistant on this page.", list.partly())
}

// criticized lists what readers wrote about this page, the newest first.
func (in PageInput) criticized() section {
	comments := &in.Period.Comments
	comments.Rows = slices.DeleteFunc(comments.Rows, func(row mintlify.Feedback) bool { return !in.is(row.Path) })
	for i := range comments.Rows {
		comments.Rows[i].Path = "" // all are of this page
	}

	s := in.inTheirWords("What was complained about")
	hasTexts := slices.ContainsFunc(in.Comments, func(l List[mintlify.Feedback]) bool { return l.Texts })
	if comments.State == store.Missing && hasTexts {
		s.Empty = emptiness(comments.Export)
	}
	if sum := in.thumbsWithin(in.Period.Window); sum.weeks > 0 {
		s.Summary = fmt.Sprintf("%s of %s down, in the %s whose thumbs the database knows.",
			number(sum.some), plural(sum.all, "thumb points", "thumbs point"), plural(sum.weeks, "week", "weeks"))
	}
	return s
}

// thumbsWithin adds up the thumbs of the weeks that are known.
func (in PageInput) thumbsWithin(w store.Window) sample {
	var sum sample
	for _, list := range in.ByPage {
		if list.Span() != store.Week || !isWithin(list.Window, w) || !isKnown(list.Export) {
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

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// PageInput has everything that a report of one page of the documentation shows.
type PageInput struct {
	Project   string
	Path      string
	Demo      bool
	Site      string
	Generated time.Time
	Moved     Moved
	Since     mintlify.Date // the day of a rewrite; zero: there was none
	Weeks     []store.Point // have the page's visitors for totals, oldest first
	Days      []store.Point // are the page's days

	// All lists that the database has, oldest first. They may overlap.
	Searches      []List[mintlify.SearchTerm]
	ByPage        []List[mintlify.FeedbackCount]
	Conversations []List[mintlify.Conversation]
	Comments      []List[mintlify.Feedback]

	odd odd
}

// OnePage returns the page of a page.
func OnePage(in PageInput) ([]byte, error) {
	var out bytes.Buffer
	err := templates.ExecuteTemplate(&out, "onepage.html", newPageView(in))
	return out.Bytes(), err
}

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

// pageWeek is a row of the table.
type pageWeek struct {
	bucket
	Thumbs string
}

func newPageView(in PageInput) pageView {
	in.odd = findOdd(in.Days)
	all := store.Window{From: in.Weeks[0].From, To: in.Weeks[len(in.Weeks)-1].To}

	chart := plot{unit: store.Week, buckets: buckets(all, store.Week, in.Weeks)}
	if !in.Since.IsZero() {
		chart.marks = []markedDay{{in.Since, "changed"}}
	}

	v := pageView{
		PageInput:  in,
		head:       newHead(),
		Name:       textOf(in.Project),
		Page:       textOf(in.Path),
		URL:        Input{Site: in.Site}.link(in.Path),
		Dates:      span(all),
		Break:      breakWithin(all.From, all.To),
		Chart:      chart.draw(),
		MovedFrom:  in.movedFrom(),
		EndHere:    in.endHere(),
		Asked:      in.asked(),
		Complaints: in.complaints(),
	}

	if !in.Since.IsZero() {
		v.Comparison = in.compare()
	}
	for _, week := range v.Chart.Rows {
		v.Numbers = append(v.Numbers, pageWeek{week, in.thumbsIn(week.Window).text()})
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
	s := section{ID: "searches", Title: "Searches that end here"}
	list := newest(in.Searches)
	var rows []finding
	for _, t := range foldTerms(list.Rows) {
		if t.isFound() && in.is(t.Page) {
			rows = append(rows, t.finding(fmt.Sprintf("%.0f%% with a click", t.clicked())))
		}
	}

	if isKnown(list.Export) {
		s.Summary = span(list.Window) + ": the search terms for which readers click this page most."
	}
	best := newFindings("", list.Export, rows, "There is no search term for which readers click this page most.")
	s.Lists = []findings{best}
	return s
}

// asked lists what readers asked the assistant on this page.
func (in PageInput) asked() section {
	s := section{ID: "questions", Title: "What was asked here"}
	rows, known := rowsOnce(in.Conversations, func(row mintlify.Conversation) time.Time { return row.Timestamp })
	rows = slices.DeleteFunc(rows, func(row mintlify.Conversation) bool { return !in.is(row.PageURL) })

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

	best := newFindings(title, newest(in.Conversations).Export, found, "Nobody asked the assistant on this page.")
	s.Lists = []findings{best}
	if len(known) > 0 {
		s.Summary = fmt.Sprintf("%s, of which the assistant could not answer %s, on the %s that the database knows.",
			plural(counts.sum.all, "question", "questions"), number(counts.sum.some),
			plural(int64(len(known)), "day", "days"))
	}
	return s
}

// complaints lists what readers wrote about this page, the newest first.
func (in PageInput) complaints() section {
	s := section{ID: "complaints", Title: "What was complained about"}
	rows, _ := rowsOnce(in.Comments, func(row mintlify.Feedback) time.Time { return row.CreatedAt })
	rows = slices.DeleteFunc(rows, func(row mintlify.Feedback) bool {
		return !in.is(row.Path) || !isCriticism(row)
	})
	slices.SortStableFunc(rows, func(a, b mintlify.Feedback) int { return b.CreatedAt.Compare(a.CreatedAt) })

	var found []finding
	settled := int64(0)
	for _, row := range rows {
		if isSettled(row) {
			settled++
			continue
		}
		found = append(found, finding{Text: textOf(row.Comment), Quiet: saidAt(row)})
	}

	list := newest(in.Comments)
	best := newFindings("In their words", list.Export, found, "Nobody wrote a complaint that is open.")
	if len(rows) == 0 && !list.Texts && list.State != store.Expired {
		best.Empty = "What readers wrote is not kept; docs-report sync -texts keeps it."
	}
	if settled > 0 {
		best.Note = sentences(best.Note, settledNote(settled, list.At))
	}
	s.Lists = []findings{best}

	var sum thumbs
	for _, week := range in.Weeks {
		sum = sum.plus(in.thumbsIn(week.Window))
	}

	if sum.weeks > 0 {
		s.Summary = fmt.Sprintf("%s of %s down. The database knows the thumbs of %s.",
			number(sum.down), pointing(sum.up+sum.down), plural(sum.weeks, "week", "weeks"))
	}
	return s
}

// thumbs are the counts of this page, and the number of weeks that they cover.
type thumbs struct{ up, down, weeks int64 }

func (t thumbs) plus(other thumbs) thumbs {
	return thumbs{t.up + other.up, t.down + other.down, t.weeks + other.weeks}
}

func (t thumbs) text() string {
	switch {
	case t.weeks == 0:
		return "–"
	case t.up+t.down == 0:
		return "none"
	}
	return number(t.down) + " of " + number(t.up+t.down)
}

// thumbsIn returns a week's thumbs. If they are not known, they cover no week.
func (in PageInput) thumbsIn(w store.Window) thumbs {
	for _, list := range in.ByPage {
		if list.From != w.From || list.To != w.To || !list.isKnown() {
			continue
		}

		sum := thumbs{weeks: 1}
		isListed := false
		for _, row := range list.Rows {
			if in.is(row.Path) {
				sum.up += row.ThumbsUp
				sum.down += row.ThumbsDown
				isListed = true
			}
		}

		if !isListed && list.Truncated { // the page may be beyond the end of the list
			return thumbs{}
		}
		return sum
	}
	return thumbs{}
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

// rowsOnce returns the rows of lists that may overlap, with the rows of each day only once. It
// also returns the days whose rows are complete.
func rowsOnce[T any](lists []List[T], at func(T) time.Time) ([]T, map[mintlify.Date]bool) {
	var rows []T
	known := map[mintlify.Date]bool{}
	for _, list := range lists {
		if !list.isKnown() || list.Truncated || list.Kind == store.Feedback && !list.Texts {
			continue
		}
		for _, row := range list.Rows {
			if !known[mintlify.DayOf(at(row).UTC())] {
				rows = append(rows, row)
			}
		}

		for day := list.From; day != list.To; day = day.AddDays(1) {
			known[day] = true
		}
	}
	return rows, known
}

// PageCommand is the command that reports one page.
func PageCommand(project, path string, since mintlify.Date) string {
	return fmt.Sprintf("docs-report report -projects %s -page %s -since %v -o one-page.html",
		shellQuote(project), shellQuote(path), since)
}

// shellQuote keeps a shell from reading anything into a word.
func shellQuote(word string) string {
	isPlain := !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-", r)
	})
	if isPlain && word != "" && word[0] != '-' {
		return word
	}
	return "'" + strings.ReplaceAll(textOf(word), "'", `'\''`) + "'"
}

package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// section is a question of the page and the lists that answer it.
type section struct {
	ID, Title, Summary string
	Lists              []findings
}

// findings is a list with bars, or why it is empty.
type findings struct {
	Title, Empty string
	Rows, More   []finding // More are folded
	Note         string
}

type finding struct {
	Text, URL, Much, Quiet string
	Width                  float64 // of 100; of the bar
	Class                  string
}

const mostFindings = 50

// newFindings sorts rows by width, folds all but the first, and says what they are of. empty is for a list
// that has rows none of which are findings.
func newFindings(title string, list store.Export, rows []finding, empty string) findings {
	f := findings{Title: title}
	switch {
	case list.Problem != "":
		f.Empty = "The service refused this list: " + textOf(list.Problem)
	case list.At.IsZero():
		f.Empty = "This list is not in the database: docs-report sync loads it."
	case list.Kept == 0:
		f.Empty = "The service has nothing in these dates."
	case len(rows) == 0:
		f.Empty = empty
	}
	if list.Truncated {
		f.Note = fmt.Sprintf("The service has more rows: this is of the first %s.", number(int64(list.Kept)))
	}
	slices.SortStableFunc(rows, func(a, b finding) int { return cmp.Compare(b.Width, a.Width) })
	for i := len(rows) - 1; i >= 0; i-- { // the largest last
		rows[i].Width = round(100 * rows[i].Width / max(rows[0].Width, 1))
	}
	shown := min(listLength, len(rows))
	f.Rows, f.More = rows[:shown], rows[shown:min(mostFindings, len(rows))]
	return f
}

// growth is the share of AI by month.
func growth(in Input) section {
	s := section{ID: "growth", Title: "Is AI traffic growing?"}
	var rows []finding
	for _, m := range slices.Backward(in.Months) {
		f := finding{Text: m.From.Time().Format("January 2006"), Much: shareText(m.Totals.Human, m.Totals.AI), Class: "ai",
			Quiet: number(m.Totals.AI) + " AIs, " + number(m.Totals.Human) + " humans", Width: round(100 * share(m.Totals.Human, m.Totals.AI))}
		if text := breakWithin(m.From, m.To); text != "" {
			f.Quiet += "; " + text
		}
		rows = append(rows, f)
	}
	const year = 12
	list := findings{Rows: rows[:min(year, len(rows))], More: rows[min(year, len(rows)):]}
	if len(rows) == 0 {
		list.Empty = "No whole month is in the database yet: docs-report sync -from loads more."
	} else {
		last, first := rows[0], rows[len(rows)-1]
		s.Summary = fmt.Sprintf("AIs were %s of the visitors in %s, and %s in %s, the first month in the database.", last.Much, last.Text, first.Much, first.Text)
		if text := breakWithin(in.Months[0].From, in.Months[len(rows)-1].To); text != "" {
			s.Summary += " These do not compare: " + text + "."
		}
	}
	s.Lists = []findings{list}
	return s
}

// searches are those that led nowhere.
func (in Input) searches() section {
	s := section{ID: "searches", Title: "What readers search for and do not find"}
	var rows []finding
	var inVain int64
	for _, term := range in.Searches.Rows { // most hits first
		if term.CTR > 0 && term.TopClickedPage != "" {
			continue
		}
		inVain += term.Hits
		rows = append(rows, finding{Text: textOf(term.Query), Much: number(term.Hits) + " searches", Class: "bad", Width: float64(term.Hits)})
		if !term.LastSearchedAt.IsZero() {
			rows[len(rows)-1].Quiet = "last on " + term.LastSearchedAt.Format(longDay)
		}
	}
	if total := in.Searches.Totals.Total; total > 0 {
		s.Summary = fmt.Sprintf("%s of %s searches led to no click.", number(inVain), number(total))
	}
	s.Lists = []findings{newFindings("", in.Searches.Export, rows, "Every search led to a page.")}
	return s
}

// questions are those that the assistant could not answer.
func (in Input) questions() section {
	s := section{ID: "questions", Title: "What they ask the assistant and get no answer to"}
	type counts struct{ unanswered, all int64 }
	categories, queries, pages := map[string]counts{}, map[string]counts{}, map[string]counts{}
	sum := counts{all: int64(len(in.Conversations.Rows))}
	for _, row := range in.Conversations.Rows {
		var unanswered int64
		if row.ResolutionStatus == mintlify.ResolutionUnanswered {
			unanswered = 1
		}
		sum.unanswered += unanswered
		path := "no page"
		if u, err := url.Parse(row.PageURL); err == nil && u.Path != "" {
			path = u.Path
		}
		add := func(to map[string]counts, key string) {
			to[key] = counts{to[key].unanswered + unanswered, to[key].all + 1}
		}
		add(categories, cmp.Or(row.QueryCategory, "no category"))
		add(queries, strings.Join(strings.Fields(row.Query), " "))
		add(pages, path)
	}
	list := func(title string, by map[string]counts) findings {
		var rows []finding
		for key, c := range by {
			if c.unanswered > 0 {
				rows = append(rows, finding{Text: textOf(key), Much: number(c.unanswered) + " unanswered", Quiet: "of " + number(c.all), Class: "bad", Width: float64(c.unanswered)})
			}
		}
		slices.SortFunc(rows, func(a, b finding) int { return cmp.Compare(a.Text, b.Text) }) // if equal
		return newFindings(title, in.Conversations.Export, rows, "The assistant answered every question.")
	}
	if sum.all > 0 {
		s.Summary = fmt.Sprintf("The assistant could not answer %s of %s questions.", number(sum.unanswered), number(sum.all))
	}
	s.Lists = []findings{list("By category", categories)}
	switch {
	case sum.all == 0:
	case in.Conversations.Texts:
		s.Lists = append(s.Lists, list("Asked most", queries))
	default:
		s.Lists = append(s.Lists, list("Asked on these pages", pages))
		s.Lists[1].Note = strings.TrimSpace(s.Lists[1].Note + " What readers asked is not kept; docs-report sync -texts keeps it.")
	}
	return s
}

// complaints are thumbs down.
func (in Input) complaints() section {
	s := section{ID: "complaints", Title: "What they complain about"}
	var rows []finding
	var up, down int64
	for _, page := range in.ByPage.Rows {
		up, down = up+page.ThumbsUp, down+page.ThumbsDown
		if page.ThumbsDown > 0 {
			rows = append(rows, finding{Text: textOf(page.Path), URL: in.link(page.Path), Much: number(page.ThumbsDown) + " thumbs down", Class: "bad",
				Quiet: shareText(page.ThumbsUp, page.ThumbsDown) + " of " + number(page.ThumbsUp+page.ThumbsDown), Width: float64(page.ThumbsDown)})
		}
	}
	if up+down > 0 {
		s.Summary = fmt.Sprintf("%s of %s thumbs point down (%s).", number(down), number(up+down), shareText(up, down))
	}
	s.Lists = []findings{newFindings("Pages by thumbs down", in.ByPage.Export, rows, "No page has a thumb down.")}
	var comments []finding
	for _, row := range in.Comments.Rows {
		if row.Comment != "" && (row.Helpful == nil || !*row.Helpful) {
			comments = append(comments, finding{Text: textOf(row.Comment), Quiet: "on " + textOf(row.Path) + ", " + row.CreatedAt.Format(longDay)})
		}
	}
	if len(comments) > 0 {
		s.Lists = append(s.Lists, newFindings("In their words", in.Comments.Export, comments, ""))
	}
	return s
}

// link returns the URL of a path; "" without a site.
func (in Input) link(path string) string {
	if in.Site == "" || !strings.HasPrefix(path, "/") {
		return ""
	}
	return in.Site + (&url.URL{Path: path}).EscapedPath()
}

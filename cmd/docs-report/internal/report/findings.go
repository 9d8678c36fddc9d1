package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	listLength   = 10 // of what is not folded
	mostFindings = 50
)

// section is a question of the page and the lists that answer it. The first list answers
// it best.
type section struct {
	ID, Title, Summary string
	Lists              []findings
}

// Top names the first finding of a section, or says why there is none.
func (s section) Top() string {
	best := s.Lists[0]
	if len(best.Rows) == 0 {
		return best.Empty
	}
	return fmt.Sprintf("%s (%s)", best.Rows[0].Text, best.Rows[0].Much)
}

// findings is a list with bars, or why it is empty.
type findings struct {
	Title, Empty string
	Rows         []finding
	More         []finding // are folded
	Note         string
}

type finding struct {
	Text, URL   string
	Much, Quiet string
	Width       float64 // of 100: the bar's
	Class       string  // of the bar
}

// newFindings sorts rows by width, folds all but the first, and says what they are of.
// empty is for a list that has rows none of which are findings.
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
	for i := len(rows) - 1; i >= 0; i-- { // the largest last: it is the measure
		rows[i].Width = round(100 * rows[i].Width / max(rows[0].Width, 1))
	}

	shown := min(listLength, len(rows))
	f.Rows = rows[:shown]
	f.More = rows[shown:min(mostFindings, len(rows))]
	return f
}

// link returns the URL of a path; "" without a site.
func (in Input) link(path string) string {
	if in.Site == "" || !strings.HasPrefix(path, "/") {
		return ""
	}
	return in.Site + (&url.URL{Path: path}).EscapedPath()
}

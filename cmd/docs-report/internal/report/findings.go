package report

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	listLength   = 10 // findings that are not folded
	mostFindings = 50
)

// section is a question of the page and the list that answers it, with bars, or why it is empty.
type section struct {
	ID, Title, Summary string

	ListTitle, Empty string
	Rows             []finding
	More             []finding // are folded
	Note             string

	FoldedTitle string
	Folded      []finding // are without bars
}

// Top names the first finding of a section, or says why there is none.
func (s section) Top() string {
	if len(s.Rows) == 0 {
		return s.Empty
	}

	first := s.Rows[0]
	details := first.Much
	if first.Change.Text != "" {
		details += ", " + first.Change.Short()
	}
	return first.Text + " (" + details + ")"
}

// IsEmpty reports whether a section has nothing to show.
func (s section) IsEmpty() bool {
	return len(s.Rows) == 0 && len(s.Folded) == 0 && s.Note == "" && s.Summary == ""
}

type finding struct {
	Text, URL   string
	Much, Quiet string
	Answer      string
	Width       float64 // is the bar's, 100 at most
	Change      change
}

// arranged sorts rows by width, and folds all but the first ten.
func arranged(rows []finding) (shown, more []finding) {
	slices.SortStableFunc(rows, func(a, b finding) int { return cmp.Compare(b.Width, a.Width) })
	for i := len(rows) - 1; i >= 0; i-- { // the largest row is the measure, so it is divided last
		rows[i].Width = round(100 * rows[i].Width / max(rows[0].Width, 1))
	}
	listed := min(listLength, len(rows))
	return rows[:listed], rows[listed:min(mostFindings, len(rows))]
}

// with returns a section with rows. note says how complete their list is, and empty is the text for a list that
// has rows, but no findings among them.
func (s section) with(list store.Export, rows []finding, empty, note string) section {
	s.Empty = emptiness(list)
	switch {
	case s.Empty != "" || len(rows) > 0:
	case list.Truncated:
		s.Empty = "Nothing in the rows that are loaded."
	default:
		s.Empty = empty
	}
	s.Note = note
	s.Rows, s.More = arranged(rows)
	return s
}

// emptiness says why a list has no rows. It returns "" for a list with rows.
func emptiness(list store.Export) string {
	switch {
	case list.State == store.Expired:
		return "sync -keep deleted the rows of this list because of their age."
	case list.State == store.Refused:
		return "The service refused this list: " + textOf(list.Problem)
	case list.State == store.Missing:
		return "This list is not in the database: " + syncLists(list.Window) + " loads it."
	case list.Kept == 0:
		return "The service has nothing in these dates."
	}
	return ""
}

// changes returns a function that compares a row's count with its count in the period before. It knows no
// change if the list of that period is missing, or if one of the two lists is cut. errors is how many
// standard errors are chance.
func (in Input) changes(now, before store.Export, errors float64) func(now, before int64) change {
	if !isKnown(before) || now.Truncated || before.Truncated {
		return func(int64, int64) change { return change{} }
	}
	return func(now, before int64) change { return in.compared.trouble(now, before, errors) }
}

// listBefore names the command that loads the list of the period before, if only that is missing.
func (in Input) listBefore(before store.Export) string {
	if in.Missing() != "" || before.State != store.Missing {
		return ""
	}
	return "This list of the period before is not in the database, so there is no comparison. To load it: " +
		syncLists(in.Before.Window)
}

func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// link returns the URL of a path; "" without a site.
func (in Input) link(path string) string {
	if in.Site == "" || !strings.HasPrefix(path, "/") {
		return ""
	}
	return in.Site + (&url.URL{Path: path}).EscapedPath()
}

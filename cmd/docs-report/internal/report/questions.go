package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

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

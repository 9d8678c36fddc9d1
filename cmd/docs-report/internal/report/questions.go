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
	q := countQuestions(in.Conversations.Rows)
	s := section{ID: "questions", Title: "What they ask the assistant and get no answer to"}
	if q.sum.all > 0 {
		s.Summary = fmt.Sprintf("The assistant could not answer %s of %s questions.",
			number(q.sum.unanswered), number(q.sum.all))
	}

	s.Lists = []findings{in.unanswered("By category", q.byCategory)}
	switch {
	case q.sum.all == 0:
	case in.Conversations.Texts:
		s.Lists = append(s.Lists, in.unanswered("Asked most", q.byText))
	default:
		list := in.unanswered("Asked on these pages", q.byPage)
		list.Note = strings.TrimSpace(list.Note + " What readers asked is not kept; docs-report sync -texts keeps it.")
		s.Lists = append(s.Lists, list)
	}
	return s
}

// questionCounts are the questions of a period.
type questionCounts struct {
	sum                        questionCount
	byCategory, byText, byPage map[string]questionCount
}

type questionCount struct{ unanswered, all int64 }

func countQuestions(rows []mintlify.Conversation) questionCounts {
	q := questionCounts{
		byCategory: map[string]questionCount{},
		byText:     map[string]questionCount{},
		byPage:     map[string]questionCount{},
	}
	for _, row := range rows {
		one := questionCount{all: 1}
		if row.ResolutionStatus == mintlify.ResolutionUnanswered {
			one.unanswered = 1
		}

		q.sum = q.sum.plus(one)
		category := cmp.Or(row.QueryCategory, "no category")
		q.byCategory[category] = q.byCategory[category].plus(one)
		text := strings.Join(strings.Fields(row.Query), " ")
		q.byText[text] = q.byText[text].plus(one)
		page := pageOf(row)
		q.byPage[page] = q.byPage[page].plus(one)
	}
	return q
}

func (c questionCount) plus(other questionCount) questionCount {
	return questionCount{c.unanswered + other.unanswered, c.all + other.all}
}

func pageOf(row mintlify.Conversation) string {
	if u, err := url.Parse(row.PageURL); err == nil && u.Path != "" {
		return u.Path
	}
	return "no page"
}

func (in Input) unanswered(title string, counts map[string]questionCount) findings {
	var rows []finding
	for key, c := range counts {
		if c.unanswered == 0 {
			continue
		}
		rows = append(rows, finding{
			Text:  textOf(key),
			Much:  number(c.unanswered) + " unanswered",
			Quiet: "of " + number(c.all),
			Width: float64(c.unanswered),
			Class: "bad",
		})
	}
	slices.SortFunc(rows, func(a, b finding) int { return cmp.Compare(a.Text, b.Text) }) // if equal
	return newFindings(title, in.Conversations.Export, rows, "The assistant answered every question.")
}

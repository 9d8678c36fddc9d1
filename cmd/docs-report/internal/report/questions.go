package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// questions are those that the assistant could not answer.
func (in Input) questions() section {
	now := countQuestions(in.Period.Conversations.Rows)
	before := countQuestions(in.Before.Conversations.Rows)

	s := section{ID: "questions", Title: "What readers ask the assistant and get no answer to"}
	if now.sum.all > 0 {
		s.Summary = fmt.Sprintf("The assistant could not answer %s of %s questions.",
			number(now.sum.unanswered), number(now.sum.all))
	}

	s.Best = in.unanswered("By category", now.byCategory, before.byCategory)
	s.Best.Note = sentences(s.Best.Note, in.note(in.Before.Conversations.Export))

	switch {
	case now.sum.all == 0:
	case !in.Period.Conversations.Texts:
		list := in.unanswered("Asked on these pages", now.byPage, before.byPage)
		list.Note = sentences(list.Note, "What readers asked is not kept; docs-report sync -texts keeps it.")
		s.Second = &list
	case in.Before.Conversations.Texts:
		list := in.unanswered("Asked most", now.byText, before.byText)
		s.Second = &list
	default:
		list := in.unanswered("Asked most", now.byText, nil)
		s.Second = &list
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

func pageOf(row mintlify.Conversation) string { return cmp.Or(pagePath(row.PageURL), "no page") }

// unanswered lists counts and how they differ from those before, if these are not nil.
func (in Input) unanswered(title string, counts, before map[string]questionCount) findings {
	list := in.Period.Conversations.Export
	listBefore := in.Before.Conversations.Export
	isCompared := before != nil && isKnown(listBefore) && !list.Truncated && !listBefore.Truncated

	var rows []finding
	for key, c := range counts {
		if c.unanswered == 0 {
			continue
		}

		row := finding{
			Text:  textOf(key),
			Much:  number(c.unanswered) + " unanswered",
			Quiet: "of " + number(c.all),
			Width: float64(c.unanswered),
			Class: "bad",
		}

		if isCompared {
			row.Change = changeOfTrouble(c.unanswered, before[key].unanswered)
		}

		rows = append(rows, row)
	}

	slices.SortFunc(rows, func(a, b finding) int { return cmp.Compare(a.Text, b.Text) }) // if equal
	return newFindings(title, list, rows, "The assistant answered every question.")
}

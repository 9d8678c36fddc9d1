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
		s.Summary = fmt.Sprintf("The assistant could not answer %s of %s%s.",
			number(now.sum.some), plural(now.sum.all, "question", "questions"),
			questionRate(in.Period.Conversations).loaded())
	}
	if !in.Before.Conversations.Texts {
		before.byText = nil
	}

	best := in.unanswered("By category", now.byCategory, before.byCategory)
	if in.Period.Conversations.Texts && now.sum.all > 0 {
		best = in.unanswered("Asked most", now.byText, before.byText)
	}
	if !in.Period.Conversations.Texts && now.sum.all > 0 {
		best.Note = sentences(best.Note, "What readers asked is not kept; docs-report sync -texts keeps it.")
	}
	best.Note = sentences(best.Note, in.listBefore(in.Before.Conversations.Export))
	s.Lists = []findings{best}
	return s
}

// questionCounts has how many of the questions were not answered.
type questionCounts struct {
	sum                        part
	byCategory, byText, byPage map[string]part
}

func countQuestions(rows []mintlify.Conversation) questionCounts {
	q := questionCounts{
		byCategory: map[string]part{},
		byText:     map[string]part{},
		byPage:     map[string]part{},
	}
	for _, row := range rows {
		one := part{all: 1}
		if row.ResolutionStatus == mintlify.ResolutionUnanswered {
			one.some = 1
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

func pageOf(row mintlify.Conversation) string { return cmp.Or(pagePath(row.PageURL), "no page") }

// unanswered lists counts and how they differ from those before, if these are not nil.
func (in Input) unanswered(title string, counts, before map[string]part) findings {
	list := in.Period.Conversations.Export
	counted := map[string]int64{}
	for key, c := range before {
		counted[key] = c.some
	}
	earlier := in.earlier(list, in.Before.Conversations.Export, mostByChance, counted)

	var rows []finding
	for key, c := range counts {
		if c.some == 0 {
			continue
		}

		row := finding{
			Text:  textOf(key),
			Much:  number(c.some) + " unanswered",
			Quiet: "of " + number(c.all),
			Width: float64(c.some),
		}

		if before != nil {
			row.Change = earlier.changeOf(key, c.some)
		}

		rows = append(rows, row)
	}

	slices.SortFunc(rows, func(a, b finding) int { return cmp.Compare(a.Text, b.Text) }) // if equal
	return newFindings(title, list, rows, "The assistant answered every question.")
}

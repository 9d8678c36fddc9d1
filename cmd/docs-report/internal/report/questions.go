package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// questions are those that the assistant could not answer.
func (in Input) questions() section {
	list := in.Period.Conversations
	before := in.Before.Conversations
	note := in.listBefore(before.Export)
	hasTexts := list.Texts || len(list.Rows) == 0

	if !hasTexts {
		note = sentences("What readers asked is not kept; docs-report sync -texts keeps it.", note)
	} else if len(list.Rows) > 0 && !before.Texts {
		before.Export = store.Export{} // nothing is known of texts
	}

	changeOf := in.changes(list.Export, before.Export, mostByChance)
	askedBefore := askedIn(before.Rows, hasTexts)
	asked := askedIn(list.Rows, hasTexts)

	var rows []finding
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		q := asked[key]
		if q.some == 0 {
			continue
		}
		rows = append(rows, finding{
			Text:   q.text,
			Much:   number(q.some) + " unanswered",
			Quiet:  "of " + number(q.all),
			Answer: q.answer,
			Width:  float64(q.some),
			Change: changeOf(q.some, askedBefore[key].some),
		})
	}

	s := section{
		ID:        "questions",
		Title:     "What readers ask the assistant and get no answer to",
		Summary:   questionSummary(list),
		ListTitle: titleOfAsked(hasTexts),
	}
	return s.with(list.Export, rows, "The assistant answered every question.", sentences(list.partly(), note))
}

// answersTo counts questions, and those that the assistant could not answer.
func answersTo(rows ...mintlify.Conversation) part {
	count := part{all: int64(len(rows))}
	for _, row := range rows {
		if row.ResolutionStatus == mintlify.ResolutionUnanswered {
			count.some++
		}
	}
	return count
}

// question is what readers asked in the same words, or of one category.
type question struct {
	part         // are those without an answer
	text, answer string
}

// askedIn returns the questions by their words, which are folded as those of a search, with their first spelling and
// the first answer that was none; or by category, if the database does not have their texts.
func askedIn(rows []mintlify.Conversation, hasTexts bool) map[string]question {
	all := map[string]question{}
	for _, row := range rows {
		key := cmp.Or(row.QueryCategory, "no category")
		text := "category: " + textOf(key)
		answer := ""
		if hasTexts {
			key = store.FoldTerm(row.Query)
			text = textOf(strings.Join(strings.Fields(row.Query), " "))
			answer = row.Response
		}

		q, isKnown := all[key]
		if !isKnown {
			q.text = text
		}
		count := answersTo(row)
		if q.answer == "" && answer != "" && count.some > 0 {
			q.answer = "The assistant: " + textOf(answer)
		}
		q.part = q.plus(count)
		all[key] = q
	}
	return all
}

func titleOfAsked(hasTexts bool) string {
	if hasTexts {
		return "Asked most"
	}
	return "By category"
}

func questionSummary(list List[mintlify.Conversation]) string {
	r := questionRate(list)
	if r.all == 0 {
		return ""
	}
	return fmt.Sprintf("The assistant could not answer %s of %s%s.",
		number(r.some), plural(r.all, "question", "questions"), r.loaded())
}

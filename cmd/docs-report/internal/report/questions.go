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

	title := "By category"
	key := byCategory
	kind := "category: "

	switch {
	case len(list.Rows) == 0:
	case !list.Texts:
		note = sentences("What readers asked is not kept; docs-report sync -texts keeps it.", note)
	default:
		title = "Asked most"
		key = byText
		kind = ""
		if !before.Texts {
			before.Export = store.Export{} // nothing is known of texts
		}
	}

	counts := countQuestions(list.Rows, key)
	changeOf := in.changes(list.Export, before.Export, mostByChance, countQuestions(before.Rows, key))

	asked := askedIn(list.Rows, key)
	var rows []finding
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		if c := counts[text]; c.some > 0 {
			row := finding{
				Text:   kind + asked[text].text,
				Much:   number(c.some) + " unanswered",
				Quiet:  "of " + number(c.all),
				Width:  float64(c.some),
				Change: changeOf(text, c.some),
			}
			if answer := asked[text].answer; answer != "" {
				row.Answer = "The assistant: " + answer
			}
			rows = append(rows, row)
		}
	}

	return section{
		ID:      "questions",
		Title:   "What readers ask the assistant and get no answer to",
		Summary: questionSummary(list),
		Lists:   []findings{newFindings(title, list.Export, rows, "The assistant answered every question.", note)},
	}
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

func countQuestions(rows []mintlify.Conversation, key func(mintlify.Conversation) string) map[string]part {
	all := map[string]part{}
	for _, row := range rows {
		all[key(row)] = all[key(row)].plus(answersTo(row))
	}
	return all
}

func byCategory(row mintlify.Conversation) string { return cmp.Or(row.QueryCategory, "no category") }

// byText folds the spellings of a question, as those of a search.
func byText(row mintlify.Conversation) string { return store.FoldTerm(row.Query) }

// askedAs is a spelling of a question, or a category, and what the assistant said when it could not answer.
type askedAs struct{ text, answer string }

// askedIn returns the first spelling of each question, and the first answer that was none.
func askedIn(rows []mintlify.Conversation, key func(mintlify.Conversation) string) map[string]askedAs {
	all := map[string]askedAs{}
	for _, row := range rows {
		asked, isKnown := all[key(row)]
		if !isKnown {
			asked.text = textOf(key(row))
			if key(row) == byText(row) {
				asked.text = textOf(strings.Join(strings.Fields(row.Query), " "))
			}
		}
		isUnanswered := row.ResolutionStatus == mintlify.ResolutionUnanswered
		if asked.answer == "" && row.Response != "" && isUnanswered && key(row) == byText(row) {
			asked.answer = textOf(row.Response)
		}
		all[key(row)] = asked
	}
	return all
}

func questionSummary(list List[mintlify.Conversation]) string {
	r := questionRate(list)
	if r.all == 0 {
		return ""
	}
	return fmt.Sprintf("The assistant could not answer %s of %s%s.",
		number(r.some), plural(r.all, "question", "questions"), r.loaded())
}

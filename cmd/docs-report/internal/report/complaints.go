package report

import (
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// complaints are thumbs down, and what readers wrote.
func (in Input) complaints() section {
	list := in.Period.ByPage
	before := in.Before.ByPage

	counts := map[string]part{}
	for _, page := range before.Rows {
		counts[page.Path] = part{some: page.ThumbsDown}
	}
	changeOf := in.changes(list.Export, before.Export, mostByChance, counts)

	var rows []finding
	for _, page := range list.Rows {
		if down := (part{page.ThumbsDown, page.ThumbsUp + page.ThumbsDown}); down.some > 0 {
			rows = append(rows, finding{
				Text:   textOf(page.Path),
				URL:    in.link(page.Path),
				Much:   plural(down.some, "thumb down", "thumbs down"),
				Quiet:  down.text() + " of " + number(down.all),
				Width:  float64(down.some),
				Change: changeOf(page.Path, down.some),
			})
		}
	}

	s := section{ID: "complaints", Title: "What readers complain about"}
	if r := thumbsRate(list); r.all > 0 {
		s.Summary = fmt.Sprintf("%s of %s down (%s)%s.",
			number(r.some), plural(r.all, "thumb points", "thumbs point"), r.text(), r.loaded())
	}
	s.Summary = sentences(s.Summary, in.wave())

	s.Lists = []findings{newFindings("Pages by thumbs down", list.Export, rows, "No page has a thumb down.",
		in.listBefore(before.Export))}
	if words := in.inTheirWords(""); len(words.Rows) > 0 || words.Note != "" {
		s.Lists = append(s.Lists, words)
	}
	return s
}

// inTheirWords lists the complaints that are open, the newest first, and says how many are settled.
func (in Input) inTheirWords(empty string) findings {
	list := in.Period.Comments
	var open []mintlify.Feedback
	settled := int64(0)

	for _, row := range list.Rows {
		switch {
		case !isCriticism(row):
		case isSettled(row):
			settled++
		default:
			open = append(open, row)
		}
	}

	slices.SortStableFunc(open, func(a, b mintlify.Feedback) int { return b.CreatedAt.Compare(a.CreatedAt) })

	note := ""
	if settled > 0 {
		note = fmt.Sprintf("Left out: %s resolved or dismissed, as of %s.",
			plural(settled, "complaint that is", "complaints that are"), list.At.UTC().Format(longDay))
	}
	return newFindings("In their words", list.Export, in.equalOnes(open), empty, note)
}

// equalOnes makes one line of what readers wrote in the same words.
func (in Input) equalOnes(newestFirst []mintlify.Feedback) []finding {
	var order []string
	byWords := map[string][]mintlify.Feedback{}
	for _, row := range newestFirst {
		words := store.FoldTerm(row.Comment)
		if byWords[words] == nil {
			order = append(order, words)
		}
		byWords[words] = append(byWords[words], row)
	}

	var all []finding
	for _, words := range order {
		equal := byWords[words]
		all = append(all, finding{Text: textOf(equal[0].Comment), Quiet: in.whereAndWhen(equal)})
	}
	return all
}

// whereAndWhen names the pages of equal complaints, and the day of the newest.
func (in Input) whereAndWhen(equal []mintlify.Feedback) string {
	when := saidAt(equal[0])
	if len(equal) > 1 {
		when = fmt.Sprintf("%d times, last %s", len(equal), when)
	}

	var pages []string
	for _, row := range equal {
		page := textOf(in.Moved.page(row.Path))
		if row.Path != "" && !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	if len(pages) == 0 {
		return when
	}
	return "on " + firstFew(pages, ", ") + ", " + when
}

const leastOfWave = 5 // complaints in a week

// wave says in which week of the period there began to be more complaints than in the weeks before it.
func (in Input) wave() string {
	const text = "A wave began in the week of %s: %.0f complaints, against %.0f a week before on average."

	lists := []List[mintlify.Feedback]{in.Before.Comments, in.Period.Comments}
	var before rateOf

	for _, week := range store.Windows("", store.Week, in.Before.From, in.Period.To) {
		now := countWithin(lists, WrittenAt, week, isCriticism)
		isMore := compareRates(now, before, mostByChance, leastOfCount) == more

		if isMore && now.count >= leastOfWave && isWithin(week, in.Period.Window) {
			return fmt.Sprintf(text, week.From.Time().Format("2 January"), now.count, before.mean())
		}

		before.count += now.count
		before.units += now.units
	}
	return ""
}

// saidAt says when a complaint was written, and whether by an agent.
func saidAt(row mintlify.Feedback) string {
	text := "undated"
	if !row.CreatedAt.IsZero() {
		text = row.CreatedAt.UTC().Format(longDay)
	}
	if row.Source == mintlify.FeedbackFromAgent {
		text += ", sent by an AI agent"
	}
	return text
}

// isCriticism reports whether somebody wrote something that is not praise.
func isCriticism(row mintlify.Feedback) bool {
	isPraise := row.Helpful != nil && *row.Helpful
	return row.Comment != "" && !isPraise
}

func isSettled(row mintlify.Feedback) bool {
	return row.Status == mintlify.FeedbackResolved || row.Status == mintlify.FeedbackDismissed
}

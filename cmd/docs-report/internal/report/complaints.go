package report

import (
	"fmt"
	"math"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// complaints are thumbs down, and what readers wrote.
func (in Input) complaints() section {
	list := in.Period.ByPage
	counts := map[string]int64{}
	for _, page := range in.Before.ByPage.Rows {
		counts[page.Path] += page.ThumbsDown
	}
	before := in.earlier(list.Export, in.Before.ByPage.Export, mostByChance, counts)

	var rows []finding
	for _, page := range list.Rows {
		if page.ThumbsDown > 0 {
			rows = append(rows, finding{
				Text:   textOf(page.Path),
				URL:    in.link(page.Path),
				Much:   plural(page.ThumbsDown, "thumb down", "thumbs down"),
				Quiet:  shareText(page.ThumbsUp, page.ThumbsDown) + " of " + number(page.ThumbsUp+page.ThumbsDown),
				Width:  float64(page.ThumbsDown),
				Change: before.changeOf(page.Path, page.ThumbsDown),
			})
		}
	}

	s := section{ID: "complaints", Title: "What readers complain about"}
	if r := thumbsRate(list); r.all > 0 {
		s.Summary = fmt.Sprintf("%s of %s down (%s)%s.", number(r.some), pointing(r.all), r.text(), r.loaded())
	}

	s.Summary = sentences(s.Summary, in.wave())

	best := newFindings("Pages by thumbs down", list.Export, rows, "No page has a thumb down.")
	best.Note = sentences(best.Note, in.listBefore(in.Before.ByPage.Export))
	s.Lists = []findings{best}

	if words := in.inTheirWords(""); len(words.Rows) > 0 || words.Note != "" {
		s.Lists = append(s.Lists, words)
	}
	return s
}

func pointing(thumbs int64) string {
	if thumbs == 1 {
		return "1 thumb points"
	}
	return number(thumbs) + " thumbs point"
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
	f := newFindings("In their words", list.Export, equalOnes(open), empty)
	if settled > 0 {
		f.Note = sentences(f.Note, fmt.Sprintf("Left out: %s resolved or dismissed, as of %s.",
			plural(settled, "complaint that is", "complaints that are"), list.At.UTC().Format(longDay)))
	}
	return f
}

// equalOnes makes one line of what readers wrote in the same words.
func equalOnes(newestFirst []mintlify.Feedback) []finding {
	byWords := map[string][]mintlify.Feedback{}
	for _, row := range newestFirst {
		words := store.FoldTerm(row.Comment)
		byWords[words] = append(byWords[words], row)
	}

	var all []finding
	for _, row := range newestFirst {
		words := store.FoldTerm(row.Comment)
		if equal := byWords[words]; len(equal) > 0 {
			all = append(all, finding{Text: textOf(row.Comment), Quiet: whereAndWhen(equal)})
		}
		delete(byWords, words)
	}
	return all
}

// whereAndWhen names the pages of equal complaints, and the day of the newest.
func whereAndWhen(equal []mintlify.Feedback) string {
	when := saidAt(equal[0])
	if len(equal) > 1 {
		when = fmt.Sprintf("%d times, last %s", len(equal), when)
	}

	var pages []string
	for _, row := range equal {
		if !slices.Contains(pages, textOf(row.Path)) && row.Path != "" {
			pages = append(pages, textOf(row.Path))
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
	if in.Period.Comments.Truncated {
		return ""
	}

	from := in.Period.From
	rows := in.Period.Comments.Rows
	if before := in.Before.Comments; before.isKnown() && !before.Truncated {
		from = in.Before.From
		rows = slices.Concat(before.Rows, rows)
	}

	var known rateOf
	for _, week := range store.Windows("", store.Week, from, in.Period.To) {
		count := 0.0
		for _, row := range rows {
			if isCriticism(row) && week.Has(row.CreatedAt) {
				count++
			}
		}

		isMore := compareRates(rateOf{count, 1}, known, mostByChance, leastOfCount) == more
		if isMore && count >= leastOfWave && isWithin(week, in.Period.Window) {
			return fmt.Sprintf("A wave began in the week of %s: %.0f complaints, against %s a week before on average.",
				week.From.Time().Format("2 January"), count, number(int64(math.Round(known.mean()))))
		}
		known.count += count
		known.units++
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

// isComplaint reports whether somebody wrote something that is not praise, and nobody has settled
// it.
func isComplaint(row mintlify.Feedback) bool { return isCriticism(row) && !isSettled(row) }

func isCriticism(row mintlify.Feedback) bool {
	isPraise := row.Helpful != nil && *row.Helpful
	return row.Comment != "" && !isPraise
}

func isSettled(row mintlify.Feedback) bool {
	return row.Status == mintlify.FeedbackResolved || row.Status == mintlify.FeedbackDismissed
}

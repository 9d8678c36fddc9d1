package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// complaints are what readers wrote. The pages to fix first have the thumbs.
func (in Input) complaints() section {
	s := in.inTheirWords("What readers complain about")
	if r := thumbsRate(in.Period.ByPage); r.all > 0 {
		s.Summary = fmt.Sprintf("%s of %s down (%s)%s.",
			number(r.some), plural(r.all, "thumb points", "thumbs point"), r.text(), r.loaded())
	}
	return s
}

// mostComplaints names the page with most thumbs down.
func (in Input) mostComplaints() string {
	list := in.Period.ByPage
	said := in.saidIn(in.Period, list.Rows, in.Period.Window)
	most := ""
	for _, page := range slices.Sorted(maps.Keys(said)) {
		if said[page].Down > said[most].Down {
			most = page
		}
	}
	if said[most].Down == 0 {
		return cmp.Or(emptiness(list.Export), "No page has a thumb down.")
	}

	before := in.saidIn(in.Before, in.Before.ByPage.Rows, in.Before.Window)[most].Down
	details := plural(said[most].Down, "thumb down", "thumbs down")
	if c := in.changes(list.Export, in.Before.ByPage.Export, mostByChance)(said[most].Down, before); c.Text != "" {
		details += ", " + c.Short()
	}
	return textOf(most) + " (" + details + ")"
}

// inTheirWords lists the complaints that are open, those that most readers wrote first, and says how many are settled.
func (in Input) inTheirWords(title string) section {
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

	note := ""
	if settled > 0 {
		note = fmt.Sprintf("Left out: %s resolved or dismissed, as of %s.",
			plural(settled, "complaint that is", "complaints that are"), list.At.UTC().Format(longDay))
	}
	slices.SortStableFunc(open, func(a, b mintlify.Feedback) int { return b.CreatedAt.Compare(a.CreatedAt) })
	s := section{ID: "complaints", Title: title, ListTitle: "In their words"}
	none := "Nobody wrote a complaint that is open."
	s = s.with(list.Export, in.equalOnes(open), none, sentences(list.partly(), note))
	isFailing := func(l store.FailingList) bool { return l.Kind == store.Feedback }
	if list.State == store.Missing && !slices.ContainsFunc(in.Failing, isFailing) {
		s.Empty = "What readers wrote is not kept; docs-report sync -texts keeps it."
	}
	return s
}

// equalOnes makes one line of what readers wrote in the same words. What was written most comes first, then the newest.
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

	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(len(byWords[b]), len(byWords[a])) })
	var all []finding
	for _, words := range order {
		equal := byWords[words]
		all = append(all, finding{Text: textOf(equal[0].Comment), Quiet: in.whereAndWhen(equal)})
	}
	return all
}

// whereAndWhen names the pages of equal complaints, and says when the newest was written, and whether by an agent.
func (in Input) whereAndWhen(equal []mintlify.Feedback) string {
	when := "undated"
	if at := equal[0].CreatedAt; !at.IsZero() {
		when = at.UTC().Format(longDay)
	}
	if equal[0].Source == mintlify.FeedbackFromAgent {
		when += ", sent by an AI agent"
	}
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
	return "on " + firstFew(pages) + ", " + when
}

// isCriticism reports whether somebody wrote something that is not praise.
func isCriticism(row mintlify.Feedback) bool {
	isPraise := row.Helpful != nil && *row.Helpful
	return row.Comment != "" && !isPraise
}

func isSettled(row mintlify.Feedback) bool {
	return row.Status == mintlify.FeedbackResolved || row.Status == mintlify.FeedbackDismissed
}

package report

import (
	"net/url"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// prepared returns the input with one name for each page, with the thumbs of whole windows, and with
// what stands out known. Without a comparison, it has no period before.
func (in Input) prepared() Input {
	in.Period = in.Moved.rename(in.Period)
	in.Before = in.Moved.rename(in.Before)

	in.history = newHistory(in.Days, in.Months)
	in.compared = in.windows()
	in.Missing = in.compared.missing
	if in.Missing != "" {
		in.Before = Period{Window: in.Before.Window}
		in.TrendFrom = nil
	}

	in.Period.usual = in.usual(in.Period.Window, in.Period.Totals)
	in.Before.usual = in.usual(in.Before.Window, in.Before.Totals)
	return in
}

// rename gives each page of a period one name: the service may name a page by a path or by a URL,
// and the page may have moved.
func (m Moved) rename(p Period) Period {
	p.Rows = m.visitors(p.Rows)
	p.ByPage = m.counts(p.wholeThumbs())

	p.Comments.Rows = slices.Clone(p.Comments.Rows)
	for i, row := range p.Comments.Rows {
		p.Comments.Rows[i].Path = m.page(row.Path)
	}

	p.Conversations.Rows = slices.Clone(p.Conversations.Rows)
	for i, row := range p.Conversations.Rows {
		if row.PageURL != "" {
			p.Conversations.Rows[i].PageURL = m.page(row.PageURL)
		}
	}
	return p
}

// page returns the name of a page that readers clicked or wrote about: without a query and a final
// slash.
func (m Moved) page(text string) string { return m.Name(pagePath(text)) }

// visitors adds the visitors of a page's old names to those of its new one.
func (m Moved) visitors(rows []mintlify.Visitor) []mintlify.Visitor {
	path := func(row *mintlify.Visitor) *string { return &row.Path }
	rows = mergeByPath(rows, path, withoutSite, keepLarger)
	return mergeByPath(rows, path, m.Name, func(sum *mintlify.Visitor, row mintlify.Visitor) {
		sum.Human += row.Human
		sum.AI += row.AI
		sum.Total += row.Total
	})
}

// keepLarger is for a path that the service reports twice, because rows can move between two
// requests. Unique visitors do not add up, so it keeps the larger counts.
func keepLarger(kept *mintlify.Visitor, row mintlify.Visitor) {
	kept.Human = max(kept.Human, row.Human)
	kept.AI = max(kept.AI, row.AI)
	kept.Total = max(kept.Total, row.Total)
}

func (m Moved) counts(list List[mintlify.FeedbackCount]) List[mintlify.FeedbackCount] {
	path := func(row *mintlify.FeedbackCount) *string { return &row.Path }
	list.Rows = mergeByPath(list.Rows, path, m.page, func(sum *mintlify.FeedbackCount, row mintlify.FeedbackCount) {
		sum.ThumbsUp += row.ThumbsUp
		sum.ThumbsDown += row.ThumbsDown
		sum.Code += row.Code
		sum.Total += row.Total
	})
	return list
}

// mergeByPath gives each row's path its name, and merges the rows of each name into one, in the
// order in which the names come first. merge starts with a row that has the name alone.
func mergeByPath[T any](
	rows []T, path func(*T) *string, name func(string) string, merge func(into *T, row T),
) []T {
	var all []T
	at := map[string]int{}
	for _, row := range rows {
		named := name(*path(&row))
		i, isKnown := at[named]
		if !isKnown {
			i = len(all)
			at[named] = i

			var first T
			*path(&first) = named
			all = append(all, first)
		}
		merge(&all[i], row)
	}
	return all
}

// wholeThumbs returns the thumbs of a period. The service lists only the first 100 pages: if there
// are more, or if the list is missing, the lists of the period's weeks may have them all.
func (p Period) wholeThumbs() List[mintlify.FeedbackCount] {
	list := p.ByPage
	if list.isKnown() && !list.Truncated {
		return list
	}

	weeks := store.Windows(p.Project, store.Week, p.From, p.To)
	if len(weeks)*7 != p.Days() || len(p.Weeks) != len(weeks) {
		return list
	}

	sum := List[mintlify.FeedbackCount]{Export: p.Weeks[0].Export}
	sum.Window = p.Window
	sum.Kept = 0
	for i, week := range p.Weeks {
		if !week.isKnown() || week.Truncated || week.From != weeks[i].From {
			return list
		}
		sum.Rows = append(sum.Rows, week.Rows...)
		sum.Kept += week.Kept
	}
	return sum
}

// pagePath returns the path that a path or URL names, as the visitors' export has it, or "" if
// there is none.
func pagePath(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if path := strings.TrimRight(u.Path, "/"); path != "" || u.Path == "" {
		return path
	}
	return "/"
}

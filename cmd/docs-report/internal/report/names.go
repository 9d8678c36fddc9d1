package report

import (
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// prepared returns the input with one name for each page, with the thumbs of whole windows, and with
// what stands out known. Without a comparison, it has no period before.
func (in Input) prepared() Input {
	for _, p := range []*Period{&in.Period, &in.Before} {
		p.Rows = in.Moved.visitors(p.Rows)
		p.ByPage = p.wholeThumbs()
		p.ByPage.Rows = in.Moved.thumbs(p.ByPage.Rows)
	}

	in.history = newHistory(in.Days, in.Months)
	in.compared = in.windows()
	in.Missing = in.compared.missing
	if in.Missing != "" {
		in.Before = Period{Window: in.Before.Window}
		in.TrendFrom = nil
	}

	for _, p := range []*Period{&in.Period, &in.Before} {
		p.usual = in.usual(p.Window, p.Totals)
		p.searched = searchedIn(p.Searches)
	}
	return in
}

// page returns the name of a page that readers clicked or wrote about: without a query and a final
// slash.
func (m Moved) page(text string) string { return m.Name(pagePath(text)) }

// visitors adds the visitors of a page's old names to those of its new one. The service may report a path
// twice, because rows can move between two requests. Unique visitors do not add up: the larger counts stay.
func (m Moved) visitors(rows []mintlify.Visitor) []mintlify.Visitor {
	path := func(row *mintlify.Visitor) *string { return &row.Path }
	rows = mergeByPath(rows, path, withoutSite, func(kept *mintlify.Visitor, row mintlify.Visitor) {
		kept.Human = max(kept.Human, row.Human)
		kept.AI = max(kept.AI, row.AI)
		kept.Total = max(kept.Total, row.Total)
	})
	return mergeByPath(rows, path, m.Name, func(sum *mintlify.Visitor, row mintlify.Visitor) {
		sum.Human += row.Human
		sum.AI += row.AI
		sum.Total += row.Total
	})
}

func sum(a, b mintlify.VisitorTotals) mintlify.VisitorTotals {
	return mintlify.VisitorTotals{Human: a.Human + b.Human, AI: a.AI + b.AI, Total: a.Total + b.Total}
}

func (m Moved) thumbs(rows []mintlify.FeedbackCount) []mintlify.FeedbackCount {
	path := func(row *mintlify.FeedbackCount) *string { return &row.Path }
	return mergeByPath(rows, path, m.page, func(sum *mintlify.FeedbackCount, row mintlify.FeedbackCount) {
		sum.ThumbsUp += row.ThumbsUp
		sum.ThumbsDown += row.ThumbsDown
	})
}

// mergeByPath gives each row's path its name, and merges the rows of each name into the first.
func mergeByPath[T any](
	rows []T, path func(*T) *string, name func(string) string, merge func(into *T, row T),
) []T {
	var all []T
	at := map[string]int{}
	for _, row := range rows {
		named := name(*path(&row))
		*path(&row) = named
		if i, isKnown := at[named]; isKnown {
			merge(&all[i], row)
			continue
		}

		at[named] = len(all)
		all = append(all, row)
	}
	return all
}

// wholeThumbs returns the thumbs of a period. The service lists only the first 100 pages: if there
// are more, or if the list is missing, the lists of the period's weeks may have them all.
func (p Period) wholeThumbs() List[mintlify.FeedbackCount] {
	list := p.ByPage
	if isKnown(list.Export) && !list.Truncated {
		return list
	}

	sum := List[mintlify.FeedbackCount]{Export: store.Export{Window: p.Window, Kind: list.Kind, State: store.Loaded}}
	days := 0

	for _, week := range p.Weeks {
		if !isKnown(week.Export) || week.Truncated {
			return list
		}
		sum.Rows = append(sum.Rows, week.Rows...)
		sum.Kept += week.Kept
		days += week.Days()
	}

	if days != p.Days() { // a month is not weeks
		return list
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

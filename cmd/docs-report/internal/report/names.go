package report

import (
	"net/url"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// prepared returns the input with one name for each page, with the thumbs of whole windows, and with
// what stands out known. Without a comparison, it has no period before.
func (in Input) prepared() Input {
	for _, p := range []*Period{&in.Period, &in.Before} {
		p.pages = in.Moved.visitors(p.Rows)
		for i, list := range p.Weeks {
			p.Weeks[i].Rows = in.Moved.thumbs(list.Rows)
		}
		p.ByPage = p.wholeThumbs()
		p.ByPage.Rows = in.Moved.thumbs(p.ByPage.Rows)
	}

	if in.ByDay == nil {
		in.ByDay = events.NewSite(in.Days, func(store.Point) bool { return in.Final })
	}
	in.ByDay.Rename(in.Moved.Name)
	in.history = newHistory(in.Days, in.Months, in.ByDay)
	in.spikes = in.ByDay.Spikes(in.odd)
	in.odd = in.spikes.OfSite

	in.compared = in.windows()
	in.happened = in.whatHappened()
	if in.Missing() != "" {
		in.Before = Period{Window: in.Before.Window}
		in.TrendFrom = nil
	}

	for _, p := range []*Period{&in.Period, &in.Before} {
		p.usual = in.usual(p.Window, p.Totals)
		p.searched = searchedIn(p.Searches, in.HasForgotten)
	}
	return in
}

// page returns the name of a page that readers clicked or wrote about: without a query.
func (m Moved) page(text string) string { return m.Name(pagePath(text)) }

// counted has the visitors of a page: of all its names, and of the largest of them. Who reads it under two names
// may count twice.
type counted struct{ sum, largest mintlify.VisitorTotals }

func only(counts mintlify.VisitorTotals) counted { return counted{counts, counts} }

func (c counted) extent(k kind) extent {
	return extent{float64(k.Of(c.largest)), float64(k.Of(c.sum))}
}

// visitors returns the visitors of each page under its name of today. The service may report a path twice, because
// rows can move between two requests: the larger counts stay.
func (m Moved) visitors(rows []mintlify.Visitor) map[string]counted {
	byPath := make(map[string]mintlify.VisitorTotals, len(rows))
	for _, row := range rows {
		path := row.Path
		if strings.Contains(path, "://") { // the service may name a page by its URL, too
			path = store.PageName(path)
		}
		byPath[path] = larger(byPath[path], mintlify.VisitorTotals{Human: row.Human, AI: row.AI, Total: row.Total})
	}

	all := make(map[string]counted, len(byPath))
	for path, counts := range byPath {
		page := all[m.Name(path)]
		page.sum = sum(page.sum, counts)
		page.largest = larger(page.largest, counts)
		all[m.Name(path)] = page
	}
	return all
}

func larger(a, b mintlify.VisitorTotals) mintlify.VisitorTotals {
	return mintlify.VisitorTotals{Human: max(a.Human, b.Human), AI: max(a.AI, b.AI), Total: max(a.Total, b.Total)}
}

// usualPages returns a period's pages without what they have more than usual on some days.
func (in Input) usualPages(p Period) map[string]counted {
	all := make(map[string]counted, len(p.pages))
	for path, page := range p.pages {
		for _, k := range events.Kinds {
			more := in.spikes.OfPage(path, k, p.Window, k.Of(page.sum))
			page = counted{k.Without(page.sum, more), k.Without(page.largest, more)}
		}
		all[path] = page
	}
	return all
}

func sum(a, b mintlify.VisitorTotals) mintlify.VisitorTotals {
	return mintlify.VisitorTotals{Human: a.Human + b.Human, AI: a.AI + b.AI, Total: a.Total + b.Total}
}

func (m Moved) thumbs(rows []mintlify.FeedbackCount) []mintlify.FeedbackCount {
	rows = slices.Clone(rows)
	for i, row := range rows {
		rows[i].Path = m.page(row.Path)
	}
	return rows
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
	return store.PageName(u.Path)
}

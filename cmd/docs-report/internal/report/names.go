package report

import (
	"net/url"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// prepared returns the input with one name for each page, and with the thumbs of whole windows.
func (in Input) prepared() Input {
	in.Period = in.Moved.rename(in.Period)
	in.Before = in.Moved.rename(in.Before)
	return in
}

// rename gives each page of a period one name: the service may name a page by a path or by a URL,
// and the page may have moved.
func (m Moved) rename(p Period) Period {
	p.Rows = m.visitors(p.Rows)
	p.Views.Rows = m.views(p.Views.Rows)
	p.ByPage = m.counts(p.wholeThumbs())
	p.Comments.Rows = m.feedback(p.Comments.Rows)
	p.Conversations.Rows = m.conversations(p.Conversations.Rows)

	p.Searches.Rows = slices.Clone(p.Searches.Rows)
	for i, row := range p.Searches.Rows {
		if row.TopClickedPage != "" {
			p.Searches.Rows[i].TopClickedPage = m.page(row.TopClickedPage)
		}
	}
	return p
}

// page returns the name of a page that readers clicked or wrote about: without a query and a final
// slash.
func (m Moved) page(text string) string { return m.Name(pagePath(text)) }

// visitors adds the visitors of a page's old names to those of its new one.
func (m Moved) visitors(rows []mintlify.Visitor) []mintlify.Visitor {
	var paths []string // in the service's order
	byPath := map[string]mintlify.Visitor{}
	for _, row := range rows {
		path := withoutSite(row.Path)
		old, isKnown := byPath[path]
		if !isKnown {
			paths = append(paths, path)
		}

		merged := mergeVisitors(old, row)
		merged.Path = path
		byPath[path] = merged
	}

	var all []mintlify.Visitor
	at := map[string]int{}
	for _, path := range paths {
		row := byPath[path]
		row.Path = m.Name(path)

		i, isKnown := at[row.Path]
		if !isKnown {
			at[row.Path] = len(all)
			all = append(all, row)
			continue
		}

		all[i].Human += row.Human
		all[i].AI += row.AI
		all[i].Total += row.Total
	}
	return all
}

// mergeVisitors is for a path that the service reports twice, because rows can move between two
// requests. Unique visitors do not add up, so it keeps the larger counts.
func mergeVisitors(a, b mintlify.Visitor) mintlify.Visitor {
	return mintlify.Visitor{
		Human: max(a.Human, b.Human, 0),
		AI:    max(a.AI, b.AI, 0),
		Total: max(a.Total, b.Total, 0),
	}
}

func (m Moved) views(rows []mintlify.View) []mintlify.View {
	var all []mintlify.View
	at := map[string]int{}
	for _, row := range rows {
		row.Path = m.Name(row.Path)
		i, isKnown := at[row.Path]
		if !isKnown {
			at[row.Path] = len(all)
			all = append(all, row)
			continue
		}

		all[i].Human += row.Human
		all[i].AI += row.AI
		all[i].Total += row.Total
	}
	return all
}

// counts adds the thumbs of a page's names up.
func (m Moved) counts(list List[mintlify.FeedbackCount]) List[mintlify.FeedbackCount] {
	var all []mintlify.FeedbackCount
	at := map[string]int{}
	for _, row := range list.Rows {
		row.Path = m.page(row.Path)
		i, isKnown := at[row.Path]
		if !isKnown {
			at[row.Path] = len(all)
			all = append(all, row)
			continue
		}

		all[i].ThumbsUp += row.ThumbsUp
		all[i].ThumbsDown += row.ThumbsDown
		all[i].Code += row.Code
		all[i].Total += row.Total
	}

	list.Rows = all
	return list
}

func (m Moved) feedback(rows []mintlify.Feedback) []mintlify.Feedback {
	rows = slices.Clone(rows)
	for i, row := range rows {
		rows[i].Path = m.page(row.Path)
	}
	return rows
}

func (m Moved) conversations(rows []mintlify.Conversation) []mintlify.Conversation {
	rows = slices.Clone(rows)
	for i, row := range rows {
		if row.PageURL != "" {
			rows[i].PageURL = m.page(row.PageURL)
		}

		rows[i].Sources = slices.Clone(row.Sources)
		for j, source := range rows[i].Sources {
			rows[i].Sources[j].URL = m.page(source.URL)
		}
	}
	return rows
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

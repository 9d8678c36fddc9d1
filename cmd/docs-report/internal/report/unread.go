package report

import "fmt"

// unread are the pages of a sitemap that no human visited.
type unread struct {
	Summary string
	Rows    []finding
	More    int // are left out
}

const mostUnread = 200

func (in Input) unread() *unread {
	if len(in.Sitemap) == 0 {
		return nil
	}

	humans := map[string]int64{}
	for _, row := range in.Period.Rows {
		humans[pagePath(row.Path)] += row.Human
	}

	var rows []finding
	isKnown := false
	names := map[string]bool{} // a sitemap may have a page's old name, too
	for _, path := range in.Sitemap {
		name := in.Moved.page(path)
		count, isVisited := humans[name]
		isKnown = isKnown || isVisited
		if count <= 0 && !names[name] {
			rows = append(rows, finding{Text: textOf(name), URL: in.link(name)})
		}
		names[name] = true
	}

	all := plural(int64(len(names)), "page", "pages")
	switch {
	case !isKnown && len(in.Period.Rows) > 0:
		return &unread{Summary: "None of the sitemap's " + all +
			" is among the visited pages: is it the sitemap of this site?"}
	case len(rows) == 0:
		return &unread{Summary: "Humans visited each of the sitemap's " + all + "."}
	}

	shown := min(mostUnread, len(rows))
	return &unread{
		Summary: fmt.Sprintf("%s of the sitemap's %s.", number(int64(len(rows))), all),
		Rows:    rows[:shown],
		More:    len(rows) - shown,
	}
}
